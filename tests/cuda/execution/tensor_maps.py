"""Tensor maps for tests, as cuTensorMapEncodeTiled and Im2col make them, and what a box holds by NumPy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import TENSOR_MAGIC, TENSOR_MAP

Array = npt.NDArray[Any]

KINDS = {"u1": 0, "u2": 1, "u4": 2, "i4": 3, "u8": 4, "i8": 5, "f2": 6, "f4": 7, "f8": 8, "bf16": 9,
         "f32.ftz": 10, "tf32": 11, "tf32.ftz": 12}  # fmt: skip
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


def tensor_map(
    array: Array, address: int, box: Sequence[int], steps: Sequence[int] = (), swizzle: int = 0, fill: bool = False,
    kind: str = "", corners: tuple[Sequence[int], Sequence[int]] | None = None,
) -> Array:  # fmt: skip
    """Of an array whose last axis is the tensor's first dimension. box, steps: by the tensor's dimensions.

    corners: of im2col, whose box is channels and pixels.
    """
    found = np.zeros(1, TENSOR_MAP)
    rank = array.ndim
    found["magic"], found["address"], found["rank"] = TENSOR_MAGIC, address, rank
    found["sizes"][0, :rank] = array.shape[::-1]
    found["strides"][0, : rank - 1] = array.strides[::-1][1:]
    found["box"][0, : len(box)] = box
    found["steps"][0] = 1
    found["steps"][0, : len(steps)] = steps
    found["kind"] = KINDS[kind or array.dtype.str[1:]]
    found["element_bytes"] = array.itemsize
    found["swizzle"], found["fill"] = SWIZZLES[swizzle], fill
    if corners is not None:
        found["im2col"] = 1
        found["lower"][0, : rank - 2], found["upper"][0, : rank - 2] = corners
    return found


def box_of(array: Array, start: Sequence[int], box: Sequence[int], steps: Sequence[int], fill: float = 0) -> Array:
    """A box of a tensor [.., second, first], filled outside it; start, box, steps by the tensor's dimensions."""
    axes = [start[n] + np.arange(0, box[n], steps[n]) for n in range(array.ndim)]
    places = np.meshgrid(*axes[::-1], indexing="ij")
    inside = np.ones(places[0].shape, bool)
    for place, size in zip(places, array.shape, strict=True):
        inside &= (place >= 0) & (place < size)
    clipped = tuple(np.clip(place, 0, size - 1) for place, size in zip(places, array.shape, strict=True))
    return np.where(inside, array[clipped], np.array(fill, array.dtype))


def swizzled(flat: Array, pattern: int) -> Array:
    """Bytes of a box as they lie in shared memory from a multiple of 1024 on."""
    pieces = flat.reshape(-1, 16)
    found = np.empty_like(pieces)
    for number, piece in enumerate(pieces):
        row, chunk = divmod(number, 8)
        turned = {0: 0, 32: row % 2, 64: row % 4, 128: row % 8}[pattern]
        found[row * 8 + (chunk ^ turned)] = piece
    return found.reshape(-1)
