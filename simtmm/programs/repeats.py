"""Launches that do again what an earlier one did: they are not run, and memory becomes what it became then.

What a kernel does depends on its code, its launch and all memory that it may reach. Where these are as they were before
an earlier launch, so is what comes of it. Benchmarks launch the same kernel on the same data a thousand times.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simtmm.cuda.device import DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.programs.library import Library, Row
from simtmm.programs.memory import bytes_at

MOST_STATE = 1 << 31  # bytes of all memory: more takes longer to look through than most kernels run
MOST_KEPT = 1 << 28  # bytes of what launches wrote
MOST_MISSES = 4  # launches of one kind in vain, behind which only each 2nd, 4th, 8th ... is looked at
_OF_TEXTURES = frozenset(("tex", "tld4", "txq", "suld", "sust", "sured", "suq"))


@dataclass
class Change:
    """What a launch made of a state. pieces: that it changed, by address. state: after it."""

    pieces: dict[int, npt.NDArray[np.uint8]]
    state: bytes

    @property
    def bytes(self) -> int:
        """What it takes to keep it."""
        return sum(map(len, self.pieces.values()))


@dataclass
class _Kind:
    """Launches of one kernel with equal sizes and arguments."""

    launches: int = 0
    misses: int = 0
    changes: dict[bytes, Change] = field(default_factory=dict)  # by the state before

    @property
    def is_looked_at(self) -> bool:
        """Whether it pays to look at the state: the second launch is the first that may repeat one."""
        late = self.misses - MOST_MISSES
        return self.launches > 1 and (late < 0 or self.launches % (2 << min(late, 20)) == 0)


class Repeats:
    """Of the launches of a program, those that repeat one."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kinds: dict[Hashable, _Kind] = {}
        self._kept: OrderedDict[tuple[Hashable, bytes], int] = OrderedDict()  # bytes, the oldest first
        self._before: tuple[Hashable, bytes] | None = None

    def find(self, function: KernelFunction, launch: DeviceLaunch) -> Change | None:
        """What a launch would do, where it repeats one. To be followed by `apply`, or the launch and `ran`."""
        self._before = None
        if not _is_plain(function):
            return None
        key = _key(function, launch)
        kind = self._kinds.setdefault(key, _Kind())
        kind.launches += 1
        if not kind.is_looked_at or sum(int(row.bytes) for row in self._library.rows()) > MOST_STATE:
            return None
        state = self._library.state()
        change = kind.changes.get(state)
        if change is None:
            kind.misses += 1
            self._before = key, state
            return None
        kind.misses = 0
        return change

    def apply(self, change: Change) -> None:
        """Have memory become what the launch would make of it."""
        rows = {int(row.address): row for row in self._library.rows()} if change.pieces else {}
        for address, content in change.pieces.items():
            _content(rows[address])[:] = content
        self._library.written(change.pieces)

    def ran(self) -> None:
        """The launch that was asked of last has run."""
        self._library.all_written()
        if self._before is None:
            return
        key, before = self._before
        rows = {int(row.address): row for row in self._library.rows()}
        state = self._library.state()
        old = _pairs(before)
        changed = [address for address, known in _pairs(state).items() if old.get(address) != known]
        if sum(int(rows[address].bytes) for address in changed) <= MOST_KEPT // 2:
            self._keep(key, before, Change({each: _content(rows[each]).copy() for each in changed}, state))

    def _keep(self, key: Hashable, before: bytes, change: Change) -> None:
        self._kinds[key].changes[before] = change
        self._kept[key, before] = change.bytes + len(before)
        while sum(self._kept.values()) > MOST_KEPT:
            (oldest, state), _ = self._kept.popitem(last=False)
            del self._kinds[oldest].changes[state]


def _key(function: KernelFunction, launch: DeviceLaunch) -> Hashable:
    return id(function), launch.grid, launch.block, launch.parameters, launch.shared_bytes


def _is_plain(function: KernelFunction) -> bool:
    """Whether all that a kernel does is in memory, and nothing else matters to it: no printing, clock or textures."""
    program = function.program
    if program.calls_host or program.allocates:
        return False
    return not any(
        instruction.opcode in _OF_TEXTURES or "clock" in instruction.text or "%globaltimer" in instruction.text
        for code in program.codes
        for block in code.flow.blocks
        for instruction in block.instructions
    )


def _pairs(state: bytes) -> dict[int, int]:
    words = np.frombuffer(state, np.uint64).reshape(-1, 2)
    return dict(zip(words[:, 0].tolist(), words[:, 1].tolist(), strict=True))


def _content(row: Row) -> npt.NDArray[np.uint8]:
    return bytes_at(int(row.host), int(row.bytes))
