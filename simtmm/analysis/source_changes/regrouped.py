"""Operations in another order, or fewer of them: what waits for accesses waits for the same ones as before."""

from dataclasses import replace

import numpy as np

from simtmm.analysis.source_changes.operations import (
    Flags,
    Integers,
    Operations,
    count_distinct,
    gathered,
    packed,
    positions,
    ranges,
)
from simtmm.analysis.source_changes.reordered import before, begins, rebuilt, running
from simtmm.workload import (
    ASYNC,
    BARRIER,
    COMPUTE,
    COPY,
    DRAIN,
    JOIN,
    MBARRIER,
    OF_CLASS,
    PASSES_SHIFT,
    PAUSE,
    PRODUCT,
    REMOTE,
    SHARED,
    STORE_GROUP,
    SYNC,
    Workload,
)

MOST_LOOKED_AT = 4096  # requests
ADJACENT = 1.3  # times the chunks
_BARRIERS = (BARRIER, SYNC)
_ON_SHARED_MEMORY = (SHARED, PRODUCT, MBARRIER, STORE_GROUP, DRAIN, REMOTE)  # besides copies, which list chunks
_OF_CLUSTERS = ("barrier.cluster", "UCGABAR")  # instructions


def vectorized(of: Operations, chosen: Flags, times: int, once_in: Integers | None = None) -> Workload:
    """So many of a warp's requests in a row become one, which lists the chunks of all of them, each once.

    A vector of shared memory takes the passes of the slowest of its parts. once_in: int64[operations], numbers of
    groups of warps, such as blocks, that share chunks of which each then has some to itself.
    """
    if once_in is not None and times > 1:
        of = _dealt(of, chosen, times, once_in)
    own = of.workload
    numbers = np.flatnonzero(chosen)
    turn = positions(of.warp[numbers])
    heads = numbers[np.maximum.accumulate(np.where(turn % times == 0, np.arange(len(numbers)), 0))]
    stands = np.arange(len(chosen))
    stands[numbers] = heads
    amount = own.amount.copy()
    if (own.kind[numbers] == SHARED).any():
        np.maximum.at(amount, heads, own.amount[numbers])
    else:
        passes = np.zeros(len(chosen), np.int64)
        np.add.at(passes, heads, (own.amount[numbers] >> PASSES_SHIFT) + 1)
        amount[heads] = passes[heads] - 1 << PASSES_SHIFT  # how many it lists is counted anew
    return rebuilt(of, np.flatnonzero(stands == np.arange(len(stands))), stands, own.kind, amount)


def _dealt(of: Operations, chosen: Flags, times: int, groups: Integers) -> Operations:
    """Where several warps of a group list a chunk, as each accesses a part of it, it stays in up to `times` of these
    lists fewer: with vectors one warp accesses what so many did.
    """
    own = of.workload
    here = of.chunks_of(chosen)
    keys = packed(groups[of.of_chunk[here]], own.chunks[here])
    _, key, counts = np.unique(keys, return_inverse=True, return_counts=True)
    sharing = np.minimum(times, counts)[key]
    kept = np.ones(len(own.chunks), bool)
    kept[here] = positions(keys, in_order=False) % sharing == own.chunks[here] % sharing
    return Operations(of.with_lists(own.kind, own.amount, kept, own.chunks, own.sectors))


def are_adjacent(of: Operations, chosen: Flags, times: int) -> bool:
    """Whether so many requests of a warp in a row list the chunks that one lists, about: each thread walks along them.

    Adjacent chunks are no sign: rows of a small matrix that a warp goes down lie side by side, too.
    """
    numbers = np.flatnonzero(chosen)
    numbers = numbers[of.listed[numbers] > 0][:MOST_LOOKED_AT]
    if len(numbers) < times:
        return False
    of_warp = of.warp[numbers]
    request = np.zeros(len(chosen), np.int64)
    request[numbers] = np.arange(len(numbers))
    group = request.copy()
    group[numbers] = of_warp * len(numbers) + positions(of_warp) // times
    looked_at = np.zeros(len(chosen), bool)
    looked_at[numbers] = True
    here = of.chunks_of(looked_at)
    chunks = []
    for key in (request, group):
        keys = key[of.of_chunk[here]]
        chunks.append(count_distinct(packed(keys, of.workload.chunks[here])) / count_distinct(keys))
    return bool(chunks[1] <= ADJACENT * chunks[0])


