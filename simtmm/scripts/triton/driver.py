"""A driver of Triton's for a device that is not there."""

from types import SimpleNamespace
from typing import Any

from simtmm.device.properties import WARP_SIZE
from simtmm.errors import KernelError
from simtmm.recorder.direct import current
from simtmm.scripts.device_attributes import attribute, compute_capability


class DeviceNumber(int):
    """The device 0 of an architecture: kernels that are compiled for another device 0 are not mistaken for it."""

    architecture: int

    def __new__(cls, architecture: int) -> "DeviceNumber":
        """The number 0, of the only device."""
        number = super().__new__(cls, 0)
        number.architecture = architecture
        return number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceNumber) and self.architecture == other.architecture

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("simtmm", self.architecture))


class SimulatedDriver:
    """What `triton.runtime.driver.active` is asked for."""

    def __init__(self, launcher: Any, benchmark: Any) -> None:
        """launcher: launches a kernel by its source and metadata. benchmark: times a function [ms]."""
        self.launcher_cls = launcher
        self._benchmark = benchmark
        self.utils = SimpleNamespace(
            get_device_properties=lambda device: {
                "max_shared_mem": attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
                "max_num_regs": attribute("MAX_REGISTERS_PER_BLOCK"),
                "multiprocessor_count": attribute("MULTIPROCESSOR_COUNT"),
                "warpSize": attribute("WARP_SIZE"),
                "sm_clock_rate": attribute("CLOCK_RATE"),
                "mem_clock_rate": attribute("MEMORY_CLOCK_RATE"),
                "mem_bus_width": attribute("GLOBAL_MEMORY_BUS_WIDTH"),
            },
            unload_module=lambda module: None,
            get_current_device=self.get_current_device,
            set_current_device=self.set_current_device,
            get_device_capability=self.get_device_capability,
        )

    @classmethod
    def is_active(cls) -> bool:
        """Yes."""
        return True

    def get_current_target(self) -> Any:
        """What is compiled for."""
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", current.architecture(), WARP_SIZE)

    def get_current_device(self) -> int:
        """The only one there is."""
        return DeviceNumber(current.architecture())

    def set_current_device(self, device: int) -> None:
        """It is the only one."""

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """Compute capability."""
        return compute_capability()

    def get_current_stream(self, device: int | None = None) -> int:
        """The default one."""
        return 0

    def get_active_torch_device(self) -> Any:
        """Torch's name for it."""
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """torch.cuda, as it is mapped."""
        import torch

        return torch.cuda

    def map_python_to_cpp_type(self, kind: str) -> str:
        """No launcher is compiled. Raises KernelError."""
        raise KernelError(f"triton: {kind}: launchers in C++ are not supported")

    def get_benchmarker(self) -> Any:
        """What times a function."""
        return self._benchmark

    def get_empty_cache_for_benchmark(self) -> None:
        """Each launch is simulated with caches that are empty."""

    def clear_cache(self, cache: None) -> None:
        """Each launch is simulated with caches that are empty."""
