"""Tensor maps of NumPy arrays: what kernels copy boxes of tensors by, as cuTensorMapEncodeTiled makes them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import TENSOR_MAGIC, TENSOR_MAP
from simtmm.errors import KernelError, shown

# Types by the driver's numbers, and their bytes
TYPES = {
    "uint8": (0, 1), "uint16": (1, 2), "uint32": (2, 4), "int32": (3, 4), "uint64": (4, 8), "int64": (5, 8),
    "float16": (6, 2), "float32": (7, 4), "float64": (8, 8), "bfloat16": (9, 2), "float32_ftz": (10, 4),
    "tfloat32": (11, 4), "tfloat32_ftz": (12, 4),
}  # fmt: skip
SWIZZLES = (0, 32, 64, 128)  # bytes of a pattern's row, by the driver's numbers
_FIRST_FLOAT = 6
_SAME = {"int8": "uint8", "bool": "uint8", "int16": "uint16"}  # types that boxes are copied of as of others
MOST_AXES, MOST_OF_BOX, MOST_STEP, MOST_SIZE, MOST_STRIDE = 5, 256, 8, 1 << 32, 1 << 40


class TensorMap:
    """A tensor in an array, and the boxes of it that kernels copy; an argument of kernels, as CUtensorMap is.

    array: NumPy array, where the tensor begins.
    box: numbers of a box along each axis, 1 to 256; axes are in the array's order, so that the last is the tensor's
        first dimension.
    shape: numbers of the tensor along each axis; the array's if left out.
    strides: elements from one to the next along each axis, 1 for the last; the array's if left out.
    type: one of TYPES, for an array whose dtype does not tell it, such as "bfloat16".
    swizzle: bytes of a row of the pattern in shared memory: 0, 32, 64 or 128.
    nan: whether what lies outside is NaN, and not 0.
    steps: of a box along each axis, 1 to 8; 1 if left out.

    Raises KernelError for what the driver refuses.
    """

    title = "TensorMap"

    def __init__(
        self,
        array: npt.NDArray[Any],
        box: Sequence[int],
        *,
        shape: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        type: str | None = None,  # noqa: A002 - what it is called
        swizzle: int = 0,
        nan: bool = False,
        steps: Sequence[int] | None = None,
    ) -> None:
        if not isinstance(array, np.ndarray):
            raise KernelError(f"{self.title}: array = {shown(array)}: must be a NumPy array")
        self.array = array
        name = type if type is not None else _SAME.get(array.dtype.name, array.dtype.name)
        if name not in TYPES:
            raise KernelError(f"{self.title}: type = {shown(name)}: must be one of {', '.join(TYPES)}")
        self.type = name
        if swizzle not in SWIZZLES:
            raise KernelError(f"{self.title}: swizzle = {shown(swizzle)}: must be 0, 32, 64 or 128")
        if nan and TYPES[name][0] < _FIRST_FLOAT:
            raise KernelError(f"{self.title}: nan = True: must be False with type {name}")
        size = TYPES[name][1]
        self.box = _numbers("box", box, 1, MOST_OF_BOX)
        self.shape = _numbers("shape", array.shape if shape is None else shape, 1, MOST_SIZE)
        if strides is None:
            strides = _elements(array.strides, size)
        self.strides = _numbers("strides", strides, 0, MOST_STRIDE // size - 1)
        self.steps = _numbers("steps", [1] * len(self.box) if steps is None else steps, 1, MOST_STEP)
        self.swizzle, self.nan = SWIZZLES.index(swizzle), bool(nan)
        self._check(size)

    def _check(self, size: int) -> None:
        """size: of an element [bytes]."""
        axes = len(self.box)
        if not 1 <= axes <= MOST_AXES:
            raise KernelError(f"{self.title}: box = {shown(self.box)}: must have 1 to {MOST_AXES} axes")
        for name, values in (("shape", self.shape), ("strides", self.strides), ("steps", self.steps)):
            if len(values) != axes:
                raise KernelError(f"{self.title}: {name} = {shown(values)}: must have as many axes as the box, {axes}")
        if self.strides[-1] != 1:
            raise KernelError(f"{self.title}: strides = {shown(self.strides)}: must end with 1")
        for stride in self.strides[:-1]:
            if stride * size % 16:
                raise KernelError(
                    f"{self.title}: strides = {shown(self.strides)}: {stride * size} bytes: must be a multiple of 16"
                )
        row = -(-self.box[-1] // self.steps[-1]) * size
        most = SWIZZLES[self.swizzle]
        if row % 16 or (most and row > most):
            wanted = f"a multiple of 16{f', and at most {most}' if most else ''}"
            raise KernelError(f"{self.title}: box = {shown(self.box)}: a row of {row} bytes: must be {wanted}")

    def row(self, address: int) -> bytes:
        """The tensor map, as kernels take it. address: of the array on the device.

        Raises KernelError for an address that is no multiple of 16.
        """
        if address % 16:
            raise KernelError(f"{self.title}: array: begins at {address:#x}: must be at a multiple of 16")
        kind, size = TYPES[self.type]
        axes = len(self.box)
        found = np.zeros(1, TENSOR_MAP)
        found["magic"], found["address"], found["rank"] = TENSOR_MAGIC, address, axes
        found["kind"], found["element_bytes"], found["swizzle"], found["fill"] = kind, size, self.swizzle, self.nan
        found["sizes"][0, :axes], found["box"][0, :axes] = self.shape[::-1], self.box[::-1]
        found["steps"][0, :axes] = self.steps[::-1]
        found["strides"][0, : axes - 1] = [each * size for each in self.strides[-2::-1]]
        return found.tobytes()


def _elements(strides: Sequence[int], size: int) -> list[int]:
    """Strides of bytes, as those of a field of records, in elements."""
    if any(each % size for each in strides):
        raise KernelError(f"TensorMap: array: strides of {shown(strides)} bytes: must be multiples of {size}")
    return [each // size for each in strides]


def _numbers(name: str, values: Sequence[int], least: int, most: int) -> tuple[int, ...]:
    try:
        found = tuple(int(each) for each in values)
    except (TypeError, ValueError):
        raise KernelError(f"TensorMap: {name} = {shown(values)}: must be whole numbers, one for each axis") from None
    for each in found:
        if not least <= each <= most:
            raise KernelError(f"TensorMap: {name} = {shown(found)}: {each}: must be from {least} to {most}")
    return found