def in_registers(of: Operations, chosen: Flags) -> Workload:
    """What loads or stores becomes an instruction: what it accesses is in a register, or in constant memory's cache."""
    own, numbers = of.workload, np.flatnonzero(chosen & (of.listed > 0))
    kind, amount = own.kind.copy(), own.amount.copy()
    kind[numbers], amount[numbers] = COMPUTE, 1
    stands = np.arange(len(chosen))
    stands[numbers] = -1
    return rebuilt(of, np.arange(len(chosen)), stands, kind, amount)


def from_constants(of: Operations, chosen: Flags, passes: Integers) -> Workload:
    """Loads of constants are reads of shared memory. passes: over the banks, by how many words a load reads."""
    own = of.workload
    reads = chosen & (own.kind == COMPUTE)
    kind, amount = own.kind.copy(), own.amount.copy()
    kind[reads], amount[reads] = SHARED, passes[np.minimum(own.amount[reads], len(passes) - 1)]
    return rebuilt(of, np.arange(len(chosen)), np.arange(len(chosen)), kind, amount)


def left_out(of: Operations, chosen: Flags) -> Workload:
    """Without these, nor the pauses beside them, as what they store and load stays in registers."""
    beside = chosen.copy()
    beside[1:] |= chosen[:-1]
    beside[:-1] |= chosen[1:]
    chosen = chosen | (beside & (of.workload.kind == PAUSE))
    stands = np.where(chosen, -1, np.arange(len(chosen)))
    return rebuilt(of, np.flatnonzero(~chosen), stands, of.workload.kind, of.workload.amount)


def with_part(of: Operations, chosen: Flags, part: float) -> Workload:
    """Of what is chosen a warp does this part: of long computes at a place, and of how often it comes to others.

    part: above 0, at most 1.
    """
    own = of.workload
    computes = chosen & ((own.kind == COMPUTE) | (own.kind >= OF_CLASS) | (own.kind == PAUSE))
    is_long = computes & (own.amount * part >= 1)
    amount = np.where(is_long, np.ceil(own.amount * part).astype(np.int64), own.amount)
    numbers = np.flatnonzero((computes & ~is_long) | (chosen & ((own.kind == SHARED) | (of.listed > 0))))
    place = own.place if len(own.place) else own.kind  # of a workload by hand
    turn = positions(packed(of.warp[numbers], place[numbers].astype(np.int64)), in_order=False)
    gone = np.zeros(len(chosen), bool)
    gone[numbers] = np.ceil((turn + 1) * part) <= np.ceil(turn * part)
    stands = np.where(gone, -1, np.arange(len(chosen)))
    return rebuilt(of, np.flatnonzero(~gone), stands, own.kind, amount)


def updated_once(of: Operations, chosen: Flags, rounds: float) -> Workload:
    """A warp updates words of shared memory in one pass, and without going round for it.

    chosen: all that is done at the line. rounds: of a warp, now.
    """
    amount = of.workload.amount.copy()
    amount[chosen & (of.workload.kind == SHARED)] = 1
    changed = replace(of.workload, amount=amount)
    loads = of.listed > 0  # of what is added, which stay
    return with_part(Operations(changed), chosen & ~loads, 1 / rounds)


def _waited_for(of: Operations, moved: Flags) -> tuple[Integers, Integers]:
    """int64[operations] each: of a warp's chosen asyncs, those that it has waited for so far, and of all its asyncs
    those that an operation waits for.
    """
    own = of.workload
    every = before(of, own.kind == ASYNC)
    taken = np.where(own.kind == JOIN, np.maximum(0, every - np.minimum(own.amount, every)), 0)
    index = np.append(0, np.cumsum(moved[own.kind == ASYNC]))  # by the asyncs of all warps
    first = np.append(0, np.cumsum(own.kind == ASYNC))[own.warp_operations[:-1]][of.warp]
    return running(of, index[first + taken] - index[first]), taken


def are_chained(of: Operations, chosen: Flags) -> float:
    """The part of chosen asyncs behind a warp's first before which the warp waits for all the chosen ones before,
    and with no other async between.
    """
    moved = chosen & (of.workload.kind == ASYNC)
    numbers = np.flatnonzero(moved)
    later = np.flatnonzero(np.diff(of.warp[numbers]) == 0) + 1  # by those chosen: those behind one of their warp
    if not len(later):
        return 0.0
    every, (so_far, _) = before(of, of.workload.kind == ASYNC), _waited_for(of, moved)
    here, last = numbers[later], numbers[later - 1]
    return float(np.mean((so_far[here] >= before(of, moved)[here]) & (every[here] - every[last] == 1)))


