"""Which PRAM a trace needs, EREW, CREW or CRCW, where threads meet, and how long the queues of a QRQW PRAM are.

A PRAM goes in steps. A step of a trace is what all threads of a launch do at one place of the program (a site) at the
same visit: the first time since the last barrier of their block, the second time, and so on, after as many barriers.
Threads meet if they touch one word in one step: of global memory those of the launch, of shared memory those of the
block. Then the trace is

    EREW   if no two threads ever meet
    CREW   if they meet in reads only
    CRCW   if they meet in a store or an atomic update

The queue of a step is the most threads that meet at one word; a QRQW PRAM (Gibbons, Matias and Ramachandran) takes that
long for it. What an author writes at two places is two steps, so two threads that read and write a word at different
places do not meet; whether that is a race is for simtmm.trace.races to say. A word is the largest power of two of bytes
that divides every address and width in the trace, 16 at most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.trace.contention.counting import Site, Step, Word, count_blocks, grown
from simtmm.trace.io import Trace
from simtmm.trace.schema import Batch, Kind, TraceArray, TraceLaunch, TraceSite

MODELS = ("EREW", "CREW", "CRCW")
READS = (Kind.LOAD, Kind.ASYNC, Kind.COPY, Kind.SHARED_LOAD, Kind.CONSTANT_LOAD)
STORES = (Kind.STORE, Kind.SHARED_STORE)
SHARED = (Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC)
ACCESS_KINDS = (*READS, *STORES, Kind.ATOMIC, Kind.SHARED_ATOMIC)
FEWEST_PLACES = 1 << 16
MOST_PLACES = 1 << 24  # of the tables of a launch, half of which are used: 0.5 GiB for words, 0.4 GiB for steps

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Meeting:
    """A site that accesses memory, and how its threads meet.

    kernel: of the launch where most met. access: "load", "store" or "atomic", of shared memory if `shared`.
    accesses: of all threads. met: accesses, in words, at a word that another thread touched in the same step.
    steps: of all launches. queue: the sum of the steps' queues. most: the longest of these, first at array[index] in
    that launch and block; of a shared array, index is the offset in bytes.
    """

    site: int
    file: str
    line: int
    source: str
    access: str
    shared: bool
    accesses: int
    met: int
    steps: int
    queue: int
    most: int
    launch: int
    block: int
    kernel: str
    array: str
    index: int

    @property
    def model(self) -> str:
        """The PRAM that this site alone needs."""
        if self.most <= 1:
            return MODELS[0]
        return MODELS[1] if self.access == "load" else MODELS[2]

    @property
    def where(self) -> str:
        """The place, as file:line."""
        return f"{self.file}:{self.line}" if self.file else f"site {self.site}"

    @property
    def at(self) -> str:
        """The word at which most threads met."""
        return f"byte {self.index} of {self.array}" if self.shared else f"{self.array}[{self.index}]"


@dataclass(frozen=True)
class Contention:
    """What was found: a Meeting for each site that accesses memory, those with the longest queue first."""

    meetings: tuple[Meeting, ...]

    @property
    def model(self) -> str:
        """The weakest PRAM that does."""
        return max((meeting.model for meeting in self.meetings), key=MODELS.index, default=MODELS[0])

    @property
    def by_atomics_alone(self) -> bool:
        """Whether it is CRCW, but would be less without its atomic updates."""
        stores = [meeting for meeting in self.meetings if meeting.model == MODELS[2] and meeting.access == "store"]
        return self.model == MODELS[2] and not stores

    @property
    def steps(self) -> int:
        """Steps of all sites and launches: the time of an EREW PRAM with a processor a thread."""
        return sum(meeting.steps for meeting in self.meetings)

    @property
    def queue(self) -> int:
        """The sum of all steps' queues: the time of a QRQW PRAM with a processor a thread."""
        return sum(meeting.queue for meeting in self.meetings)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "model": self.model,
            "by_atomics_alone": self.by_atomics_alone,
            "steps": self.steps,
            "queue": self.queue,
            "sites": [{**asdict(meeting), "model": meeting.model} for meeting in self.meetings],
        }


def find_contention(trace: Trace) -> Contention:
    """The contention of a trace.

    Raises TraceError where a launch has more accesses than fit in memory (some eight million words of steps).
    """
    sites, unit = _sites_and_unit(trace)
    counter = _Counter(sites, unit)
    for batch in trace.batches():
        counter.add(batch)
    info = trace.info
    known = {site.site: site for site in info.sites}
    arrays = sorted(info.arrays, key=lambda array: array.base)
    rows = [
        _meeting(int(number), row, known, arrays, info.launches)
        for number, row in zip(sites, counter.found, strict=True)
    ]
    return Contention(tuple(sorted(rows, key=lambda row: (-row.most, -row.queue, row.site))))


