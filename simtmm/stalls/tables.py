"""The tables of what the ticks of all warps went into, and their sums by place, line, array and launch."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.stalls.levels import Levels
from simtmm.stalls.places import (
    ATOMICS,
    LOADS,
    OF_LAUNCHES,
    STORES,
    THREAD_INSTRUCTIONS,
    THREADS,
    Place,
    Places,
)
from simtmm.stalls.reasons import COUNTS, REASONS, Count
from simtmm.stalls.rows import Row, Rows, derived, merged

Integers = npt.NDArray[np.int64]

SUMMED = {"line": ("file", "line", "source"), "array": ("array",)}
KINDS = {"loads": LOADS, "stores": STORES, "atomics": ATOMICS}  # chunks are separate by what requests them
LAUNCH_COUNTS = (*COUNTS, *KINDS)
_OF_PLACES = ("executions", "threads", "bytes_asked")
ADDED = ("ticks", *COUNTS, *KINDS, *_OF_PLACES, *THREAD_INSTRUCTIONS, *REASONS)
"""The columns of a row that add up."""


@dataclass(frozen=True, eq=False)
class Stalls:
    """What the ticks of all warps went into.

    ticks: int64[len(places) + 1, REASONS]: warps' ticks by place and reason; those before a warp's first operation are
        in the last row.
    counts: int64[len(places) + 1, COUNTS]: of operations, and of the chunks that they list.
    launches: int64[launches, REASONS]: the ticks of each launch.
    places: where operations come from.
    launch_counts: int64[launches, LAUNCH_COUNTS]: the counts of each launch.
    active: int64[launches]: ticks for which core groups hold any warp, summed over groups; -1 where it was not counted.
    levels: of the machine's memory.
    """

    ticks: Integers
    counts: Integers
    launches: Integers
    places: Places
    launch_counts: Integers
    active: Integers
    levels: Levels | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stalls):
            return NotImplemented
        tables = ("ticks", "counts", "launches", "launch_counts", "active")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in tables)

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    @property
    def reasons(self) -> Mapping[str, int]:
        """Warps' ticks by reason."""
        return dict(zip(REASONS, self.ticks.sum(axis=0).tolist(), strict=True))

    def rows(self) -> Rows:
        """A row for each place where anything happened, as `pandas.DataFrame` takes them."""
        return Rows(derived(row, self.levels) for row in self._rows())

    def summed(self, by: str) -> Rows:
        """The rows put together, the ones with most ticks first.

        by: "line", "array", "launch" or "reason"; with "reason" ticks alone; launches in their order.

        Raises KeyError.
        """
        if by == "reason":
            of_reasons = Rows({"reason": name, "ticks": ticks} for name, ticks in self.reasons.items())
            return Rows(sorted(of_reasons, key=lambda row: -int(row["ticks"])))
        if by == "launch":
            return Rows(derived(row, self.levels) for row in self._of_launches())
        found = (derived(row, self.levels) for row in merged(self._rows(), SUMMED[by], ADDED))
        return Rows(sorted(found, key=lambda row: -int(row["ticks"])))

    def _rows(self) -> list[Row]:
        """Each place's own sums."""
        rows = []
        happened: npt.NDArray[np.bool_] = np.asarray(self.ticks.any(axis=1) | self.counts.any(axis=1))
        if self.places.threads is not None:
            happened[:-1] |= self.places.threads[: len(self.places)].any(axis=1)
        for number in np.flatnonzero(happened).tolist():
            place, array = self.places.place(number) if number < len(self.places) else (Place("start"), "")
            counts, ticks = self.counts[number].tolist(), self.ticks[number].tolist()
            rows.append(
                {
                    "kind": place.kind,
                    "function": place.function,
                    "file": place.file,
                    "line": place.line,
                    "source": place.source,
                    "instruction": place.instruction,
                    "array": array,
                    "ticks": sum(ticks),
                    **dict(zip(COUNTS, counts, strict=True)),
                    **{name: counts[Count.CHUNKS] * (place.kind in kinds) for name, kinds in KINDS.items()},
                    **self._threads(number, place),
                    **dict(zip(REASONS, ticks, strict=True)),
                }
            )
        return rows

    def _threads(self, number: int, place: Place) -> dict[str, int | None]:
        known = self.places.threads
        names = (*_OF_PLACES, *THREAD_INSTRUCTIONS)
        if known is None:
            return dict.fromkeys(names)
        if number >= len(known):
            return dict.fromkeys(names, 0)
        counted = dict(zip(THREADS, known[number].tolist(), strict=True))
        times = counted.pop("times")
        return counted | {name: times * getattr(place, name) for name in THREAD_INSTRUCTIONS}

    def _of_launches(self) -> list[Row]:
        known = self.places.launches
        rows = []
        for number, own in enumerate(self.launches.tolist()):
            threads: list[int | None] = [None] * len(OF_LAUNCHES) if known is None else known[number].tolist()
            active, ticks = int(self.active[number]), sum(own)
            warps = ticks / active if active > 0 else None
            most = None if self.levels is None else self.levels.most_warps
            rows.append(
                {
                    "number": number,
                    "ticks": ticks,
                    "active_warps": warps,
                    "achieved_occupancy": None if warps is None or most is None else warps / most,
                    **dict(zip(LAUNCH_COUNTS, self.launch_counts[number].tolist(), strict=True)),
                    **dict(zip(OF_LAUNCHES, threads, strict=True)),
                    **dict(zip(REASONS, own, strict=True)),
                }
            )
        return rows


def launch_counts(places: Places, counts: Integers) -> Integers:
    """int64[LAUNCH_COUNTS]: counts of places as those of a launch.

    counts: int64[len(places) + 1, COUNTS].
    places: those that the counts are of.
    """
    chunks = counts[:-1, Count.CHUNKS]
    kinds = [int(chunks[places.are_of(of_kind)].sum()) for of_kind in KINDS.values()]
    return np.array([*counts.sum(axis=0).tolist(), *kinds], np.int64)


def launches_of(rows: list[Integers], columns: int) -> Integers:
    """int64[launches, columns]: sums up to the end of each launch, as those of each launch alone.

    rows: for each launch int64[columns], the sums up to its end.
    columns: how many columns there are.
    """
    sums = np.array(rows, np.int64).reshape(-1, columns)
    return np.diff(sums, axis=0, prepend=np.zeros((1, columns), np.int64))
