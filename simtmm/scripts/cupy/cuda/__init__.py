"""cupy.cuda: devices, streams, events and memory of the machine that is simulated."""

import contextlib
from collections.abc import Iterator
from typing import Any

from simtmm.scripts.cupy import memory as memory
from simtmm.scripts.cupy.cuda import compiler as compiler
from simtmm.scripts.cupy.cuda import device as device
from simtmm.scripts.cupy.cuda import nvtx as nvtx
from simtmm.scripts.cupy.cuda import profiler as profiler
from simtmm.scripts.cupy.cuda import runtime as runtime
from simtmm.scripts.cupy.cuda import stream as stream
from simtmm.scripts.cupy.cuda import texture as texture
from simtmm.scripts.cupy.cuda.device import Device as Device
from simtmm.scripts.cupy.cuda.stream import Event as Event
from simtmm.scripts.cupy.cuda.stream import ExternalStream as ExternalStream
from simtmm.scripts.cupy.cuda.stream import Stream as Stream
from simtmm.scripts.cupy.cuda.stream import get_current_stream as get_current_stream
from simtmm.scripts.cupy.cuda.stream import get_elapsed_time as get_elapsed_time
from simtmm.scripts.cupy.device_array import MissingError
from simtmm.scripts.cupy.memory import Memory as Memory
from simtmm.scripts.cupy.memory import MemoryPointer as MemoryPointer
from simtmm.scripts.cupy.memory import MemoryPool as MemoryPool
from simtmm.scripts.cupy.memory import PinnedMemoryPool as PinnedMemoryPool
from simtmm.scripts.cupy.memory import UnownedMemory as UnownedMemory
from simtmm.scripts.cupy.memory import alloc as alloc
from simtmm.scripts.cupy.memory import alloc_pinned_memory as alloc_pinned_memory
from simtmm.scripts.cupy.memory import malloc_managed as malloc_managed
from simtmm.scripts.cupy.memory import set_allocator as set_allocator
from simtmm.scripts.cupy.memory import set_pinned_memory_allocator as set_pinned_memory_allocator

ManagedMemory, MemoryAsyncPool = Memory, MemoryPool
malloc_async = alloc


def is_available() -> bool:
    """There is a device: the simulated one."""
    return True


def get_cuda_path() -> str | None:
    """No CUDA is installed, that is known of."""
    return None


def get_device_id() -> int:
    """The only one's."""
    return 0


def synchronize() -> None:
    """The host waits for the device."""
    Device(0).synchronize()


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Taken, and without effect."""
    yield


@contextlib.contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    """Taken, and without effect: memory is NumPy's."""
    yield


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise MissingError(f"cupy.cuda.{name}: is not supported by simtmm's stand-in for CuPy")
