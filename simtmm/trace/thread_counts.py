"""What is counted of a trace's events, thread by thread: work, span, barriers, accesses and bytes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.native import Loop
from simtmm.trace.blocks_of_launches import blocks_before, check_launches, name_of_block
from simtmm.trace.io import Trace
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.counting import COUNTED, NO_ROOM, Place, Room, count_runs, count_stretch
from simtmm.trace.runs.decoding import NEST
from simtmm.trace.runs.known import Known
from simtmm.trace.site_tables import SiteTables, site_tables, work_by_class
from simtmm.watch import telling

# What is counted of a block, a column each.
COLUMNS = ("work", "span", "barriers", "accesses", "thread_accesses", "bytes_read", "bytes_written", "widest")
_COUNT, _COUNT_STRETCH = Loop(count_runs, what="trace counting"), Loop(count_stretch)

_LONGEST = ("span", "barriers", "thread_accesses", "widest")  # of a launch: what its block with most has


@dataclass(frozen=True)
class ThreadCounts:
    """What follows from events alone.

    of_launches: LaunchCounts of each launch, by name, and "widest", bytes of the widest access to what lies
    in global memory; int64[launches]. work_by_class: see Counts.
    """

    of_launches: dict[str, npt.NDArray[np.int64]]
    work_by_class: dict[str, int]


def of_threads(trace: Trace) -> ThreadCounts:
    """Count the events of a trace. Raises TraceError where their work does not fit 64 bits."""
    info = trace.info
    check_launches(info)
    tables = site_tables(info.sites)
    executions = np.zeros(len(tables.work), np.int64)
    totals = np.zeros((len(info.launches), len(COLUMNS)), np.int64)  # blocks without events count as nothing
    known = Known(lambda runs: (*_count(trace, runs, tables), int(runs.events.sum())))
    counted, work, progress = 0, 0, telling("counting")
    for runs in trace.runs():
        counts, executed, events = known.of(runs)
        counted += events
        progress(counted, info.events)
        work = _with_work(trace, runs, counts[:, COLUMNS.index("work")], work)
        _add(totals[runs.launch], counts)
        executions += executed
    of_launches = {name: totals[:, column].copy() for column, name in enumerate(COLUMNS)}
    return ThreadCounts(of_launches, work_by_class(info.sites, executions))


def work_of_blocks(trace: Trace, runs: Runs) -> npt.NDArray[np.float64]:
    """float64[blocks]: the work of all threads of each block.

    runs: some blocks of the trace.

    Raises TraceError as `of_threads`.
    """
    counts, _ = _count(trace, runs, site_tables(trace.info.sites))
    return counts[:, COLUMNS.index("work")].astype(float)


def _add(totals: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> None:
    """Take blocks into what is counted of their launch."""
    if len(counts):
        longest = [name in _LONGEST for name in COLUMNS]
        totals[:] = np.where(longest, np.maximum(totals, counts.max(axis=0)), totals + counts.sum(axis=0))


def _count(trace: Trace, runs: Runs, tables: SiteTables) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Of each block the columns, and how often the work of each site was done."""
    nodes, phases = 1 << 10, 1 << 10
    shape = np.array(runs.shape, np.int64)
    while True:
        counts, executions = np.zeros((len(runs.block), len(COLUMNS)), np.int64), np.zeros(len(tables.work), np.int64)
        places, longest = np.zeros((nodes, len(Place)), np.int64), np.zeros(phases, np.int64)
        room = Room(places, longest, np.zeros(NEST, np.int64), tables.work, executions, np.full(1, -1, np.int64))
        if runs.is_long:
            found = _count_long(runs, room, counts)
        else:
            found = _COUNT(runs.structures, runs.structure, runs.values, runs.value_ends, shape, room, counts)
        if found == COUNTED:
            return counts, executions
        if found >= 0:
            raise _too_much_work(trace, blocks_before(trace.info, runs.launch) + int(runs.block[found]))
        nodes, phases = 4 * nodes, 4 * phases


def _count_long(runs: Runs, room: Room, counts: npt.NDArray[np.int64]) -> int:
    """What counting the one block gives that these runs are, stretch by stretch."""
    left = len(runs.values)
    for stretch in runs.stretches():
        left -= len(stretch)
        found = _COUNT_STRETCH(stretch, int(left == 0), room, counts)
        if found != COUNTED:
            return NO_ROOM if found == NO_ROOM else 0
    return COUNTED


def _with_work(trace: Trace, runs: Runs, work: npt.NDArray[np.int64], before: int) -> int:
    """The work of these blocks and all before them.

    Refuses a program whose work, of all blocks together, does not fit 64 bits. No other count is larger: spans and
    instructions are sums over some of it, or a bounded number for each event.
    """
    upper, lower_half = np.cumsum(work >> 32), np.cumsum(work & 0xFFFFFFFF)  # each fits
    if not len(work):
        return before
    after = before + (int(upper[-1]) << 32) + int(lower_half[-1])
    if after < 1 << 63:
        return after
    total, number = before, 0
    while (total := total + int(work[number])) < 1 << 63:
        number += 1
    raise _too_much_work(trace, blocks_before(trace.info, runs.launch) + int(runs.block[number]))


def _too_much_work(trace: Trace, block: int) -> TraceError:
    where = name_of_block(trace.info, block)
    return TraceError(f"{where}: with it the program has 2^63 operations and more: its work must be below 2^63")
