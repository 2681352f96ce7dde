"""What a kernel does without a macro is not seen by a recording as written. Where that shows, a warning says so.

It shows in a launch that records no access at all, and in an array that a launch has changed though no recorded store
touched it. An access that is left out beside others does not show.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from simtmm.kernel import Array
from simtmm.trace.runs.mapped import LONG, let_go
from simtmm.trace.schema import Batch, Kind, TraceArray

HOW = "only accesses with LD, ST and the other macros are recorded (docs/kernels.md)"
HOW_COMPILED = "every access is recorded, so no thread made one: are grid, block and arguments right?"
FREE_BYTES = 1 << 26  # that may be compared however little is recorded
BYTES_AN_EVENT = 8  # and beyond that, so that comparing takes little beside recording


class Unrecorded:
    """Watches the arrays of a program over its launches.

    An array is compared before and after each launch that may write to it, until a launch is seen to store to it.
    """

    def __init__(self, arrays: Mapping[str, Array], before: Mapping[str, Array], how: str = HOW) -> None:
        """arrays: as the launches change them. before: copies of them before the first launch. how: what is recorded,
        as warnings say it.
        """
        self._how = how
        self._arrays = {name: _words(array) for name, array in arrays.items()}
        self._last = {name: _words(array) for name, array in before.items()}  # as they were when last looked at
        self._compared = 0
        self._watched: list[str] = []
        self._changed: dict[str, set[str]] = {}  # arrays by function
        self._stored: set[str] = set()
        self._silent: dict[str, list[int]] = {}  # launches without an access by function
        self._passed_over: set[str] = set()  # arrays that were not compared over a launch

    def begin(self, writable: Sequence[str], events: int) -> None:
        """A launch is about to run. writable: the arrays that it may write to. events: recorded so far."""
        self._watched = []
        for name in dict.fromkeys(writable):
            if name in self._stored or name not in self._arrays:
                continue
            self._compared += 2 * self._arrays[name].nbytes
            if self._compared > FREE_BYTES + BYTES_AN_EVENT * events:
                self._passed_over.add(name)
            else:
                self._changed_since(name)  # by the host program
                self._watched.append(name)

    def end(self, function: str, number: int, has_accessed: bool, has_stored: Callable[[str], bool]) -> None:
        """It has run. has_accessed: whether it recorded any access; has_stored: whether one stored to that array."""
        if not has_accessed:
            self._silent.setdefault(function, []).append(number)
        self._stored.update(name for name in self._arrays if name not in self._stored and has_stored(name))
        for name in self._watched:
            if name not in self._stored and self._changed_since(name):
                self._changed.setdefault(function, set()).add(name)

    def warnings(self) -> list[str]:
        """What a reader of the trace must know, in words."""
        warnings = []
        for function, launches in self._silent.items():
            which = f"launch {launches[0]} of {function}"
            if len(launches) > 1:
                which = f"{len(launches)} launches of {function}, the first {launches[0]},"
            warnings.append(f"{which} recorded no access to memory: {self._how}")
        for function, names in self._changed.items():
            warnings.append(f"{function} changed {_listed(names)} without a recorded store: {self._how}")
        told = set().union(*self._changed.values())
        left = [name for name in self._passed_over - self._stored - told if self._changed_since(name)]
        if left:
            warnings.append(f"{_listed(left)} changed without a recorded store, unless host.py changed it: {self._how}")
        return warnings

    def _changed_since(self, name: str) -> bool:
        now = self._arrays[name]
        if np.array_equal(now, self._last[name]):
            return False
        self._last[name] = now.copy()
        return True


class Touched:
    """What the events of a launch have touched, for a recorder that the kernel itself does not inform."""

    def __init__(self, arrays: Sequence[TraceArray]) -> None:
        self._bases = np.array([array.base for array in arrays], dtype=np.uint64)
        self._names = [array.name for array in arrays]
        self.begin()

    def begin(self) -> None:
        """What comes is of another launch."""
        self.has_accessed, self._stored = False, set[str]()

    def add(self, batch: Batch) -> None:
        """Take the events of a batch in."""
        for begin in range(0, len(batch.events), LONG):  # of a long block, which lies in a file
            events = batch.events[begin : begin + LONG]
            kind = events["kind"]
            self.has_accessed |= bool(np.any((kind >= Kind.LOAD) & (kind <= Kind.SHARED_ATOMIC)))
            places = events["value"][(kind == Kind.STORE) | (kind == Kind.ATOMIC)]
            for number in np.unique(np.searchsorted(self._bases, places, side="right")).tolist():
                self._stored.add(self._names[number - 1])
            let_go(batch.events)

    def has_stored(self, name: str) -> bool:
        """Whether one of them stored to that array or updated it."""
        return name in self._stored


def _words(array: Array) -> npt.NDArray[np.generic]:
    """The array's bytes, eight at a time where that goes: equal where they are the same bit for bit."""
    flat = array.reshape(-1).view(np.uint8)
    return flat.view(np.uint64) if flat.nbytes % 8 == 0 else flat


def _listed(names: "set[str] | list[str]") -> str:
    each = sorted(names)
    return f"array{'s' * (len(each) > 1)} {', '.join(each)}"
