"""The address of a module's variable."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import KernelError, shown

if TYPE_CHECKING:
    from simtmm.recorder.direct.raw_module import RawModule


class DevicePointer:
    """The address of a `__device__` or `__constant__` variable, or of a byte in it; an argument of kernels.

    module: whose variable it is.
    name: the variable's.
    offset: bytes from its beginning.

    Its bytes are read and written as an array: `pointer.array(np.float32)[:] = coefficients`.
    """

    def __init__(self, module: "RawModule", name: str, offset: int = 0) -> None:
        self.module, self.name, self.offset = module, name, offset

    def __repr__(self) -> str:
        return f"DevicePointer({self.name}{f' + {self.offset}' if self.offset else ''})"

    def __add__(self, offset: int) -> "DevicePointer":
        return DevicePointer(self.module, self.name, self.offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> "DevicePointer":
        return self + -offset

    @property
    def ptr(self) -> "DevicePointer":
        """Itself: what CuPy's pointers have as a number is a number on a device only, and devices come and go here."""
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of the variable from here to its end."""
        return max(0, len(self.module.image().variables[self.variable]) - self.offset)

    @property
    def variable(self) -> str:
        """The variable's name in PTX."""
        return self.module.image().variable(self.name)

    def array(self, dtype: npt.DTypeLike = np.uint8, shape: int | tuple[int, ...] | None = None) -> npt.NDArray[Any]:
        """The variable's memory as an array: what is written to it, kernels see, and the other way round.

        dtype: of its elements.
        shape: all that is there from here on, if left out.

        Raises KernelError where so much is not there.
        """
        content = self.module.image().variables[self.variable]
        kind = np.dtype(dtype)
        where = f"variable {self.name}: an array of {kind}"
        if not 0 <= self.offset <= len(content) or kind.hasobject or not kind.itemsize:
            raise KernelError(f"{where} at byte {self.offset}: the variable has {len(content):,} bytes")
        rest = content[self.offset :]
        if shape is None:
            return rest[: len(rest) // kind.itemsize * kind.itemsize].view(kind)
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        if not 0 <= size <= len(rest):
            raise KernelError(f"{where}, shape {shown(shape)}: the variable has {len(rest):,} bytes from there")
        return rest[:size].view(kind).reshape(shape)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        found = self.array()
        return np.array(found, dtype) if copy or dtype not in (None, np.dtype(np.uint8)) else found
