"""A block with more events than should lie in memory, as it comes from a recorder or an importer."""

import shutil
import tempfile

import numpy as np

from simtmm.trace.runs.mapped import LONG, Spool, let_go
from simtmm.trace.schema import EVENT, Batch, Events

FILES = 2  # in which the events of a block lie at once: as they came, and by thread


def most_of_a_block() -> int:
    """How many events a block may have: half of what the folder for temporary files has room for."""
    try:
        free = shutil.disk_usage(tempfile.gettempdir()).free
    except OSError:  # no such folder: what does not need it goes on
        free = 0
    return max(LONG, free // 2 // EVENT.itemsize // FILES)


class LongBlock:
    """Takes the events of a block, those of each thread in their order, and gives them thread by thread.

    events: so far.
    """

    def __init__(self) -> None:
        self._spool = Spool()
        self._counts = np.zeros(1 << 16, np.int64)  # of each thread
        self._last = 0  # thread
        self._is_sorted = True
        self.events = 0

    def add(self, events: Events) -> None:
        """Take events; the array is not stored.

        events: EVENT[n], in the order of their threads' programs.

        Raises TraceError where no file can hold them.
        """
        if not len(events):
            return
        thread = events["thread"]
        self._is_sorted = self._is_sorted and thread[0] >= self._last and bool((thread[1:] >= thread[:-1]).all())
        self._last = int(thread[-1])
        self._counts += np.bincount(thread, minlength=len(self._counts))
        self._spool.append(events)
        self.events += len(events)

    def batch(self, launch: int, block: int) -> Batch:
        """All of them, that block of the launch; they lie in a file.

        launch, block: numbers, from 0 on, of the launch in the run and of the block in the launch.
        """
        events = self._spool.mapped(EVENT)
        if not self._is_sorted:
            events = self._by_thread(events)
        numbers = np.full(1, launch, np.int32), np.full(1, block, np.int32)
        return Batch(events, *numbers, np.full(1, len(events), np.int64))

    def _by_thread(self, events: Events) -> Events:
        ordered = Spool()
        cursor = np.cumsum(self._counts) - self._counts
        for begin in range(0, len(events), LONG):
            part = events[begin : begin + LONG]
            thread = part["thread"]
            part = part[np.argsort(thread, kind="stable")]
            counts = np.bincount(thread, minlength=len(cursor))
            ends = np.cumsum(counts)
            for number in np.flatnonzero(counts).tolist():
                own = part[ends[number] - counts[number] : ends[number]]
                ordered.put(own, EVENT.itemsize * int(cursor[number]))
            cursor += counts
            let_go(events)
        return ordered.mapped(EVENT)
