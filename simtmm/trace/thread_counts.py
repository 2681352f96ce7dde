"""What is counted of a trace's events, thread by thread: work, span, barriers, accesses and bytes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.trace.io import Trace
from simtmm.trace.schema import Kind
from simtmm.trace.site_tables import says_something, site_tables, work_by_class
from simtmm.trace.spans import name_of_block, spans

# What is counted of a block, a column each.
COLUMNS = ("work", "span", "barriers", "accesses", "thread_accesses", "bytes_read", "bytes_written", "widest")
_LONGEST = ("span", "barriers", "thread_accesses", "widest")  # of a launch: what its block with most has


@dataclass(frozen=True)
class ThreadCounts:
    """What follows from events alone.

    of_launches: of each launch what LaunchCounts says, by name, and "widest", bytes of the widest access to what lies
    in global memory; int64[launches]. work_by_class: see Counts.
    """

    of_launches: dict[str, npt.NDArray[np.int64]]
    work_by_class: dict[str, int]


def of_threads(trace: Trace) -> ThreadCounts:
    """Count the events of a trace. Raises TraceError where their work does not fit 64 bits."""
    from simtmm.trace.count_blocks import count_blocks, count_blocks_with_tables  # late: they bring Numba along

    sites = trace.info.sites
    tables = site_tables(sites) if says_something(sites) else None
    executions = np.zeros(0 if tables is None else len(tables.work), np.int64)
    pieces = [np.empty((0, len(COLUMNS)), np.int64)]
    for stretch in spans(trace):
        phases = int(np.count_nonzero(stretch.events["kind"] == Kind.BARRIER)) + 1
        made = np.zeros((len(stretch.ends), len(COLUMNS)), dtype=np.int64)
        longest = np.zeros(phases, dtype=np.int64)
        if tables is None:
            refused = count_blocks(stretch.events, stretch.ends, longest, made)
        else:
            refused = count_blocks_with_tables(stretch.events, stretch.ends, longest, made, tables, executions)
        if refused >= 0:
            raise _too_much_work(trace, stretch.first + refused)
        pieces.append(made)
    blocks = np.concatenate(pieces)
    _check_work(trace, blocks[:, COLUMNS.index("work")])
    starts = np.cumsum([0, *(launch.blocks for launch in trace.info.launches)], dtype=np.int64)[:-1]
    of_launches = {name: np.zeros(0, np.int64) for name in COLUMNS}
    if len(starts):
        of_launches = {
            name: (np.maximum if name in _LONGEST else np.add).reduceat(blocks[:, column], starts)
            for column, name in enumerate(COLUMNS)
        }
    return ThreadCounts(of_launches, {} if tables is None else work_by_class(sites, executions))


def _check_work(trace: Trace, work: npt.NDArray[np.int64]) -> None:
    """Refuse a program whose work, of all blocks together, does not fit 64 bits. No other count is larger: spans and
    instructions are sums over some of it, or a bounded number for each event.
    """
    upper, lower_half = np.cumsum(work >> 32), np.cumsum(work & 0xFFFFFFFF)  # each fits
    beyond = upper + (lower_half >> 32) >= 1 << 31
    if beyond.any():
        raise _too_much_work(trace, int(beyond.argmax()))


def _too_much_work(trace: Trace, block: int) -> TraceError:
    where = name_of_block(trace.info, block)
    return TraceError(f"{where}: with it the program has 2^63 operations and more: its work must be below 2^63")
