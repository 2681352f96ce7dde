"""The time of launches whole, of which a trace has only the first blocks: the others go on at the pace of those.

A launch's own time, which a program's clocks and events show, is made in the same way (simtmm.simulated_clock).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.simulated_clock import PACED
from simtmm.trace.sampled_blocks import Sampling
from simtmm.trace.schema import TraceLaunch


def whole_seconds(
    machine: Machine,
    launches: Sequence[TraceLaunch],
    sampling: Sampling | None,
    result: Result,
    begun: npt.NDArray[np.int64],
) -> float | None:
    """What all blocks of all launches take [s]; None where no launch is cut behind its first blocks.

    sampling: which blocks are in the trace.
    result: of those, the others being empty.
    begun: int64[blocks], the tick of its launch at which each block of the program was placed.
    """
    if sampling is None or not sampling.are_first or result.seconds is None or machine.clock_hz is None:
        return None
    more, first = 0.0, 0
    for launch, recorded, ticks in zip(launches, sampling.recorded, result.launch_ticks, strict=True):
        if 0 < recorded < launch.blocks:
            more += _more(machine, launch, recorded, float(ticks), begun[first : first + recorded])
        first += launch.blocks
    return result.seconds + more / (machine.ticks_per_cycle * machine.clock_hz)


def _more(machine: Machine, launch: TraceLaunch, recorded: int, ticks: float, begun: npt.NDArray[np.int64]) -> float:
    """Ticks that the blocks of a launch take which are not recorded."""
    held = machine.cores.groups * machine.active_blocks(
        launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes
    )
    if recorded >= PACED * held:
        return (launch.blocks - recorded) * float(begun[-1] - begun[held]) / (recorded - 1 - held)
    waves = launch.blocks / max(recorded, min(held, launch.blocks))
    return (waves - 1) * max(0.0, ticks - machine.durations.launch_overhead)


def whole_words(seconds: float) -> str:
    """What a reader of such a run must know.

    seconds: what all blocks take.
    """
    scale, unit = next(((scale, unit) for scale, unit in ((1.0, "s"), (1e-3, "ms")) if seconds >= scale), (1e-6, "us"))
    return (
        f"with all blocks it takes about {seconds / scale:.3g} {unit}, those that are not in the trace at the pace of "
        "those that are: all else is of the trace"
    )
