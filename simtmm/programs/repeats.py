"""Launches that do again what an earlier one did: they are not run, and memory becomes what it became then.

What a kernel does depends on its code, its launch and the memory that it touches. Where that is as it was before an
earlier launch, the launch reads the same, touches the same and leaves the same. Benchmarks launch the same kernel on
the same data a thousand times.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simtmm.cuda.device import DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.programs.kernels import DeviceOfProgram
from simtmm.programs.library import Library, Row
from simtmm.programs.memory import bytes_at
from simtmm.trace.schema import Batch, Kind

MOST_STATE = 1 << 31  # bytes of all memory: more takes longer to look through than most kernels run
MOST_KEPT = 1 << 28  # bytes of what launches wrote
MOST_MISSES = 4  # launches of one kind in vain, behind which only each 2nd, 4th, 8th ... is looked at
_OF_MEMORY = np.zeros(256, bool)  # kinds of events whose value is an address of global or constant memory
_OF_MEMORY[[Kind.LOAD, Kind.ASYNC, Kind.STORE, Kind.ATOMIC, Kind.CONSTANT_LOAD]] = True
_NOT_IN_MEMORY = frozenset(("tex", "tld4", "txq", "suld", "sust", "sured", "suq"))


@dataclass(frozen=True)
class Change:
    """What a launch made of the memory that it touched: bytes of the pieces that it changed, by address."""

    pieces: dict[int, npt.NDArray[np.uint8]]

    @property
    def bytes(self) -> int:
        """What it takes to keep it."""
        return sum(map(len, self.pieces.values())) + 64


@dataclass
class _Kind:
    """Launches of one kernel with equal sizes and arguments."""

    launches: int = 0
    misses: int = 0
    touched: tuple[int, ...] = ()  # addresses of pieces, by the launch that was followed last
    changes: dict[tuple[int, ...], Change] = field(default_factory=dict)  # by the hashes of these before

    @property
    def is_followed(self) -> bool:
        """Whether it pays to follow a launch: from the second launch on, more are expected."""
        late = self.misses - MOST_MISSES
        return self.launches > 1 and (late < 0 or self.launches % (2 << min(late, 20)) == 0)


class Followed:
    """A launch under way: where it is in memory. To be told of its events, and given to `Repeats.ran`."""

    def __init__(self, kind: Hashable, rows: list[Row], hashes: dict[int, int], own: set[int]) -> None:
        """own: pieces that its code names."""
        self.kind, self.hashes = kind, hashes
        self._bases = np.array([int(row.address) for row in rows], np.uint64)
        self._is_touched = np.zeros(len(rows) + 1, bool)
        self._own = own

    def add(self, batch: Batch) -> None:
        """Take in some of its events."""
        events = batch.events
        addresses = events["value"][_OF_MEMORY[events["kind"]]]
        self._is_touched[np.searchsorted(self._bases, addresses, "right")] = True  # 0: below all pieces

    @property
    def touched(self) -> tuple[int, ...]:
        """Addresses of the pieces so far."""
        return tuple(sorted({*self._bases[self._is_touched[1:]].tolist(), *self._own}))


class Repeats:
    """Of the launches of a program, those that repeat one."""

    def __init__(self, library: Library, device: DeviceOfProgram) -> None:
        self._library, self._device = library, device
        self._kinds: dict[Hashable, _Kind] = {}
        self._kept: OrderedDict[tuple[Hashable, tuple[int, ...]], int] = OrderedDict()  # bytes, the oldest first

    def find(self, function: KernelFunction, launch: DeviceLaunch) -> Change | None:
        """What a launch would do, where it repeats one. To be followed by `apply`, or by the launch itself."""
        if not _is_plain(function):
            return None
        kind = self._kinds.setdefault(_key(function, launch), _Kind())
        kind.launches += 1
        if not kind.changes:
            return None
        change = kind.changes.get(tuple(map(self._library.hash_at, kind.touched)))
        kind.misses = 0 if change is not None else kind.misses + 1
        return change

    def apply(self, change: Change) -> None:
        """Have memory become what the launch would make of it."""
        rows = {int(row.address): row for row in self._library.rows()} if change.pieces else {}
        for address, content in change.pieces.items():
            _content(rows[address])[:] = content
        self._library.written(change.pieces)

    def follow(self, function: KernelFunction, launch: DeviceLaunch) -> Followed | None:
        """For a launch that is to run and to give its events: what takes them, where that pays."""
        key = _key(function, launch)
        kind = self._kinds.get(key)
        if kind is None or not kind.is_followed:
            return None
        rows = self._library.rows()
        if sum(int(row.bytes) for row in rows) > MOST_STATE:
            return None
        symbols = self._device.symbols(function.linked)
        own = {symbols[name] for name in function.program.symbols if name in symbols}
        return Followed(key, rows, {int(row.address): self._library.hash_at(int(row.address)) for row in rows}, own)

    def ran(self, followed: Followed | None) -> None:
        """A launch has run to its end, whether it was followed or not."""
        if followed is None:
            self._library.all_written()
            return
        touched = followed.touched
        self._library.written(touched)
        kind = self._kinds[followed.kind]
        if kind.touched != touched:
            for state in kind.changes:
                self._kept.pop((followed.kind, state), None)
            kind.touched, kind.changes = touched, {}
        changed = [address for address in touched if self._library.hash_at(address) != followed.hashes.get(address)]
        rows = {int(row.address): row for row in self._library.rows()}
        if sum(int(rows[address].bytes) for address in changed) <= MOST_KEPT // 2:
            pieces = {address: _content(rows[address]).copy() for address in changed}
            self._keep(followed.kind, tuple(followed.hashes[address] for address in touched), Change(pieces))

    def _keep(self, key: Hashable, before: tuple[int, ...], change: Change) -> None:
        self._kinds[key].changes[before] = change
        self._kept[key, before] = change.bytes
        while sum(self._kept.values()) > MOST_KEPT:
            (oldest, state), _ = self._kept.popitem(last=False)
            self._kinds[oldest].changes.pop(state, None)


def _key(function: KernelFunction, launch: DeviceLaunch) -> Hashable:
    return id(function), launch.grid, launch.block, launch.parameters, launch.shared_bytes, launch.cluster


def _is_plain(function: KernelFunction) -> bool:
    """Whether all that a kernel does is in memory, and nothing else matters to it: what it prints, clocks, textures,
    other blocks that it waits for, copies in bulk, whose events are not of all bytes.
    """
    program = function.program
    if program.calls_host or program.allocates or program.communicates or program.times:
        return False
    return not any(
        instruction.opcode in _NOT_IN_MEMORY or (instruction.opcode == "cp" and "bulk" in instruction.modifiers)
        for code in program.codes
        for block in code.flow.blocks
        for instruction in block.instructions
    )


def _content(row: Row) -> npt.NDArray[np.uint8]:
    return bytes_at(int(row.host), int(row.bytes))
