"""A workload of some of its operations, in another order: what waits for accesses waits for the same ones as before."""

from dataclasses import replace

import numpy as np

from simtmm.analysis.source_changes.operations import Flags, Integers, Operations, firsts, packed, positions
from simtmm.workload import (
    ASYNC,
    ATOMIC,
    BARRIER,
    GRID_BARRIER,
    JOIN,
    LARGEST,
    MOST_UNSETTLED,
    PASSES_SHIFT,
    REDUCE,
    SETTLE,
    SHARED,
    STORE,
    SYNC,
    Workload,
)

_FENCES = (ATOMIC, BARRIER, GRID_BARRIER, REDUCE, STORE, SYNC)
_WAITS = ((JOIN, ASYNC), (SETTLE, SHARED))  # that wait for all accesses of a kind but the latest, as many as they say


def begins(of: Operations) -> Flags:
    """bool[operations]: the first of each warp."""
    found = np.zeros(len(of.warp), bool)
    first = of.workload.warp_operations[:-1]
    found[first[first < of.workload.warp_operations[1:]]] = True
    return found


def before(of: Operations, which: Flags) -> Integers:
    """int64[operations]: how many such operations its warp has before each."""
    counts = np.append(0, np.cumsum(which))
    found: Integers = counts[:-1] - counts[of.workload.warp_operations[:-1]][of.warp]
    return found


def running(of: Operations, values: Integers) -> Integers:
    """int64[operations]: the largest value of its warp so far; values are at least 0."""
    step = int(values.max(initial=0)) + 1
    found: Integers = np.maximum.accumulate(values + of.warp * step) - of.warp * step
    return found


def rebuilt(of: Operations, order: Integers, stands: Integers, kind: np.ndarray, amount: Integers) -> Workload:
    """The workload of some operations in an order, in which no warp's pass another's.

    stands: of each operation, the one that does what it did, with what it listed; -1 for none, whose chunks are gone.
    kind, amount: of each; of what lists chunks, without how many.
    """
    own = of.workload
    at = np.full(len(own.kind), -1, np.int64)
    at[order] = np.arange(len(order))
    counts = np.bincount(of.warp[order], minlength=own.warps)
    warp_operations = np.append(0, np.cumsum(counts))
    kept = amount.copy()
    for wait, access in _WAITS:
        _wait_for_the_same(of, order, stands, at, kept, wait, access, kind)
    goes = np.where(stands >= 0, at[stands], -1)  # to which place, by operation; and by chunk, which are far more
    target = np.repeat(goes, of.listed)
    chunks = np.flatnonzero(target >= 0)
    target = target[chunks]
    merges = np.zeros(len(order), bool)  # places that list what several operations did
    merges[goes[(goes >= 0) & (stands != np.arange(len(stands))) & (of.listed > 0)]] = True
    touched = np.flatnonzero(merges[target])
    if len(touched):
        once = np.ones(len(chunks), bool)
        once[touched] = firsts(target[touched], own.chunks[chunks[touched]])
        chunks, target = chunks[once], target[once]
    if (target[1:] < target[:-1]).any():
        by_place = np.argsort(target, kind="stable")
        chunks, target = chunks[by_place], target[by_place]
    listed = np.bincount(target, minlength=len(order))
    sectors = own.sectors[chunks] if len(own.sectors) else own.sectors
    if len(sectors):
        sectors = np.where(merges[target], 0, sectors).astype(own.sectors.dtype)  # of merged ones all
    new_kind, new_amount = kind[order], kept[order]
    lists = listed > 0
    new_amount = np.where(lists, (new_amount >> PASSES_SHIFT << PASSES_SHIFT) | listed, new_amount)
    return replace(
        own,
        kind=np.ascontiguousarray(new_kind, np.uint8),
        amount=np.ascontiguousarray(new_amount, np.int64),
        place=np.ascontiguousarray(own.place[order]) if len(own.place) else own.place,
        chunks=np.ascontiguousarray(own.chunks[chunks]),
        sectors=np.ascontiguousarray(sectors),
        warp_operations=warp_operations,
        warp_chunks=np.append(0, np.cumsum(listed))[warp_operations],
    )


def _wait_for_the_same(
    of: Operations, order: Integers, stands: Integers, at: Integers, amount: Integers, wait: int, access: int,
    kind: np.ndarray,
) -> None:  # fmt: skip
    """Have operations that wait for accesses, but so many of the latest, wait for the same accesses as before."""
    own = of.workload
    waits = np.flatnonzero(own.kind == wait)
    accesses = np.flatnonzero(own.kind == access)
    if not len(waits):
        return
    so_far = before(of, own.kind == access)[waits]
    taken = so_far - np.minimum(own.amount[waits], so_far)
    is_access = kind[order] == access
    so_many = np.append(0, np.cumsum(is_access))
    first = np.append(0, np.cumsum(np.bincount(of.warp[order], minlength=own.warps)))[:-1]
    warp = of.warp[accesses]
    target = stands[accesses]
    place = np.where(target >= 0, so_many[at[target] + 1] - so_many[first[warp]], 0)
    place = np.where((target >= 0) & (kind[target] == access), place, 0)  # among those of its warp, from 1 on
    step = int(place.max(initial=0)) + 1
    latest = np.append(0, np.maximum.accumulate(place + warp * step) - warp * step)
    begin = np.searchsorted(warp, of.warp[waits])  # the first access of the warp
    needed = np.where(taken > 0, latest[begin + taken], 0)
    moved = at[waits]
    here = so_many[np.maximum(moved, 0)] - so_many[first[of.warp[waits]]]
    left = np.where(needed > 0, np.maximum(0, here - needed), np.minimum(LARGEST, np.maximum(here, own.amount[waits])))
    amount[waits] = np.minimum(left, MOST_UNSETTLED) if wait == SETTLE else left


def issued_together(of: Operations, chosen: Flags, times: int) -> Workload:
    """Of chosen asyncs so many of a warp at a place are issued where the first of them is, as an unrolled loop does.

    None passes a store, an update or a barrier.
    """
    own, numbers = of.workload, np.flatnonzero(chosen)
    interval = before(of, np.isin(own.kind, _FENCES))[numbers]
    place = own.place[numbers].astype(np.int64)
    key = packed(of.warp[numbers], interval, place)
    sorted_by = np.lexsort((numbers, key))
    turn = positions(key[sorted_by])
    heads = numbers[sorted_by[np.arange(len(numbers)) - turn % times]]
    at = np.arange(len(chosen))
    at[numbers[sorted_by]] = heads
    return rebuilt(of, np.argsort(at, kind="stable"), np.arange(len(chosen)), own.kind, own.amount)
