"""How a workload's operations change if a programmer changes the source at some of its places."""

from dataclasses import replace

import numpy as np

from simtmm.analysis.source_changes.operations import (
    Flags,
    Integers,
    Operations,
    count_distinct,
    firsts,
    gathered,
    packed,
    positions,
    ranges,
)
from simtmm.stalls import CLASSES
from simtmm.workload import BARRIER, COMPUTE, OF_CLASS, PASSES_SHIFT, PAUSE, SHARED, STORE, SYNC, Workload

PADDING = 4  # instructions more that an access compiles to whose index skips a word in each row: 3.8 to 5.0 in a scan
REFINED = 4  # instructions of floats, of which one is left where a reciprocal is not made better
SOON = 4  # cycles until a result of floats is there


def _ranks_among_alike(block: Integers, first: Integers, there: Integers) -> Integers:
    """int64[windows]: how many windows before are of the same block and list as many chunks from the same first one on.

    Such warps share these chunks, of which each then takes others, as the rows of a tile do.
    """
    return positions(packed(block, first, there), in_order=False)


def coalesced(
    of: Operations, chosen: Flags, ideal: int, rows: int, window: int, passes: int, earlier: int = 0
) -> Workload:
    """Consecutive threads access consecutive elements.

    A warp's requests at a place are taken in windows, within which it comes to the elements of a chunk one after
    another. What distinct chunks it lists in a window it lists in turn, `ideal` a request at most, each of them whole.

    chosen: the operations of one place. rows: of a block's threads that a warp has, each of which is in a chunk of its
    own. window: requests of a warp. passes: over the banks, of each request. earlier: places that have been given
    chunks of the same windows: other fields of the structures there, so that this one is given the next chunks. Chunks
    that nobody else lists, and of which some are left out, are numbered anew, side by side.
    """
    own = of.workload
    chosen = chosen & (of.listed > 0)
    numbers = np.flatnonzero(chosen)
    number_of = np.zeros(len(chosen), np.int64)
    position = positions(of.warp[numbers])
    number_of[numbers] = np.unique(packed(of.warp[numbers], position // window), return_inverse=True)[1]
    here = of.chunks_of(chosen)
    if not len(here):
        return own
    windows = number_of[of.of_chunk[here]]
    new = firsts(windows, own.chunks[here])
    distinct = own.chunks[here][new][np.argsort(windows[new], kind="stable")]
    count = int(number_of[numbers].max(initial=-1)) + 1
    requests = np.bincount(number_of[numbers], minlength=count)
    there = np.bincount(windows[new], minlength=count)
    begins = np.cumsum(there) - there
    dealt = np.minimum(there, requests * ideal)  # more would be elements that nobody asks for
    block = np.zeros(count, np.int64)
    block[number_of[numbers]] = of.block[numbers]
    shift = _ranks_among_alike(block, distinct[np.minimum(begins, len(distinct) - 1)], there) * dealt
    turn = positions(number_of[numbers], in_order=False)
    own_window = number_of[numbers]
    begin = turn * dealt[own_window] // requests[own_window]
    end = (turn + 1) * dealt[own_window] // requests[own_window]
    wanted = np.maximum(np.minimum(rows, there[own_window]), end - begin)
    kept = np.ones(len(own.chunks), bool)
    chunks, sectors = own.chunks.copy(), own.sectors.copy()
    within = positions(of.of_chunk[here])  # a chunk's place in its operation's list
    index = np.zeros(len(chosen), np.int64)
    index[numbers] = np.arange(len(numbers))
    request = index[of.of_chunk[here]]
    kept[here] = within < wanted[request]
    of_request = own_window[request]
    taken = begin[request] + within + earlier * ideal + shift[of_request]
    chunks[here] = distinct[begins[of_request] + taken % there[of_request]]
    others = np.ones(len(own.chunks), bool)
    others[here] = False
    left = here[kept[here]]
    are_fewer = count_distinct(chunks[left]) < count_distinct(distinct)
    if are_fewer and not earlier and not np.isin(own.chunks[others], distinct).any():
        chunks[left] = distinct.min() + np.unique(chunks[left], return_inverse=True)[1].reshape(-1)
    if len(sectors):
        sectors[here] = 0
    amount = own.amount.copy()
    amount[numbers] = passes - 1 << PASSES_SHIFT
    return of.with_lists(own.kind, amount, kept, chunks, sectors)


def without_conflicts(of: Operations, chosen: Flags) -> Workload:
    """Shared accesses take the passes that they would take without bank conflicts: a padded or a swizzled tile."""
    amount = of.workload.amount.copy()
    chosen = chosen & (of.workload.kind == SHARED)  # and not what is computed for them
    least = amount[chosen] >> PASSES_SHIFT
    amount[chosen] = 1 + least + (least << PASSES_SHIFT)
    return replace(of.workload, amount=amount)


def padded_by_index(of: Operations, chosen: Flags, latency: int) -> Workload:
    """Likewise where each index has to be computed anew, as i + i / banks: four more instructions an access.

    The first access behind a barrier waits for all, the others meanwhile have theirs computed. latency: cycles until
    an integer instruction's value may be used.
    """
    own = of.workload
    barriers = np.isin(own.kind, (BARRIER, SYNC))
    chosen = chosen & (own.kind == SHARED)
    numbers = np.flatnonzero(chosen)
    interval = np.cumsum(barriers)[numbers] + of.warp[numbers]  # increases within a warp, and from one to the next
    is_first = np.diff(interval, prepend=-1) != 0
    times = np.ones(len(chosen), np.int64)
    times[numbers] = np.where(is_first, 3, 2)
    at = np.repeat(np.arange(len(chosen)), times)
    turn = positions(at)
    left = times[at] - 1 - turn  # before the access itself
    new = left > 0
    kind, amount = own.kind[at], without_conflicts(of, chosen).amount[at]
    kind[new] = np.where(turn[new] == 0, OF_CLASS + CLASSES.index("integer"), PAUSE)
    amount[new] = np.where(turn[new] == 0, PADDING, PADDING * latency)
    return replace(
        own,
        kind=kind,
        amount=amount,
        place=own.place[at] if len(own.place) else own.place,
        warp_operations=np.append(0, np.cumsum(times))[own.warp_operations],
    )


def combined_in_warps(of: Operations, chosen: Flags) -> Workload:
    """The threads of a warp that update one word do so once: each chunk is listed once by a request."""
    own = of.workload
    here = of.chunks_of(chosen)
    kept = np.ones(len(own.chunks), bool)
    kept[here] = firsts(of.of_chunk[here], own.chunks[here])
    return of.with_lists(own.kind, own.amount, kept, own.chunks, own.sectors)


def combined_in_blocks(of: Operations, chosen: Flags) -> Workload:
    """A block updates words of its own in shared memory, and those in global memory once each."""
    return _once_a_block(of, chosen, _most_alike(of, of.chunks_of(chosen)))


def shared_by_blocks(of: Operations, chosen: Flags) -> Workload:
    """A block loads each chunk of a place once, into shared memory; its other requests for it read it there."""
    return _once_a_block(of, chosen, np.ones(len(chosen), np.int64))


def owned_by_blocks(of: Operations, chosen: Flags) -> Workload:
    """A block loads each chunk once into shared memory and stores each once; all else that is chosen happens there."""
    are_stores = of.workload.kind == STORE
    loaded = Operations(_once_a_block(of, chosen & ~are_stores, np.ones(len(chosen), np.int64)))
    return _once_a_block(loaded, chosen & are_stores, np.ones(len(chosen), np.int64))


def in_shared_memory(of: Operations, chosen: Flags) -> Workload:
    """Accesses are of shared memory, without conflicts."""
    own = of.workload
    chosen = chosen & (of.listed > 0)
    kind, amount = own.kind.copy(), own.amount.copy()
    kind[chosen], amount[chosen] = SHARED, 1
    return of.with_lists(kind, amount, ~chosen[of.of_chunk], own.chunks, own.sectors)


def kept_in_registers(of: Operations, chosen: Flags, times: int) -> Workload:
    """Each value that is read is used for `times` as many results.

    One in so many of a warp's reads is left, and of what else is chosen but floating point, which goes into addresses
    and counting; and no barrier, as there are fewer rounds.

    chosen: reads of shared memory, and what is computed at their lines.
    """
    own = of.workload
    reads = chosen & (own.kind == SHARED)
    numbers = np.flatnonzero(reads)
    left = ~np.isin(own.kind, (BARRIER, SYNC))
    left[numbers] = positions(of.warp[numbers]) % times == 0
    counts = chosen & ((own.kind == COMPUTE) | (own.kind == OF_CLASS + CLASSES.index("integer")))
    amount = np.where(counts, -(-own.amount // times), own.amount)
    return of.with_lists(own.kind, amount, left[of.of_chunk], own.chunks, own.sectors, left)


def evened_out(of: Operations, times: dict[int, int]) -> Workload:
    """Blocks cut into so many, each of which has as many warps, with their share of the operations of each.

    Where a warp has fewer operations, its computes are cut, too. times: by block.
    """
    pieces = np.ones(of.workload.blocks, np.int64)
    for block, count in times.items():
        pieces[block] = count
    of = Operations(_with_cut_computes(of, pieces))
    own = of.workload
    blocks = np.repeat(np.arange(own.blocks), pieces)  # of each new block, the one that it is a piece of
    warps, block_warps = ranges(own.block_warps[blocks], own.block_warps[blocks + 1])
    piece = np.repeat(positions(blocks), np.diff(block_warps))
    of_warp = pieces[np.repeat(blocks, np.diff(block_warps))]
    begins, counts = own.warp_operations[warps], np.diff(own.warp_operations)[warps]
    bounds = [begins + counts * bound // of_warp for bound in (piece, piece + 1)]
    operations, warp_operations = ranges(*bounds)
    before = np.append(0, np.cumsum(of.listed))  # chunks
    chunks, warp_chunks = ranges(before[bounds[0]], before[bounds[1]])
    return gathered(
        own,
        operations,
        chunks,
        warp_operations=warp_operations,
        warp_chunks=warp_chunks,
        block_warps=block_warps,
        launch_blocks=np.append(0, np.cumsum(pieces))[own.launch_blocks],
    )


def _with_cut_computes(of: Operations, pieces: Integers) -> Workload:
    """Computes of warps with fewer operations than pieces as several, one for each piece of their block.

    pieces: int64[blocks].
    """
    own = of.workload
    wanted, of_warp = pieces[of.block], np.diff(own.warp_operations)[of.warp]
    computes = (own.kind == COMPUTE) | (own.kind >= OF_CLASS)
    cut = computes & (wanted > 1) & (of_warp < wanted)
    if not cut.any():
        return own
    times = np.where(cut, np.clip(own.amount, 1, wanted), 1)
    numbers = np.repeat(np.arange(len(times)), times)
    turn = np.arange(len(numbers)) - np.repeat(np.cumsum(times) - times, times)
    amount = own.amount[numbers] // times[numbers] + (turn < own.amount[numbers] % times[numbers])
    amount = np.where(cut[numbers], amount, own.amount[numbers])
    return replace(
        own,
        kind=own.kind[numbers],
        amount=amount,
        place=own.place[numbers] if len(own.place) else own.place,
        warp_operations=np.append(0, np.cumsum(times))[own.warp_operations],
    )


def in_floats(of: Operations, chosen: Flags) -> Workload:
    """Instructions of doubles are of floats, whose results are there soon; conversions, which are special, are gone."""
    own = of.workload
    kind = own.kind.copy()
    amount = np.where(chosen & (kind == PAUSE), np.minimum(own.amount, SOON), own.amount)
    kind[chosen & (kind == OF_CLASS + CLASSES.index("fp64"))] = OF_CLASS + CLASSES.index("fp32")
    left = ~(chosen & (kind == OF_CLASS + CLASSES.index("special")))
    return of.with_lists(kind, amount, left[of.of_chunk], own.chunks, own.sectors, left)


def with_fewer_instructions(of: Operations, chosen: Flags, times: int) -> Workload:
    """Of chosen instructions one in so many, some of each operation, with their stalls; none that is special."""
    own = of.workload
    computes = chosen & ((own.kind == COMPUTE) | (own.kind >= OF_CLASS) | (own.kind == PAUSE))
    amount = np.where(computes, -(-own.amount // times), own.amount)
    left = ~(computes & (own.kind == OF_CLASS + CLASSES.index("special")))
    return of.with_lists(own.kind, amount, left[of.of_chunk], own.chunks, own.sectors, left)


def in_fast_divisions(of: Operations, chosen: Flags) -> Workload:
    """Quotients are products with a reciprocal, which is neither made better nor checked before, without a branch."""
    own = of.workload
    amount = own.amount.copy()
    for name, times in (("special", 2), ("fp32", REFINED)):
        there = chosen & (own.kind == OF_CLASS + CLASSES.index(name)) & (own.amount >= times)
        amount[there] = -(-amount[there] // times)
    left = ~(chosen & (own.kind == COMPUTE))
    return of.with_lists(own.kind, amount, left[of.of_chunk], own.chunks, own.sectors, left)


def without_pauses(of: Operations, chosen: Flags) -> Workload:
    """No instruction waits for the result of one before: others are issued meanwhile."""
    own = of.workload
    left = ~(chosen & (own.kind == PAUSE))
    return of.with_lists(own.kind, own.amount, left[of.of_chunk], own.chunks, own.sectors, left)


def _once_a_block(of: Operations, chosen: Flags, passes: Integers) -> Workload:
    """Of chosen operations a block lists each chunk once; those that list none any more access shared memory.

    passes: of each operation, where it does.
    """
    own = of.workload
    here = of.chunks_of(chosen)
    kept = np.ones(len(own.chunks), bool)
    kept[here] = firsts(of.block[of.of_chunk[here]], own.chunks[here])
    left = np.bincount(of.of_chunk[kept], minlength=len(chosen))
    in_shared = chosen & (left == 0)
    kind, amount = own.kind.copy(), own.amount.copy()
    kind[in_shared], amount[in_shared] = SHARED, passes[in_shared]
    return of.with_lists(kind, amount, kept, own.chunks, own.sectors)


def _most_alike(of: Operations, here: Integers) -> Integers:
    """int64[operations]: how often the chunk that an operation lists most often is listed there; 1 at least."""
    found = np.ones(len(of.listed), np.int64)
    operation = of.of_chunk[here]
    _, at, times = np.unique(packed(operation, of.workload.chunks[here]), return_index=True, return_counts=True)
    np.maximum.at(found, operation[at], times)
    return found
