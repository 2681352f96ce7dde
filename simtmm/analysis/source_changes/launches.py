"""Changes of whole launches: how often a program launches, which is paid once then, or less for each; and how the work
of one is shared out among its blocks.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from simtmm.analysis.source_changes.changes import evened_out
from simtmm.analysis.source_changes.lines import BOUND, ESTIMATE, SIMULATED, Advice
from simtmm.analysis.source_changes.operations import Operations
from simtmm.analysis.source_changes.uneven import long_blocks
from simtmm.engine.known_cycles import ticks_of
from simtmm.errors import SimtmmError
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import Workload

PART = 0.05  # of the time that launching takes: less is not worth another simulation


def of_launches(machine: Machine, workload: AnyWorkload, result: Result, can_simulate: bool) -> Iterator[Advice]:
    """Launches joined, and launched as a graph.

    can_simulate: whether there is time to simulate all of the run.
    """
    count, durations, now = workload.launches, machine.durations, result.ticks
    in_graph = int(workload.in_graph.sum())
    others = durations.overheads(count, in_graph) - durations.overheads(1)  # of all launches but one
    if count < 2 or others < PART * now:
        return
    cycles = durations.launch_overhead / machine.ticks_per_cycle
    takes = (
        f"{cycles:.3g} cycles each" if machine.clock_hz is None else f"{1e6 * cycles / machine.clock_hz:.3g} us each"
    )
    of_graph = result.ticks - (count - 1) * (durations.launch_overhead - durations.graph_launch_overhead)
    if of_graph < now and not in_graph:  # who has a graph knows of them
        yield _advice(
            "graph",
            f"capture the {count:,} launches in a CUDA graph and launch that: starting kernels takes {takes} now",
            now / max(1, of_graph), SIMULATED,
        )  # fmt: skip
    joined = _joined(machine, workload, result) if can_simulate else None
    alone = now - others
    yield _advice(
        "fuse",
        f"do the work of the {count:,} launches in one, or in fewer: a loop in the kernel, with a barrier of the grid "
        f"where one launch needs what another wrote; starting them takes {takes}",
        now / max(1, alone if joined is None else joined), ESTIMATE if joined is None else BOUND,
    )  # fmt: skip


def of_long_blocks(machine: Machine, workload: AnyWorkload, result: Result) -> Iterator[Advice]:
    """Long blocks evened out, of all of a run: an excerpt, which has a share of each warp, knows nothing of them."""
    if not isinstance(workload, Workload) or (found := long_blocks(machine, workload)) is None:
        return
    words, times = found
    try:
        ticks = ticks_of(machine, evened_out(Operations(workload), times), result.engine)
    except SimtmmError:
        return
    yield _advice("even out", words, result.ticks / max(1, ticks), SIMULATED)


def _joined(machine: Machine, workload: AnyWorkload, result: Result) -> int | None:
    """Ticks of all blocks as one launch, none of which waits for another; None where that can't be simulated."""
    if not isinstance(workload, Workload) or any(tally.grid_barriers for tally in workload.tallies):
        return None
    limits = workload.launch_limits[workload.launch_limits > 0]
    one = replace(
        workload,
        launch_blocks=np.array([0, workload.blocks]),
        launch_limits=np.array([limits.min() if len(limits) else 0], np.int64),
        in_graph=np.empty(0, bool),
        clusters=np.empty(0, np.int64),
    )
    try:
        return ticks_of(machine, one, result.engine)
    except SimtmmError:
        return None


def _advice(change: str, words: str, gain: float, how: str) -> Advice:
    return Advice(change, words, "", 0, "", gain, how, "")
