"""What a device that is not there says of itself: the machine of the recording, else one of the architecture."""

from simtmm.errors import KernelError
from simtmm.recorder.direct import current

FIXED = {
    "WARP_SIZE": 32,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 * 1024,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 * 1024,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "TOTAL_CONSTANT_MEMORY": 64 * 1024,
    "ASYNC_ENGINE_COUNT": 1,
    "GPU_OVERLAP": 1,
    "CONCURRENT_KERNELS": 1,
    "CAN_MAP_HOST_MEMORY": 1,
    "UNIFIED_ADDRESSING": 1,
    "MANAGED_MEMORY": 1,
    "CONCURRENT_MANAGED_ACCESS": 1,
    "PAGEABLE_MEMORY_ACCESS": 0,
    "COOPERATIVE_LAUNCH": 1,
    "STREAM_PRIORITIES_SUPPORTED": 1,
    "MEMORY_POOLS_SUPPORTED": 1,
    "TEXTURE_ALIGNMENT": 512,
    "SURFACE_ALIGNMENT": 512,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 2,
    "PCI_DOMAIN_ID": 0,
    "PCI_BUS_ID": 1,
    "PCI_DEVICE_ID": 0,
}
"""What is the same on all of NVIDIA's GPUs of today, or says that a feature is there."""

NONE = ("KERNEL_EXEC_TIMEOUT", "TCC_DRIVER", "COMPUTE_MODE", "INTEGRATED", "ECC_ENABLED", "MULTI_GPU_BOARD")
"""Features that are not there."""

RESIDENT_THREADS = {75: 1024, 86: 1536, 87: 1536, 88: 1536, 89: 1536, 120: 1536, 121: 1536}
"""Threads of a multiprocessor where they are not 2048, by architecture."""


def compute_capability() -> tuple[int, int]:
    """What kernels are compiled for now."""
    return divmod(current.architecture(), 10)


def device_name() -> str:
    """The machine's, or that of a device of which nothing but the architecture is known."""
    found = current.machine()
    return found.name if found is not None else f"simulated sm_{current.architecture()}"


def attribute(name: str) -> int:
    """A device's attribute by the driver's name for it, without CU_DEVICE_ATTRIBUTE_.

    Raises KernelError for one that nobody knows here: a wrong number would be worse.
    """
    found = current.machine()
    groups = found.cores.groups if found is not None else 132
    if name in FIXED:
        return FIXED[name]
    if name in NONE:
        return 0
    match name:
        case "COMPUTE_CAPABILITY_MAJOR":
            return compute_capability()[0]
        case "COMPUTE_CAPABILITY_MINOR":
            return compute_capability()[1]
        case "MULTIPROCESSOR_COUNT":
            return groups
        case "CLOCK_RATE":
            return int(found.clock_hz / 1000) if found is not None and found.clock_hz else 1_000_000
        case "MAX_THREADS_PER_MULTIPROCESSOR":
            if found is not None:
                return int(found.cores.cores_per_group * found.cores.max_threads_per_core)
            return RESIDENT_THREADS.get(current.architecture(), 2048)
        case "MAX_BLOCKS_PER_MULTIPROCESSOR":
            return (found.limits.blocks_per_group if found is not None else None) or 32
        case "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR":
            return (found.resources.shared_memory if found is not None else None) or 228 * 1024
        case "MAX_REGISTERS_PER_MULTIPROCESSOR":
            return (found.resources.registers if found is not None else None) or 65536
    raise KernelError(f"device attribute {name}: is not known of a device that is not there")
