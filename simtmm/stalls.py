"""What the ticks of warps went into, by reason and by place in the program (docs/machine.md, section 10)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


class Reason(IntEnum):
    """What a tick of a living warp is booked to. Those from PORT_QUEUE to FIRST_ACCESS are an access's path."""

    ISSUING = 0
    NOT_GRANTED = 1
    INSTRUCTION_LATENCY = 2
    BANK_CONFLICTS = 3
    PORT_QUEUE = 4
    L2_QUEUE = 5
    MEMORY_QUEUE = 6
    ATOMICS_QUEUE = 7
    TURNAROUND = 8
    ROWS = 9
    L1_LATENCY = 10
    L2_LATENCY = 11
    MEMORY_LATENCY = 12
    LINE_IN_FLIGHT = 13
    FIRST_ACCESS = 14
    OUTSTANDING = 15
    BARRIER = 16
    LAUNCH = 17


class Count(IntEnum):
    """What is counted at a place."""

    INSTRUCTIONS = 0
    REQUESTS = 1
    CHUNKS = 2
    L1_HITS = 3
    L2_HITS = 4


REASONS = tuple(reason.name.lower() for reason in Reason)
COUNTS = tuple(count.name.lower() for count in Count)
THREADS = ("executions", "threads", "bytes_asked")
SUMMED = {"line": ("file", "line", "source"), "array": ("array",)}
PATH = tuple(Reason)[Reason.PORT_QUEUE : Reason.FIRST_ACCESS + 1]  # in the order in which an access goes through it


@dataclass(frozen=True)
class Place:
    """A place in a program.

    kind: what happens there: a kind of event, or an operation of a workload.
    file, line, source: of the line, "" and 0 if unknown.
    function: the kernel or function that it belongs to, "" if unknown.
    instruction: what the compiler made of it, "" if unknown.
    """

    kind: str
    file: str = ""
    line: int = 0
    source: str = ""
    function: str = ""
    instruction: str = ""


@dataclass(frozen=True, eq=False)
class Places:
    """The places that a workload's operations come from. An operation has one number: place * len(arrays) + array.

    sites: the places, by number. arrays: what is accessed, by number: the first is "", for what is no access.
    threads: int64[sites * arrays, 3]: how often the threads of a warp did something there, how many threads in all, and
        how many bytes they asked for; None where only a workload is known.
    """

    sites: tuple[Place, ...]
    arrays: tuple[str, ...] = ("",)
    threads: Integers | None = None

    def __len__(self) -> int:
        return len(self.sites) * len(self.arrays)

    def place(self, number: int) -> tuple[Place, str]:
        """The place, and the array that is accessed there."""
        site, array = divmod(number, len(self.arrays))
        return self.sites[site], self.arrays[array]


@dataclass(frozen=True, eq=False)
class Stalls:
    """What the ticks of all warps went into.

    ticks: int64[len(places) + 1, REASONS]: warps' ticks by place and reason; those before a warp's first operation are
        in the last row.
    counts: int64[len(places) + 1, COUNTS]: of operations, and of the chunks that they list.
    launches: int64[launches, REASONS]: the ticks of each launch.
    places: where operations come from.
    """

    ticks: Integers
    counts: Integers
    launches: Integers
    places: Places

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stalls):
            return NotImplemented
        tables = ("ticks", "counts", "launches")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in tables)

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    @property
    def reasons(self) -> Mapping[str, int]:
        """Warps' ticks by reason."""
        return dict(zip(REASONS, self.ticks.sum(axis=0).tolist(), strict=True))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each place where anything happened, as `pandas.DataFrame` takes them."""
        rows = []
        for number in np.flatnonzero(self.ticks.any(axis=1) | self.counts.any(axis=1)).tolist():
            place, array = self.places.place(number) if number < len(self.places) else (Place("start"), "")
            rows.append(
                {
                    "kind": place.kind,
                    "function": place.function,
                    "file": place.file,
                    "line": place.line,
                    "source": place.source,
                    "instruction": place.instruction,
                    "array": array,
                    **dict(zip(COUNTS, self.counts[number].tolist(), strict=True)),
                    **dict(zip(THREADS, self._threads(number), strict=True)),
                    **dict(zip(REASONS, self.ticks[number].tolist(), strict=True)),
                }
            )
        return rows

    def summed(self, by: str) -> list[dict[str, Any]]:
        """The rows put together, the ones with most ticks first.

        by: "line", "array", "launch" or "reason"; with "launch" and "reason" ticks alone, launches in their order.

        Raises KeyError.
        """
        if by == "reason":
            of_reasons = ({"reason": name, "ticks": ticks} for name, ticks in self.reasons.items())
            return sorted(of_reasons, key=lambda row: -int(row["ticks"]))
        if by == "launch":
            return [
                {"launch": number, "ticks": sum(own), **dict(zip(REASONS, own, strict=True))}
                for number, own in enumerate(self.launches.tolist())
            ]
        keys = SUMMED[by]
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in self.rows():
            key = tuple(row[name] for name in keys)
            entry = found.setdefault(key, {**dict(zip(keys, key, strict=True)), "ticks": 0})
            entry["ticks"] += sum(row[name] for name in REASONS)
            for name in (*COUNTS, *THREADS, *REASONS):
                entry[name] = None if row[name] is None else entry.get(name, 0) + row[name]
        return sorted(found.values(), key=lambda row: -int(row["ticks"]))

    def _threads(self, number: int) -> list[int | None]:
        known = self.places.threads
        if known is None or number >= len(known):
            return [None] * 3
        of_place: list[int | None] = known[number].tolist()
        return of_place
