"""A wrong answer's place: who wrote the wrong element last. The program is run again, which does the same."""

import contextlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from simtmm.errors import KernelError, RecordingError
from simtmm.kernel import Kernel, Launch
from simtmm.recorder.faults import fault_place
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.trace.schema import Batch, Kind, TraceSite


def who_wrote(
    address: int | None,
    kernel: Kernel,
    sites: Sequence[TraceSite],
    memory: GlobalMemory,
    launches: Iterable[Launch],
    run: Callable[[Launch, int], Iterable[Batch]],
) -> str:
    """In words, as the end of a sentence; nothing where that is unknown.

    address: in this process, of the wrong element, None if unknown; what lies outside `memory` is a check's own.
    memory: as it was before the first launch. run: runs a launch and gives its events.
    """
    if address is None:
        return ""
    place = address - memory.origin
    if not any(base <= place < base + memory.arrays[name].nbytes for name, base in memory.bases.items()):
        return ""
    last = None
    with contextlib.suppress(KernelError, RecordingError):  # the wrong answer is what is to be reported
        for number, launch in enumerate(launches):
            for batch in run(launch, number):
                found = _last_write(batch, place)
                if found:
                    last = (number, launch, *found)
        if last is None:
            return "; no launch writes it"
        number, launch, site, block, thread = last
        return (
            f"; written last at {fault_place(kernel, sites, site, block, thread)}, launch {number} of {launch.kernel}"
        )
    return ""


def _last_write(batch: Batch, place: int) -> tuple[int, int, int] | None:
    """Site, block and thread of the last write of a byte: in the last block, behind most barriers, the last thread."""
    events = batch.events
    writes = (events["kind"] == Kind.STORE) | (events["kind"] == Kind.ATOMIC)
    there = (events["value"] <= place) & (place < events["value"] + events["bytes"])
    found = np.flatnonzero(writes & there)
    if not len(found):
        return None
    slot = int(np.searchsorted(batch.ends, found[-1], side="right"))
    begin = int(batch.ends[slot - 1]) if slot else 0
    of_block = events[begin : batch.ends[slot]]

    def stretch(event: int) -> int:
        before = of_block[: event - begin]
        return int(np.sum((before["thread"] == events["thread"][event]) & (before["kind"] == Kind.BARRIER)))

    last = max(found[found >= begin].tolist(), key=lambda event: (stretch(event), event))
    return int(events["site"][last]), int(batch.block[slot]), int(events["thread"][last])
