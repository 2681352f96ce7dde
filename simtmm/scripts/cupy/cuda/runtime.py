"""cupy.cuda.runtime: as much of CUDA's runtime as scripts call."""

from typing import Any

from simtmm.device.attributes import by_number
from simtmm.device.properties import CUDA_VERSION
from simtmm.recorder.direct import current
from simtmm.scripts.cupy.cuda.device import Device, attributes
from simtmm.scripts.cupy.device_array import MissingError

is_hip = False
memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)  # noqa: N816
cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat = range(3)  # noqa: N816
cudaResourceTypeArray, cudaResourceTypeMipmappedArray = range(2)  # noqa: N816
cudaResourceTypeLinear, cudaResourceTypePitch2D = 2, 3  # noqa: N816
cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder = range(4)  # noqa: N816
cudaFilterModePoint, cudaFilterModeLinear = range(2)  # noqa: N816
cudaReadModeElementType, cudaReadModeNormalizedFloat = range(2)  # noqa: N816
cudaArrayLayered, cudaArraySurfaceLoadStore, cudaArrayCubemap = 1, 2, 4  # noqa: N816


_FIELDS = {
    "sharedMemPerBlock": "MaxSharedMemoryPerBlock",
    "sharedMemPerBlockOptin": "MaxSharedMemoryPerBlockOptin",
    "sharedMemPerMultiprocessor": "MaxSharedMemoryPerMultiprocessor",
    "reservedSharedMemPerBlock": "ReservedSharedMemoryPerBlock",
    "regsPerBlock": "MaxRegistersPerBlock",
    "regsPerMultiprocessor": "MaxRegistersPerMultiprocessor",
    "warpSize": "WarpSize",
    "maxThreadsPerBlock": "MaxThreadsPerBlock",
    "maxThreadsPerMultiProcessor": "MaxThreadsPerMultiProcessor",
    "maxBlocksPerMultiProcessor": "MaxBlocksPerMultiprocessor",
    "clockRate": "ClockRate",
    "memoryClockRate": "MemoryClockRate",
    "memoryBusWidth": "GlobalMemoryBusWidth",
    "totalConstMem": "TotalConstantMemory",
    "major": "ComputeCapabilityMajor",
    "minor": "ComputeCapabilityMinor",
    "multiProcessorCount": "MultiProcessorCount",
    "l2CacheSize": "L2CacheSize",
    "concurrentKernels": "ConcurrentKernels",
    "integrated": "Integrated",
}
"""Fields of cudaDeviceProp that are attributes."""


class CUDARuntimeError(RuntimeError):
    """As CuPy's."""


def getDeviceCount() -> int:  # noqa: N802 - CuPy's name
    """One."""
    return 1


def getDevice() -> int:  # noqa: N802 - CuPy's name
    """Number 0."""
    return 0


def setDevice(device: int) -> None:  # noqa: N802 - CuPy's name
    """There is one alone."""
    Device(device)


def deviceSynchronize() -> None:  # noqa: N802 - CuPy's name
    """The host waits."""
    Device(0).synchronize()


def streamSynchronize(stream: int) -> None:  # noqa: N802 - CuPy's name
    """The host waits for a stream."""
    from simtmm.scripts.cupy.cuda.stream import ExternalStream

    ExternalStream(stream).synchronize()


def memGetInfo() -> tuple[int, int]:  # noqa: N802 - CuPy's name
    """Bytes that are free, and all."""
    return Device(0).mem_info


def runtimeGetVersion() -> int:  # noqa: N802 - CuPy's name
    """CUDA's version."""
    return CUDA_VERSION


driverGetVersion = runtimeGetVersion  # noqa: N816


def getDeviceProperties(device: int = 0) -> dict[str, Any]:  # noqa: N802 - CuPy's name
    """What CUDA says of the device."""
    Device(device)
    found, of = attributes(), current.properties()
    return {
        "name": of.name.encode(),
        "totalGlobalMem": of.global_bytes,
        "maxThreadsDim": tuple(found[f"MaxBlockDim{axis}"] for axis in "XYZ"),
        "maxGridSize": tuple(found[f"MaxGridDim{axis}"] for axis in "XYZ"),
        **{field: found[name] for field, name in _FIELDS.items()},
    }


def deviceGetAttribute(attrib: int, device: int = 0) -> int:  # noqa: N802 - CuPy's name
    """An attribute by its number in CUDA."""
    Device(device)
    known = by_number(current.properties())
    if attrib not in known:
        raise MissingError(f"cupy.cuda.runtime.deviceGetAttribute({attrib}): is not supported")
    return known[attrib]


def profilerStart() -> None:  # noqa: N802 - CuPy's name
    """Taken, and without effect."""


def profilerStop() -> None:  # noqa: N802 - CuPy's name
    """Taken, and without effect."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise MissingError(f"cupy.cuda.runtime.{name}: is not supported by simtmm's stand-in for CuPy")
