"""cupy.RawKernel and cupy.RawModule: those of simtmm, with arguments as CuPy takes them."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from simtmm.cuda.signature import ParameterType
from simtmm.cuda.texture import SurfaceObject
from simtmm.errors import KernelError
from simtmm.recorder.direct.device_pointer import DevicePointer
from simtmm.recorder.direct.raw_kernel import RawKernel as OwnKernel
from simtmm.recorder.direct.raw_module import RawModule as OwnModule
from simtmm.scripts import notes
from simtmm.scripts.cupy.code import HEADERS
from simtmm.scripts.cupy.cuda.stream import get_current_stream
from simtmm.scripts.cupy.device_array import ndarray
from simtmm.scripts.cupy.memory import Address, MemoryPointer

SIZES = {"double": 8, "float": 4}


class RawModule(OwnModule):
    """A module of CUDA code."""

    headers = MappingProxyType(HEADERS)

    def get_function(self, name: str) -> "RawKernel":
        """A kernel of it."""
        self.image().function(name)
        return RawKernel.of_module(self, name)  # type: ignore[return-value]

    def get_global(self, name: str) -> Any:
        """The address of a variable."""
        return GlobalPointer(self, super().get_global(name).name)


class RawKernel(OwnKernel):
    """A CUDA kernel."""

    module_class = RawModule

    def __call__(self, grid: Any, block: Any, args: Any = (), *, shared_mem: int = 0, stream: Any = None) -> None:
        """Launch it on the current stream."""
        if isinstance(args, (tuple, list)):
            self._check_places(args)
        given = [argument_of(each) for each in args] if isinstance(args, (tuple, list)) else args
        if isinstance(given, list):
            self._doubt(given)
        put = get_current_stream() if stream is None else stream
        super().__call__(grid, block, given, shared_mem=shared_mem, stream=getattr(put, "ptr", put))

    def _check_places(self, arguments: Sequence[Any]) -> None:
        """Raise KernelError for an array of the host where the kernel takes a pointer: its bytes are no address."""
        for parameter, argument in zip(self.kernel.declared or (), arguments, strict=False):
            is_of_host = isinstance(argument, np.ndarray) and not isinstance(argument, ndarray)
            if parameter.pointers and is_of_host and argument.dtype not in (np.uint64, np.int64):
                raise KernelError(
                    f"kernel {self.name}: {parameter.name} = a NumPy array of {argument.dtype}: the kernel takes "
                    f"{parameter.text}, an address on the device: pass a CuPy array (cupy.asarray)"
                )

    def _doubt(self, arguments: Sequence[Any]) -> None:
        """Say where CuPy hands on other bytes than the kernel reads: it looks at no signature."""
        declared = self.kernel.declared or ()
        for parameter, argument in zip(declared, arguments, strict=False):
            reads = _bytes_of_float(parameter)
            passes = _passed(argument)
            if reads is None and passes is None:
                continue
            if isinstance(argument, (int, np.integer)) and reads is not None:
                what = f"{type(argument).__name__} {argument}, whose bytes are not a floating-point number"
            elif reads is not None and passes is not None and reads != passes:
                what = f"{type(argument).__name__} of {passes} bytes, of which the kernel reads {reads}"
            else:
                continue
            notes.note(
                f"Kernel {self.name}: {parameter.text} {parameter.name} is given a {what}: on a GPU, CuPy passes it "
                "unconverted, and the kernel sees another value; here it is converted. Pass a NumPy number of its "
                "type."
            )


class GlobalPointer(DevicePointer):
    """A variable's address, which arrays can be created at."""

    @property
    def mem(self) -> "GlobalPointer":
        """Itself: the variable is the memory."""
        return self

    @property
    def size(self) -> int:
        """Bytes of it."""
        return self.nbytes

    def bytes(self) -> Any:
        """Its memory."""
        return self.array(np.uint8)

    def copy_from_host(self, mem: Any, size: int) -> None:
        """Copy bytes from an array or an address of the host."""
        from simtmm.scripts.cupy.memory import Memory

        MemoryPointer(Memory(kept=self.bytes()), 0).copy_from_host(mem, size)

    def copy_from_device(self, src: Any, size: int) -> None:
        """Copy bytes from elsewhere on the device."""
        self.bytes()[:size] = src.bytes()[:size]

    def copy_from(self, mem: Any, size: int) -> None:
        """Copy bytes from either."""
        (self.copy_from_device if hasattr(mem, "bytes") else self.copy_from_host)(mem, size)

    copy_from_host_async, copy_from_device_async, copy_from_async = copy_from_host, copy_from_device, copy_from

    def memset(self, value: int, size: int) -> None:
        """Fill bytes."""
        self.bytes()[:size] = value


def argument_of(value: Any) -> Any:
    """An argument of a kernel as simtmm takes it. Raises TypeError for what CuPy does not take."""
    if isinstance(value, Address):
        return value.array()
    if isinstance(value, (MemoryPointer,)):
        return value.array()
    if isinstance(value, (ndarray, DevicePointer, SurfaceObject, np.generic, int, float, complex)) or value is None:
        return value
    if isinstance(value, np.ndarray):  # by value, as a structure
        return value.tobytes()
    if hasattr(value, "texobj"):
        return value.texobj
    raise TypeError(f"Unsupported type {type(value)}")


def _bytes_of_float(parameter: ParameterType) -> int | None:
    """Bytes of a parameter that is a floating-point number; None for all others."""
    return SIZES.get(parameter.base) if not parameter.pointers else None


def _passed(argument: Any) -> int | None:
    """Bytes that CuPy passes of a floating-point number."""
    if isinstance(argument, np.floating):
        return int(argument.dtype.itemsize)
    return 8 if isinstance(argument, float) else None
