"""From operations of warps to the events of a trace: in the order of blocks, with the arrays they touch."""

import bisect
import tempfile
from types import TracebackType
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from simtmm.machine.addresses import LOCAL_BASE
from simtmm.trace.importers import warps as table
from simtmm.trace.importers.chosen import ALL, Chosen
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.runs.long_block import LongBlock
from simtmm.trace.sampled_blocks import sampled_blocks
from simtmm.trace.schema import ALIGNMENT, EVENT, Batch, Events, TraceArray, TraceLaunch

BATCH_EVENTS = 1 << 18  # handed on at once, and the rest of a block: 4 MiB of events in memory, as much of operations

MOST_PLACES = 1 << 21  # for pages that are touched, half of them in use: 48 MiB for 4 GiB at pages of 4 KiB
MOST_STRETCHES = 1 << 14  # of touched pages, each an array of the trace


class TwiceError(Exception):
    """A thread block that came before, at this line; who catches it knows the file."""

    def __init__(self, block: int, line: int) -> None:
        super().__init__(block, line)
        self.line = line


class Blocks:
    """Takes blocks as they come and hands them to a recorder in order.

    A block that comes before its turn stays in a temporary file until then, so memory stays bounded by what is added
    at once.
    """

    def __init__(self, recorder: TraceRecorder, launches: list[TraceLaunch], chosen: Chosen = ALL) -> None:
        """launches: all of them, so that the recorder knows the shapes of the blocks. chosen: what is handed on."""
        self._recorder = recorder
        self.launches = chosen.of(launches)  # that are handed on
        self._numbers = chosen.new_numbers(len(launches))
        self._most = chosen.blocks
        self._launch = -1
        self._next = 0  # block of the launch
        self._early: dict[int, tuple[int, int]] = {}  # block: where its events begin in the file, and how many
        self._early_long: dict[int, Batch] = {}  # those that lie in files of their own
        self._part: LongBlock | None = None  # the block that is being read, as far as it has been taken
        self._file: IO[bytes] | None = None
        self._cursor = np.zeros(table.LANES, np.int64)

    def __enter__(self) -> "Blocks":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file:
            self._file.close()

    @property
    def missing(self) -> int:
        """The block of the launch that is waited for."""
        return self._next

    def begin_launch(self) -> None:
        """What comes belongs to the next launch; of the one before no block may be missing."""
        self._launch += 1
        self._next = 0
        if self._file:
            self._file.seek(0)
            self._file.truncate()

    def add(self, operations: table.Operations) -> None:
        """Take whole blocks of the launch, and empty the table. Raises TwiceError."""
        counts = operations.counts
        events = np.empty(counts[table.Counts.events], dtype=EVENT)
        table.to_threads(operations, self._cursor, events)
        rows = operations.blocks[: counts[table.Counts.blocks]]
        if self._part is not None and len(rows):
            number, line, _, end = rows[0].tolist()
            self._end_part(number, line, events[:end])
            events, rows = events[end:], rows[1:] - np.array([0, 0, 0, end])
        numbers, ends = rows[:, table.Block.number], rows[:, table.Block.events]
        are_early = self._early or self._early_long
        if not are_early and np.array_equal(numbers, np.arange(self._next, self._next + len(numbers))):
            self._append_next(numbers, events, ends.copy())
        else:
            begin = 0
            for number, line, _, end in rows.tolist():
                self._add_block(number, line, events[begin:end])
                begin = end
        counts[:] = 0

    def add_part(self, operations: table.Operations) -> None:
        """Take what the warps of a block have done so far; `add` takes the rest, as the first block that it has."""
        events = np.empty(operations.counts[table.Counts.events], dtype=EVENT)
        table.to_threads(operations, self._cursor, events)
        self._part = self._part or LongBlock()
        self._part.add(events)

    def end_sorted_part(self, launch: int, block: int) -> None:
        """Take such a block unchanged, in its turn among those of `add_sorted`."""
        assert self._part is not None
        part, self._part = self._part, None
        self._hand_on(part.batch(launch, block))

    def _end_part(self, number: int, line: int, events: Events) -> None:
        """Take the rest of such a block."""
        assert self._part is not None
        self._check(number, line)
        self._part.add(events)
        self._early_long[number], self._part = self._part.batch(self._launch, number), None
        self._catch_up()

    def add_sorted(
        self, operations: table.Operations, launch: npt.NDArray[np.int32], block: npt.NDArray[np.int32]
    ) -> None:
        """Take blocks in order, of any launches; those without events may be missing."""
        events = np.empty(operations.counts[table.Counts.events], dtype=EVENT)
        table.to_threads(operations, self._cursor, events)
        ends = operations.blocks[:, table.Block.events].copy()
        self._hand_on(Batch(events, launch, block, ends))

    def _hand_on(self, batch: Batch) -> None:
        """Give the recorder what is chosen of the blocks."""
        launch = self._numbers[batch.launch]
        taken = launch >= 0
        if self._most is not None:
            for number in np.unique(launch[taken]).tolist():
                own = launch == number
                taken[own] = np.isin(batch.block[own], sampled_blocks(self.launches[number].blocks, self._most))
        if taken.any():
            lengths = np.diff(batch.ends, prepend=0)
            events = batch.events if taken.all() else batch.events[np.repeat(taken, lengths)]
            chosen = Batch(events, launch[taken], batch.block[taken], np.cumsum(lengths[taken]))
            self._recorder.add(chosen, self.launches)

    def _append_next(self, numbers: npt.NDArray[np.integer[Any]], events: Events, ends: npt.NDArray[np.int64]) -> None:
        """Take blocks of the launch whose turn it is."""
        self._next += len(numbers)
        launch = np.full(len(numbers), self._launch, np.int32)
        self._hand_on(Batch(events, launch, numbers.astype(np.int32), ends))

    def _check(self, number: int, line: int) -> None:
        if number < self._next or number in self._early or number in self._early_long:
            raise TwiceError(number, line)

    def _add_block(self, number: int, line: int, events: Events) -> None:
        self._check(number, line)
        if number > self._next:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="simtmm-")  # noqa: SIM115  # closed with the object
            self._early[number] = self._file.seek(0, 2), len(events)
            self._file.write(events.tobytes())
            return
        self._append_next(np.array([number]), events.copy(), np.array([len(events)]))
        self._catch_up()

    def _catch_up(self) -> None:
        """Hand on the blocks whose turn it is and that have come before."""
        while self._next in self._early or self._next in self._early_long:
            if self._next in self._early_long:
                batch = self._early_long.pop(self._next)
                self._append_next(batch.block, batch.events, batch.ends)
                continue
            assert self._file is not None
            begin, count = self._early.pop(self._next)
            self._file.seek(begin)
            events = np.frombuffer(self._file.read(count * EVENT.itemsize), dtype=EVENT)
            self._append_next(np.array([self._next]), events, np.array([count]))


