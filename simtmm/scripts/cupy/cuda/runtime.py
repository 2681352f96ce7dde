"""cupy.cuda.runtime: as much of CUDA's runtime as scripts call."""

from typing import Any

from simtmm.recorder.direct import current
from simtmm.scripts.cupy.cuda.device import MEMORY, Device, attributes
from simtmm.scripts.cupy.device_array import MissingError

is_hip = False
memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)  # noqa: N816
cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat = range(3)  # noqa: N816
cudaResourceTypeArray, cudaResourceTypeMipmappedArray = range(2)  # noqa: N816
cudaResourceTypeLinear, cudaResourceTypePitch2D = 2, 3  # noqa: N816
cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder = range(4)  # noqa: N816
cudaFilterModePoint, cudaFilterModeLinear = range(2)  # noqa: N816
cudaReadModeElementType, cudaReadModeNormalizedFloat = range(2)  # noqa: N816
cudaArraySurfaceLoadStore = 2  # noqa: N816
VERSION = 13000  # CUDA's of the compiler's wheels


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
    return MEMORY, MEMORY


def runtimeGetVersion() -> int:  # noqa: N802 - CuPy's name
    """CUDA's version."""
    return VERSION


driverGetVersion = runtimeGetVersion  # noqa: N816


def getDeviceProperties(device: int = 0) -> dict[str, Any]:  # noqa: N802 - CuPy's name
    """What CUDA says of the device."""
    Device(device)
    found = attributes()
    machine = current.machine()
    return {
        "name": (machine.name if machine is not None else "simulated by simtmm").encode(),
        "totalGlobalMem": MEMORY,
        "sharedMemPerBlock": found["MaxSharedMemoryPerBlock"],
        "sharedMemPerBlockOptin": found["MaxSharedMemoryPerBlockOptin"],
        "sharedMemPerMultiprocessor": found["MaxSharedMemoryPerMultiprocessor"],
        "regsPerBlock": found["MaxRegistersPerBlock"],
        "regsPerMultiprocessor": found["MaxRegistersPerMultiprocessor"],
        "warpSize": found["WarpSize"],
        "maxThreadsPerBlock": found["MaxThreadsPerBlock"],
        "maxThreadsPerMultiProcessor": found["MaxThreadsPerMultiProcessor"],
        "maxThreadsDim": tuple(found[f"MaxBlockDim{axis}"] for axis in "XYZ"),
        "maxGridSize": tuple(found[f"MaxGridDim{axis}"] for axis in "XYZ"),
        "clockRate": found["ClockRate"],
        "totalConstMem": found["TotalConstantMemory"],
        "major": found["ComputeCapabilityMajor"],
        "minor": found["ComputeCapabilityMinor"],
        "multiProcessorCount": found["MultiProcessorCount"],
        "l2CacheSize": found["L2CacheSize"],
        "concurrentKernels": 1,
        "integrated": 0,
    }


def deviceGetAttribute(attrib: int, device: int = 0) -> int:  # noqa: N802 - CuPy's name
    """An attribute by its number in CUDA."""
    names = {1: "MaxThreadsPerBlock", 8: "MaxSharedMemoryPerBlock", 10: "WarpSize", 13: "ClockRate",
             16: "MultiProcessorCount", 38: "L2CacheSize", 39: "MaxThreadsPerMultiProcessor",
             75: "ComputeCapabilityMajor", 76: "ComputeCapabilityMinor", 81: "MaxSharedMemoryPerMultiprocessor",
             95: "CooperativeLaunch", 97: "MaxSharedMemoryPerBlockOptin"}  # fmt: skip
    if attrib not in names:
        raise MissingError(f"cupy.cuda.runtime.deviceGetAttribute({attrib}): is not known here")
    return attributes()[names[attrib]]


def profilerStart() -> None:  # noqa: N802 - CuPy's name
    """Taken, and without effect."""


def profilerStop() -> None:  # noqa: N802 - CuPy's name
    """Taken, and without effect."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise MissingError(f"cupy.cuda.runtime.{name}: is not known to simtmm's stand-in for CuPy")
