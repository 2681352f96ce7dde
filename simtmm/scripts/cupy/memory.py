"""Pointers to memory of the device, and the pools that CuPy takes it from."""

import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.checks.active import unwritten
from simtmm.cuda.execution.livelock.others import host_lets_go, host_may_write

Bytes = npt.NDArray[np.uint8]


class Memory:
    """A piece of memory. ptr: where it lies. size: bytes."""

    def __init__(self, size: int = 0, kept: Bytes | None = None) -> None:
        self.content = np.zeros(max(1, size), np.uint8)[:size] if kept is None else kept
        if kept is None:
            unwritten(self.content)
        self.size = self.content.nbytes

    @property
    def ptr(self) -> "Address":
        """Its first byte's."""
        return Address.of(self.content, 0)

    @property
    def device_id(self) -> int:
        """The only device's."""
        return 0


class OutOfMemoryError(MemoryError):
    """As CuPy's, for scripts that catch it: here memory is the host's, whose MemoryError it is."""


class UnownedMemory(Memory):
    """Memory that another library has allocated. The arguments are those of CuPy's."""

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        """owner: keeps it there."""
        if isinstance(ptr, Address):
            super().__init__(kept=ptr.content[ptr.offset : ptr.offset + size])
        else:
            super().__init__(kept=_at(int(ptr), size))
        self.owner = owner


class Address(int):
    """A number that knows the memory that it is the address of, so that kernels take it as a pointer."""

    content: Bytes
    offset: int

    @classmethod
    def of(cls, content: Bytes, offset: int) -> "Address":
        """The address of a byte of it."""
        address = cls(int(content.ctypes.data) + offset)
        address.content, address.offset = content, offset
        return address

    def __add__(self, other: int) -> "Address":
        return Address.of(self.content, self.offset + int(other))

    __radd__ = __add__

    def __sub__(self, other: int) -> Any:
        return int(self) - int(other) if isinstance(other, Address) else self + -other

    def array(self) -> Any:
        """An array that begins there, of bytes of no type."""
        return bytes_from(self.content, self.offset)


class MemoryPointer:
    """An address in a piece of memory."""

    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self._offset = mem, offset

    @classmethod
    def of(cls, array: npt.NDArray[Any]) -> "MemoryPointer":
        """That of an array's first element, in all the memory that it is a view of."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if not array.size:
            return cls(Memory(), 0)
        if not owner.flags.forc:
            raise ValueError("data: the array is not contiguous: make a contiguous one (cupy.ascontiguousarray)")
        content = (owner if owner.flags.c_contiguous else owner.T).reshape(-1).view(np.uint8)
        return cls(Memory(kept=content), int(array.ctypes.data) - int(content.ctypes.data))

    @property
    def ptr(self) -> Address:
        """The address."""
        return Address.of(self.mem.content, self._offset)

    @property
    def device_id(self) -> int:
        """The only device's."""
        return 0

    @property
    def device(self) -> Any:
        """The only one."""
        from simtmm.scripts.cupy.cuda.device import Device

        return Device(0)

    def bytes(self) -> Any:
        """The memory from there on."""
        return self.mem.content[self._offset :]

    def array(self) -> Any:
        """Likewise, as kernels take it."""
        return bytes_from(self.mem.content, self._offset)

    def __add__(self, offset: int) -> "MemoryPointer":
        return MemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> "MemoryPointer":
        return self + -offset

    def __int__(self) -> int:
        return int(self.ptr)

    def memset(self, value: int, size: int) -> None:
        """Fill bytes."""
        self.bytes()[:size] = value

    memset_async = memset

    def copy_from_device(self, src: "MemoryPointer", size: int) -> None:
        """Copy bytes from elsewhere on the device."""
        self.bytes()[:size] = src.bytes()[:size]

    def copy_from_host(self, mem: Any, size: int) -> None:
        """Copy bytes from the host: from an address or an array."""
        array = mem if isinstance(mem, np.ndarray) else _at(int(getattr(mem, "value", mem)), size)
        self.bytes()[:size] = np.frombuffer(array.tobytes(), np.uint8)[:size]

    copy_from_device_async, copy_from_host_async, copy_from = copy_from_device, copy_from_host, copy_from_host

    def copy_to_host(self, mem: Any, size: int) -> None:
        """Copy bytes to the host: to an address or an array."""
        is_array = isinstance(mem, np.ndarray)
        target = mem.reshape(-1).view(np.uint8) if is_array else _at(int(getattr(mem, "value", mem)), size)
        target[:size] = self.bytes()[:size]

    copy_to_host_async = copy_to_host


def bytes_from(content: Bytes, offset: int) -> Any:
    """The bytes from an offset on, of a type that fits any pointer."""
    return content[offset:].view("V1") if 0 <= offset < content.nbytes else content[:0].view("V1")


def _at(address: int, size: int) -> Any:
    import ctypes

    return np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(address)), np.uint8)


class MemoryPool:
    """A pool that holds nothing back: what is dropped is freed."""

    def __init__(self, allocator: Any = None) -> None:
        self._limit = 0

    def malloc(self, size: int) -> MemoryPointer:
        """Memory of so many bytes."""
        return MemoryPointer(Memory(size), 0)

    def used_bytes(self) -> int:
        """None that it knows of."""
        return 0

    free_bytes = total_bytes = n_free_blocks = used_bytes

    def free_all_blocks(self, stream: Any = None) -> None:
        """Nothing is held."""

    free_all_free = free_all_blocks

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Set what `get_limit` tells; memory beyond it is given all the same.

        size: bytes; 0 or nothing for no limit. fraction: of the device's memory, instead. Raises ValueError as CuPy.
        """
        if fraction is not None:
            from simtmm.scripts.cupy.cuda.device import Device  # late: it takes memory from here

            if size is not None:
                raise ValueError("size and fraction cannot be specified at one time")
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction}")
            size = int(fraction * Device(0).mem_info[1])
        if size is not None and size < 0:
            raise ValueError(f"memory limit size out of range: {size}")
        self._limit = size or 0

    def get_limit(self) -> int:
        """As it was set."""
        return self._limit


class PinnedMemoryPool(MemoryPool):
    """Likewise for memory of the host."""


DEFAULT_POOL, DEFAULT_PINNED_POOL = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """The pool of the device."""
    return DEFAULT_POOL


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """The pool of the host."""
    return DEFAULT_PINNED_POOL


def alloc(size: int) -> MemoryPointer:
    """Memory of the device."""
    return DEFAULT_POOL.malloc(size)


def malloc_managed(size: int) -> MemoryPointer:
    """Memory that the host may reach as well."""
    pointer = alloc(size)
    of_host(pointer.mem.content)
    return pointer


def alloc_pinned_memory(size: int) -> Any:
    """Memory of the host, as NumPy's frombuffer takes it."""
    return of_host(np.zeros(size, np.uint8)).data


def of_host(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, whose memory the host may write while a kernel runs."""
    host_may_write(array.ctypes.data, array.nbytes)
    weakref.finalize(array, host_lets_go, array.ctypes.data)
    return array


def set_allocator(allocator: Any = None) -> None:
    """Taken, and without effect: memory is NumPy's."""


set_pinned_memory_allocator = set_allocator
