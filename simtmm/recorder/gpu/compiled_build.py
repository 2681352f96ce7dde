"""A compiled kernel as it is on a GPU: its PTX as the compiler gives it, to be timed."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simtmm.cuda.compilers import bare_name
from simtmm.kernel import Kernel, Launch
from simtmm.recorder.compiled.launches import packed
from simtmm.recorder.compiled.module import module_of
from simtmm.recorder.gpu.device import Device, DeviceMemory
from simtmm.recorder.gpu.ptx_module import GpuFunction, PtxModule, meets_as_grid, only_unit


@dataclass(frozen=True)
class CompiledFunction:
    """A kernel. raw: on the device, a PtxKernel. function: as PTX."""

    raw: Any
    function: GpuFunction

    def arguments(self, launch: Launch, memory: DeviceMemory, where: str) -> bytes:
        """The launch's arguments as the kernel takes them. Raises KernelError."""
        addresses = {name: memory.origin + base for name, base in memory.host.bases.items()}
        return packed(self.function, launch, memory.host.arrays, addresses, where)


class CompiledBuild:
    """A program's kernels, compiled for the device and loaded. digest: a hash of their PTX."""

    def __init__(self, device: Device, kernel: Kernel, parameters: Mapping[str, Any]) -> None:
        """Raises CompilerError, PtxError, KernelError and RecordingError."""
        where = f"kernel {kernel.name}"
        self._linked = module_of(kernel, parameters, device.architecture())
        ptx = only_unit(self._linked)
        self.digest = hashlib.sha256(ptx.encode()).hexdigest()[:20]
        self._module = PtxModule(device, ptx, where)
        with device.told(where):
            self._variables = [(there, there.get()) for there in self._module.variables(self._linked).values()]
        self._functions: dict[str, CompiledFunction] = {}

    def function(self, launch: Launch, where: str) -> CompiledFunction:
        """The kernel that a launch names. Raises KernelError."""
        if launch.kernel not in self._functions:
            function = GpuFunction(self._linked, self._linked.entry(launch.kernel or None))
            meets = meets_as_grid(self._linked, function.entry)
            raw = self._module.kernel(function.entry, function.parameters, meets)
            self._functions[launch.kernel] = CompiledFunction(raw, function)
        return self._functions[launch.kernel]

    def dynamic_bytes(self, static: int, launch: Launch) -> int:
        """Shared memory that the launch gives beside the static one of the kernel [bytes]."""
        return launch.shared_memory_bytes

    def described(self, launch: Launch) -> Launch:
        """The launch as a measurement describes it: the kernel as it is written, and all of its shared memory."""
        function = self._functions[launch.kernel].function
        name, shared = bare_name(function.entry), function.shared_bytes(launch.shared_memory_bytes)
        return Launch(name, launch.arguments, launch.grid, launch.block, launch.registers_per_thread, shared)

    def restore(self) -> None:
        """Give the module's variables what they held at first."""
        for there, first in self._variables:
            there.set(first)
