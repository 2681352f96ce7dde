"""Launches that do again what an earlier one did: they are not run, and memory becomes what it became then.

What a kernel does depends on its code, its launch and the memory that it touches. Where that is as it was before an
earlier launch, the launch reads the same, touches the same and leaves the same. Benchmarks launch the same kernel on
the same data a thousand times, or the same steps on data that they copy anew each time.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simtmm.cuda.device import DeviceLaunch
from simtmm.cuda.execution.translation.facts import fact, instructions_of
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.function import KernelFunction
from simtmm.programs.kernels import DeviceOfProgram
from simtmm.programs.library import Library, Row
from simtmm.programs.memory import bytes_at

MOST_STATE = 1 << 31  # bytes that a launch touches: more takes longer to look through than most kernels run
MOST_KEPT = 1 << 29  # bytes of what launches wrote
MOST_MISSES = 4  # launches of one kind in vain, behind which only each 2nd, 4th, 8th ... is looked at,
CHEAP = 16  # but for those that touch no more bytes for each of their threads: these take longer to run than to follow
_NOT_IN_MEMORY = frozenset(("tex", "tld4", "txq", "suld", "sust", "sured", "suq"))


@dataclass(frozen=True)
class Patch:
    """What a launch made of a piece of memory. hash: of it then. words: all of it, or those at `places`."""

    hash: int
    words: npt.NDArray[np.unsignedinteger]
    places: npt.NDArray[np.int64] | None

    @classmethod
    def of(cls, before: npt.NDArray[np.uint8] | None, after: npt.NDArray[np.uint8], number: int) -> "Patch":
        """From the bytes of before, where they are known, and those of then, whose number is `number`."""
        size = next(size for size in (8, 4, 1) if len(after) % size == 0)
        new = after.view(f"u{size}")
        if before is not None:
            places = np.flatnonzero(before.view(new.dtype) != new)
            if len(places) * (size + 8) < len(after):
                return cls(number, new[places], places)
        return cls(number, new.copy(), None)

    @property
    def bytes(self) -> int:
        """What it takes to keep it."""
        return self.words.nbytes + (0 if self.places is None else self.places.nbytes)

    def apply(self, content: npt.NDArray[np.uint8]) -> None:
        """Have the bytes of a piece become those of then."""
        words = content.view(self.words.dtype)
        words[slice(None) if self.places is None else self.places] = self.words


@dataclass(frozen=True)
class Change:
    """What a launch made of the memory that it touched: of the pieces that it changed, by address."""

    pieces: dict[int, Patch]

    @property
    def bytes(self) -> int:
        """What it takes to keep it."""
        return sum(patch.bytes for patch in self.pieces.values()) + 64


@dataclass
class _Kind:
    """Launches of one kernel with equal sizes and arguments.

    touched: addresses of pieces that the last one accessed; whether it wrote to them; None before the first.
    """

    launches: int = 0
    misses: int = 0
    touched: dict[int, bool] | None = None
    changes: dict[tuple[int, ...], Change] = field(default_factory=dict)  # by the hashes of these before

    def pays(self, is_cheap: bool) -> bool:
        """Whether it pays to follow a launch: from the second launch on, more are expected."""
        late = self.misses - MOST_MISSES
        return self.launches > 1 and (is_cheap or late < 0 or self.launches % (2 << min(late, 20)) == 0)


@dataclass(frozen=True)
class Followed:
    """A launch that is to run: what it finds in the memory that it will touch, as far as the last of its kind tells.

    hashes: of all of these pieces. before: the bytes of those that it will write to.
    """

    hashes: dict[int, int]
    before: dict[int, npt.NDArray[np.uint8]]


class Repeats:
    """Of the launches of a program, those that repeat one."""

    def __init__(self, library: Library, device: DeviceOfProgram) -> None:
        self._library, self._device = library, device
        self._kinds: dict[Hashable, _Kind] = {}
        self._kept: OrderedDict[tuple[Hashable, tuple[int, ...]], int] = OrderedDict()  # bytes, the oldest first
        self._bytes = 0  # of those

    def find(self, function: KernelFunction, launch: DeviceLaunch) -> Change | None:
        """What a launch would do, where it repeats one. To be followed by `apply`, or by the launch itself."""
        if not _is_plain(function.program):
            return None
        kind = self._kinds.setdefault(_key(function, launch), _Kind())
        kind.launches += 1
        if not kind.changes:
            return None
        change = kind.changes.get(tuple(map(self._library.hash_at, kind.touched or ())))
        kind.misses = 0 if change is not None else kind.misses + 1
        return change

    def apply(self, change: Change) -> None:
        """Have memory become what the launch would make of it."""
        rows = {int(row.address): row for row in self._library.rows()} if change.pieces else {}
        for address, patch in change.pieces.items():
            patch.apply(_content(rows[address]))
            self._library.became(address, patch.hash)

    def follow(self, function: KernelFunction, launch: DeviceLaunch) -> Followed | None:
        """For a launch that is to run: what `ran` takes, where it pays to know what it does."""
        kind = self._kinds.get(_key(function, launch))
        if kind is None or kind.touched is None:
            return None
        rows = self._rows(kind.touched)
        size = sum(int(row.bytes) for row in rows.values())
        is_full = self._bytes > MOST_KEPT // 2 and bool(kind.changes)
        is_cheap = size <= CHEAP * _threads(launch) and not is_full
        if size > MOST_STATE or not kind.pays(is_cheap):
            return None
        written = [row for address, row in rows.items() if kind.touched[address]]
        is_kept = sum(int(row.bytes) for row in written) <= MOST_KEPT
        before = {int(row.address): _content(row).copy() for row in written} if is_kept else {}
        return Followed({address: self._library.hash_at(address) for address in rows}, before)

    def ran(self, function: KernelFunction, launch: DeviceLaunch, followed: Followed | None, has_ended: bool) -> None:
        """A launch has run, whether it was followed or not. has_ended: to its end, and not to an error."""
        if not (has_ended and _is_plain(function.program)):
            self._library.all_written()
            return
        touched = self._touched(function)
        self._library.written(address for address, is_written in touched.items() if is_written)
        key = _key(function, launch)
        kind = self._kinds.get(key)
        if kind is None:
            return
        if kind.touched is None or kind.touched.keys() != touched.keys():
            for state in kind.changes:
                self._bytes -= self._kept.pop((key, state), 0)
            kind.changes = {}
        kind.touched = touched
        if followed is not None and followed.hashes.keys() == touched.keys():
            self._keep(key, tuple(followed.hashes[address] for address in touched), self._change(touched, followed))

    def _touched(self, function: KernelFunction) -> dict[int, bool]:
        """The pieces that the last launch accessed, and those that its code names, by address."""
        symbols = self._device.symbols(function.linked)
        named = (symbols[name] for name in function.program.symbols if name in symbols)
        found = {**dict.fromkeys(named, False), **self._device.touched}
        return {address: found[address] for address in sorted(self._rows(found))}

    def _rows(self, addresses: dict[int, bool]) -> dict[int, Row]:
        return {int(row.address): row for row in self._library.rows() if int(row.address) in addresses}

    def _change(self, touched: dict[int, bool], followed: Followed) -> Change | None:
        """What a launch has made of the memory that it touched; None where that is too much to keep."""
        after = {address: self._library.hash_at(address) for address in touched}
        rows = self._rows({address: True for address in touched if after[address] != followed.hashes[address]})
        pieces, size = {}, 0
        for address, row in rows.items():
            pieces[address] = Patch.of(followed.before.get(address), _content(row), after[address])
            size += pieces[address].bytes
            if size > MOST_KEPT // 2:
                return None
        return Change(pieces)

    def _keep(self, key: Hashable, before: tuple[int, ...], change: Change | None) -> None:
        if change is None or before in self._kinds[key].changes:
            return
        self._kinds[key].changes[before] = change
        self._kept[key, before] = change.bytes
        self._bytes += change.bytes
        while self._bytes > MOST_KEPT:
            (oldest, state), size = self._kept.popitem(last=False)
            self._kinds[oldest].changes.pop(state, None)
            self._bytes -= size


def _key(function: KernelFunction, launch: DeviceLaunch) -> Hashable:
    return id(function), launch.grid, launch.block, launch.parameters, launch.shared_bytes, launch.cluster


def _threads(launch: DeviceLaunch) -> int:
    (x, y, z), (a, b, c) = launch.grid, launch.block
    return x * y * z * a * b * c


@fact
def _is_plain(program: Program) -> bool:
    """Whether all that a kernel does is in memory, and nothing else matters to it: what it prints, clocks, textures,
    other blocks that it waits for, copies in bulk, which find their memory otherwise.
    """
    if program.calls_host or program.allocates or program.communicates or program.times:
        return False
    return not any(
        instruction.opcode in _NOT_IN_MEMORY or (instruction.opcode == "cp" and "bulk" in instruction.modifiers)
        for instruction in instructions_of(program)
    )


def _content(row: Row) -> npt.NDArray[np.uint8]:
    return bytes_at(int(row.host), int(row.bytes))
