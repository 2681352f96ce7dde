"""Races: two threads that touch one word with nothing between them that says which comes first.

Two kinds, the scopes of a finding:

    block   two threads of a block, at least one of them writing, and no barrier between the two accesses
    launch  two blocks of a launch, at least one of them storing (an atomic update is no store)

Two atomic updates are never a race. What is looked at is what ran: another input may race elsewhere, and a pair of
accesses that a lockstep warp would order is still a pair without a barrier. A word stands for what accesses of the
program have in common: the largest power of two that divides every address and width.

A race is benign where every write of it left what lay there as it was, as when all threads store the same flag.
Only the recorder on the CPU knows what was stored, so only `record(..., races=True)` tells those apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.trace.io import Trace
from simtmm.trace.races.scan import FULL, MOST_PAIRS, PLACES, SITE_BITS, Pair, Pairs, room_for, scan
from simtmm.trace.schema import Batch, Events, Kind, TraceArray, TraceLaunch, TraceSite

SCOPES = ("block", "launch")
MOST_SITES = 1 << 16  # that access memory: who touched a word first is kept with 16 bits for the site

Numbers = npt.NDArray[Any]
_SITE = (1 << SITE_BITS) - 1
_UNLISTED = "races: the trace has events at sites that it does not list"


@dataclass(frozen=True)
class Access:
    """One side of a race: where in the source, and the block and thread of the example."""

    site: int
    file: str
    line: int
    source: str
    action: str
    block: int
    thread: int


@dataclass(frozen=True)
class Race:
    """A pair of sites that race, with an example: first and second are what raced for array[index] in that launch.

    kernel: the __global__ function. scope: "block" or "launch". array: of global memory; or, if `shared`, of shared
    memory, as it is declared. index: of an element of the array's type; of a shared one, the offset in bytes. count:
    accesses at one of the sites that raced with one at the other. benign: whether no write of them all changed what
    lay there; None where the trace does not tell.
    """

    kernel: str
    scope: str
    launch: int
    first: Access
    second: Access
    array: str
    shared: bool
    index: int
    count: int
    benign: bool | None

    @property
    def local(self) -> bool:
        """`shared` by its old name, which documents keep beside it."""
        return self.shared

    def line(self) -> str:
        """In words."""
        where = f"block {self.first.block}, threads {self.first.thread} and {self.second.thread}"
        if self.scope == "launch":
            where = (
                f"block {self.first.block} thread {self.first.thread}, block {self.second.block} thread "
                f"{self.second.thread}"
            )
        sites = " with ".join(f"{side.file}:{side.line} `{side.source}`" for side in (self.first, self.second))
        place = f"byte {self.index} of `{self.array}`" if self.shared else f"{self.array}[{self.index}]"
        benign = ", benign: the stored value was already there" if self.benign else ""
        return (
            f"{self.kernel}: within a {self.scope}: {self.first.action} and {self.second.action} of "
            f"{place}: {sites}: launch {self.launch}, {where}; {_counted(self.count, 'time')}{benign}"
        )


@dataclass(frozen=True)
class Races:
    """What was found: a Race for each pair of sites, those that may do harm first, then the most frequent."""

    found: tuple[Race, ...]

    def __bool__(self) -> bool:
        return bool(self.found)

    def __iter__(self) -> Iterator[Race]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def harmful(self) -> tuple[Race, ...]:
        """Those that are not known to be benign."""
        return tuple(race for race in self.found if not race.benign)

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """For JSON: how many there are, and the first `most` of them."""
        return {
            "pairs": len(self.found),
            "harmful": len(self.harmful),
            "accesses": sum(race.count for race in self.found),
            "found": [{**asdict(race), "local": race.local} for race in self.found[:most]],
        }

    def lines(self, most: int = 20) -> list[str]:
        """In words, a line each, at most so many of the pairs."""
        if not self.found:
            return ["races: none found"]
        benign = len(self.found) - len(self.harmful)
        head = f"races: {_counted(len(self.found), 'pair')} of sites" + (f", {benign} of them benign" if benign else "")
        left = len(self.found) - most
        rest = [f"... and {left} more"] if left > 0 else []
        return [head, *(race.line() for race in self.found[:most]), *rest]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def find_races(trace: Trace) -> Races:
    """The races of a trace. Its stores' values are not known, so none is called benign.

    Raises TraceError for a trace that does not say which sites and arrays its accesses are of, as an imported one.
    """
    info = trace.info
    finder = RaceFinder(info.sites, info.arrays)
    for batch in trace.batches():
        finder.add(batch, info.launches, None)
    return finder.found()


class RaceFinder:
    """Looks for races batch by batch. Memory: 80 bytes for each word of the arrays that is touched.

    Of a word it remembers the first that did each thing to it in a stretch between barriers, or in a launch: every
    word that is raced for is found, but not every pair of sites that races for it.
    """

    def __init__(self, sites: Sequence[TraceSite], arrays: Sequence[TraceArray]) -> None:
        self._sites = {site.site: site for site in sites}
        count = max(self._sites, default=-1) + 1
        self._known = np.zeros(count, np.bool_)
        self._known[list(self._sites)] = True
        self._ranks = np.full(count, -1, np.int64)  # of the sites that accesses have been seen of, as they came
        self._numbers = np.zeros(0, np.int64)  # the other way round
        self._arrays = sorted(arrays, key=lambda array: array.base)
        self._end = max((array.base + array.bytes for array in arrays), default=0)
        self._unit = self._shared_unit = 16  # bytes of a word, once accesses have been seen
        self._words = 0  # of global memory
        self._shared_base = np.zeros(count + 1, np.int64)  # the first word of each array in shared memory, by its site
        # The words of global memory as threads of a block touch them, again as blocks of a launch do, and the words
        # of shared memory: when each was touched last, and for each action who came first (see scan).
        self._touched = np.zeros((0, 5), np.int64)
        self._stretches = 0  # between barriers, seen so far
        self._pairs: dict[str, tuple[Numbers, Numbers]] = {}
        self._flagged = False

    def add(self, batch: Batch, launches: Sequence[TraceLaunch], silent: npt.NDArray[np.bool_] | None) -> None:
        """Take in a batch; they come in order.

        silent: bool[events] of the batch, which stores changed nothing; None where nobody knows.
        launches: those known so far, the batch's among them.
        """
        events = batch.events
        if not len(events):
            return
        self._flagged = silent is not None
        self._fit(events)
        starts = np.concatenate([[0], batch.ends[:-1]])
        room = room_for(int((batch.ends - starts).max()))
        changes = np.flatnonzero(np.diff(batch.launch)) + 1
        for first, last in pairwise([0, *changes.tolist(), len(batch.launch)]):
            number = int(batch.launch[first])
            function = launches[number].kernel
            if function not in self._pairs:  # zeros that nobody touches take no memory
                self._pairs[function] = np.zeros((PLACES, len(Pair)), np.int64), np.zeros(1, np.int64)
            self._stretches = scan(
                events,
                np.zeros(0, np.uint8) if silent is None else silent.view(np.uint8),
                starts[first:last],
                batch.ends[first:last],
                batch.block[first:last],
                number,
                self._stretches,
                self._unit,
                self._words,
                self._shared_unit,
                self._shared_base,
                self._touched,
                Pairs(self._ranks, self._numbers, *self._pairs[function]),
                room,
            )
            if self._stretches == FULL:
                raise TraceError(f"races: {function}: more than {MOST_PAIRS:,} pairs of sites race")

    def _fit(self, events: Events) -> None:
        """Words small enough for these accesses, and room for all of them."""
        kind, size = events["kind"], events["bytes"].astype(np.uint64)
        everywhere = (kind >= Kind.LOAD) & (kind <= Kind.ATOMIC)
        value = events["value"][everywhere]
        unit = _common(value | size[everywhere], self._unit)
        if int((value + size[everywhere]).max(initial=0)) > self._end:
            raise TraceError("races: the trace has accesses outside its arrays")
        words = self._end // unit + 1
        shared = (kind >= Kind.SHARED_LOAD) & (kind <= Kind.SHARED_ATOMIC)
        value, size = events["value"][shared], size[shared]
        self._rank(np.concatenate([np.flatnonzero(everywhere), np.flatnonzero(shared)]), events)
        if int((value >> np.uint64(32)).max(initial=0)) >= len(self._known):
            raise TraceError(_UNLISTED)
        offset = value & np.uint64(2**32 - 1)
        shared_unit = _common(offset | size, self._shared_unit)
        ends = np.diff(self._shared_base) * self._shared_unit  # bytes
        np.maximum.at(ends, (value >> np.uint64(32)).astype(np.int64), (offset + size).astype(np.int64))
        base = np.concatenate([[0], np.cumsum(-(-ends // shared_unit))])
        if (words, base[-1]) != (self._words, self._shared_base[-1]):
            # Only what blocks of a launch did must be kept: a block does not go on in the next batch.
            kept = self._touched[self._words : 2 * self._words]
            self._touched = np.zeros((2 * words + int(base[-1]), 5), np.int64)
            if len(kept):
                kept = np.repeat(kept, self._unit // unit, axis=0)[:words]
                self._touched[words : words + len(kept)] = kept
        self._unit, self._words, self._shared_unit, self._shared_base = unit, words, shared_unit, base

    def _rank(self, accesses: npt.NDArray[np.int64], events: Events) -> None:
        """Give a rank to the sites of accesses that have none."""
        site = events["site"]
        seen = np.zeros(len(self._known), np.bool_)
        if int(site.max()) < len(seen):
            seen[site[accesses]] = True
        if int(site.max()) >= len(seen) or np.any(seen & ~self._known):
            raise TraceError(_UNLISTED)
        new = np.flatnonzero(seen & (self._ranks < 0))
        self._ranks[new] = np.arange(len(self._numbers), len(self._numbers) + len(new))
        self._numbers = np.concatenate([self._numbers, new])
        if len(self._numbers) > MOST_SITES:
            raise TraceError(
                f"races: the trace has {len(self._numbers):,} sites that access memory: must be at most {MOST_SITES:,}"
            )

    def found(self) -> Races:
        """What was found so far."""
        races = [
            self._race(function, row)
            for function, (rows, _) in self._pairs.items()
            for row in rows[rows[:, Pair.count] > 0][np.argsort(rows[rows[:, Pair.count] > 0, Pair.pair])]
        ]
        races.sort(key=lambda race: (bool(race.benign), -race.count, race.first.site, race.second.site))
        return Races(tuple(races))

    def _race(self, function: str, row: Numbers) -> Race:
        count, harmful, launch, block, other_block, thread, other_thread, address, pair = row.tolist()
        scope, one, other = pair >> 2 * SITE_BITS, pair >> SITE_BITS & _SITE, pair & _SITE
        shared = self._sites[one].kind.startswith("shared_")
        array, index = self._shared_place(address) if shared else self._place(address)
        benign = not harmful if self._flagged else None
        return Race(
            function,
            SCOPES[scope],
            launch,
            self._access(one, block, thread),
            self._access(other, other_block, other_thread),
            array,
            shared,
            index,
            count,
            benign,
        )

    def _access(self, number: int, block: int, thread: int) -> Access:
        site = self._sites[number]
        kind = site.kind.removeprefix("shared_")
        action = {"async": "load", "atomic": "atomic update"}.get(kind, kind)
        return Access(number, site.file, site.line, site.source, action, block, thread)

    def _shared_place(self, address: int) -> tuple[str, int]:
        """The declaration of an array in shared memory, and the byte within it."""
        return self._sites[address >> 32].source.rstrip(";"), address & (2**32 - 1)

    def _place(self, address: int) -> tuple[str, int]:
        """The array and the element of it that an address is."""
        array = [each for each in self._arrays if each.base <= address][-1]
        return array.name, (address - array.base) // np.dtype(array.dtype).itemsize


def _common(numbers: npt.NDArray[np.uint64], most: int) -> int:
    """The largest power of two, up to `most`, that divides all."""
    bits = int(np.bitwise_or.reduce(numbers, initial=0)) | most
    return bits & -bits
