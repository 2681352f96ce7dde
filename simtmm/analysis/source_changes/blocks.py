"""A workload in blocks of another size."""

from dataclasses import replace

import numpy as np

from simtmm.analysis.source_changes.operations import Integers, Operations, count_distinct
from simtmm.analysis.source_changes.reordered import rebuilt
from simtmm.workload import COMPUTE, LISTED, OF_CLASS, PASSES_SHIFT, Workload

OF_A_PASS = 128  # bytes that a core group's memory port passes at once


def merged(of: Operations, times: int, in_a_warp: int, limit: int) -> Workload:
    """Consecutive blocks of a launch as one, so many at a time.

    in_a_warp: blocks whose warps become one, where those do the same: each is of a warp's first lanes alone.
    limit: blocks of a launch that a core group has room for then.
    """
    own = of.workload
    if in_a_warp > 1 and _are_alike(of, in_a_warp):
        own = _in_full_warps(of, in_a_warp)
        times //= in_a_warp
    numbers = np.arange(own.blocks) - np.repeat(own.launch_blocks[:-1], np.diff(own.launch_blocks))
    heads = np.flatnonzero(numbers % times == 0)
    so_many = np.append(0, np.cumsum(numbers % times == 0))
    return replace(
        own,
        block_warps=np.append(own.block_warps[heads], own.block_warps[-1]),
        launch_blocks=so_many[own.launch_blocks],
        launch_limits=np.full(own.launches, limit, np.int64),
        clusters=np.empty(0, np.int64),  # other blocks have other neighbours
    )


def split(of: Operations, times: int, limit: int) -> Workload:
    """Each block as so many, with consecutive warps each. limit: blocks that a core group has room for then."""
    own = of.workload
    block_warps, begins = np.diff(own.block_warps), own.block_warps[:-1]
    piece = np.arange(times)
    ends = begins[:, None] + block_warps[:, None] * piece // times
    return replace(
        own,
        block_warps=np.append(ends.ravel(), own.block_warps[-1]),
        launch_blocks=own.launch_blocks * times,
        launch_limits=np.full(own.launches, limit, np.int64),
        clusters=np.empty(0, np.int64),  # other blocks have other neighbours
    )


def are_alike(of: Operations, times: int) -> bool:
    """Whether all blocks have as many warps, a multiple of so many, and so many in a row do the same operations."""
    own = of.workload
    of_block, counts = np.diff(own.block_warps), np.diff(own.warp_operations)
    if count_distinct(of_block) != 1 or of_block[0] % times:
        return False
    if np.any(counts.reshape(-1, times) != counts[::times, None]):
        return False
    first, place = _first_of(of, times)
    head = own.warp_operations[first] + place
    is_same_place = not len(own.place) or np.array_equal(own.place, own.place[head])
    return bool(np.array_equal(own.kind, own.kind[head]) and is_same_place)


def widened(of: Operations, times: int, limit: int, chunk_bytes: int) -> Workload:
    """So many consecutive warps of a block as one, whose threads take as many neighbouring elements, in vectors.

    A request accesses what those of all these warps did, and a warp does what comes before its first request once.
    Blocks have as many threads as before, so that there are fewer. limit: blocks that a core group has room for.
    """
    own = of.workload
    first, place = _first_of(of, times)
    stands = own.warp_operations[first] + place
    lists = of.listed > 0
    so_far = np.append(0, np.cumsum(lists))
    is_behind = so_far[:-1] > so_far[own.warp_operations[:-1]][of.warp]
    computes = (own.kind == COMPUTE) | (own.kind >= OF_CLASS)
    amount = own.amount.copy()
    np.maximum.at(amount, stands, own.amount)
    sums = np.bincount(stands, weights=np.where(computes, own.amount, 0), minlength=len(stands)).astype(np.int64)
    amount = np.where(computes & is_behind, sums, amount)
    whole = rebuilt(of, np.flatnonzero(stands == np.arange(len(stands))), stands, own.kind, amount)
    whole = replace(
        whole,
        warp_operations=np.append(whole.warp_operations[:-1:times], whole.warp_operations[-1]),
        warp_chunks=np.append(whole.warp_chunks[:-1:times], whole.warp_chunks[-1]),
        block_warps=own.block_warps // times,
    )
    wide = Operations(whole)
    passes = np.maximum(1, -(-wide.listed * chunk_bytes // OF_A_PASS))
    amount = np.where(wide.listed > 0, (whole.amount & LISTED) | (passes - 1 << PASSES_SHIFT), whole.amount)
    return merged(Operations(replace(whole, amount=amount)), times, 1, limit)


def _are_alike(of: Operations, times: int) -> bool:
    """Whether all launches have blocks of one warp, and so many in a row do the same kinds of operations."""
    own = of.workload
    if np.any(np.diff(own.block_warps) != 1) or np.any(np.diff(own.launch_blocks) % times):
        return False
    counts = np.diff(own.warp_operations).reshape(-1, times)
    if np.any(counts != counts[:, :1]):
        return False
    first, place = _first_of(of, times)
    return bool(np.array_equal(own.kind, own.kind[own.warp_operations[first] + place]))


def _in_full_warps(of: Operations, times: int) -> Workload:
    """The first of so many warps does what all of them do, each operation once, and lists what they list."""
    own = of.workload
    first, place = _first_of(of, times)
    stands = own.warp_operations[first] + place
    order = np.flatnonzero(stands == np.arange(len(stands)))
    whole = rebuilt(of, order, stands, own.kind, own.amount)
    return replace(
        whole,
        warp_operations=np.append(whole.warp_operations[:-1:times], whole.warp_operations[-1]),
        warp_chunks=np.append(whole.warp_chunks[:-1:times], whole.warp_chunks[-1]),
        block_warps=np.arange(own.blocks // times + 1),
        launch_blocks=own.launch_blocks // times,
    )


def _first_of(of: Operations, times: int) -> tuple[Integers, Integers]:
    """Of each operation, the first of the warps that its own becomes one with, and its place in its own."""
    begins = of.workload.warp_operations[:-1][of.warp]
    return of.warp // times * times, np.arange(len(of.warp)) - begins
