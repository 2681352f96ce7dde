"""A stand-in for CuPy, for tests without a GPU.

It has the few names that simtmm uses, and no others. Its RawModule compiles the very CUDA source with the host's C++
compiler behind cuda_shim.h; its device's memory is the host's, filled with rubbish when it is taken; its clock is the
test's, and goes on by what the test says a launch takes.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
import types
import weakref
from pathlib import Path

import numpy as np

from simtmm.cache import find, keep, own_folder
from simtmm.recorder import compiler
from simtmm.recorder.compiler import FLAGS, find_compiler
from tests.recorder.quick import quick_flags

SHIM = Path(__file__).with_name("cuda_shim.h")
SHARED = (*(flag for flag in FLAGS if flag != "-O2"), "-fPIC", "-shared", "-fvisibility=hidden", "-O0")
RUBBISH = 0xA5
ALIGNMENT = 512  # of what CuPy's memory pool hands out

_builds = tempfile.TemporaryDirectory(prefix="simtmm-fake-cupy-")


class CUDARuntimeError(RuntimeError):
    """As cupy.cuda.runtime has it, which takes the status and knows the words."""

    def __init__(self, status, words="cudaErrorOfSomeKind: in words"):
        super().__init__(words)
        self.status = status


class CUDADriverError(CUDARuntimeError):
    """As cupy.cuda.driver has it."""


class CompileException(Exception):  # noqa: N818 - its name in CuPy
    """As cupy.cuda.compiler has it."""


class OutOfMemoryError(MemoryError):
    """As cupy.cuda.memory has it."""


class FakeCupy(types.ModuleType):
    """The module. A test may set what stands behind `self.` here, before or while it records.

    devices: how many there are, or an error that is raised. memory: bytes of the device. seconds: what a launch takes,
    a function of its kernel's name, grid, block and shared memory. launches: those made, as (name, grid, block, shared
    memory). sources: what was compiled. static_shared_bytes, most_threads: of every kernel. failed: the status of an
    error from which the device does not recover, once it has had one.
    """

    __version__ = "13.0.0"

    def __init__(self):
        super().__init__("cupy")
        self.devices = 1
        self.memory = 1 << 30
        self.taken = 0
        self.now = 0.0
        self.seconds = lambda name, grid, block, shared: 1e-6
        self.launches = []
        self.sources = []
        self.options = []
        self.static_shared_bytes = 0
        self.most_threads = 1024
        self.failed = 0
        self.attributes = {
            "MaxThreadsPerBlock": 1024,
            "MaxGridDimX": 2**31 - 1,
            "MaxGridDimY": 65535,
            "MaxGridDimZ": 65535,
            "L2CacheSize": 1 << 12,
            "ClockRate": 1_000_000,  # kHz
            "MemoryClockRate": 2_000_000,
            "MultiProcessorCount": 4,
            "MaxThreadsPerMultiProcessor": 2048,
            "MaxSharedMemoryPerBlockOptin": 200_000,
        }
        runtime = types.SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            getDeviceCount=self._count,
            getDeviceProperties=lambda number: {"name": b"Fake GPU"},
            driverGetVersion=lambda: 12040,
            runtimeGetVersion=lambda: 12090,
            eventQuery=lambda event: self.failed,
        )
        self.cuda = types.SimpleNamespace(
            runtime=runtime,
            driver=types.SimpleNamespace(
                CUDADriverError=CUDADriverError,
                occupancyMaxActiveBlocksPerMultiprocessor=self._resident,
            ),
            compiler=types.SimpleNamespace(CompileException=CompileException),
            memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            Device=lambda number=0: types.SimpleNamespace(
                id=number,
                use=lambda: None,
                attributes=self.attributes,
                mem_info=(self.memory - self.taken, self.memory),
                compute_capability="90",
                pci_bus_id="0000:01:00.0",
            ),
            Event=lambda disable_timing=False: _Event(self),
            get_elapsed_time=lambda start, end: 1e3 * (end.at - start.at),
        )

    def _count(self):
        if isinstance(self.devices, Exception):
            raise self.devices
        return self.devices

    def _resident(self, function, threads, shared):
        """Of 2048 threads and 200,000 bytes of shared memory."""
        return min(2048 // threads, 200_000 // (shared + self.static_shared_bytes or 1))

    def empty(self, shape, dtype=float):
        """An array of one dimension."""
        return _Array(self, shape, dtype)

    def copyto(self, to, source):
        """From one array to another."""
        to.host[...] = source.host

    def get_default_memory_pool(self):
        """The pool, which holds nothing that is not taken."""
        return types.SimpleNamespace(free_bytes=lambda: 0)

    def RawModule(self, code, options, name_expressions):  # noqa: N802 - CuPy's name
        """CUDA source, compiled when a function is asked for."""
        self.sources.append(code)
        self.options.append(options)
        return _Module(self, code, options, name_expressions)


class _Event:
    def __init__(self, cupy):
        self._cupy = cupy
        self.at = None
        self.ptr = 1

    def record(self):
        self.at = self._cupy.now

    def synchronize(self):
        assert self.at is not None
        if self._cupy.failed:
            raise CUDARuntimeError(self._cupy.failed, "cudaErrorIllegalAddress: an illegal memory access")


class _Array:
    """On the device: NumPy must not reach into it."""

    __array__ = None

    def __init__(self, cupy, count, dtype, of=None):
        dtype = np.dtype(dtype)
        self._cupy = cupy
        if of is None:
            size = count * dtype.itemsize
            if cupy.taken + size > cupy.memory:
                raise OutOfMemoryError(f"Out of memory allocating {size} bytes")
            cupy.taken += size
            weakref.finalize(self, self._give_back, cupy, size)
            whole = np.full(size + ALIGNMENT, RUBBISH, dtype=np.uint8)
            shift = -whole.ctypes.data % ALIGNMENT
            of = whole[shift : shift + size].view(dtype)
        self.host = of
        self.dtype = dtype
        self.data = types.SimpleNamespace(ptr=of.ctypes.data)

    @staticmethod
    def _give_back(cupy, size):
        cupy.taken -= size

    def __len__(self):
        return len(self.host)

    def __getitem__(self, part):
        view = _Array(self._cupy, 0, self.dtype, self.host[part])
        view.owner = self
        return view

    def set(self, array):
        assert array.shape == self.host.shape
        assert array.dtype == self.dtype
        assert array.flags.c_contiguous
        self.host[...] = array

    def get(self, out=None):
        if out is None:
            return self.host.copy()
        assert out.shape == self.host.shape
        assert out.dtype == self.dtype
        assert out.flags.c_contiguous
        out[...] = self.host
        return out

    def fill(self, value):
        self.host[...] = value


class _Module:
    def __init__(self, cupy, code, options, names):
        self._cupy, self._code, self._options, self._names = cupy, code, options, names
        self._library = None

    def get_function(self, name):
        if self._library is None:
            built = _compiled(self._code, self._options, self._names)
            handle, path = tempfile.mkstemp(suffix=".so", dir=_builds.name)  # a module's variables are its own
            os.close(handle)
            shutil.copy(built, path)
            self._library = ctypes.CDLL(path)
        return _Kernel(self._cupy, name, self._library, self._names.index(name))


class _Kernel:
    num_regs = 24
    local_size_bytes = 0

    def __init__(self, cupy, name, library, number):
        self._cupy, self._name = cupy, name
        self._launch = getattr(library, f"shim_launch_{number}")
        self._count = getattr(library, f"shim_count_{number}")()
        self.shared_size_bytes = cupy.static_shared_bytes
        self.max_threads_per_block = cupy.most_threads
        self.max_dynamic_shared_size_bytes = 48 * 1024
        self.kernel = types.SimpleNamespace(ptr=number)

    def __call__(self, grid, block, args, *, shared_mem=0):
        assert len(args) == self._count
        assert all(isinstance(argument, np.generic) for argument in args)
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise CUDADriverError(1, "CUDA_ERROR_INVALID_VALUE: invalid argument")
        three = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
        values = [np.array([argument]) for argument in args]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*(value.ctypes.data for value in values))
        self._launch((ctypes.c_uint * 6)(*three[0], *three[1]), pointers)
        self._cupy.launches.append((self._name, *three, shared_mem))
        self._cupy.now += self._cupy.seconds(self._name, *three, shared_mem)


def _compiled(code, options, names):
    """The library of a source, from the user's cache where the same was built before."""
    assert options[0] == "-std=c++17"
    includes = [option for option in options if option.startswith("-I")]
    flags = [*quick_flags((SHIM,), SHARED), *includes]
    entries = "".join(f"SHIM_ENTRY({number}, {name})\n" for number, name in enumerate(names))
    source = f'#include "{SHIM}"\n{code}\n{entries}'
    # What simtmm's own headers say shows in the code.
    known = (source, SHIM.read_text(), compiler._version(tuple(find_compiler())), flags)
    key = hashlib.sha256(repr(known).encode()).hexdigest()

    def make(library):
        with tempfile.TemporaryDirectory() as scratch:
            unit = Path(scratch) / "unit.cpp"
            unit.write_text(source, encoding="utf-8")
            command = [*find_compiler(), *flags, str(unit), "-o", str(library)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CompileException(done.stderr)

    folder = own_folder("tests-fake-cupy")
    return find(folder, "unit", key, ".so") or keep(folder, "unit", key, ".so", make)
