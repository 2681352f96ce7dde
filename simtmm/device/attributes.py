"""A device's properties as CUDA's attributes: by number, by the runtime's name and by the driver's."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from simtmm.device.properties import DeviceProperties
from simtmm.errors import KernelError


@dataclass(frozen=True)
class Attribute:
    """An attribute of CUDA.

    number: of both cudaDeviceAttr and CUdevice_attribute.
    runtime: name in cudaDeviceAttr, without cudaDevAttr.
    driver: name in CUdevice_attribute, without CU_DEVICE_ATTRIBUTE_.
    value: what it is of a device.
    """

    number: int
    runtime: str
    driver: str
    value: Callable[[DeviceProperties], int]


def _fixed(value: int) -> Callable[[DeviceProperties], int]:
    return lambda of: value


YES, NO = _fixed(1), _fixed(0)

ATTRIBUTES = (
    Attribute(1, "MaxThreadsPerBlock", "MAX_THREADS_PER_BLOCK", lambda of: of.threads_per_block),
    Attribute(2, "MaxBlockDimX", "MAX_BLOCK_DIM_X", lambda of: min(of.block_sizes[0], of.threads_per_block)),
    Attribute(3, "MaxBlockDimY", "MAX_BLOCK_DIM_Y", lambda of: min(of.block_sizes[1], of.threads_per_block)),
    Attribute(4, "MaxBlockDimZ", "MAX_BLOCK_DIM_Z", lambda of: min(of.block_sizes[2], of.threads_per_block)),
    Attribute(5, "MaxGridDimX", "MAX_GRID_DIM_X", lambda of: of.grid_sizes[0]),
    Attribute(6, "MaxGridDimY", "MAX_GRID_DIM_Y", lambda of: of.grid_sizes[1]),
    Attribute(7, "MaxGridDimZ", "MAX_GRID_DIM_Z", lambda of: of.grid_sizes[2]),
    Attribute(8, "MaxSharedMemoryPerBlock", "MAX_SHARED_MEMORY_PER_BLOCK", lambda of: of.shared_per_block),
    Attribute(9, "TotalConstantMemory", "TOTAL_CONSTANT_MEMORY", lambda of: of.constant_bytes),
    Attribute(10, "WarpSize", "WARP_SIZE", lambda of: of.warp_size),
    Attribute(11, "MaxPitch", "MAX_PITCH", _fixed(2**31 - 1)),
    Attribute(12, "MaxRegistersPerBlock", "MAX_REGISTERS_PER_BLOCK", lambda of: of.registers_per_block),
    Attribute(13, "ClockRate", "CLOCK_RATE", lambda of: of.clock_khz),
    Attribute(14, "TextureAlignment", "TEXTURE_ALIGNMENT", _fixed(512)),
    Attribute(15, "GpuOverlap", "GPU_OVERLAP", YES),
    Attribute(16, "MultiProcessorCount", "MULTIPROCESSOR_COUNT", lambda of: of.multiprocessors),
    Attribute(17, "KernelExecTimeout", "KERNEL_EXEC_TIMEOUT", NO),
    Attribute(18, "Integrated", "INTEGRATED", NO),
    Attribute(19, "CanMapHostMemory", "CAN_MAP_HOST_MEMORY", YES),
    Attribute(20, "ComputeMode", "COMPUTE_MODE", NO),
    Attribute(30, "SurfaceAlignment", "SURFACE_ALIGNMENT", _fixed(512)),
    Attribute(31, "ConcurrentKernels", "CONCURRENT_KERNELS", YES),
    Attribute(32, "EccEnabled", "ECC_ENABLED", NO),
    Attribute(33, "PciBusId", "PCI_BUS_ID", NO),
    Attribute(34, "PciDeviceId", "PCI_DEVICE_ID", NO),
    Attribute(35, "TccDriver", "TCC_DRIVER", NO),
    Attribute(36, "MemoryClockRate", "MEMORY_CLOCK_RATE", lambda of: of.memory_clock_khz),
    Attribute(37, "GlobalMemoryBusWidth", "GLOBAL_MEMORY_BUS_WIDTH", lambda of: of.bus_bits),
    Attribute(38, "L2CacheSize", "L2_CACHE_SIZE", lambda of: of.l2_bytes),
    Attribute(
        39, "MaxThreadsPerMultiProcessor", "MAX_THREADS_PER_MULTIPROCESSOR", lambda of: of.threads_per_multiprocessor
    ),
    Attribute(40, "AsyncEngineCount", "ASYNC_ENGINE_COUNT", _fixed(2)),
    Attribute(41, "UnifiedAddressing", "UNIFIED_ADDRESSING", YES),
    Attribute(50, "PciDomainId", "PCI_DOMAIN_ID", NO),
    Attribute(51, "TexturePitchAlignment", "TEXTURE_PITCH_ALIGNMENT", _fixed(32)),
    Attribute(75, "ComputeCapabilityMajor", "COMPUTE_CAPABILITY_MAJOR", lambda of: of.compute_capability[0]),
    Attribute(76, "ComputeCapabilityMinor", "COMPUTE_CAPABILITY_MINOR", lambda of: of.compute_capability[1]),
    Attribute(78, "StreamPrioritiesSupported", "STREAM_PRIORITIES_SUPPORTED", YES),
    Attribute(79, "GlobalL1CacheSupported", "GLOBAL_L1_CACHE_SUPPORTED", YES),
    Attribute(80, "LocalL1CacheSupported", "LOCAL_L1_CACHE_SUPPORTED", YES),
    Attribute(
        81, "MaxSharedMemoryPerMultiprocessor", "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
        lambda of: of.shared_per_multiprocessor,
    ),
    Attribute(
        82, "MaxRegistersPerMultiprocessor", "MAX_REGISTERS_PER_MULTIPROCESSOR",
        lambda of: of.registers_per_multiprocessor,
    ),
    Attribute(83, "ManagedMemory", "MANAGED_MEMORY", YES),
    Attribute(84, "IsMultiGpuBoard", "MULTI_GPU_BOARD", NO),
    Attribute(
        87, "SingleToDoublePrecisionPerfRatio", "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO", lambda of: of.fp32_to_fp64
    ),
    Attribute(88, "PageableMemoryAccess", "PAGEABLE_MEMORY_ACCESS", NO),
    Attribute(89, "ConcurrentManagedAccess", "CONCURRENT_MANAGED_ACCESS", YES),
    Attribute(90, "ComputePreemptionSupported", "COMPUTE_PREEMPTION_SUPPORTED", YES),
    Attribute(95, "CooperativeLaunch", "COOPERATIVE_LAUNCH", YES),
    Attribute(
        97, "MaxSharedMemoryPerBlockOptin", "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", lambda of: of.shared_per_block_optin
    ),
    Attribute(99, "HostRegisterSupported", "HOST_REGISTER_SUPPORTED", YES),
    Attribute(
        106, "MaxBlocksPerMultiprocessor", "MAX_BLOCKS_PER_MULTIPROCESSOR", lambda of: of.blocks_per_multiprocessor
    ),
    Attribute(111, "ReservedSharedMemoryPerBlock", "RESERVED_SHARED_MEMORY_PER_BLOCK", lambda of: of.shared_reserved),
    Attribute(115, "MemoryPoolsSupported", "MEMORY_POOLS_SUPPORTED", YES),
)  # fmt: skip
"""Those that are known. Numbers and names are those of CUDA's driver_types.h and cuda.h."""


@cache
def _by_driver_name() -> dict[str, Attribute]:
    return {each.driver: each for each in ATTRIBUTES}


def by_number(properties: DeviceProperties) -> dict[int, int]:
    """All attributes of a device by their numbers.

    properties: of the device.
    """
    return {each.number: each.value(properties) for each in ATTRIBUTES}


def by_runtime_name(properties: DeviceProperties) -> dict[str, int]:
    """All attributes of a device by the runtime's names, as CuPy has them.

    properties: of the device.
    """
    return {each.runtime: each.value(properties) for each in ATTRIBUTES}


def attribute_of(properties: DeviceProperties, name: str) -> int:
    """An attribute by the driver's name.

    properties: of the device.
    name: as "CU_DEVICE_ATTRIBUTE_WARP_SIZE".

    Raises KernelError for one that nobody knows here: a wrong number would be worse.
    """
    found = _by_driver_name().get(name)
    if found is None:
        raise KernelError(f"device attribute {name}: is not known for a simulated device")
    return found.value(properties)
