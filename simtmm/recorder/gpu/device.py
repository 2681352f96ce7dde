"""A GPU as CuPy offers it: what it is, memory on it, and a kernel's builds for it. The caller brings CuPy."""

import contextlib
import hashlib
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.children.start import Limits, run
from simtmm.computer import available_memory
from simtmm.cuda.compilers.architecture import supported_architectures
from simtmm.errors import CompilerError, KernelError, LimitError, RecordingError, shown, shown_error
from simtmm.extras import install
from simtmm.kernel import Array, Kernel, Launch
from simtmm.recorder.arguments import argument_value
from simtmm.recorder.compiler import HERE
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.recorder.sites import MACROS, global_functions, no_functions, read_source
from simtmm.trace.schema import TraceSite

BUILT_IN = ("cmath", "math.h")  # their functions are there without the header, which the compiler does not have
HEADERS = ("device.cuh", "device_gpu.cuh", "signature.cuh")
_NUMBERED = re.compile(rf"\bSIMTMM_({'|'.join(MACROS)})(\s*\()\d+(?:, )?")  # what number_sites has put into the source
NOT_READY = 600  # cudaErrorNotReady: the device has not come so far yet
HARMLESS = 701  # cudaErrorLaunchOutOfResources, alone among the 7xx: the others are the end of a process's context
SAID = ("driver_version", "clocks.sm", "clocks.mem", "temperature.gpu", "power.draw")
DRIVER = Path("/proc/driver/nvidia/version")
INSTALL = f"{install('cuda12')}, or '.[cuda13]' with a driver for CUDA 13"


class Device:
    """The current GPU, as `cupy` (the module) sees it."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self._device = self.cupy.cuda.Device()
        self.attributes: dict[str, int] = dict(self._device.attributes)
        name = self.cupy.cuda.runtime.getDeviceProperties(self._device.id)["name"]
        self.name = name.decode() if isinstance(name, bytes) else str(name)
        self.pci_bus_id = str(self._device.pci_bus_id)

    def versions(self) -> dict[str, str]:
        """What decides what a GPU does: itself, CUDA as the driver and as CuPy have it, CuPy."""
        runtime = self.cupy.cuda.runtime
        return {
            "device": self.name,
            "compute_capability": str(self._device.compute_capability),
            "cuda_driver": _dotted(runtime.driverGetVersion()),
            "cuda_runtime": _dotted(runtime.runtimeGetVersion()),
            "cupy": str(self.cupy.__version__),
        }

    def facts(self) -> dict[str, Any]:
        """What else a measured time depends on: sizes and highest clocks, and what nvidia-smi says, where it is."""
        names = {
            "core_groups": "MultiProcessorCount",
            "threads_per_core_group": "MaxThreadsPerMultiProcessor",
            "l2_bytes": "L2CacheSize",
            "shared_memory_bytes": "MaxSharedMemoryPerBlockOptin",
            "highest_clock_khz": "ClockRate",
            "highest_memory_clock_khz": "MemoryClockRate",
        }
        found: dict[str, Any] = {key: self.attributes[name] for key, name in names.items() if name in self.attributes}
        with contextlib.suppress(OSError):  # for containers without nvidia-smi
            version = re.search(r"\s(\d+\.[\d.]*\d)\s", DRIVER.read_text(encoding="utf-8"))
            found |= {"driver_version": version[1]} if version else {}
        command = ["nvidia-smi", f"--id={self.pci_bus_id}", f"--query-gpu={','.join(SAID)}"]
        try:
            done = run([*command, "--format=csv,noheader"], limits=Limits(20.0, available_memory()))
        except (OSError, LimitError):
            return found
        values = [word.strip() for word in done.text.strip().split(",")]
        if done.status or len(values) != len(SAID):
            return found
        return found | dict(zip(SAID, values, strict=True))

    def architecture(self) -> int:
        """What is compiled for: its compute capability, times ten, or the nearest before it that the compiler knows."""
        own, known = int(self._device.compute_capability), supported_architectures()
        return max((each for each in known if each <= own), default=known[0])

    @property
    def shared_memory_bytes(self) -> int:
        """Shared memory that a block may have [bytes]."""
        return self.attributes.get("MaxSharedMemoryPerBlockOptin", 48 * 1024)

    def check_shape(self, grid: tuple[int, ...], threads: int, where: str) -> None:
        """Raise KernelError for a launch that no GPU of this kind can take. threads: of a block.

        grid: blocks along each axis.
        where: how errors begin.
        """
        most = self.attributes.get("MaxThreadsPerBlock", 1024)
        if threads > most:
            raise KernelError(f"{where}: {threads} threads a block: {self.name} takes {most}")
        for axis, size in zip("XYZ", grid, strict=True):
            most = self.attributes.get(f"MaxGridDim{axis}", 65535 if axis != "X" else 2**31 - 1)
            if size > most:
                raise KernelError(f"{where}: grid.{axis.lower()} = {size}: {self.name} takes {most}")

    def free_bytes(self) -> int:
        """Memory that can still be had, CuPy's own store included."""
        free, _ = self._device.mem_info
        return int(free + self.cupy.get_default_memory_pool().free_bytes())

    def empty(self, count: int, dtype: Any = np.uint8) -> Any:
        """An array on the device, its elements whatever they are.

        count: of its elements.
        dtype: of NumPy.
        """
        return self.cupy.empty(max(1, count), dtype=dtype)

    def view(self, address: int, count: int, dtype: Any) -> Any:
        """Memory that the device has already, as an array.

        address: of its first element.
        count: of its elements.
        dtype: of NumPy.
        """
        cuda = self.cupy.cuda
        memory = cuda.UnownedMemory(address, count * np.dtype(dtype).itemsize, self)
        return self.cupy.ndarray((count,), dtype, cuda.MemoryPointer(memory, 0))

    def put(self, array: Array) -> Any:
        """A copy of the array on the device.

        array: of any shape, on the host.
        """
        copy = self.empty(len(array), array.dtype)
        if len(array):
            copy.set(np.ascontiguousarray(array))
        return copy

    def wait(self) -> None:
        """Wait until the device has done all its work. Ctrl-C is noticed meanwhile, though the device goes on."""
        done = self.cupy.cuda.Event(disable_timing=True)
        done.record()
        begun = time.monotonic()
        while self.cupy.cuda.runtime.eventQuery(done.ptr) == NOT_READY:  # `done.done` stays false after an error
            if time.monotonic() - begun > 0.005:
                time.sleep(0.001)
        done.synchronize()  # says what went wrong, if anything did

    @contextlib.contextmanager
    def told(self, where: str) -> Iterator[None]:
        """Turn what CuPy complains of into one line that begins with `where`."""
        cuda = self.cupy.cuda
        try:
            yield
        except cuda.memory.OutOfMemoryError:
            raise RecordingError(
                f"{where}: out of memory on {self.name}: use smaller parameters, or let a recording have less of it "
                "(device_memory)"
            ) from None
        except cuda.compiler.CompileException as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            complaint = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no reason")
            raise CompilerError(f"{where}: does not compile as CUDA: {complaint}") from None
        except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as error:
            raise RecordingError(f"{where}: the GPU reports {shown_error(error)}{_and_now(error)}") from None


