"""Memory that a framework allocates on a device that is not there: bytes of this process, by their addresses."""

import bisect
import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.checks.active import unwritten
from simtmm.cuda.execution.livelock.others import host_lets_go
from simtmm.cuda.host_memory import Owner
from simtmm.errors import KernelError

ALIGNMENT = 256  # bytes, as cudaMalloc gives


@dataclass
class Block:
    """A piece of memory. address, size [bytes]. array: all of it, of the type that it was used with first."""

    address: int
    size: int
    memory: Any
    array: npt.NDArray[Any]
    is_typed: bool = False


class DeviceBlocks:
    """The pieces that are allocated."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._addresses: list[int] = []
        self.used = 0

    def allocate(self, size: int) -> int:
        """The address of so many bytes, which are 0."""
        whole = np.zeros(size + ALIGNMENT, np.uint8)
        address = whole.ctypes.data + -whole.ctypes.data % ALIGNMENT
        self._add(address, size, whole)
        unwritten(self._blocks[address].array, self._blocks[address])
        return address

    def adopt(self, address: int, size: int, owner: object = None) -> int:
        """Memory of the host that the device may use from now on. owner: keeps it there."""
        return address if self.find(address) else self._add(address, size, owner)

    def adopt_owner(self, array: npt.NDArray[Any]) -> int:
        """The address of all the memory that an array is a view of, which the device may use from now on.

        It is that array to a recording, too, if another framework launches with it.
        """
        owner = Owner.of(array)
        address = self._add(owner.low, owner.bytes, owner.keeper)
        kept = owner.keeper.view(np.ndarray)
        if kept.nbytes == owner.bytes and kept.flags.forc:
            block = self._blocks[address]
            block.array, block.is_typed = kept if kept.flags.c_contiguous else kept.T, True
        return address

    def _add(self, address: int, size: int, owner: object) -> int:
        memory = (ctypes.c_uint8 * size).from_address(address)
        memory.owner = owner  # type: ignore[attr-defined]  # lives as long as any view of it
        self._blocks[address] = Block(address, size, memory, np.ndarray((size,), np.uint8, memoryview(memory)))
        bisect.insort(self._addresses, address)
        self.used += size
        return address

    def free(self, address: int) -> None:
        """Forget a piece; views of it still hold its bytes."""
        block = self._blocks.pop(address, None)
        if block is not None:
            del self._addresses[bisect.bisect_left(self._addresses, address)]
            self.used -= block.size
            host_lets_go(address)

    def find(self, address: int) -> Block | None:
        """The piece that an address is in."""
        at = bisect.bisect_right(self._addresses, address) - 1
        if at < 0:
            return None
        block = self._blocks[self._addresses[at]]
        return block if address < block.address + max(1, block.size) else None

    def array(self, address: int, dtype: npt.DTypeLike, shape: tuple[int, ...] | None, where: str) -> npt.NDArray[Any]:
        """What lies from an address on: the whole piece, where it begins there. Raises KernelError where nothing does.

        dtype, shape: of what it is used as; the piece is that in the trace, if it was used as nothing else before.
        """
        block = self.find(address)
        if block is None:
            raise KernelError(f"{where}: address {address:#x}: is not in a device array; was it freed?")
        kind = np.dtype(dtype)
        if not block.is_typed and address == block.address and kind.itemsize and block.size % kind.itemsize == 0:
            if not kind.hasobject and kind.kind not in "OMm":
                length = block.size // kind.itemsize
                whole = shape if shape and math.prod(shape) == length else (length,)
                block.array = np.ndarray(whole, kind, memoryview(block.memory))
            block.is_typed = True
        if address == block.address:
            return block.array
        return block.array.reshape(-1).view(np.uint8)[address - block.address :]

    def check(self, address: int, size: int, where: str) -> None:
        """Raise KernelError for a copy that does not stay within one piece."""
        block = self.find(address)
        if block is None or address + size > block.address + block.size:
            there = "is not in a device array" if block is None else f"the array has {block.size:,} bytes"
            raise KernelError(f"{where}: {size:,} bytes at {address:#x}: {there}")
