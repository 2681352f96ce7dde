"""The log of a launch as events of a trace: steps of warps become events of threads, in the order of a trace."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import LOG_ENTRY
from simtmm.cuda.log import alike, loops
from simtmm.cuda.log.cluster_waits import without_endless_waits
from simtmm.trace.runs.distances import further_on
from simtmm.trace.runs.layout import DISTANCE
from simtmm.trace.runs.long_block import LongBlock
from simtmm.trace.schema import EVENT, Batch, Events, Kind, plain

GROUP = 1 << 22  # bytes of the log that become a batch at a time
SPARED = 1 << 25  # likewise with that of blocks that stand as distances
LEAST_COMPARED = 1 << 15  # bytes of the log of a block: with fewer, its events cost less than to ask
GIVE_UP = 8  # blocks one after another that are unlike the one before: then no more are compared
LONG_LOG = 1 << 25  # bytes of the log of a block: with more it becomes events before the block has ended


@dataclass(frozen=True)
class SiteTable:
    """Of each site of a program, by its number in the log.

    site: int64, its number in the trace. kind: uint8, of trace.schema.Kind. width: uint8, bytes of an access.
    generic: bool, whether the address determines the state space. issues: bool, whether it has instructions of its own
    beside the access; if not, it is there for what it waits for. shared_site: number, in the trace, of the declaration
    of shared memory.
    """

    site: npt.NDArray[np.int64]
    kind: npt.NDArray[np.uint8]
    width: npt.NDArray[np.uint8]
    generic: npt.NDArray[np.bool_]
    issues: npt.NDArray[np.bool_]
    shared_site: int

    @cached_property
    def apart(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers in the trace, each once, and int64[sites], which of them is a site's."""
        numbers, of_site = np.unique(self.site, return_inverse=True)
        return numbers, of_site.astype(np.int64)


