"""The log of a launch as events of a trace: steps of warps become events of threads, in the order of a trace."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.cuda import log_events
from simtmm.cuda.execution.layout import LOG_ENTRY
from simtmm.trace.schema import EVENT, Batch

GROUP = 1 << 22  # bytes of the log that become a batch at a time


@dataclass(frozen=True)
class SiteTable:
    """Of each site of a program, by its number in the log.

    site: int64, its number in the trace. kind: uint8, of trace.schema.Kind. width: uint8, bytes of an access.
    generic: bool, whether the address tells the state space. issues: bool, whether it has instructions of its own
    beside the access; if not, it is there for what it waits for. shared_site: number, in the trace, of the declaration
    of shared memory.
    """

    site: npt.NDArray[np.int64]
    kind: npt.NDArray[np.uint8]
    width: npt.NDArray[np.uint8]
    generic: npt.NDArray[np.bool_]
    issues: npt.NDArray[np.bool_]
    shared_site: int


class LogReader:
    """Takes pieces of a launch's log and gives batches of whole blocks, in order.

    events, accesses: those of the batches so far.
    """

    def __init__(self, table: SiteTable, threads: int) -> None:
        """threads: of a block."""
        self._table, self._threads = table, threads
        self._pieces: dict[int, list[npt.NDArray[np.uint8]]] = {}
        self._bytes = 0
        self.events = self.accesses = 0

    def add(self, piece: npt.NDArray[np.uint8], ended: int) -> Iterator[Batch]:
        """Take a piece of the log, which begins with a block's mark. ended: blocks before which all have ended."""
        words = piece.view(np.int64)
        numbers = starts = np.empty(0, dtype=np.int64)
        count = log_events.FIND_BLOCKS(words, self._table.kind, numbers, starts)
        numbers, starts = np.empty((2, count), dtype=np.int64)
        log_events.FIND_BLOCKS(words, self._table.kind, numbers, starts)
        ends = np.append(8 * starts[1:], len(piece))
        for number, start, end in zip(numbers.tolist(), (8 * starts).tolist(), ends.tolist(), strict=True):
            self._pieces.setdefault(number, []).append(piece[start:end])
            self._bytes += end - start
        if self._bytes >= GROUP:
            yield from self._ended(ended)

    @property
    def held_events(self) -> int:
        """How many events the blocks that have not ended have, at least."""
        return self._bytes // LOG_ENTRY

    def rest(self) -> Iterator[Batch]:
        """What is left, all blocks having ended."""
        yield from self._ended(max(self._pieces, default=-1) + 1)

    def _ended(self, before: int) -> Iterator[Batch]:
        group: list[int] = []
        size = 0
        for number in sorted(n for n in self._pieces if n < before):
            group.append(number)
            size += sum(map(len, self._pieces[number]))
            if size >= GROUP:
                yield self._batch(group)
                group, size = [], 0
        if group:
            yield self._batch(group)

    def _batch(self, numbers: list[int]) -> Batch:
        pieces = [piece for number in numbers for piece in self._pieces.pop(number)]
        log = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        self._bytes -= len(log)
        table = self._table
        slots = np.array(numbers, dtype=np.int64)
        counts = np.zeros(len(numbers) * self._threads, dtype=np.int64)
        last = np.full(len(counts), -1, dtype=np.int64)
        words = log.view(np.int64)
        log_events.SIZE_EVENTS(words, table.kind, slots, self._threads, counts, last)
        ends = np.cumsum(counts)
        events = np.empty(int(ends[-1]) if len(ends) else 0, dtype=EVENT)
        cursor = ends - counts
        last[:] = -1
        self.accesses += log_events.FILL_EVENTS(
            words, table.width, table.kind, table.generic.view(np.uint8), table.issues.view(np.uint8), table.site,
            table.shared_site, slots, self._threads, cursor, last, events.view(np.int64),
        )  # fmt: skip
        self.events += len(events)
        block_ends = ends[self._threads - 1 :: self._threads]
        return Batch(events, np.zeros(len(numbers), np.int32), slots.astype(np.int32), block_ends.astype(np.int64))
