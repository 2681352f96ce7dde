"""What a launch leaves in memory, which is then restored."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.launches.device_memory import Allocation
from simtmm.cuda.function import KernelFunction

CLOSE = 1e-3  # relative: ptxas joins products and sums of PTX, and sums come in another order; a misread one is far off
PIECE = 1 << 20  # bytes of memory that are compared, kept and laid back together
Changes = dict[int, npt.NDArray[np.uint8]]  # pieces of a memory, by where they begin


class KeptMemory:
    """The memory of a device that kernels may write to, as it was when this was made.

    allocations: of it. before: their bytes.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self.allocations = [each for each in device.memory.allocations if not (each.constant or each.read_only)]
        self.before = [each.data.copy() for each in self.allocations]

    def after(self, function: KernelFunction, launch: DeviceLaunch, blocks: int, seconds: float) -> list[Changes]:
        """The changes of each allocation that the first blocks of a launch make; memory is as before then.

        seconds: that it may take. Raises what `Device.launch` raises.
        """
        try:
            self._device.launch(function, launch, blocks, lambda text: None, seconds)
            return [changes(each.data, old) for each, old in zip(self.allocations, self.before, strict=True)]
        finally:
            for each, old in zip(self.allocations, self.before, strict=True):
                for start in changes(each.data, old):
                    each.data[start : start + PIECE] = old[start : start + PIECE]

    def content(self, number: int, made: Sequence[Changes]) -> npt.NDArray[np.uint8]:
        """The bytes of an allocation with its changes."""
        return applied(self.before[number], made[number])


def bytes_of(device: Device) -> int:
    """How much memory kernels may write to."""
    return sum(each.bytes for each in device.memory.allocations if not (each.constant or each.read_only))


def element_type(allocation: Allocation) -> "np.dtype[np.generic]":
    """The type of an array's elements; words of 32 bits of bytes, which may be anything."""
    kind = allocation.array.dtype if allocation.array is not None else np.dtype(np.uint8)
    if is_untyped(allocation):
        return np.dtype(np.uint32 if allocation.bytes % 4 == 0 else np.uint8)
    return kind


def is_untyped(allocation: Allocation) -> bool:
    """Whether its elements may be of any type."""
    array = allocation.array
    return array is None or array.dtype.itemsize <= 1 or array.dtype.kind not in "biufc"


def changes(array: npt.NDArray[np.uint8], before: npt.NDArray[np.uint8]) -> Changes:
    """The pieces of a memory that are not as they were: few of a large one, as few blocks run."""
    pieces = {}
    for start in range(0, len(array), PIECE):
        piece = array[start : start + PIECE]
        if not np.array_equal(piece, before[start : start + PIECE]):
            pieces[start] = piece.copy()
    return pieces


def are_equal(before: npt.NDArray[np.uint8], expected: Changes, ours: Changes) -> bool:
    """Whether a memory is the same with either's changes."""

    def piece(made: Changes, start: int) -> npt.NDArray[np.uint8]:
        return made.get(start, before[start : start + PIECE])

    return all(np.array_equal(piece(expected, start), piece(ours, start)) for start in {**expected, **ours})


def applied(before: npt.NDArray[np.uint8], made: Changes) -> npt.NDArray[np.uint8]:
    """A memory with its changes."""
    after = before.copy()
    for start, piece in made.items():
        after[start : start + PIECE] = piece
    return after


def elements_of(content: npt.NDArray[np.uint8], kind: "np.dtype[Any]") -> npt.NDArray[Any]:
    """Bytes as elements of a type, as many as are whole."""
    return content[: len(content) // kind.itemsize * kind.itemsize].view(kind)


def bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Elements as their bits, of which two are equal only if all of them are."""
    size = values.dtype.itemsize
    return values.view(f"u{size}" if size in (1, 2, 4, 8) else f"V{size}")


def near(a: npt.NDArray[Any], b: npt.NDArray[Any], scale: float) -> npt.NDArray[np.bool_]:
    """Whether real numbers differ by no more than rounding.

    scale: how large numbers are that sums may have cancelled from.
    """
    with np.errstate(all="ignore"):
        found: npt.NDArray[np.bool_] = np.isclose(a, b, rtol=CLOSE, atol=CLOSE * scale, equal_nan=True)
    return found


def scale_of(values: npt.NDArray[Any]) -> float:
    """The mean size of the numbers of an array that are finite."""
    with np.errstate(all="ignore"):
        finite = np.abs(values[np.isfinite(values)].astype(np.float64))
        return float(np.sum(finite / max(1, len(finite))))  # a sum of large numbers would exceed their range
