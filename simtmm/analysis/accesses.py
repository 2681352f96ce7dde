"""Accesses of a run, compared with the best that they could be, and the time that this would save."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simtmm.analysis.source_changes import Advice, Line, counted_lines, ideal_chunks
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import Count, Stalls
from simtmm.trace.schema import TraceLaunch

MEND = {"coalesce", "pad"}  # changes that make accesses of an array what they would be at best
SHARED = ("shared_load", "shared_store", "shared_atomic")
KINDS = {"async": "load", "reduce": "atomic"}  # as people call them


@dataclass(frozen=True)
class Access:
    """How one line accesses one array.

    file, line, array: of the place; "" and 0 if unknown. kind: "load", "store", "atomic", "shared_load" and so on.
    requests: of warps. share: of warps' time.
    chunks, ideal_chunks: of a request, on average: now, and if consecutive threads accessed consecutive elements;
        None of shared memory.
    passes, ideal_passes: over the banks of shared memory, likewise; None of global memory.
    bytes_asked: by threads. bytes_moved: by the memory ports, for them. bytes_below: to and from the L2, or memory
        where there is none; None of shared memory.
    reuse: how often a byte that came from below is asked for; None where none came.
    saves: the part of the run's time that it would save to have the ideal; None where that was not tried.
    """

    file: str
    line: int
    array: str
    kind: str
    requests: int
    share: float
    chunks: float | None
    ideal_chunks: int | None
    passes: float | None
    ideal_passes: int | None
    bytes_asked: int
    bytes_moved: int | None
    bytes_below: int | None
    reuse: float | None
    saves: float | None

    @property
    def used(self) -> float | None:
        """The part of what moves that threads asked for, at most 1; None of shared memory."""
        return min(1.0, self.bytes_asked / self.bytes_moved) if self.bytes_moved else None


def accesses_of(
    machine: Machine, result: Result, launches: Sequence[TraceLaunch] = (), tried: Sequence[Advice] = ()
) -> tuple[Access, ...]:
    """Each access of a run, those with most of the time first; none where only a workload is known.

    launches: their shapes. tried: changes of the source, with what each gains.
    """
    stalls = result.stalls
    if stalls is None or stalls.places.threads is None:
        return ()
    across = min((launch.block[0] for launch in launches), default=machine.cores.warp_width)
    whole = max(1, int(stalls.ticks.sum()))
    gains = {(each.file, each.array, each.change): each.gain for each in reversed(tried) if each.change in MEND}
    found = [
        _access(machine, stalls, line, across, whole, gains)
        for line in counted_lines(stalls)
        if line.executions and line.bytes_asked and (line.requests or line.kind in SHARED)
    ]
    return tuple(sorted(found, key=lambda each: -each.share))


def _access(
    machine: Machine, stalls: Stalls, line: Line, across: int, whole: int, gains: dict[tuple[str, str, str], float]
) -> Access:
    file, number, array = line.at
    counts = stalls.counts[np.array(line.numbers)]
    is_shared = line.kind in SHARED
    gain = gains.get((file, array, "pad" if is_shared else "coalesce"))
    saves = None if gain is None else max(0.0, 1 - 1 / gain)
    kind = KINDS.get(line.kind, line.kind)
    share = line.ticks / whole
    if is_shared:
        passes = 1 + line.conflicts / line.executions
        best = 0.0 if passes == 1 else saves
        return Access(
            file, number, array, kind, line.executions, share, None, None, passes, 1, line.bytes_asked, None, None,
            None, best,
        )  # fmt: skip
    now, ideal = line.chunks / line.requests, ideal_chunks(machine, line.bytes_asked / line.executions, across)
    ideal = min(ideal, max(1, round(now)))  # threads of a warp that share elements need fewer
    levels = stalls.levels
    below = None
    if levels is not None:
        column = Count.L2_SECTORS if levels.l2 else Count.MEMORY_SECTORS
        below = int(counts[:, column].sum()) * levels.sector_bytes
    return Access(
        file, number, array, kind, line.requests, share, now, ideal, None, None, line.bytes_asked,
        line.chunks * machine.chunk_bytes, below, line.bytes_asked / below if below else None,
        0.0 if now <= ideal else saves,
    )  # fmt: skip
