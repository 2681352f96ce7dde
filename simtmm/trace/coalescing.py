"""Coalescing of half-warps by segments: the rule of GPUs of compute capability 1.2 and 1.3, such as the GTX 280.

The threads of a half-warp that access global memory at once are served by transactions, one after another:

1. The thread with the lowest number that still waits leads. The segment that its address lies in is taken: of 32
   bytes where it accesses 1 byte, of 64 bytes where 2, of 128 bytes otherwise. Segments begin at multiples of their
   size.
2. All waiting threads whose addresses lie in that segment are served with it.
3. Where only one half of a segment of 128 bytes is used it shrinks to that half, and likewise one of 64 bytes, also
   one that has just shrunk.

Source: Rehman, thesis (2010), section 6.2.1, which takes accesses to be aligned. Here one that reaches beyond its
segment is served in part, and waits on with its address at the segment's end.

A machine lowers by this rule with memory.coalescing = "half-warp-segments" (docs/machine.md, section 9).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simtmm.errors import WorkloadError, shown
from simtmm.machine.tables.memory import LARGEST_SEGMENT
from simtmm.native import Loop

HALF_WARP = 16  # threads that are coalesced together, whatever the width of a warp
SMALLEST_SEGMENT = 32  # bytes

Integers = npt.NDArray[np.int64]


class Transaction(NamedTuple):
    """One transfer of a half-warp: where its segment begins, after shrinking, and the segment's bytes."""

    address: int
    bytes: int


@dataclass(frozen=True)
class Traffic:
    """What many accesses move.

    bytes_moved: of all transactions. useful_bytes: of these, the bytes that threads requested, a byte once in a
    transaction however many threads ask for it.
    """

    transactions: int
    bytes_moved: int
    useful_bytes: int


@dataclass(frozen=True, eq=False)
class Transfers:
    """The transactions of many half-warps, in order: int64 arrays of one length, and `counts`, int64[half-warps]."""

    addresses: Integers
    bytes: Integers
    useful: Integers
    counts: Integers


def transactions(addresses: Sequence[int], sizes: int | Sequence[int] = 4) -> list[Transaction]:
    """The transactions that serve one half-warp, in order.

    addresses: byte addresses of its active threads, by rising thread number, at most 16. sizes: bytes that each
    accesses. Raises WorkloadError.
    """
    where = _whole("addresses", addresses, least=0)
    if where.ndim != 1 or len(where) > HALF_WARP:
        raise WorkloadError(f"coalescing: {where.size} addresses: a half-warp has at most {HALF_WARP} threads")
    found = coalesce(where, _sizes(sizes, where), np.array([len(where)], dtype=np.int64))
    return [Transaction(*pair) for pair in zip(found.addresses.tolist(), found.bytes.tolist(), strict=True)]