def _and_now(error: Exception) -> str:
    """What is left to do after an error of CUDA."""
    status = int(getattr(error, "status", 0))
    return "; restart Python" if 700 <= status < 800 and status != HARMLESS else ""


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


class DeviceMemory:
    """A program's arrays on the device, laid out as they are virtually, and their mirror in the host's memory."""

    def __init__(self, device: Device, inputs: Mapping[str, Array]) -> None:
        self.host = GlobalMemory(inputs)
        self.buffer = device.empty(len(self.host.whole))
        self.origin = int(self.buffer.data.ptr)  # the device's address of virtual address 0

    def upload(self) -> None:
        """Make the device's arrays what the mirror is."""
        self.buffer.set(self.host.whole)

    def download(self, to: npt.NDArray[np.uint8] | None = None) -> None:
        """Make the mirror, or `to`, what the device's arrays are."""
        self.buffer.get(out=self.host.whole if to is None else to)

    def extents(self) -> npt.NDArray[np.uint64]:
        """Begin and end of each array, the device's addresses."""
        return np.array(
            [
                (self.origin + base, self.origin + base + self.host.arrays[name].nbytes)
                for name, base in self.host.bases.items()
            ],
            dtype=np.uint64,
        )


@dataclass(frozen=True)
class Function:
    """A compiled __global__ function: CuPy's kernel, each argument's kind and bytes, and how to begin a recording."""

    raw: Any
    signature: tuple[tuple[str, int], ...]
    begin: Any

    def arguments(self, launch: Launch, memory: DeviceMemory, where: str) -> tuple[np.generic, ...]:
        """The launch's arguments as the function takes them. Raises KernelError."""
        if len(self.signature) != len(launch.arguments):
            raise KernelError(f"{where}: takes {len(self.signature)} arguments, but has {len(launch.arguments)}")
        return tuple(
            argument_value(given, kind, size, memory.host.bases, memory.origin, f"{where}: argument {position}")[0]
            for position, (given, (kind, size)) in enumerate(
                zip(launch.arguments, self.signature, strict=True), start=1
            )
        )