def loaded_ahead(of: Operations, chosen: Flags) -> Workload:
    """Asyncs are issued right behind the wait for those before them at their place, a round of a loop earlier.

    Those stay where they are behind which another load is waited for, which their addresses may depend on.
    """
    own = of.workload
    moved = chosen & (own.kind == ASYNC)
    mine, so_far, taken = before(of, moved), *_waited_for(of, moved)
    until = np.where(begins(of), 0, np.roll(so_far, 1))
    waits = (own.kind == JOIN) & (so_far > until)
    others = (own.kind == JOIN) & ~waits & (taken > 0)
    place = np.arange(len(chosen))
    latest_wait = np.maximum.accumulate(np.where(waits, place, -1))
    latest_other = np.maximum.accumulate(np.where(others, place, -1))
    can = moved & (latest_wait >= own.warp_operations[:-1][of.warp]) & (latest_other < latest_wait) & (mine > 0)
    order = np.argsort(np.where(can, 2 * latest_wait + 1, 2 * place), kind="stable")
    return rebuilt(of, order, place, own.kind, own.amount)


def compacted(of: Operations, chosen: Flags, part: float) -> Workload:
    """Of a block's warps as many do what is chosen as would be full; the others nothing until the next barrier.

    Without barriers each does its part: of several branches, one. part: of the lanes of a warp that take part now.
    """
    own = of.workload
    if not np.isin(own.kind, _BARRIERS).any():
        return with_part(of, chosen & (of.listed == 0), part)
    warps = np.diff(own.block_warps)
    rank = np.arange(own.warps) - np.repeat(own.block_warps[:-1], warps)
    so_many = np.floor(np.cumsum(part * warps) + 1e-9)  # of all blocks so far: some have one more than others
    busy = np.maximum(1, np.diff(so_many, prepend=0)).astype(np.int64)
    interval = before(of, np.isin(own.kind, _BARRIERS))
    of_warp = packed(of.warp, interval)
    there = np.isin(of_warp, of_warp[chosen])
    computes = (own.kind == COMPUTE) | (own.kind == SHARED) | (own.kind >= OF_CLASS)
    dropped = there & computes & (rank[of.warp] >= busy[of.block])
    stands = np.where(dropped, -1, np.arange(len(chosen)))
    return rebuilt(of, np.flatnonzero(~dropped), stands, own.kind, own.amount)


def coarsened(of: Operations, times: int) -> Workload:
    """A block does what so many did up to their first barriers, and what comes behind these once."""
    own = of.workload
    is_barrier = np.isin(own.kind, _BARRIERS)
    place = np.arange(len(own.kind))
    ends = own.warp_operations[1:].copy()
    np.minimum.at(ends, of.warp[is_barrier], place[is_barrier])
    in_launch = np.arange(own.blocks) - np.repeat(own.launch_blocks[:-1], np.diff(own.launch_blocks))
    is_head = in_launch % times == 0
    head = np.maximum.accumulate(np.where(is_head, np.arange(own.blocks), 0))
    warps, block_warps = ranges(own.block_warps[:-1][is_head], own.block_warps[1:][is_head])
    # Each warp of a head has the beginnings of its own rank's warps in the group, and then its own rest.
    rank = np.arange(own.warps) - np.repeat(own.block_warps[:-1], np.diff(own.block_warps))
    block = np.repeat(np.arange(own.blocks), np.diff(own.block_warps))
    goes_to = own.block_warps[head[block]] + rank
    begins = np.concatenate([own.warp_operations[:-1], ends[warps]])
    stops = np.concatenate([ends, own.warp_operations[1:][warps]])
    target = np.concatenate([goes_to, warps])
    is_rest = np.concatenate([np.zeros(own.warps, np.int64), np.ones(len(warps), np.int64)])
    order = np.lexsort((np.arange(len(target)), is_rest, target))
    operations, offsets = ranges(begins[order], stops[order])
    listed = np.append(0, np.cumsum(of.listed))
    chunks, chunk_offsets = ranges(listed[begins[order]], listed[stops[order]])
    last = np.append(np.flatnonzero(np.diff(target[order])) + 1, len(order))  # pieces before which warps end
    heads = np.append(0, np.cumsum(is_head))
    return gathered(
        own, operations, chunks,
        warp_operations=np.append(0, offsets[last]),
        warp_chunks=np.append(0, chunk_offsets[last]),
        block_warps=block_warps,
        launch_blocks=heads[own.launch_blocks],
    )  # fmt: skip


