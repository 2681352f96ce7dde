"""A launch by a few waves of its middle, on a part of the machine: a rough time, many times sooner than a sample's.

All groups of a machine are alike and share what is below them evenly. So a few groups, with their share of the L2 and
of the memory's bandwidth, take as long for their share of a launch's blocks as all groups take for all of them, but for
what neighbours at the part's edges would have brought into the L2, and for how evenly few groups use few partitions.

Which blocks those are matters as much. The part has a strip of the grid, as much of each row as it has of the machine's
groups: then a block and the one below it are as many waves, and as many groups, apart as in the whole launch, and find
the same of one another in L1 and L2. Rows of few blocks have strips of few widths, so that the number of groups goes by
them.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from simtmm.engine import simulate
from simtmm.machine import Machine
from simtmm.machine.part import part_of, whole
from simtmm.sampling.interval import half_width
from simtmm.sampling.sample import Integers, sample_of
from simtmm.trace.counts import lower_and_count
from simtmm.watch import telling

if TYPE_CHECKING:
    from simtmm.sampling.long.steady import SteadyLaunch
    from simtmm.sampling.sources import Source

FEWEST = 12  # groups of a part, but for machines of fewer than twice that: half of theirs then. Blocks that are near in
# the grid meet in one of so few groups more often than in one of all, and find more of one another in its L1
LEAST_GROUPS = 4  # that a machine has of which there is a part
SLICES = 4  # of an L2, at least, that a part has whose slices take time
UNEVEN = 0.1  # by which strip and partitions may miss their shares, together
LEAST = 2  # waves that a launch has,
SMALL = 20_000_000  # and events: what has fewer is soon simulated as it is
WARM = 2  # waves before the pace is taken
PACED = 4  # waves, at least, in each of which it is taken; more where blocks are short:
EVENTS = 20_000_000  # that are recorded for more waves than that,
MOST_PACED = 20  # up to so many
MOST_EVENTS = 400_000_000  # that are simulated: where the number of groups would make it more, it is a lesser one
TAIL = 1  # waves behind, so that none of those before is the last
SYSTEMATIC = 0.1  # of the time: what repetition does not show; by the pairs of docs/scaling.md


def groups_of_part(machine: Machine, grid: Sequence[int], most: int) -> tuple[int, float]:
    """How many groups suit a launch, and by how much the width of their strip misses their share of a row.

    The fewest, from FEWEST to half of the machine's, by which this and what their partitions miss is not above UNEVEN
    together; where none is, the best.

    grid: of the launch. most: groups that may be taken; fewer than FEWEST make it these alone.
    """
    groups, best, found = machine.cores.groups, math.inf, (1, 0.0)
    across, down = _rows(grid)
    fewest = max(1, min(FEWEST, groups // 2, most))
    for taken in range(fewest, max(fewest, min(groups // 2, most)) + 1):
        share = taken / groups
        missed = _missed(across * share) if down > 1 else 0.0
        together = missed + _missed(machine.memory.partitions * share)
        if together < best:
            best, found = together, (taken, missed)
        if together <= UNEVEN:
            break
    return found


def _missed(share: float) -> float:
    """By how much that misses the share, as a part of it."""
    return abs(whole(share) / share - 1)


def _rows(grid: Sequence[int]) -> tuple[int, int]:
    """How long a row of a grid's blocks is, and how many there are: along the first direction with more than one."""
    across = next((each for each in grid if each > 1), 1)
    return across, math.prod(grid) // across


def strip(grid: Sequence[int], share: float, wanted: int) -> Integers:
    """Blocks of the middle of a grid, ascending: of each of its rows the same share, so that neighbours in all
    directions run as near to one another in time as in the whole launch. share: of a row. wanted: how many.
    """
    across, down = _rows(grid)
    width = max(whole(across * share), -(-wanted // down)) if down > 1 else across
    if width < across:
        rows = min(-(-wanted // width), down)
        first = (down - rows) // 2
        numbers = (first + np.arange(rows))[:, None] * across + (across - width) // 2 + np.arange(width)
        return np.asarray(numbers.reshape(-1)[:wanted])
    return np.asarray((across * down - wanted) // 2 + np.arange(wanted))


def by_part(source: "Source", machine: Machine, launch: int) -> "SteadyLaunch | None":
    """A launch by some waves of its middle on a part of the machine; a short one by the part's share of its blocks.

    Gives None where the machine has few groups, or the launch few events, or fewer blocks than fill the machine twice;
    and where an L2 that is empty at first takes up what is stored, which so few waves don't fill, or where the part has
    so few slices of the L2 that they are all as busy, which the machine's are not.
    """
    from simtmm.sampling.long.steady import SteadyLaunch  # late: runs without a sample need `strip` alone

    l2 = machine.memory.l2
    if l2 is not None and l2.writes == "back" and l2.start == "cold":
        return None
    described = source.launches[launch]
    active = machine.active_blocks(
        described.threads_per_block, described.registers_per_thread, described.shared_memory_bytes
    )
    waves = described.blocks / max(1, active * machine.cores.groups)
    if machine.cores.groups <= LEAST_GROUPS or waves < LEAST:
        return None
    middle = {launch: np.array([described.blocks // 2], np.int64)}
    events = max(1, sample_of(source.trace_of(middle), middle).info.events)  # of a block
    if events * described.blocks < SMALL:
        return None
    most = MOST_EVENTS // (events * max(1, active) * (WARM + PACED + TAIL))
    groups, missed = groups_of_part(machine, described.grid, most)
    part = part_of(machine, groups)
    if part.durations.l2_service and part.memory.partitions < SLICES:
        return None
    wave = max(1, active * groups)
    paced = min(MOST_PACED, int(waves / 2) - WARM - TAIL, max(PACED, EVENTS // (events * wave)))
    paced = paced if paced >= PACED else 0
    taken = (WARM + paced + TAIL) * wave if paced else round(waves * wave)
    chosen = {launch: strip(described.grid, groups / machine.cores.groups, taken)}
    trace = sample_of(source.trace_of(chosen), chosen)
    workload, counts = lower_and_count(trace, part, telling("lowering a sample"), places=True)
    begun = np.zeros(workload.blocks, np.int64)
    result = simulate(part, workload, "fast", stalls=True, progress=telling("simulating a sample"), begun=begun)
    ticks, half = float(result.launch_ticks[0]), 0.0
    if paced:
        begins = begun.reshape(-1, wave).mean(axis=1)  # of the blocks of each wave
        paces = np.diff(begins[WARM - 1 : -TAIL])
        left_out = waves - len(begins)
        ticks += paces.mean() * left_out
        half = half_width(paces, np.full(len(paces), left_out / len(paces)))
    half += (SYSTEMATIC + (missed if missed > UNEVEN else 0.0)) * (ticks - machine.durations.launch_overhead)
    more = machine.cores.groups / groups
    if result.time is not None:  # of as many groups as the machine has
        result = dataclasses.replace(result, time={name: round(more * own) for name, own in result.time.items()})
    share = taken / described.blocks
    return SteadyLaunch(ticks, half, workload, result, taken, counts, taken, share, trace.info, part, False)