class Build:
    """A kernel's functions, compiled as CUDA when they are first used: instrumented, or plain."""

    def __init__(self, device: Device, kernel: Kernel, defines: Mapping[str, str], recording: bool) -> None:
        self.kernel = kernel
        self._device = device
        self._recording = recording
        source = read_source(kernel)
        self.sites: list[TraceSite] = source.sites
        self._names = global_functions(source.text)
        if not self._names:
            raise KernelError(no_functions(kernel.source_path, source.text))
        macros = "".join(f"#define {name} {value}\n" for name, value in defines.items())
        system = "".join(f"#include <{header}>\n" for header in source.system if header not in BUILT_IN)
        # CuPy keeps builds by their source alone: what is included has to show in it.
        headers = hashlib.sha256(b"\0".join((HERE / name).read_bytes() for name in HEADERS) + source.text.encode())
        self._unit = (
            f"// with {headers.hexdigest()}\n{'#define SIMTMM_RECORD' if recording else ''}\n{system}"
            f'#include "device.cuh"\n#include "signature.cuh"\n{macros}'
            + (source.text if recording else _NUMBERED.sub(r"\1\2", source.text))
        )
        self.digest = hashlib.sha256(self._unit.encode()).hexdigest()[:20]
        self._functions: dict[str, Function] = {}

    def function(self, launch: Launch, where: str) -> Function:
        """The function that a launch names. Raises KernelError, CompilerError."""
        name = launch.kernel
        if name not in self._functions:
            if name not in self._names:
                raise KernelError(
                    f"{where}: kernel.cu has no such __global__ function; it has {', '.join(sorted(self._names))}"
                )
            self._functions[name] = self._compile(name)
        raw = self._functions[name].raw
        most = int(raw.max_threads_per_block)
        if launch.threads_per_block > most:
            raise KernelError(
                f"{where}: {launch.threads_per_block} threads a block: as compiled, with {int(raw.num_regs)} registers "
                f"a thread, it may have {most}"
            )
        return self._functions[name]

    def dynamic_bytes(self, static: int, launch: Launch) -> int:
        """Shared memory that the launch claims beyond the static one, so that occupancy is what it says [bytes]."""
        return max(0, launch.shared_memory_bytes - static)

    def described(self, launch: Launch) -> Launch:
        """The launch as a measurement tells it."""
        return launch

    def restore(self) -> None:
        """Nothing: what a kernel keeps in variables of its own stays as a run left it."""

    def _compile(self, name: str) -> Function:
        describe = f"simtmm::Signature<decltype(&{name})>::simtmm_describe(simtmm_words)"
        code = f'{self._unit}\nextern "C" __global__ void simtmm_describe(long long* simtmm_words) {{ {describe}; }}\n'
        # A recording must take the same branches everywhere: no fused multiply-add, as in the build for the CPU. And
        # it must run with blocks of 1024 threads, which share 65536 registers, however many its calls would like.
        options = ("-std=c++17", f"-I{HERE}", *(("--fmad=false", "--maxrregcount=64") if self._recording else ()))
        names = [name, "simtmm_describe", *(["simtmm_begin"] if self._recording else [])]
        where = f"kernel {self.kernel.name}"
        with self._device.told(where):
            module = self._device.cupy.RawModule(code=code, options=options, name_expressions=names)
            try:
                functions = {each: module.get_function(each) for each in names}
            except (ImportError, OSError, RuntimeError) as error:
                cuda = self._device.cupy.cuda
                if isinstance(error, (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError)):
                    raise
                raise CompilerError(
                    f"{where}: CuPy can't compile ({shown_error(error)}): is CUDA's run-time compiler installed? "
                    f"{INSTALL}"
                ) from None
            words = self._device.put(np.zeros(33, dtype=np.int64))
            functions["simtmm_describe"]((1,), (1,), (np.uint64(words.data.ptr),))
            count, *described = words.get().tolist()
        signature = tuple((chr(word // 256), word % 256) for word in described[:count])
        return Function(functions[name], signature, functions.get("simtmm_begin"))


def launch_words(kernel: Kernel, launch: Launch, number: int) -> str:
    """How errors name a launch."""
    return f"kernel {kernel.name}: launch {number} of {launch.kernel.strip() or shown(launch.kernel)}"
