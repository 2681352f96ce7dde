"""A part of a run that is fast to simulate: the gain of a source change there stands for the whole."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simtmm.analysis.cost import cost
from simtmm.analysis.source_changes.operations import Integers, Operations, gathered, ranges
from simtmm.analysis.waves import resident_blocks
from simtmm.engine.causes import longest_launch
from simtmm.machine import Machine
from simtmm.machine.part import part_of
from simtmm.result import Result
from simtmm.sampling.part_of_machine import strip
from simtmm.sampling.sample import sample_of
from simtmm.trace.lower import lower
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload
from simtmm.workload import Workload

WAVES = 4  # of blocks that an excerpt has, where the launch has as many
OF_LAUNCHES = ("launch_overhead", "graph_launch_overhead", "first_launch")
FEWEST = 2  # groups of a part of a machine
WIDE = 16  # chunks that lie within so many times as many are told apart by a flag each, which is faster than a set


@dataclass(frozen=True)
class Excerpt:
    """machine, workload: to be simulated. words: what it is of the whole; "" for all of it."""

    machine: Machine
    workload: Workload
    words: str

    @cached_property
    def operations(self) -> Operations:
        """The workload operation by operation: what all that look at it have in common."""
        return Operations(self.workload)


def excerpt_of(machine: Machine, workload: AnyWorkload, result: Result, seconds: float) -> Excerpt | None:
    """What takes about so many seconds to simulate: all of a run, or some waves of its longest launch on some core
    groups with their share of what is below them, and of each warp no more than there is time for.

    Gives None where there is nothing to simulate, or a launch whose blocks wait for one another is too long, or one
    whose warps wait for one another at mbarriers or for registers: no share of each has all that they wait for.
    """
    whole = cost(machine, workload, result)
    if isinstance(workload, Workload) and whole <= seconds:
        return Excerpt(machine, workload, "")
    if not workload.launches:
        return None
    launch = longest_launch(result)
    if workload.tallies[launch].grid_barriers:
        return None
    first, last = (int(block) for block in workload.launch_blocks[launch : launch + 2])
    blocks, groups = last - first, machine.cores.groups
    share = workload.tallies[launch].operations / max(1, workload.operations)
    of_block = whole * share / max(1, blocks)
    affordable = int(seconds / max(of_block, 1e-12))
    # As many blocks a group as the launch has, as far as some waves show what more would
    of_group = min(-(-blocks // groups), WAVES * resident_blocks(machine, workload, launch))
    taken = groups if blocks <= groups else max(min(FEWEST, groups), min(groups, affordable // of_group))
    count = min(blocks, of_group * taken)
    numbers = strip(_grid(workload, launch, blocks), taken / groups, count)
    part = part_of(machine, taken) if taken < groups else machine
    short = _of_blocks(part, workload, launch, numbers)
    left = min(1.0, 2 * seconds / max(count * of_block, 1e-12))  # of each warp
    words = f"{count:,} of {blocks:,} blocks on {taken} of {groups} core groups"
    if left < 1 and workload.tallies[launch].waits_for_warps:
        return None
    if left < 1:
        short = _beginnings(short, left)
        words += f", of which the first {100 * left:.2g} %"
    waves = min(1.0, (count / taken) / (blocks / groups))  # of all of them
    overheads = {f"scheduling.{key}": waves * (getattr(machine.scheduling, key) or 0) for key in OF_LAUNCHES}
    part = part.replace({key: value for key, value in overheads.items() if value})
    if machine.memory.l2 is not None:
        held = _distinct(short.chunks) / max(1, _footprint(machine, workload, launch))
        sets = max(1, round(machine.memory.l2.sets * min(1.0, held)))
        part = part.replace({"memory.l2.sets": sets, "memory.l2.start": "warm"})
        if machine.memory.last_level is not None:
            below = max(1, round(machine.memory.last_level.sets * min(1.0, held)))
            part = part.replace({"memory.last_level.sets": below})
    return Excerpt(part, short, words)


def _footprint(machine: Machine, workload: AnyWorkload, launch: int) -> int:
    """How many chunks a launch touches; where its operations are not held, those of all arrays.

    An L2 of an excerpt that is as much smaller holds what the machine's own would hold, and no more: what streams
    through the one streams through the other.
    """
    if isinstance(workload, StreamedWorkload):
        arrays = (array for array in workload.trace.info.arrays if array.space == "global")
        return sum(array.bytes for array in arrays) // machine.chunk_bytes
    first, last = workload.block_warps[workload.launch_blocks[launch : launch + 2]].tolist()
    return _distinct(workload.chunks[workload.warp_chunks[first] : workload.warp_chunks[last]])


def _distinct(chunks: Integers) -> int:
    """How many different chunks there are."""
    if not len(chunks):
        return 0
    least, most = int(chunks.min()), int(chunks.max())
    if most - least > WIDE * len(chunks):
        return len(np.unique(chunks))
    is_met = np.zeros(most - least + 1, bool)
    is_met[chunks - least] = True
    return int(np.count_nonzero(is_met))


def _grid(workload: AnyWorkload, launch: int, blocks: int) -> tuple[int, ...]:
    if isinstance(workload, StreamedWorkload):
        return workload.trace.info.launches[launch].grid
    return (blocks, 1, 1)


def _of_blocks(machine: Machine, workload: AnyWorkload, launch: int, numbers: Integers) -> Workload:
    """A workload of one launch of these blocks alone."""
    if isinstance(workload, StreamedWorkload):
        sample = sample_of(workload.trace, {launch: numbers})
        lowered = lower(sample, machine, places=workload.has_places)
        return lowered.limited(workload.launch_limits[launch : launch + 1], workload.origin)
    blocks = int(workload.launch_blocks[launch]) + numbers
    warps, block_warps = ranges(workload.block_warps[blocks], workload.block_warps[blocks + 1])
    operations, warp_operations = ranges(workload.warp_operations[warps], workload.warp_operations[warps + 1])
    chunks, warp_chunks = ranges(workload.warp_chunks[warps], workload.warp_chunks[warps + 1])
    return gathered(
        workload,
        operations,
        chunks,
        warp_operations=warp_operations,
        warp_chunks=warp_chunks,
        block_warps=block_warps,
        launch_blocks=np.array([0, len(numbers)]),
        launch_limits=workload.launch_limits[launch : launch + 1],
        in_graph=workload.in_graph[launch : launch + 1],
        clusters=workload.clusters[launch : launch + 1],
    )


def _beginnings(workload: Workload, share: float) -> Workload:
    """The first operations of each warp, so many of all; 1 at least."""
    of = Operations(workload)
    counts = np.diff(workload.warp_operations)
    place = np.arange(len(of.warp)) - workload.warp_operations[of.warp]
    left = place < np.maximum(1, (counts * share).astype(np.int64))[of.warp]
    return of.with_lists(workload.kind, workload.amount, left[of.of_chunk], workload.chunks, workload.sectors, left)
