"""A stand-in for CuPy that runs PTX as well: what RawModule(path=...) loads runs on the CPU (simtmm.cuda).

Addresses on the device are those of this process, and not those of a trace.
"""

import ctypes
import math
import types
import weakref
from pathlib import Path

import numpy as np

from simtmm.cuda.compilers import CompiledModule
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.launches.device_memory import Allocation
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from tests.recorder.fake_cupy import CUDADriverError, FakeCupy


class PtxCupy(FakeCupy):
    """The module. loaded: the texts of PTX that were; what else FakeCupy has."""

    def __init__(self):
        super().__init__()
        self.device = Device(lambda text: None)
        self.loaded = []
        self.kernels = []
        self.cuda.driver.launchKernel = self._launch
        self.cuda.driver.launchCooperativeKernel = lambda *given: self._launch(*given, 0)
        self.cuda.get_current_stream = lambda: types.SimpleNamespace(ptr=0)
        self.cuda.UnownedMemory = lambda address, size, owner: address
        self.cuda.MemoryPointer = lambda memory, offset: types.SimpleNamespace(ptr=memory + offset)

    def empty(self, shape, dtype=float):
        """An array of one dimension."""
        array = super().empty(shape, dtype)
        memory, bytes_of = self.device.memory, array.host.view(np.uint8)
        memory.allocations.append(Allocation("array", array.data.ptr, bytes_of.nbytes, bytes_of))
        weakref.finalize(array, memory.remove, array.data.ptr)
        return array

    def ndarray(self, shape, dtype, pointer):
        """Memory that is there already."""
        found = self.device.memory.find(pointer.ptr)
        begin = pointer.ptr - found.base
        count = math.prod(shape) * np.dtype(dtype).itemsize
        array = super().empty(0, dtype)
        array.host, array.data.ptr = found.data[begin : begin + count].view(dtype), pointer.ptr
        return array

    def RawModule(self, code=None, options=(), name_expressions=(), path=None):  # noqa: N802 - CuPy's name
        """PTX from a file, or CUDA C++."""
        if path is None:
            return super().RawModule(code, options, name_expressions)
        self.loaded.append(Path(path).read_text())
        return _PtxModule(self, self.loaded[-1])

    def _launch(self, number, *given):
        kernel = self.kernels[number]
        grid, block, shared, pointers = given[:3], given[3:6], given[6], given[8]
        if kernel.shared_size_bytes + shared > max(48 * 1024, kernel.max_dynamic_shared_size_bytes):
            raise CUDADriverError(1, "CUDA_ERROR_INVALID_VALUE: invalid argument")
        places = (ctypes.c_void_p * len(kernel.function.parameters)).from_address(pointers)
        packed = bytearray()
        for place, parameter in zip(places, kernel.function.parameters, strict=True):
            packed += bytes(-len(packed) % parameter.align) + ctypes.string_at(place, parameter.size)
        self.device.launch(kernel.function.quick, DeviceLaunch(grid, block, bytes(packed), shared))
        self.launches.append((kernel.function.entry, grid, block, shared))
        self.now += self.seconds(kernel.function.entry, grid, block, shared)


class _PtxModule:
    def __init__(self, cupy, ptx):
        self._cupy = cupy
        self._linked = LinkedModule([CompiledModule(ptx, 90)])

    def get_function(self, name):
        return _PtxKernel(self._cupy, KernelFunction(self._linked, name))

    def get_global(self, name):
        return types.SimpleNamespace(ptr=self._cupy.device.symbols(self._linked)[name])


class _PtxKernel:
    num_regs = 24
    local_size_bytes = 0

    def __init__(self, cupy, function):
        self.function = function
        self.kernel = types.SimpleNamespace(ptr=len(cupy.kernels))
        self.max_threads_per_block = cupy.most_threads
        self.shared_size_bytes = cupy.static_shared_bytes
        self.max_dynamic_shared_size_bytes = 48 * 1024
        cupy.kernels.append(self)