class LogReader:
    """Takes pieces of a launch's log and gives batches of whole blocks, in order.

    events: those of the batches so far. accesses: likewise, of blocks that stand as events. waits_left_out: whether
    waits at mbarriers are, which would have no end (cluster_waits.py).
    """

    def __init__(
        self,
        table: SiteTable,
        threads: int,
        ranks: npt.NDArray[np.int64] | None = None,
        drops: bool = False,
        compares: bool = False,
        order: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """threads: of a block. ranks: int64[blocks], the rank of each in its cluster; None without clusters. drops:
        whether threads may drop out of mbarriers, of which events have arrivals alone. compares: whether a block that
        does what one before it does may stand as distances (schema.Batch). order: int64[blocks], numbers of the
        launch's blocks, in the order in which batches number them; None where that is the same.
        """
        self._place: npt.NDArray[np.int64] | None = None
        if order is not None:
            self._place = np.argsort(order)
            self._highest = np.maximum.accumulate(order)  # of the blocks up to each
        self._looks_at_waits = ranks is not None or drops
        self._table, self._threads, self._ranks = table, threads, ranks
        self._pieces: dict[int, list[npt.NDArray[np.uint8]]] = {}
        self._bytes_of: dict[int, int] = {}  # of the pieces of a block
        self._long: dict[int, _LongLog] = {}
        self._bytes = 0
        self._group = _Group()
        self._compares = compares and not self._looks_at_waits
        self._unlike = 0  # blocks one after another that are unlike the one before
        self.events = self.accesses = 0
        self.waits_left_out = False

    def add(self, piece: npt.NDArray[np.uint8], ended: int) -> Iterator[Batch]:
        """Take a piece of the log, which begins with a block's mark. ended: blocks before which all have ended.

        piece: uint8[bytes].
        """
        words = piece.view(np.int64)
        numbers = starts = np.empty(0, dtype=np.int64)
        count = loops.FIND_BLOCKS(words, self._table.kind, numbers, starts)
        numbers, starts = np.empty((2, count), dtype=np.int64)
        loops.FIND_BLOCKS(words, self._table.kind, numbers, starts)
        ends = np.append(8 * starts[1:], len(piece))
        if self._place is not None:
            numbers, ended = self._place[numbers], int(np.searchsorted(self._highest, ended))
            piece = piece.copy()
            piece.view(np.int64)[starts + 1] = numbers  # its marks
        for number, start, end in zip(numbers.tolist(), (8 * starts).tolist(), ends.tolist(), strict=True):
            self._pieces.setdefault(number, []).append(piece[start:end])
            self._bytes += end - start
            self._bytes_of[number] = self._bytes_of.get(number, 0) + end - start
            if self._bytes_of[number] >= LONG_LOG:
                self._take_long(number)
        if self._bytes >= GROUP:
            yield from self._ended(ended)

    def _take_long(self, number: int) -> None:
        """Make events of what there is of the log of a block."""
        counts, events = self._events_of([number])
        self._bytes -= self._bytes_of[number]
        self._bytes_of[number] = 0
        self._pieces[number] = []
        self._long.setdefault(number, _LongLog(self._threads)).add(events, counts)

    @property
    def held_bytes(self) -> int:
        """Memory that the blocks that have not ended take."""
        return self._bytes

    @property
    def held_events(self) -> int:
        """How many events the blocks that have not ended have, at least."""
        return self._bytes // LOG_ENTRY + sum(long.block.events for long in self._long.values())

    @property
    def made(self) -> int:
        """How many events there are so far, those apart of which a block's last pieces hold the log."""
        return self.events + sum(long.block.events for long in self._long.values())

    @property
    def longest(self) -> int:
        """How many events a block that has not ended has in a file, at most."""
        return max((long.block.events for long in self._long.values()), default=0)

    def rest(self) -> Iterator[Batch]:
        """What is left, all blocks having ended."""
        yield from self._ended(max(self._pieces, default=-1) + 1)
        yield from self._grouped()

    def _ended(self, before: int) -> Iterator[Batch]:
        taken = set(self._group.whole)
        for number in sorted(n for n in self._pieces if n < before and n not in taken):
            if number in self._long:
                yield from self._grouped()
                yield self._long_batch(number)
                continue
            if not self._stands_apart(number):
                self._group.whole.append(number)
                self._group.bytes += self._bytes_of[number]
            if self._group.bytes >= GROUP or self._group.spared >= SPARED:
                yield from self._grouped()
        if not self._compares:
            yield from self._grouped()

    def _stands_apart(self, number: int) -> bool:
        """Whether a block that has ended stands as distances from the last of the group that does not."""
        if not self._compares or not self._group.whole or self._bytes_of[number] < LEAST_COMPARED:
            return False
        sites, slot = self._table.apart
        pieces = [piece.view(np.int64) for piece in self._pieces[number]]
        other = self._log_of(self._group.whole[-1]).view(np.int64)
        distances = alike.distances_of(pieces, other, self._table.kind, slot, len(sites))
        if distances is None:
            self._unlike += 1
            self._compares = self._unlike < GIVE_UP
            return False
        self._unlike = 0
        met = distances != alike.UNKNOWN
        rows = np.zeros(np.count_nonzero(met), EVENT)
        rows["kind"], rows["site"], rows["value"] = DISTANCE, sites[met], distances[met].view(np.uint64)
        self._group.apart.setdefault(len(self._group.whole) - 1, []).append((number, rows))
        self._group.spared += self._forget(number)
        return True

    def _log_of(self, number: int) -> npt.NDArray[np.uint8]:
        """The log of a block, in one piece."""
        pieces = self._pieces[number]
        if len(pieces) > 1:
            self._pieces[number] = pieces = [np.concatenate(pieces)]
        return pieces[0]

    def _forget(self, number: int) -> int:
        """Let go of a block's log; its bytes."""
        del self._pieces[number]
        size = self._bytes_of.pop(number)
        self._bytes -= size
        return size

    def _grouped(self) -> Iterator[Batch]:
        """The batch of the group, if there is any block in it."""
        if self._group.whole:
            yield self._batch(self._group)
            self._group = _Group()

    def _ranks_of(self, blocks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """1 more than each block's rank, as addresses have it; 0 without clusters."""
        return np.zeros_like(blocks) if self._ranks is None else self._ranks[blocks] + 1

    def _long_batch(self, number: int) -> Batch:
        if self._pieces[number]:
            self._take_long(number)
        self._forget(number)
        batch = self._long.pop(number).batch(number)
        self.events += len(batch.events)
        return batch

    def _batch(self, group: "_Group") -> Batch:
        counts, events = self._events_of(group.whole)
        for number in group.whole:
            self._forget(number)
        ends = np.cumsum(counts)[self._threads - 1 :: self._threads].astype(np.int64)
        if self._looks_at_waits and without_endless_waits(events, ends):
            self.waits_left_out = True
        batch = group.batch(events, ends)
        self.events += batch.count
        return batch

    def _events_of(self, numbers: list[int]) -> tuple[npt.NDArray[np.int64], Events]:
        """The number of events of each thread of blocks, and these, thread by thread."""
        pieces = [piece for number in numbers for piece in self._pieces[number]]
        log = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        table = self._table
        slots = np.array(numbers, dtype=np.int64)
        counts = np.zeros(len(numbers) * self._threads, dtype=np.int64)
        last = np.full(len(counts), -1, dtype=np.int64)
        words = log.view(np.int64)
        loops.SIZE_EVENTS(words, table.kind, slots, self._threads, counts, last)
        ends = np.cumsum(counts)
        events = np.empty(int(ends[-1]) if len(ends) else 0, dtype=EVENT)
        cursor = ends - counts
        last[:] = -1
        self.accesses += loops.FILL_EVENTS(
            words, table.width, table.kind, table.generic.view(np.uint8), table.issues.view(np.uint8), table.site,
            table.shared_site, slots, self._ranks_of(slots), self._threads, cursor, last, events.view(np.int64),
        )  # fmt: skip
        return counts, events


class _Group:
    """Blocks that make a batch.

    whole: numbers of those that stand as events. apart: of their places, the blocks behind each that stand as
    distances from it, by number, with these. bytes, spared: of the log of the ones and of the others.
    """

    def __init__(self) -> None:
        self.whole: list[int] = []
        self.apart: dict[int, list[tuple[int, Events]]] = {}
        self.bytes = self.spared = 0

    def batch(self, events: Events, ends: npt.NDArray[np.int64]) -> Batch:
        """The batch. events: EVENT[n], of the whole ones. ends: int64[whole], of each in them."""
        counts = np.diff(ends, prepend=0).tolist()
        numbers, pieces, spared = [], [], 0
        for place, number in enumerate(self.whole):
            own = events[int(ends[place]) - counts[place] : int(ends[place])]
            numbers.append(number)
            pieces.append(own)
            for each, rows in self.apart.get(place, []):
                numbers.append(each)
                pieces.append(rows if len(rows) < len(own) else further_on(own, rows))  # a batch is to be spared some
                spared += len(own) - len(pieces[-1])
        if self.apart:
            events = np.concatenate([plain(piece) for piece in pieces]).view(EVENT)
        return Batch(
            events, np.zeros(len(numbers), np.int32), np.array(numbers, np.int32),
            np.cumsum([len(piece) for piece in pieces], dtype=np.int64), spared=spared,
        )  # fmt: skip


class _LongLog:
    """A block whose log becomes events piece by piece, as all of it at once would: work that is done again at once is
    one event, so what a thread did last is held back until it is known what comes next.
    """

    def __init__(self, threads: int) -> None:
        self.block = LongBlock()
        self._last = np.zeros(threads, EVENT)
        self._is_kept = np.zeros(threads, bool)

    def add(self, events: Events, counts: npt.NDArray[np.int64]) -> None:
        """Take the events of a piece, thread by thread; counts: of each thread."""
        ends = np.cumsum(counts)
        here = np.flatnonzero(counts)
        firsts, lasts = (ends - counts)[here], ends[here] - 1
        before, now = self._last[here], events[firsts]
        goes_on = self._is_kept[here] & (now["kind"] == Kind.WORK) & (now["site"] == before["site"])
        events["value"][firsts[goes_on]] += before["value"][goes_on]
        self.block.add(before[self._is_kept[here] & ~goes_on])
        self._is_kept[here] = events["kind"][lasts] == Kind.WORK
        self._last[here] = events[lasts]
        left = np.ones(len(events), bool)
        left[lasts[self._is_kept[here]]] = False
        self.block.add(plain(events)[left].view(EVENT))

    def batch(self, number: int) -> Batch:
        """The block of that number, which has ended; its launch is 0."""
        self.block.add(self._last[self._is_kept])
        return self.block.batch(0, number)
