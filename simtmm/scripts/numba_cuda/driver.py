"""The CUDA driver as numba-cuda calls it, of a device that is not there: memory, streams, events, attributes.

Functions have the names and the arguments that `numba.cuda.cudadrv.driver.driver` has for the driver's own.
"""

import ctypes
import itertools
import threading
from collections.abc import Callable
from typing import Any

from simtmm.cuda.execution.livelock.others import host_may_write
from simtmm.device.host import IN, OUT
from simtmm.device.properties import CUDA_VERSION
from simtmm.errors import KernelError
from simtmm.recorder.direct import current
from simtmm.recorder.direct.calls import ALLOCATE, ALLOCATE_PINNED, ALLOCATIONS, FREE, FREE_PINNED
from simtmm.recorder.direct.streams import DeviceEvent, DeviceStream, milliseconds_between
from simtmm.scripts.device_attributes import attribute
from simtmm.scripts.device_blocks import DeviceBlocks

CONTEXT = 0x51AC0DE  # the handle of the only context
_MEMORY_TYPE, _DEVICE_POINTER = 2, 3  # attributes of a pointer, by CUDA's numbers
_OF_DEVICE = 2  # the memory type of what lies on the device


class EmulatedDriver:
    """The driver's functions. blocks: the device's memory."""

    def __init__(self, binding: Any, blocks: DeviceBlocks) -> None:
        """binding: the module cuda.bindings.driver, whose types numba-cuda takes for handles."""
        self._binding, self.blocks = binding, blocks
        self._handles = itertools.count(0x100)
        self._local = threading.local()
        self._events: dict[int, DeviceEvent] = {}
        self._streams: dict[int, DeviceStream] = {}
        self._context = binding.CUcontext(CONTEXT)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """All of them, by name."""
        return {name: getattr(self, name) for name in dir(self) if name.startswith("cu")}

    def cuInit(self, flags: int) -> None:  # noqa: N802
        """Nothing to do."""

    def cuDriverGetVersion(self) -> int:  # noqa: N802
        return CUDA_VERSION

    def cuDeviceGetCount(self) -> int:  # noqa: N802
        return 1

    def cuDeviceGetAttribute(self, code: Any, device: int) -> int:  # noqa: N802
        name = code.name.removeprefix("CU_DEVICE_ATTRIBUTE_")
        return attribute(name)

    def cuDeviceCanAccessPeer(self, device: Any, other: Any) -> int:  # noqa: N802
        return 0

    # contexts: one, on a stack of each thread

    def _stack(self) -> list[Any]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: list[Any] = self._local.stack
        return stack

    def cuCtxGetCurrent(self) -> Any:  # noqa: N802
        stack = self._stack()
        return stack[-1] if stack else self._binding.CUcontext(0)

    def cuCtxPushCurrent(self, context: Any) -> None:  # noqa: N802
        self._stack().append(self._context)

    def cuCtxPopCurrent(self) -> Any:  # noqa: N802
        stack = self._stack()
        return stack.pop() if stack else self._binding.CUcontext(0)

    def cuCtxGetDevice(self) -> int:  # noqa: N802
        return 0

    def cuCtxSynchronize(self) -> None:  # noqa: N802
        clock = current.clock_if_any()
        if clock is not None:
            clock.synchronize()

    def cuDevicePrimaryCtxRelease(self, device: int) -> None:  # noqa: N802
        """The only context stays."""

    def cuDevicePrimaryCtxReset(self, device: int) -> None:  # noqa: N802
        """The only context stays."""

    # memory

    def cuMemGetInfo(self) -> tuple[int, int]:  # noqa: N802
        total = current.properties().global_bytes
        return max(0, total - self.blocks.used), total

    def cuMemAlloc(self, size: int) -> Any:  # noqa: N802
        current.allocated(ALLOCATIONS.index(ALLOCATE), size)
        return self._binding.CUdeviceptr(self.blocks.allocate(size))

    def cuMemAllocManaged(self, size: int, flags: int) -> Any:  # noqa: N802
        return self._binding.CUdeviceptr(self._of_host(self.blocks.allocate(size), size))

    def cuMemFree(self, pointer: Any) -> None:  # noqa: N802
        current.allocated(ALLOCATIONS.index(FREE), 0)
        self.blocks.free(int(pointer))

    def cuMemHostAlloc(self, size: int, flags: int) -> int:  # noqa: N802
        current.allocated(ALLOCATIONS.index(ALLOCATE_PINNED), size)
        return self._of_host(self.blocks.allocate(size), size)

    def _of_host(self, address: int, size: int) -> int:
        host_may_write(address, size)
        return address

    def cuMemFreeHost(self, pointer: int) -> None:  # noqa: N802
        current.allocated(ALLOCATIONS.index(FREE_PINNED), 0)
        self.blocks.free(int(pointer))

    def cuMemHostRegister(self, pointer: int, size: int, flags: int) -> None:  # noqa: N802
        self._of_host(self.blocks.adopt(int(pointer), size), size)

    def cuMemHostUnregister(self, pointer: int) -> None:  # noqa: N802
        self.blocks.free(int(pointer))

    def cuMemHostGetDevicePointer(self, pointer: int, flags: int) -> Any:  # noqa: N802
        return self._binding.CUdeviceptr(int(pointer))

    def cuPointerGetAttribute(self, attribute: Any, pointer: Any) -> Any:  # noqa: N802
        if int(attribute) == _DEVICE_POINTER:
            return pointer
        if int(attribute) == _MEMORY_TYPE:
            return _OF_DEVICE
        raise KernelError(
            f"numba: cuPointerGetAttribute: attribute {int(attribute)}: known are 2 (type) and 3 (address)"
        )

    def cuMemGetAddressRange(self, pointer: int) -> tuple[Any, int]:  # noqa: N802
        block = self.blocks.find(int(pointer))
        if block is None:
            raise KernelError(f"numba: address {int(pointer):#x}: is not in a device array")
        return self._binding.CUdeviceptr(block.address), block.size

    def cuMemcpyHtoD(self, to: int, source: int, size: int) -> None:  # noqa: N802
        self._copy(to, source, size, to)
        pinned = self.blocks.find(int(source)) is not None
        current.copied(IN, size, is_pinned=pinned, host=int(source), device=int(to))

    def cuMemcpyDtoH(self, to: int, source: int, size: int) -> None:  # noqa: N802
        self._copy(to, source, size, source)
        pinned = self.blocks.find(int(to)) is not None
        current.copied(OUT, size, is_pinned=pinned, host=int(to), device=int(source))

    def cuMemcpyDtoD(self, to: int, source: int, size: int) -> None:  # noqa: N802
        self.blocks.check(int(to), size, "numba: a copy on the device")
        self._copy(to, source, size, source)
        current.copied(None, size)

    def _copy(self, to: int, source: int, size: int, of_device: int) -> None:
        if size:
            self.blocks.check(int(of_device), size, "numba: a copy")
            ctypes.memmove(int(to), int(source), size)

    def cuMemcpyHtoDAsync(self, to: int, source: int, size: int, stream: Any) -> None:  # noqa: N802
        self.cuMemcpyHtoD(to, source, size)

    def cuMemcpyDtoHAsync(self, to: int, source: int, size: int, stream: Any) -> None:  # noqa: N802
        self.cuMemcpyDtoH(to, source, size)

    def cuMemcpyDtoDAsync(self, to: int, source: int, size: int, stream: Any) -> None:  # noqa: N802
        self.cuMemcpyDtoD(to, source, size)

    def cuMemsetD8(self, to: Any, byte: int, size: int) -> None:  # noqa: N802
        self.blocks.check(int(to), size, "numba: memset")
        ctypes.memset(int(to), byte & 0xFF, size)

    def cuMemsetD8Async(self, to: Any, byte: int, size: int, stream: Any) -> None:  # noqa: N802
        self.cuMemsetD8(to, byte, size)

    # streams: all work is done in the order of the calls

    def cuStreamCreate(self, flags: int) -> Any:  # noqa: N802
        handle = next(self._handles)
        self._streams[handle] = DeviceStream(handle)
        return self._binding.CUstream(handle)

    def drop_stream(self, handle: int) -> None:
        """Nobody has a stream any more."""
        self._streams.pop(handle, None)

    def cuStreamDestroy(self, stream: Any) -> None:  # noqa: N802
        """Nothing is held."""

    def cuStreamSynchronize(self, stream: Any) -> None:  # noqa: N802
        self._stream(stream).synchronize()

    def cuStreamWaitEvent(self, stream: Any, event: int, flags: int) -> None:  # noqa: N802
        self._stream(stream).wait_event(self._events[int(event)])

    def _stream(self, handle: Any) -> DeviceStream:
        number = _number(handle)
        return self._streams.get(number) or DeviceStream(number, is_own=False)

    # events

    def cuEventCreate(self, flags: int) -> Any:  # noqa: N802
        handle = next(self._handles)
        is_timed = not int(flags) & int(self._binding.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        self._events[handle] = DeviceEvent(is_timed)
        return self._binding.CUevent(handle)

    def drop_event(self, handle: int) -> None:
        """Nobody has an event any more."""
        self._events.pop(handle, None)

    def cuEventDestroy(self, event: int) -> None:  # noqa: N802
        self.drop_event(int(event))

    def cuEventRecord(self, event: int, stream: Any) -> None:  # noqa: N802
        self._events[int(event)].mark_end(_number(stream))

    def cuEventQuery(self, event: Any) -> None:  # noqa: N802
        """What was before it has ended."""

    def cuEventSynchronize(self, event: int) -> None:  # noqa: N802
        self._events[int(event)].synchronize()

    def cuEventElapsedTime(self, begin: int, end: int) -> float:  # noqa: N802
        return milliseconds_between(self._events[int(begin)], self._events[int(end)], "numba: event_elapsed_time")

    def cuProfilerStart(self) -> None:  # noqa: N802
        """All launches of a recording are recorded."""

    def cuProfilerStop(self) -> None:  # noqa: N802
        """All launches of a recording are recorded."""

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, kernel: Any, threads: int, shared: int) -> int:  # noqa: N802
        found = kernel.attributes
        own = int(found.shared_size_bytes) + shared
        return current.properties().resident_blocks(threads, int(found.num_regs), own)

    def cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(  # noqa: N802
        self, kernel: Any, threads: int, shared: int, flags: int
    ) -> int:
        return self.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, threads, shared)

    def cuKernelSetCacheConfig(self, kernel: Any, flag: Any, device: int) -> None:  # noqa: N802
        """A wish, without effect."""


def _number(stream: Any) -> int:
    return int(stream) if stream else 0
