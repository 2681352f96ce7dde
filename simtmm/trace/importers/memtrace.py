"""NVBit's mem_trace: the text that the tool prints, a line for each access of a warp.

It records no registers, no arithmetic and no barriers: a load is waited for, and there is no work. Lines of different
blocks are mixed, so they go through temporary files, where they are sorted by block.
"""

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from simtmm.errors import TraceError
from simtmm.trace.importers import memtrace_records
from simtmm.trace.importers.blocks import Blocks
from simtmm.trace.importers.chosen import ALL, Chosen
from simtmm.trace.importers.memtrace_accesses import MemtraceAccesses
from simtmm.trace.importers.memtrace_order import (
    LongStretch,
    of_whole_blocks,
)
from simtmm.trace.importers.memtrace_records import MemtraceRecords
from simtmm.trace.importers.reading import (
    Advance,
    blocks,
    size_of,
)
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import TraceArray, TraceLaunch, TraceSite


def read(
    path: Path, recorder: TraceRecorder, advance: Advance, chosen: Chosen = ALL
) -> tuple[list[TraceLaunch], list[TraceArray], list[TraceSite], dict[str, Any]]:
    """Give a recorder the events of a file, and the caller the rest of a trace."""
    with ExitStack() as stack:
        mixed = stack.enter_context(tempfile.TemporaryFile(prefix="simtmm-"))
        reading = MemtraceRecords(path, mixed)
        for text, first in blocks(path, advance, ended=rb"MEMTRACE:"):
            reading.read(text, first)
        reading.spool()
        if not reading.launches:
            raise TraceError(f"{path}: has no line 'MEMTRACE: CTX 0x... - LAUNCH - ...', which begins a launch")
        if chosen.registers is not None:
            reading.launches = [replace(launch, registers_per_thread=chosen.registers) for launch in reading.launches]
        accesses = MemtraceAccesses(path, reading)
        sink = stack.enter_context(Blocks(recorder, reading.launches, chosen))
        stretches = stack.enter_context(tempfile.TemporaryFile(prefix="simtmm-"))
        for records in of_whole_blocks(reading.counts, mixed, stretches, memtrace_records.RECORDS):
            if isinstance(records, LongStretch):
                accesses.add_long(records, sink)
            else:
                accesses.add(records, sink)
    statistics = accesses.statistics()
    made_by = {"recorder": "mem-trace", "statistics": statistics.to_dict(), "warnings": statistics.doubts}
    return sink.launches, accesses.touched.arrays([]), accesses.sites(), made_by


def bytes_to_read(path: Path, chosen: Chosen = ALL) -> int:
    """How many bytes `read` will have advanced by in the end. Raises TraceError."""
    return size_of(path)


def recognise(name: str, text: str) -> bool:
    """Whether a file of this name that begins like this is of this format."""
    return "MEMTRACE: CTX " in text
