"""Elements of memory in which two runs of a launch differ."""

from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.disagreement.memory import (
    Changes,
    KeptMemory,
    bits,
    element_type,
    elements_of,
    is_untyped,
    near,
    scale_of,
)
from simtmm.cuda.execution.layout import LOCAL_WINDOW, WINDOW

# What processors give where there is no number, of f32, or the upper halves of f64 in words, and of f64
_NANS: dict[int, npt.NDArray[Any]] = {
    4: np.array([0x7FFFFFFF, 0x7FC00000, 0xFFC00000, 0x7FF80000, 0xFFF80000], np.uint32),
    8: np.array([0x7FFFFFFFFFFFFFFF, 0x7FF8000000000000, 0xFFF8000000000000], np.uint64),
}


def differing(memory: KeptMemory, number: int, one: list[Changes], other: list[Changes]) -> npt.NDArray[np.int64]:
    """Elements of an array that differ by more than rounding; all that differ of one whose type is not known."""
    allocation = memory.allocations[number]
    kind = element_type(allocation)
    contents = [memory.content(number, made) for made in (one, other)]
    a, b = (elements_of(content, kind) for content in contents)
    differs: npt.NDArray[np.int64] = np.flatnonzero(bits(a) != bits(b))
    if len(differs) and 8 % kind.itemsize == 0:  # an address is not of a larger element
        differs = differs[~_are_local_addresses(*contents)[differs // (8 // kind.itemsize)]]
    if is_untyped(allocation) or kind.kind not in "fc":
        return differs[~_no_numbers(a[differs], b[differs])]
    far: npt.NDArray[np.int64] = differs[~near(a[differs], b[differs], scale_of(a))]
    return far


def _are_local_addresses(one: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Of each 8 bytes, the last ones too, whether both are addresses of local memory: machine code and PTX place
    variables there in their own ways.
    """
    found = np.zeros(-(-len(one) // 8), bool)
    whole = len(one) // 8
    both = [each[: 8 * whole].view(np.uint64) - np.uint64(LOCAL_WINDOW) for each in (one, other)]
    found[:whole] = (both[0] < WINDOW) & (both[1] < WINDOW)
    return found


def _no_numbers(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where both are NaNs that operations make, or the upper halves of such; their bits PTX leaves open."""
    if a.dtype.itemsize not in (4, 8):
        return np.zeros(len(a), bool)
    known = _NANS[a.dtype.itemsize]
    found: npt.NDArray[np.bool_] = np.isin(bits(a), known) & np.isin(bits(b), known)
    return found


def may_be_near(memory: KeptMemory, number: int, one: list[Changes], other: list[Changes]) -> bool:
    """Whether an array may hold real numbers in which two runs differ by rounding alone."""
    both = [memory.content(number, made) for made in (one, other)]
    for real in (np.float32, np.float64):
        a, b = (elements_of(each, np.dtype(real)) for each in both)
        if near(a, b, scale_of(a)).all():
            return True
    return False
