"""Blocks of a launch that do many times the work of the others."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.analysis.waves import in_waves
from simtmm.machine import Machine
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import COPY, LISTED, LOAD, OF_CLASS, PAUSE, SHARED, Workload

Integers = npt.NDArray[np.int64]

MANY_TIMES = 3.0  # as much as the median
LONGER = 1.5  # likewise, where all blocks begin at once: nothing fills the time that short ones leave
HALF = 0.5  # of the work of all launches
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


def uneven(workload: AnyWorkload, launch: int | None = None, machine: Machine | None = None) -> Uneven | None:
    """The launch whose longest block is the most times its median one; None where none is MANY_TIMES as long.

    launch: to look at that one alone. Of a workload that is not held, its blocks' events.
    machine: on which LONGER will do, where `leaves_idle` says so; None where that is not asked.
    """
    work = _work_of(workload)
    worst: Uneven | None = None
    for number in range(workload.launches) if launch is None else (launch,):
        first, last = workload.launch_blocks[number : number + 2].tolist()
        own = work[first:last]
        if len(own) < 2:
            continue
        median = max(1.0, float(np.median(own)))
        times = float(own.max()) / median
        if times >= _least(machine, workload, number, work) and (worst is None or times > worst.times):
            worst = Uneven(number, int(own.argmax()), times)
    return worst


def pieces(workload: Workload, launch: int, machine: Machine | None = None) -> dict[int, int]:
    """Into how many of the median block's work each long block of a launch goes, by number.

    launch, machine: as above. Where LONGER will do, no piece has more than the median's.
    """
    first, last = workload.launch_blocks[launch : launch + 2].tolist()
    work = work_of_blocks(workload)
    own = work[first:last]
    median = max(1.0, float(np.median(own)))
    least = _least(machine, workload, launch, work)
    whole = np.ceil(own / median) if least < MANY_TIMES else own // median
    return {first + int(block): int(whole[block]) for block in np.flatnonzero(own >= least * median)}


def long_blocks(machine: Machine, workload: Workload) -> tuple[str, dict[int, int]] | None:
    """Which blocks have many times the work of others, in words, and into how many pieces each goes.

    machine, workload: what runs on what. Gives None where there are none.
    """
    found = uneven(workload, machine=machine)
    if found is None:
        return None
    times = pieces(workload, found.launch, machine)
    which = f"block {found.block:,}" if len(times) == 1 else f"{len(times):,} blocks, {found.block:,} most of all"
    return f"share out the work of {which}: it {found.words}", times


def _work_of(workload: AnyWorkload) -> npt.NDArray[np.float64]:
    """float64[blocks]: instructions and chunks of each; its events where the workload is not held."""
    if isinstance(workload, Workload):
        return work_of_blocks(workload)
    work = np.zeros(workload.blocks)
    for runs in workload.trace.runs():
        np.add.at(work, workload.launch_blocks[runs.launch] + runs.block, runs.events)
    return work


def _least(machine: Machine | None, workload: AnyWorkload, launch: int, work: npt.NDArray[np.float64]) -> float:
    """How many times the median block's work the longest of a launch has at least, to be called long: LONGER will do
    only for a launch that has half of all work.

    work: of all blocks.
    """
    first, last = workload.launch_blocks[launch : launch + 2].tolist()
    own = work[first:last]
    if machine is None or own.sum() < HALF * work.sum():
        return MANY_TIMES
    return LONGER if leaves_idle(machine, workload, launch, own) else MANY_TIMES


def leaves_idle(machine: Machine, workload: AnyWorkload, launch: int, work: npt.NDArray[np.float64]) -> bool:
    """Whether core groups that have had a short block wait for those with a long one, rather than for more blocks.

    Holds where all blocks are on the machine at once, and more of its time is lost behind short ones than in groups
    that have none.

    launch: by number. work: of each of its blocks.
    """
    blocks, wave = in_waves(machine, workload, launch)
    if not 1 < blocks <= wave or not work.any():
        return False
    used = min(1.0, blocks / machine.cores.groups)
    return used * (1 - float(work.mean() / work.max())) > 1 - used


def warps_at_places(workload: AnyWorkload) -> Integers | None:
    """int64[places]: how many warps do something at each place; None where that is not known, or long to count."""
    if not isinstance(workload, Workload) or not workload.has_places or len(workload.kind) > MOST_COUNTED:
        return None
    warp = np.repeat(np.arange(workload.warps), np.diff(workload.warp_operations))
    pairs = np.unique(workload.place.astype(np.int64) * workload.warps + warp)
    return np.bincount(pairs // workload.warps, minlength=len(workload.known_places))