def _accesses(batch: Batch) -> tuple[Numbers, Numbers]:
    """Which events are accesses; and of each event its site with what it does: an imported site may do several."""
    events = batch.events
    return np.isin(events["kind"], ACCESS_KINDS), events["site"].astype(np.int64) << 8 | events["kind"]


def _sites_and_unit(trace: Trace) -> tuple[Numbers, int]:
    """All sites that access memory, with what they do; and the bytes of a word."""
    sites, bits = np.zeros(0, np.int64), 16
    for batch in trace.batches():
        chosen, numbers = _accesses(batch)
        sites = np.union1d(sites, numbers[chosen])
        touched = batch.events[chosen]
        width = touched["bytes"].astype(np.uint64)
        bits |= int(np.bitwise_or.reduce(touched["value"] | width, initial=np.uint64(0)))
    return sites, bits & -bits


class _Counter:
    """Counts batch by batch, with a table for the present launch."""

    def __init__(self, sites: Numbers, unit: int) -> None:
        self._sites, self._unit = sites, unit
        self._launch = -1
        self._seen = np.zeros((len(sites), 2), np.int64)
        self.found = np.zeros((len(sites), len(Site)), np.int64)
        self._begin()

    def _begin(self) -> None:
        self._words = np.zeros((FEWEST_PLACES, len(Word)), np.int64)
        self._steps = np.zeros((FEWEST_PLACES, len(Step)), np.int64)
        self._used = np.zeros(2, np.int64)

    def add(self, batch: Batch) -> None:
        """Take in a batch; they come in order."""
        if not len(batch.events):
            return
        chosen, numbers = _accesses(batch)
        rank = np.where(chosen, np.searchsorted(self._sites, numbers), -1)
        starts = np.concatenate([[0], batch.ends[:-1]])
        changes = np.flatnonzero(np.diff(batch.launch)) + 1
        for first, last in pairwise([0, *changes.tolist(), len(batch.launch)]):
            if int(batch.launch[first]) != self._launch:
                self._launch = int(batch.launch[first])
                self._begin()
            of_launch = slice(first, last)
            number = 0
            while True:
                number = count_blocks(
                    batch.events, rank, starts[of_launch], batch.ends[of_launch], batch.block[of_launch], self._launch,
                    self._unit, self._words, self._steps, self._used, self._seen, self.found, number,
                )  # fmt: skip
                if number == last - first:
                    break
                self._grow()

    def _grow(self) -> None:
        places = 4 * len(self._words)
        if places > MOST_PLACES:
            raise TraceError(
                f"contention: launch {self._launch} has more than {MOST_PLACES // 2:,} different words of steps: "
                "record a smaller input, or some blocks of each launch (--sample-blocks)"
            )
        words, steps = np.zeros((places, len(Word)), np.int64), np.zeros((places, len(Step)), np.int64)
        grown(self._words, self._steps, words, steps)
        self._words, self._steps = words, steps


def _meeting(
    number: int,
    row: Numbers,
    known: Mapping[int, TraceSite],
    arrays: Sequence[TraceArray],
    launches: Sequence[TraceLaunch],
) -> Meeting:
    site, kind = known.get(number >> 8), number & 255
    shared = kind in SHARED
    array, index = _declared(int(row[Site.at_word]), known) if shared else _element(int(row[Site.at_word]), arrays)
    return Meeting(
        number >> 8,
        site.file if site else "",
        site.line if site else 0,
        site.source if site else "",
        "load" if kind in READS else "store" if kind in STORES else "atomic",
        shared,
        int(row[Site.accesses]),
        int(row[Site.met]),
        int(row[Site.steps]),
        int(row[Site.queue]),
        int(row[Site.most]),
        int(row[Site.at_launch]),
        int(row[Site.at_block]),
        launches[int(row[Site.at_launch])].kernel,
        array,
        index,
    )


def _declared(address: int, known: Mapping[int, TraceSite]) -> tuple[str, int]:
    """The declaration of an array in shared memory, as far as it is known, and the byte within it."""
    site = known.get(address >> 32)
    return site.source.rstrip(";") if site and site.source else "shared memory", address & 0xFFFFFFFF


def _element(address: int, arrays: Sequence[TraceArray]) -> tuple[str, int]:
    """The array and the element of it that an address is; "memory" and the address where no array has it."""
    before = [array for array in arrays if array.base <= address < array.base + array.bytes]
    if not before:
        return "memory", address
    return before[-1].name, (address - before[-1].base) // np.dtype(before[-1].dtype).itemsize
