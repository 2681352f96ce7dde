"""What a device's L2 holds of the memory that launches access, as a launch finds it that is timed by itself.

A launch finds what the launches before it accessed, as far as the L2 has room; copies leave nothing there. Memory is
looked at in segments, each as recent as the last launch that accessed it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from simtmm.machine.addresses import LOCAL_BASE
from simtmm.trace.schema import Batch, Kind

SEGMENT_SHIFT, LINE_SHIFT = 16, 7
LINE_BYTES = 1 << LINE_SHIFT
LINES = 1 << (SEGMENT_SHIFT - LINE_SHIFT)  # of a segment
WIDEST_SPAN = 1 << 25  # segments between the lowest and the highest that a table of them is made for
STREAMED = 0.4  # lines are taken to be accessed once where they are this part of the bytes that are accessed

_ACCESSES = np.zeros(256, bool)
_ACCESSES[[int(Kind.LOAD), int(Kind.ASYNC), int(Kind.STORE), int(Kind.ATOMIC)]] = True


class Beginning(Enum):
    """The L2 as a launch finds it.

    WARM: as an earlier run of the launch left it. EMPTY: nothing that it accesses is there.

    Where some blocks are timed of a launch that fills the L2, they alone would not fill it, and what they store would
    cost nothing. SMALLER: so it is empty, and smaller by as much, where each line is accessed about once. PASSING: it
    is empty, and what is stored passes it, where lines are loaded again, but stored about once.
    """

    WARM = "warm"
    EMPTY = "empty"
    SMALLER = "smaller"
    PASSING = "passing"


@dataclass(frozen=True)
class Footprint:
    """The memory that a launch accesses, or of which some blocks do.

    segments: numbers of the segments in which it lies, ascending. lines: accessed of each. loads, stores: bytes that it
    loads and stores. stored: bytes of the lines that these are in.
    """

    segments: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    loads: int = 0
    stores: int = 0
    stored: int = 0

    @property
    def bytes(self) -> int:
        """Of all lines."""
        return int(self.lines.sum()) * LINE_BYTES

    @property
    def passing(self) -> Beginning:
        """How its blocks find the L2 where they are few of a launch that fills it."""
        if self.loads + self.stores <= self.bytes / STREAMED:
            return Beginning.SMALLER
        return Beginning.PASSING if 0 < self.stores <= self.stored / STREAMED else Beginning.EMPTY


class FootprintOf:
    """Collects a launch's footprint from its events."""

    def __init__(self) -> None:
        self._lines: dict[bool, list[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]]] = {False: [], True: []}
        self._loads = self._stores = 0

    def add(self, batch: Batch) -> None:
        """Take its accesses to global memory in."""
        events = batch.events
        events = events[_ACCESSES[events["kind"]]]
        events = events[events["value"] < LOCAL_BASE]
        if len(events):
            addresses = events["value"].astype(np.int64)
            self._lines[False].append(_lines_of(addresses))
            is_store = events["kind"] == int(Kind.STORE)
            stores = int(events["bytes"][is_store].sum(dtype=np.int64))
            self._loads += int(events["bytes"].sum(dtype=np.int64)) - stores
            self._stores += stores
            if is_store.any():
                self._lines[True].append(_lines_of(addresses[is_store]))

    def finish(self) -> Footprint:
        """What came of it."""
        segments, lines = _together(self._lines[False])
        _, stored = _together(self._lines[True])
        return Footprint(segments, lines, self._loads, self._stores, int(stored.sum()) * LINE_BYTES)


def _lines_of(addresses: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Segments, ascending, and which lines of each are accessed."""
    segments = addresses >> SEGMENT_SHIFT
    first = int(segments.min())
    span = int(segments.max()) - first + 1
    if span <= WIDEST_SPAN:
        is_there = np.zeros(span, bool)
        is_there[segments - first] = True
        known = np.flatnonzero(is_there) + first
        place = (np.cumsum(is_there) - 1)[segments - first]
    else:
        known, place = np.unique(segments, return_inverse=True)
    lines = np.zeros((len(known), LINES), bool)
    lines[place, (addresses >> LINE_SHIFT) & (LINES - 1)] = True
    return known, lines


def _together(
    parts: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All segments, ascending, and how many lines of each are accessed."""
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    segments = np.concatenate([part for part, _ in parts])
    order = np.argsort(segments, kind="stable")
    lines = np.concatenate([part for _, part in parts])[order]
    known, begins = np.unique(segments[order], return_index=True)
    return known, np.logical_or.reduceat(lines, begins, axis=0).sum(axis=1)


class Residence:
    """Which segments the L2 holds while a program runs."""

    def __init__(self, capacity: int, is_kept: bool = True) -> None:
        """capacity: of the L2 [bytes]. is_kept: whether launches find it as those before them left it; else as a run of
        the same launch does.
        """
        self._capacity, self._is_kept = capacity, is_kept
        self._accessed = 0  # bytes, by all launches so far
        self._last: dict[int, int] = {}  # how many had been, as each segment's last launch had ended

    def meets(self, footprint: Footprint, times: float = 1.0) -> dict[Beginning, float]:
        """How a launch finds the L2: the share of it, of its lines, that finds it so; and note that it ran.

        times: how many times as many blocks it has as those of the footprint.
        """
        whole = footprint.bytes * times
        before = np.array([self._last.get(segment, -1) for segment in footprint.segments.tolist()], np.int64)
        is_known = before >= 0
        is_there = is_known & (self._accessed - before < self._capacity)
        self._accessed += int(whole)
        self._last.update(dict.fromkeys(footprint.segments.tolist(), self._accessed))
        if whole > self._capacity and times > 1.0:
            return {footprint.passing: 1.0}
        if not footprint.bytes or not self._is_kept:
            return {Beginning.WARM: 1.0}
        if whole > self._capacity:
            is_there = is_known  # an earlier run leaves what there is room for
        warm = float(footprint.lines[is_there].sum() / footprint.lines.sum())
        return {how: share for how, share in ((Beginning.WARM, warm), (Beginning.EMPTY, 1.0 - warm)) if share > 0}
