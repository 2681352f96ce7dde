"""Global and constant memory: virtual addresses, and where in this process what they name lies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import ALLOCATION, CONSTANT
from simtmm.cuda.execution.livelock.others import is_written_by_host
from simtmm.native.addresses import address_of
from simtmm.trace.schema import ALIGNMENT

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Allocation:
    """A piece of memory: virtual address and size [bytes], what it is called, and its bytes, which are written to.

    constant: constant memory. read_only: memory of the host that nobody may write to. of_host: memory that the host may
    write while a kernel runs: pinned, mapped, managed. is_freed: what was there, and is no more.
    """

    name: str
    base: int
    bytes: int
    data: Bytes
    constant: bool = False
    array: npt.NDArray[Any] | None = None
    read_only: bool = False
    of_host: bool = False
    is_freed: bool = False


class DeviceMemory:
    """Pieces of memory, one behind the other in the order of allocation, as in a trace (simtmm/trace/schema.py)."""

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []
        self._end = ALIGNMENT

    @property
    def end(self) -> int:
        """The address of the next allocation."""
        return self._end

    @property
    def held_bytes(self) -> int:
        """The size of all allocations together [bytes]."""
        return sum(each.bytes for each in self.allocations)

    def place(self, name: str, array: npt.NDArray[Any], constant: bool = False, read_only: bool = False) -> int:
        """The virtual address of an array, which kernels then read and write where it lies.

        array: of any shape and type, C-contiguous.
        name: what messages call it.
        constant: whether it is constant memory.
        read_only: whether kernels may not write to it.
        """
        data = array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
        base = self._end
        self.allocations.append(Allocation(name, base, data.nbytes, data, constant, array, read_only))
        self._end += (data.nbytes // ALIGNMENT + 1) * ALIGNMENT  # a gap: the pointer to an array's end is its own
        return base

    def remove(self, base: int) -> None:
        """Remove an allocation. Its addresses are not used again.

        base: the virtual address of its first byte.
        """
        self.allocations = [allocation for allocation in self.allocations if allocation.base != base]

    def set_read_only(self, base: int, read_only: bool) -> None:
        """Set whether the allocation at an address may be written to from now on.

        base: the virtual address of its first byte.
        read_only: whether kernels may not write to it.
        """
        self.allocations = [
            replace(each, read_only=read_only) if each.base == base else each for each in self.allocations
        ]

    def find(self, address: int) -> Allocation | None:
        """The allocation at an address; None if there is none.

        address: a virtual one.
        """
        for allocation in self.allocations:
            if allocation.base <= address < allocation.base + allocation.bytes:
                return allocation
        return None

    def may_be_written(self, low: int, end: int) -> bool:
        """Whether the host may write at some of these addresses while a kernel runs.

        low, end: the first address, and the one behind the last.
        """
        for each in self.allocations:
            if each.base < end and low < each.base + each.bytes:
                host = address_of(each.data)
                if each.of_host or is_written_by_host(host, host + each.bytes):
                    return True
        return False

    def is_constant(self, low: int, end: int) -> bool:
        """Whether nothing may write to any of these addresses while a kernel runs.

        low, end: the first address, and the one behind the last.
        """
        return any(each.constant and each.base <= low and end <= each.base + each.bytes for each in self.allocations)

    def nearest(self, address: int, among: Sequence[Allocation] | None = None) -> Allocation | None:
        """The allocation that ends or begins nearest to an address in none. among: allocations; all if left out.

        address: a virtual one.
        """
        return min(
            self.allocations if among is None else among,
            key=lambda each: each.base - address if address < each.base else address - (each.base + each.bytes),
            default=None,
        )

    def table(self, *others: tuple[int, int, int, int]) -> npt.NDArray[Any]:
        """ALLOCATION[n], by address, of all that has one.

        others: rows beside the allocations.
        """
        rows = [
            (each.base, each.bytes, address_of(each.data), CONSTANT if each.constant or each.read_only else 0)
            for each in self.allocations
        ]
        return np.array(sorted(row for row in (*rows, *others) if row[0]), ALLOCATION)
