"""The memory of a program's device: what the runtime library holds, as kernels see it."""

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.launches.device_memory import Allocation, Bytes, DeviceMemory
from simtmm.programs.library import Library

if TYPE_CHECKING:
    from simtmm.cuda.checks.checker import Checker

DEVICE, MANAGED = 0, 1


class ProgramMemory(DeviceMemory):
    """Pieces of memory of the runtime library; `update` brings them up to date before a launch.

    What is placed here comes to lie there.
    """

    def __init__(self, library: Library, checker: "Checker | None" = None) -> None:
        """checker: is notified of each allocation of the program."""
        super().__init__()
        self._library, self._checker = library, checker
        self._own: set[int] = set()  # what was placed here
        self._version = -1
        self._known: dict[int, Allocation] = {}  # by the runtime's number
        self._constants: dict[int, npt.NDArray[Any]] = {}
        self._types: dict[int, np.dtype[Any]] = {}
        self._freed: list[Allocation] = []

    def update(self) -> None:
        """See what the program has allocated and freed."""
        if self._library.version == self._version:
            return
        found: dict[int, Allocation] = {}
        for row in self._library.rows():
            serial = int(row.serial)
            found[serial] = self._known.get(serial) or self._allocation(row)
        self._freed += [each for serial, each in self._known.items() if serial not in found]
        self._known = found
        self.allocations = sorted(found.values(), key=lambda each: each.base)
        self._version = self._library.version

    def type_at(self, base: int, dtype: np.dtype[Any]) -> None:
        """What lies from an address on, as a kernel's parameter says; the first word holds."""
        for serial, each in self._known.items():
            if (
                each.base == base
                and each.array is not None
                and each.array.dtype == np.uint8
                and base not in self._types
            ):
                self._types[base] = dtype
                if each.bytes % dtype.itemsize == 0:
                    typed = replace(each, array=each.data.view(dtype))
                    self._known[serial] = typed
                    self.allocations[self.allocations.index(each)] = typed

    def _allocation(self, row: Any) -> Allocation:
        base, size = int(row.address), int(row.bytes)
        data = bytes_at(int(row.host), size)
        constant = base in self._constants
        if self._checker is not None and base not in self._own:
            self._checker.allocated(data, self, is_filled=True)
        name = (row.name or b"").decode("utf-8", "replace")
        return Allocation(name, base, size, data, constant, data, of_host=row.kind != DEVICE)

    def place(self, name: str, array: npt.NDArray[Any], constant: bool = False, read_only: bool = False) -> int:
        """The address of an array, whose content is copied into the runtime's memory; 0 if that is full."""
        base, host = self._library.allocate(DEVICE, array.nbytes, name)
        self._own.add(base)
        if base:
            bytes_at(host, array.nbytes)[:] = array.reshape(-1).view(np.uint8)
            if constant:
                self._constants[base] = array
            self.update()
        return base

    def variable(self, name: str, array: Bytes, constant: bool, managed: bool) -> tuple[int, Bytes]:
        """A variable of a module: its address, and its bytes where they lie from now on."""
        base, host = self._library.allocate(MANAGED if managed else DEVICE, array.nbytes, name)
        self._own.add(base)
        data = bytes_at(host, array.nbytes)
        data[:] = array
        if constant:
            self._constants[base] = array
        self._version = -1
        return base, data

    def remove(self, base: int) -> None:
        """Take a piece out."""
        self._library.release(base)
        self.update()

    def nearest(self, address: int, among: Sequence[Allocation] | None = None) -> Allocation | None:
        """What ends or begins nearest to an address that is in none; what was freed there, by that name."""
        freed = self._library.freed(address)
        if freed is None:
            return super().nearest(address, among)
        name, base, size = freed
        known = next((each for each in reversed(self._freed) if (each.base, each.bytes) == (base, size)), None)
        data = np.broadcast_to(np.zeros(1, np.uint8), (size,)) if known is None else known.data
        return Allocation(name, base, size, data, array=data if known is None else known.array, is_freed=True)


def bytes_at(host: int, size: int) -> Bytes:
    """Bytes of this process, to be read and written."""
    if not size:
        return np.empty(0, np.uint8)
    return np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(host)), np.uint8)