class Touched:
    """Which parts of global memory are accessed, to pages of 4 KiB and within each its first and last byte.

    Where there is no place for more of them, pages become larger, so that memory stays bounded.
    """

    def __init__(self) -> None:
        self._pages = np.zeros((1 << 12, 3), np.int64)
        self._used = np.array([0, table.PAGE_BITS])
        self._local_end = 0

    def add(self, operations: table.Operations) -> None:
        """Take in what operations access."""
        counts = operations.counts
        done = 0
        while (done := table.touch(operations, done, self._pages, self._used)) < counts[table.Counts.operations]:
            self._enlarge()
        pool = operations.pool[: counts[table.Counts.pool]]
        # Shared memory's values are far below, with a site of 16 bits over 32 bits.
        self._local_end = max(self._local_end, int(pool.max(initial=0)))

    def arrays(self, copied: list[tuple[int, int]]) -> list[TraceArray]:
        """The arrays of a trace: what the program copied to, and what else is touched, in the order of addresses.

        copied: first address and bytes of each copy. Touched pages side by side are one array. Copies are taken out of
        it up to the next multiple of ALIGNMENT behind them, since no array begins within.
        """
        ends: dict[int, int] = {}
        for base, size in copied:
            ends[base] = max(ends.get(base, 0), base + size)
        found = [_array("copied", base, end) for base, end in ends.items() if end > base]
        taken: list[tuple[int, int]] = []  # disjoint and ascending
        for base, end in sorted(ends.items()):
            behind = -(-end // ALIGNMENT) * ALIGNMENT
            if taken and base <= taken[-1][1]:
                taken[-1] = taken[-1][0], max(taken[-1][1], behind)
            else:
                taken.append((base, behind))
        for start, end in self._regions():
            first = bisect.bisect_right(taken, start, key=lambda copy: copy[1])
            last = bisect.bisect_left(taken, end, key=lambda copy: copy[0])
            for base, behind in taken[first:last]:
                if base > start:
                    found.append(_array("touched", start, base))
                start = behind
            if end > start:
                found.append(_array("touched", start, end))
        if self._local_end >= LOCAL_BASE:
            found.append(_array("local memory", LOCAL_BASE, self._local_end + 1))
        return sorted(found, key=lambda array: array.base)

    def _regions(self) -> list[tuple[int, int]]:
        """Stretches of touched bytes, those of pages side by side in one; of larger pages where they are too many."""
        pages = self._sorted()
        while True:
            firsts = np.flatnonzero(np.diff(pages[:, table.Page.number], prepend=-1) != 1)
            if len(firsts) <= MOST_STRETCHES:
                break
            pages = _of_twice_the_size(pages)
        lasts = np.append(firsts[1:], len(pages))[: len(firsts)] - 1
        starts, ends = pages[firsts, table.Page.first], pages[lasts, table.Page.end]
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    def _sorted(self) -> npt.NDArray[np.int64]:
        pages: npt.NDArray[np.int64] = self._pages[self._pages[:, table.Page.number] != 0]
        return pages[np.argsort(pages[:, table.Page.number])]

    def _enlarge(self) -> None:
        """More room: twice as much, or what larger pages leave of MOST_PLACES."""
        pages, places = self._sorted(), len(self._pages)
        if places < MOST_PLACES:
            places *= 2
        while 4 * len(pages) > places:
            pages = _of_twice_the_size(pages)
            self._used[table.UsedPages.bits] += 1
        self._used[table.UsedPages.taken] = len(pages)
        self._pages = np.zeros((places, 3), np.int64)
        table.insert_pages(self._pages, pages)


def _of_twice_the_size(pages: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The same, in ascending order, with two pages as one."""
    number = (pages[:, table.Page.number] - 1 >> 1) + 1
    firsts = np.flatnonzero(np.diff(number, prepend=-1))
    lasts = np.append(firsts[1:], len(pages))[: len(firsts)] - 1
    return np.stack([number[firsts], pages[firsts, table.Page.first], pages[lasts, table.Page.end]], axis=1)


def _array(what: str, base: int, end: int) -> TraceArray:
    return TraceArray(f"{what} {base:#x}" if what != "local memory" else what, base, end - base, "|u1", (end - base,))
