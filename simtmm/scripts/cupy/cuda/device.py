"""The device: the machine that is simulated, as far as it says what CUDA would."""

from collections.abc import Mapping
from typing import Any

from simtmm.recorder.direct import current

MEMORY = 16 << 30  # bytes that a device reports to have: how many it has does not matter here


class Device:
    """The only device, number 0."""

    def __init__(self, device: Any = None) -> None:
        number = 0 if device is None else int(device)
        if number:
            from simtmm.scripts.cupy.cuda.runtime import CUDARuntimeError

            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = number

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def use(self) -> "Device":
        """It is the one in use."""
        return self

    def synchronize(self) -> None:
        """The host waits for all of its work."""
        clock = current.clock_if_any()
        if clock is not None:
            clock.synchronize()

    @property
    def compute_capability(self) -> str:
        """That kernels are compiled for, as "90"."""
        return str(current.architecture())

    @property
    def attributes(self) -> Mapping[str, int]:
        """What CUDA says of it, by names without cudaDevAttr."""
        return attributes()

    @property
    def mem_info(self) -> tuple[int, int]:
        """Bytes that are free, and all."""
        return MEMORY, MEMORY

    @property
    def pci_bus_id(self) -> str:
        """It sits on no bus."""
        return "0000:00:00.0"


def attributes() -> dict[str, int]:
    """What CUDA says of a device, as far as the machine of the recording, or a GPU of today, says so."""
    from simtmm.cuda.device import MOST_BLOCK, MOST_GRID, MOST_SHARED, MOST_THREADS, PROCESSORS

    machine = current.machine()
    capability = current.architecture()
    cores, warp, clock = (PROCESSORS, 32, None) if machine is None else (
        machine.cores.groups, machine.cores.warp_width, machine.clock_hz
    )  # fmt: skip
    resources = machine.resources if machine is not None else None
    threads = 2048 if machine is None else int(machine.cores.max_threads_per_core * machine.cores.cores_per_group)
    l2 = machine.memory.l2 if machine is not None else None
    chunk = machine.memory.chunk_words * machine.memory.word_bytes if machine is not None else 0
    return {
        "ComputeCapabilityMajor": capability // 10,
        "ComputeCapabilityMinor": capability % 10,
        "MultiProcessorCount": int(cores),
        "WarpSize": int(warp),
        "MaxThreadsPerBlock": MOST_THREADS,
        "MaxThreadsPerMultiProcessor": threads,
        "MaxBlockDimX": MOST_BLOCK[0],
        "MaxBlockDimY": MOST_BLOCK[1],
        "MaxBlockDimZ": MOST_BLOCK[2],
        "MaxGridDimX": MOST_GRID[0],
        "MaxGridDimY": MOST_GRID[1],
        "MaxGridDimZ": MOST_GRID[2],
        "MaxSharedMemoryPerBlock": 48 << 10,
        "MaxSharedMemoryPerBlockOptin": MOST_SHARED,
        "MaxSharedMemoryPerMultiprocessor": int((resources and resources.shared_memory) or 228 << 10),
        "MaxRegistersPerBlock": 65536,
        "MaxRegistersPerMultiprocessor": int((resources and resources.registers) or 65536),
        "TotalConstantMemory": 64 << 10,
        "ClockRate": int((clock or 0) / 1e3),
        "L2CacheSize": int(l2.sets * l2.ways * chunk) if l2 is not None else 0,
        "ConcurrentKernels": 1,
        "CooperativeLaunch": 1,
        "UnifiedAddressing": 1,
        "ManagedMemory": 1,
        "AsyncEngineCount": 1,
        "EccEnabled": 0,
        "Integrated": 0,
    }


def get_device_id() -> int:
    """The only one's."""
    return 0


def get_compute_capability() -> str:
    """That kernels are compiled for, as "90"."""
    return Device(0).compute_capability