def barriers_of_blocks(of: Operations) -> Flags:
    """bool[operations]: barriers that order nothing but what threads of one block do: no block of a cluster reaches the
    shared memory of another there, or waits for it.
    """
    own = of.workload
    is_barrier: Flags = np.isin(own.kind, _BARRIERS)
    clusters = np.repeat([own.cluster_of(launch) for launch in range(own.launches)], np.diff(own.launch_blocks))
    is_barrier &= (clusters == 1)[of.block]
    if own.has_places and own.places is not None:
        ours = [not site.instruction.startswith(_OF_CLUSTERS) for site in own.places.sites]
        is_barrier &= np.repeat(np.array(ours, bool), len(own.places.arrays))[own.place]
    return is_barrier


def lonely_barriers(of: Operations) -> Flags:
    """bool[operations]: barriers before and behind which one warp of its block, at most, accesses shared memory.

    It does so before or behind each of them.
    """
    own = of.workload
    is_barrier = np.isin(own.kind, _BARRIERS)
    warps, key, _ = _working(of, is_barrier)
    found: Flags = (
        barriers_of_blocks(of) & (warps[key] <= 1) & (warps[key + 1] <= 1) & (warps[key] + warps[key + 1] > 0)
    )
    return found


def idle_barriers(of: Operations) -> Flags:
    """bool[operations]: barriers behind which no warp of its block accesses memory before the next one, or its end."""
    own = of.workload
    is_barrier = np.isin(own.kind, _BARRIERS)
    interval = before(of, is_barrier)
    key = of.block * (int(interval.max(initial=0)) + 2) + interval
    accesses = np.isin(own.kind, _ON_SHARED_MEMORY) | (of.listed > 0)
    works = np.bincount(key[accesses], minlength=int(key.max(initial=0)) + 2)
    found: Flags = barriers_of_blocks(of) & (works[key + 1] == 0)
    return found


def without_idle_barriers(of: Operations) -> Workload:
    """Without these, nor the pauses behind them."""
    gone = idle_barriers(of)
    gone[1:] |= gone[:-1] & (of.workload.kind[1:] == PAUSE)
    own = of.workload
    return rebuilt(of, np.flatnonzero(~gone), np.where(gone, -1, np.arange(len(gone))), own.kind, own.amount)


def left_alone(of: Operations) -> Workload:
    """Between barriers where one warp works it goes on without them, and the others have nothing to do."""
    own = of.workload
    is_barrier = np.isin(own.kind, _BARRIERS)
    lonely = lonely_barriers(of)
    warps, key, works = _working(of, is_barrier)
    of_interval = np.zeros(len(warps), bool)  # before or behind a barrier that goes
    of_interval[key[lonely]] = of_interval[key[lonely] + 1] = True
    of_interval &= warps == 1
    idle = of_interval[key] & ~works & ~is_barrier & ((own.kind == COMPUTE) | (own.kind >= OF_CLASS))
    pauses = np.zeros(len(lonely), bool)
    pauses[1:] = lonely[:-1] & (own.kind[1:] == PAUSE)
    gone = lonely | pauses | idle
    return rebuilt(of, np.flatnonzero(~gone), np.where(gone, -1, np.arange(len(gone))), own.kind, own.amount)


def _working(of: Operations, is_barrier: Flags) -> tuple[Integers, Integers, Flags]:
    """Of each interval between barriers of each block, how many warps access shared memory there; of each operation,
    its interval; and whether its warp is one of these.
    """
    own = of.workload
    interval = before(of, is_barrier)
    most = int(interval.max(initial=0)) + 2
    key = of.block * most + interval
    shared = np.isin(own.kind, _ON_SHARED_MEMORY) | (own.kind == COPY)
    of_warp = of.warp * most + interval
    _, at = np.unique(packed(key[shared], of_warp[shared]), return_index=True)
    warps: Integers = np.bincount(key[shared][at], minlength=int(own.blocks) * most + 1)
    works: Flags = np.isin(of_warp, of_warp[shared])
    return warps, key, works


def behind_first_barrier(of: Operations) -> Flags:
    """bool[operations]: those behind the first barrier of their warp."""
    found: Flags = before(of, np.isin(of.workload.kind, _BARRIERS)) > 0
    return found
