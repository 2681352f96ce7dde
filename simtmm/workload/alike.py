"""Launches of a workload that do the same."""

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from simtmm.workload.held import Workload


def kinds_of(workload: "Workload") -> npt.NDArray[np.int64]:
    """int64[launches]: launches with the same number have the same operations, at the same places, in the same blocks.

    Limits on the blocks that a group holds are apart from it. Contents are read where two launches have equally many of
    everything.

    workload: its launches are compared with one another.
    """
    shapes = [tuple(map(len, _parts(workload, launch))) for launch in range(workload.launches)]
    shared = Counter(shapes)
    numbers: dict[Any, int] = {}
    kinds = np.empty(len(shapes), np.int64)
    for launch, shape in enumerate(shapes):
        key: Any = shape if shared[shape] == 1 else _digest(_parts(workload, launch))
        kinds[launch] = numbers.setdefault(key, len(numbers))
    return kinds


def chunks_of(workload: "Workload", launch: int) -> npt.NDArray[np.int64]:
    """The chunks of all memory operations of a launch, in order.

    workload: that has it. launch: its number, from 0 on.
    """
    warps = workload.block_warps[workload.launch_blocks[launch : launch + 2]]
    first, last = workload.warp_chunks[warps]
    return workload.chunks[first:last]


def _parts(workload: "Workload", launch: int) -> list[npt.NDArray[Any]]:
    """All that decides what a launch does: offsets from its own first warp, operation and chunk, and these."""
    own = workload
    blocks = slice(*own.launch_blocks[launch : launch + 2].tolist())
    warps = slice(*own.block_warps[[blocks.start, blocks.stop]].tolist())
    operations = slice(*own.warp_operations[[warps.start, warps.stop]].tolist())
    chunks = slice(*own.warp_chunks[[warps.start, warps.stop]].tolist())
    offsets = ((own.block_warps, blocks), (own.warp_operations, warps), (own.warp_chunks, warps))
    ends = [of[part.start : part.stop + 1] - of[part.start] for of, part in offsets]
    listed = (own.kind, own.amount, own.place)
    return [*ends, *(of[operations] for of in listed), own.chunks[chunks], own.sectors[chunks]]


def _digest(parts: list[npt.NDArray[Any]]) -> bytes:
    """Of parts whose dtypes are fixed. Their lengths stand first, so that no two lists of them read alike."""
    digest = hashlib.blake2b(repr([len(part) for part in parts]).encode(), digest_size=20)
    for part in parts:
        digest.update(part.data)
    return digest.digest()
