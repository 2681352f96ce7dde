"""The part of a workload that a launch is, what of it a core group can hold, and what couples the groups."""

from dataclasses import dataclass

import numpy as np

from simtmm.engine.fast import layout as at
from simtmm.engine.fast.launches.tables import Integers
from simtmm.machine import Machine
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload
from simtmm.workload import Tally

WORTH_SHARING = 200_000  # operations: some milliseconds, a hundred times what handing them to threads takes


@dataclass(frozen=True)
class Part:
    """The part of a workload that a launch is: its blocks, from the first up to the last, that one left out.

    limit: of blocks of it that a group holds, None for none. block_warps: warps of each block. tally: what its
    operations add up to. cluster: blocks in a row that are one, 1 without.
    """

    first: int
    last: int
    limit: int | None
    block_warps: Integers
    tally: Tally
    cluster: int

    @classmethod
    def of(cls, workload: AnyWorkload, launch: int) -> "Part":
        """That of a launch, by its number."""
        first, last = (int(block) for block in workload.launch_blocks[launch : launch + 2])
        if isinstance(workload, StreamedWorkload):
            block_warps = np.full(last - first, workload.warps_of_blocks[launch])
        else:
            block_warps = np.diff(workload.block_warps[first : last + 1])
        limit, cluster = int(workload.launch_limits[launch]) or None, workload.cluster_of(launch)
        return cls(first, last, limit, block_warps, workload.tallies[launch], cluster)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return self.last - self.first

    @property
    def is_uneven(self) -> bool:
        """Whether a block has no warps, or another number of them than the next."""
        sizes = self.block_warps
        return len(sizes) > 0 and bool(sizes.min() == 0 or sizes.min() != sizes.max())


@dataclass(frozen=True)
class Room:
    """What a group can hold of a launch at most. most_blocks: as far as limits go; places: no more than there are."""

    slots: int
    places: int
    most_blocks: int

    @classmethod
    def of(cls, machine: Machine, part: Part) -> "Room":
        """What a group of the machine has for a launch."""
        sizes = part.block_warps
        largest = max(1, int(sizes.max(initial=0)))
        smallest = max(1, int(sizes.min(initial=largest)))
        limits = (machine.limits.blocks_per_group, part.limit, int(at.NEVER))
        most_blocks = min(limit for limit in limits if limit is not None)
        slots = max(1, min(machine.warps_per_group, int(sizes.sum()), most_blocks * largest))
        return cls(slots, max(1, min(most_blocks, slots // smallest, part.blocks)), most_blocks)


def outstanding_of(machine: Machine, part: Part) -> int:
    """The limit on asyncs in flight, 0 where no warp has enough of them to reach it."""
    limit = machine.memory.outstanding or 0
    return limit if part.tally.most_asyncs > limit else 0


def takes_partitions(machine: Machine, part: Part) -> bool:
    """Whether a partition takes time for anything in this launch; else it holds nobody up."""
    takes = machine.durations
    always = takes.service or takes.turnaround or takes.row_opening
    return bool(always or (takes.atomic_service and part.tally.updated))


def is_ordered(part: Part) -> bool:
    """Whether the order of warps at one tick shows: at mbarriers, in pipes of products, on the way to other groups, in
    pools of registers.
    """
    tally = part.tally
    return tally.mbarriers > 0 or tally.products > 0 or tally.remotes > 0 or tally.registers > 0


def is_coupled(machine: Machine, part: Part) -> bool:
    """Whether one group's events change another's: through partitions, through caches that they share, through uneven
    blocks, through a grid barrier, or through clusters.

    Where all blocks are alike, only a group whose block ends can take the next one.
    """
    memory = machine.memory
    caches = memory.shared_l1, memory.l2, memory.last_level
    shares = takes_partitions(machine, part) or any(cache is not None for cache in caches)
    return shares or part.is_uneven or part.tally.grid_barriers > 0 or is_clustered(machine, part)


def is_clustered(machine: Machine, part: Part) -> bool:
    """Whether blocks are placed together."""
    return part.cluster > 1 and machine.cores.cluster_groups is not None


def smallest_blocks(part: Part) -> Integers:
    """The fewest warps of a block, of each block and those behind it."""
    found: Integers = np.minimum.accumulate(part.block_warps[::-1])[::-1].copy()
    return found


def has_long_computes(machine: Machine, part: Part, long: int) -> bool:
    """Whether an operation takes many grants, over which may be jumped. long: instructions of a compute."""
    # A jump passes over ticks at which others let a warp go on.
    is_long = machine.scheduling.switch != "on-stall" and part.tally.longest_compute >= long
    tally = part.tally
    return is_long and not (tally.grid_barriers or tally.mbarriers or tally.products or tally.registers)


def worth_sharing(part: Part) -> int:
    """How many groups that go on at once, a block each, are worth being shared out to lanes."""
    block_operations = part.tally.operations // max(1, part.blocks)
    return max(2, -(-WORTH_SHARING // max(1, block_operations)))
