"""A workload operation by operation: what each lists, in which warp and block it is, and where it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.workload import COPY, LARGEST, LISTED, LOAD, Workload

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Operations:
    """Of a workload that is held. Arrays have an element for each operation, but where they say otherwise."""

    workload: Workload

    @cached_property
    def listed(self) -> Integers:
        """int64: how many chunks each lists."""
        kind = self.workload.kind
        return np.where((kind >= LOAD) & (kind <= COPY), self.workload.amount & LISTED, 0)

    @cached_property
    def warp(self) -> Integers:
        """int64: its warp."""
        return np.repeat(np.arange(self.workload.warps), np.diff(self.workload.warp_operations))

    @cached_property
    def block(self) -> Integers:
        """int64: its block."""
        of_warps = np.repeat(np.arange(self.workload.blocks), np.diff(self.workload.block_warps))
        found: Integers = of_warps[self.warp]
        return found

    @cached_property
    def of_chunk(self) -> Integers:
        """int64[chunks]: the operation that lists it."""
        return np.repeat(np.arange(len(self.listed)), self.listed)

    @cached_property
    def _last(self) -> dict[tuple[int, ...], Flags]:
        return {}

    def at(self, places: Sequence[int]) -> Flags:
        """bool: which come from some places, by number. Held until others are asked for."""
        key = tuple(places)
        found = self._last.get(key)
        if found is None:
            found = np.isin(self.workload.place, key)
            found.flags.writeable = False
            self._last.clear()
            self._last[key] = found
        return found

    def chunks_of(self, chosen: Flags) -> Integers:
        """int64[...]: numbers of the chunks that some operations list, in their order."""
        return np.flatnonzero(chosen[self.of_chunk])

    def with_lists(
        self, kind: Any, amount: Integers, kept: Flags, chunks: Integers, sectors: Any, operations: Flags | None = None
    ) -> Workload:
        """The workload anew.

        kind, amount: of each operation; of what lists chunks, without how many. kept: bool[chunks], those that still
        are listed. chunks, sectors: of all, changed or not; sectors may be empty. operations: those that are left; all
        if left out.
        """
        own = self.workload
        listed = np.bincount(self.of_chunk[kept], minlength=len(kind))
        lists = (kind >= LOAD) & (kind <= COPY)
        amount = np.where(lists, (amount & ~np.int64(LISTED)) | listed, amount)
        place = own.place
        warp_operations = own.warp_operations
        if operations is not None:
            warp_operations = np.append(0, np.cumsum(operations))[own.warp_operations]
            kind, amount = kind[operations], amount[operations]
            place = place[operations] if len(place) else place
        return replace(
            own,
            kind=np.ascontiguousarray(kind, np.uint8),
            amount=np.ascontiguousarray(amount, np.int64),
            place=np.ascontiguousarray(place),
            chunks=np.ascontiguousarray(chunks[kept]),
            sectors=np.ascontiguousarray(sectors[kept]) if len(sectors) else sectors,
            warp_operations=warp_operations,
            warp_chunks=np.append(0, np.cumsum(kept))[own.warp_chunks],
        )


def packed(*keys: Integers) -> Integers:
    """int64[...]: a number for the keys of each element: the same for the same keys, and in their order.

    Numbers are sorted several times as fast as rows of keys.
    """
    found = np.zeros(len(keys[0]), np.int64)
    if not len(found):
        return found
    for key in keys:
        values = key.astype(np.int64) - int(key.min())
        if (int(found.max()) + 1) * (int(values.max()) + 1) > LARGEST:
            found, values = (np.unique(each, return_inverse=True)[1].astype(np.int64) for each in (found, values))
        found = found * (int(values.max()) + 1) + values
    return found


def count_distinct(values: npt.NDArray[Any]) -> int:
    """How many different numbers there are; told without sorting where they are in order."""
    before, here = values[:-1], values[1:]
    if np.any(here < before):
        return len(np.unique(values))
    return int(np.count_nonzero(here != before)) + (len(values) > 0)


def firsts(*keys: Integers) -> Flags:
    """bool[...]: which of some elements is the first with its keys."""
    of_keys = packed(*keys)
    order = np.argsort(of_keys, kind="stable")  # those with the same keys stay in order
    found = np.zeros(len(order), bool)
    found[order] = np.diff(of_keys[order], prepend=-1) != 0
    return found


def positions(keys: Integers, in_order: bool = True) -> Integers:
    """How many elements before have the same key. in_order: whether those with the same follow one another."""
    order = np.arange(len(keys)) if in_order else np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1)) if len(ordered) else np.zeros(0, np.int64)
    counts = np.diff(np.append(begins, len(ordered)))
    found = np.zeros(len(keys), np.int64)
    found[order] = np.arange(len(ordered)) - np.repeat(begins, counts)
    return found


def ranges(begins: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """The numbers in ranges, one range after another, and where each begins among these, with the end of all."""
    offsets = np.append(0, np.cumsum(ends - begins))
    return np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], ends - begins), offsets


def gathered(workload: Workload, operations: Integers, chunks: Integers, **offsets: Any) -> Workload:
    """The workload of these operations, which list these chunks, by number. offsets: what else changes with them."""
    own = workload
    return replace(
        own,
        kind=own.kind[operations],
        amount=own.amount[operations],
        place=own.place[operations] if len(own.place) else own.place,
        chunks=own.chunks[chunks],
        sectors=own.sectors[chunks] if len(own.sectors) else own.sectors,
        **offsets,
    )
