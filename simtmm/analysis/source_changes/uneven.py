"""Blocks of a launch that do many times the work of the others."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import COPY, LISTED, LOAD, OF_CLASS, PAUSE, SHARED, Workload

Integers = npt.NDArray[np.int64]

MANY_TIMES = 3.0  # as much as the median
MOST_COUNTED = 1 << 22  # operations


@dataclass(frozen=True)
class Uneven:
    """The launch with the most uneven blocks.

    launch: by number. block: the one with most, within its launch. times: what it has of what the median one has.
    """

    launch: int
    block: int
    times: float

    @property
    def words(self) -> str:
        """As in "does 250 times what the median block does"."""
        return f"does {self.times:.3g} times the work of the median block"


def places_of_block(workload: AnyWorkload, block: int) -> Integers:
    """int64[places]: instructions and chunks of a block by where they come from; empty where that is not known.

    block: by number, among those of all launches.
    """
    if not isinstance(workload, Workload) or not workload.has_places:
        return np.zeros(0, np.int64)
    first, last = workload.warp_operations[workload.block_warps[block : block + 2]].tolist()
    found: Integers = np.bincount(workload.place[first:last], _work(workload, first, last)).astype(np.int64)
    return found


def work_of_blocks(workload: Workload) -> npt.NDArray[np.float64]:
    """float64[blocks]: instructions and chunks of each."""
    own = _work(workload, 0, len(workload.kind))
    before = np.append(0.0, np.cumsum(own))
    found: npt.NDArray[np.float64] = np.diff(before[workload.warp_operations[workload.block_warps]])
    return found


def _work(workload: Workload, first: int, last: int) -> npt.NDArray[np.float64]:
    """float64[operations]: instructions and chunks of each of some operations in a row."""
    kind, amount = workload.kind[first:last], workload.amount[first:last]
    lists = (kind >= LOAD) & (kind <= COPY)
    counted = lists | (kind >= OF_CLASS) | (kind == SHARED) | (kind == 0)
    own = np.where(counted, np.where(lists | (kind == SHARED), amount & LISTED, amount), 1).astype(float)
    own[kind == PAUSE] = 0
    return own


def uneven(workload: AnyWorkload, launch: int | None = None) -> Uneven | None:
    """The launch whose longest block is the most times its median one; None where none is MANY_TIMES as long.

    launch: to look at that one alone. Of a workload that is not held, its blocks' events.
    """
    if isinstance(workload, Workload):
        work = work_of_blocks(workload)
    else:
        work = np.zeros(workload.blocks)
        for runs in workload.trace.runs():
            np.add.at(work, workload.launch_blocks[runs.launch] + runs.block, runs.events)
    worst: Uneven | None = None
    for number in range(workload.launches) if launch is None else (launch,):
        first, last = workload.launch_blocks[number : number + 2].tolist()
        own = work[first:last]
        if len(own) < 2:
            continue
        median = max(1.0, float(np.median(own)))
        times = float(own.max()) / median
        if times >= MANY_TIMES and (worst is None or times > worst.times):
            worst = Uneven(number, int(own.argmax()), times)
    return worst


def pieces(workload: Workload, launch: int) -> dict[int, int]:
    """Into how many of the median block's work each block of a launch goes that is MANY_TIMES as long; by number."""
    first, last = workload.launch_blocks[launch : launch + 2].tolist()
    own = work_of_blocks(workload)[first:last]
    median = max(1.0, float(np.median(own)))
    return {first + int(block): int(own[block] / median) for block in np.flatnonzero(own >= MANY_TIMES * median)}


def warps_at_places(workload: AnyWorkload) -> Integers | None:
    """int64[places]: how many warps do something at each place; None where that is not known, or long to count."""
    if not isinstance(workload, Workload) or not workload.has_places or len(workload.kind) > MOST_COUNTED:
        return None
    warp = np.repeat(np.arange(workload.warps), np.diff(workload.warp_operations))
    pairs = np.unique(workload.place.astype(np.int64) * workload.warps + warp)
    return np.bincount(pairs // workload.warps, minlength=len(workload.known_places))