def traffic(addresses: npt.ArrayLike, sizes: npt.ArrayLike = 4, active: npt.NDArray[np.bool_] | None = None) -> Traffic:
    """What instructions of whole warps move.

    addresses: byte addresses, whole[..., threads]: the last axis is the threads of a warp, 16 of them to a half-warp
    from the first on. sizes: bytes of each access; active: which threads take part, all if left out; both broadcast
    to the addresses. Raises WorkloadError.
    """
    where = np.atleast_1d(_whole("addresses", addresses, least=0))
    size = _sizes(sizes, where)
    taking_part = np.broadcast_to(np.True_ if active is None else active, where.shape)
    warps, threads = where.size // max(1, where.shape[-1]), where.shape[-1]
    halves = -(-threads // HALF_WARP)
    half_warp = (np.arange(warps)[:, None] * halves + np.arange(threads) // HALF_WARP).reshape(where.shape)
    ends = np.cumsum(np.bincount(half_warp[taking_part], minlength=warps * halves), dtype=np.int64)
    found = coalesce(where[taking_part], size[taking_part], ends)
    return Traffic(len(found.addresses), int(found.bytes.sum()), int(found.useful.sum()))


def coalesce(addresses: Integers, sizes: Integers, ends: Integers) -> Transfers:
    """The transactions of half-warps.

    addresses, sizes: int64[accesses], bytes, those of each half-warp together by rising thread number; sizes are at
    least 1. ends: int64[half-warps], the accesses up to and with that half-warp's. Half-warps may be empty. Raises
    WorkloadError for an access that ends beyond 2^63.
    """
    where, size = (np.ascontiguousarray(array, np.int64).view() for array in (addresses, sizes))
    where.flags.writeable = size.flags.writeable = False  # so that both may be one array
    beyond = where + size + LARGEST_SEGMENT < where  # a sum that has gone over
    if beyond.any():
        raise WorkloadError(f"coalescing: address {int(where[beyond][0])}: must be below 2^63, its segment included")
    # However other threads' segments cut it, each part of an access but the last ends at a multiple of 32 bytes.
    most = int(((size + SMALLEST_SEGMENT - 2) // SMALLEST_SEGMENT + 1).sum())
    begin, length, useful = (np.empty(most, dtype=np.int64) for _ in range(3))
    counts = np.empty(len(ends), dtype=np.int64)
    left = np.empty((int(np.diff(ends, prepend=0).max(initial=0)), 2), np.int64)
    requested = np.full(LARGEST_SEGMENT, -1, np.int64)
    served = _Served(begin, length, useful, counts)
    transactions = _serve(where, size, np.ascontiguousarray(ends), left, requested, served)
    return Transfers(begin[:transactions].copy(), length[:transactions].copy(), useful[:transactions].copy(), counts)


class _Served(NamedTuple):
    """What is filled: of each transaction, and of each half-warp how many it has."""

    begin: Integers
    bytes: Integers
    useful: Integers
    counts: Integers


@Loop
def _serve(addresses, sizes, ends, left, requested, served):  # type: ignore[no-untyped-def]  # noqa: C901 - a compiled loop: a transaction of a half-warp after another
    """Fill what is served; the number of transactions.

    left: int64[threads, 2], for the time of the call: of each thread the first byte that it still waits for, and the
    end of its access. requested: int64[LARGEST_SEGMENT], of each byte the last transaction that requested it; -1.
    """
    transactions = 0
    first = 0
    for group in range(len(ends)):
        threads = ends[group] - first
        for thread in range(threads):
            left[thread, 0] = addresses[first + thread]
            left[thread, 1] = left[thread, 0] + sizes[first + thread]
        before = transactions
        leader = 0
        while True:
            while leader < threads and left[leader, 0] == left[leader, 1]:
                leader += 1
            if leader == threads:
                break
            size = sizes[first + leader]
            length = SMALLEST_SEGMENT if size == 1 else 2 * SMALLEST_SEGMENT if size == 2 else LARGEST_SEGMENT
            base = left[leader, 0] // length * length
            low = base + length
            high = base
            served.useful[transactions] = 0
            for thread in range(leader, threads):
                if left[thread, 0] == left[thread, 1] or left[thread, 0] < base or left[thread, 0] >= base + length:
                    continue
                last = min(left[thread, 1], base + length)
                low = min(low, left[thread, 0])
                high = max(high, last)
                for byte in range(left[thread, 0] - base, last - base):
                    if requested[byte] != transactions:
                        requested[byte] = transactions
                        served.useful[transactions] += 1
                left[thread, 0] = last
            while length > SMALLEST_SEGMENT:
                half = length // 2
                if low >= base + half:
                    base += half
                elif high > base + half:
                    break
                length = half
            served.begin[transactions] = base
            served.bytes[transactions] = length
            transactions += 1
        served.counts[group] = transactions - before
        first = ends[group]
    return transactions


def _sizes(sizes: npt.ArrayLike, addresses: Integers) -> Integers:
    try:
        return np.broadcast_to(_whole("sizes", sizes, least=1), addresses.shape)
    except ValueError:
        raise WorkloadError(
            f"coalescing: sizes of shape {np.shape(sizes)}: must be one, or one for each of {addresses.shape} addresses"
        ) from None


def _whole(what: str, values: npt.ArrayLike, least: int) -> Integers:
    given = np.asarray(values)
    if given.size == 0:
        return given.astype(np.int64)
    if given.dtype.kind not in "iu" or int(given.min()) < least or int(given.max()) > np.iinfo(np.int64).max:
        raise WorkloadError(
            f"coalescing: {what} {shown(values)}: must be whole numbers of at least {least} and below 2^63"
        )
    return given.astype(np.int64)
