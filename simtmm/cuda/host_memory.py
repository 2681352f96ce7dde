"""NumPy arrays as device memory: their addresses, for as long as they live."""

import ctypes
import weakref
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.execution.layout import SHARED_WINDOW
from simtmm.errors import KernelError
from simtmm.trace.schema import ALIGNMENT

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Owner:
    """The memory that an array is a part of.

    low, bytes: where it lies in this process, and its size. keeper: the array that keeps it there, of all that it is a
    view of. writable: whether it may be written to.
    """

    low: int
    bytes: int
    keeper: Array
    writable: bool

    @classmethod
    def of(cls, array: Array) -> "Owner":
        """The whole of what an array is a view of, as a bytearray or a file that is mapped.

        array: of any shape.
        """
        keeper, owner = array, array
        while (below := _below(owner)) is not None:
            owner = below
            keeper = owner if isinstance(owner, np.ndarray) else keeper
        if not isinstance(owner, np.ndarray):
            try:
                whole = np.frombuffer(owner, np.uint8)
                return cls(whole.ctypes.data, whole.nbytes, keeper, whole.flags.writeable)
            except (TypeError, ValueError, BufferError):
                pass  # no buffer, or an empty one
        low, high = _bounds(keeper)
        return cls(low, high - low, keeper, keeper.flags.writeable)


def _below(owner: Any) -> Any:
    """What an object is a view of; None at the bottom."""
    if isinstance(owner, memoryview):
        return owner.obj
    # as_strided puts an object between two arrays that has nothing but an interface and a base.
    return getattr(owner, "base", None) if hasattr(owner, "__array_interface__") else None


def _bounds(array: Array) -> tuple[int, int]:
    low = high = int(array.ctypes.data)
    if not array.size:
        return low, low
    for size, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high + array.itemsize


@dataclass(eq=False)
class _Piece:
    """Memory of the host that was placed on the device.

    base: virtual address. keepers: arrays of which one lives as long as it does. NumPy resizes no array that a weak
    reference is to, so that it stays where it is.
    """

    base: int
    low: int
    bytes: int
    name: str
    writable: bool
    keepers: "list[weakref.ref[Array]]"


class HostMemory:
    """The arrays that a device's kernels were given. It keeps none alive: what is dropped is freed at once.

    One thread at a time may use it.
    """

    def __init__(self, memory: DeviceMemory, numbered: bool) -> None:
        """numbered: whether a second array of a name is called by a name of its own, x_2."""
        self._memory, self._numbered = memory, numbered
        self._pieces: list[_Piece] = []
        self._by_keeper: dict[int, _Piece] = {}
        self._names: Counter[str] = Counter()

    def hold(self) -> list[object]:
        """Take out what has been freed; gives what must be kept alive as long as kernels run."""
        held: list[object] = []
        living = []
        has_ended = False
        for piece in self._pieces:
            arrays = [array for keeper in piece.keepers if (array := keeper()) is not None]
            if len(arrays) < len(piece.keepers):
                has_ended = True
                piece.keepers = [weakref.ref(array) for array in arrays]
            if arrays:
                living.append(piece)
                held += arrays
            else:
                self._memory.remove(piece.base)
        if has_ended:
            self._pieces = living
            self._by_keeper = {id(keeper()): piece for piece in living for keeper in piece.keepers}
        return held

    def adopt(self, variables: Mapping[str, Array], addresses: Mapping[str, int]) -> None:
        """Know variables of a module, which are placed already, by views of their bytes.

        variables: by name, shape (bytes,) each.
        addresses: virtual ones, by name.
        """
        for name, array in variables.items():
            owner = Owner.of(array)
            self._names[name] += 1
            self._add(_Piece(addresses[name], owner.low, owner.bytes, name, True, []), owner.keeper)

    def drop(self, base: int) -> None:
        """Forget what was placed at an address.

        base: the virtual address of its first byte.
        """
        self._pieces = [piece for piece in self._pieces if piece.base != base]
        self._by_keeper = {number: piece for number, piece in self._by_keeper.items() if piece.base != base}

    def address(self, array: Array, name: str, where: str) -> int:
        """The virtual address of an array's first element; what it is a view of is placed when it is met first.

        name: what it is called then. where: how errors begin.
        array: of any shape, C-contiguous.

        Raises KernelError for memory that another array has in part.
        """
        owner = Owner.of(array)
        if owner.keeper.dtype.hasobject:
            raise KernelError(f"{where} = an array of {owner.keeper.dtype}: must have numbers, not Python objects")
        piece = self._by_keeper.get(id(owner.keeper))
        if piece is None:
            piece = self._overlapping(owner, where) or self._placed(owner, array, name, where)
            if (owner.low, owner.bytes) == (piece.low, piece.bytes):
                self._add(piece, owner.keeper)
        if piece.writable != owner.writable and owner.bytes == piece.bytes:
            self._memory.set_read_only(piece.base, not owner.writable)
            piece.writable = owner.writable
        return piece.base + int(array.ctypes.data) - piece.low

    def _add(self, piece: _Piece, keeper: Array) -> None:
        if piece not in self._pieces:
            self._pieces.append(piece)
        piece.keepers.append(weakref.ref(keeper))
        self._by_keeper[id(keeper)] = piece

    def _overlapping(self, owner: Owner, where: str) -> _Piece | None:
        """What memory is a part of that was placed before. Raises KernelError where it is one in part only."""
        low, high = owner.low, owner.low + owner.bytes
        for piece in self._pieces:
            end = piece.low + piece.bytes
            if piece.low <= low and high <= end and (low < end or (low, high) == (piece.low, end)):
                return piece
            if low < end and piece.low < high:
                raise KernelError(
                    f"{where} = an array whose memory overlaps that of {piece.name}, an earlier array: must be "
                    "a view of the same array, or not overlap"
                )
        return None

    def _placed(self, owner: Owner, array: Array, name: str, where: str) -> _Piece:
        if self._memory.end + owner.bytes > SHARED_WINDOW - ALIGNMENT:
            raise KernelError(f"{where} = an array of {owner.bytes:,} bytes: the device's memory is full")
        if self._numbered:
            name = self._unused(name)
        base = self._memory.place(name, _alias(owner, array), read_only=not owner.writable)
        return _Piece(base, owner.low, owner.bytes, name, owner.writable, [])

    def _unused(self, name: str) -> str:
        found = name
        while self._names[found]:
            self._names[name] += 1
            found = f"{name}_{self._names[name]}"
        self._names[found] += 1
        return found


def _alias(owner: Owner, array: Array) -> Array:
    """The owner's bytes as an array that does not keep them: of its own shape and type where they say what is there."""
    keeper = owner.keeper
    is_whole = keeper.nbytes == owner.bytes
    dtype = keeper.dtype if is_whole else array.dtype
    if not owner.bytes or not dtype.itemsize or owner.bytes % dtype.itemsize:
        dtype = np.dtype(np.uint8)
    shape = keeper.shape if is_whole and keeper.flags.c_contiguous and dtype == keeper.dtype else None
    if not owner.bytes:
        return np.empty(0, keeper.dtype)
    raw = memoryview((ctypes.c_uint8 * owner.bytes).from_address(owner.low))
    found: Array = np.frombuffer(raw, dtype)
    return found if shape is None else found.reshape(shape)
