"""What a launch begins with in the L2: nothing, what the launch before left, or what an earlier run of it would have
left (section 4). Sets that are touched are noted, so that this costs no more than they are many.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Annotated, Any

import numpy as np

from simtmm.engine.fast.layout import ABSENT, WRITTEN, Line, Parameters
from simtmm.engine.fast.memory.cache import choose_line, find_line, l2_row, touch
from simtmm.engine.fast.memory.last_level import last_level_row
from simtmm.engine.fast.memory.sectors import (
    accessed_of,
    insert_empty,
    lacking_of,
    put_sectors,
    runs_of,
    store_sectors,
    stored_of,
    wanted_of,
)
from simtmm.native import trailing_zeros
from simtmm.workload import ASYNC, ATOMIC, COPY, LISTED, LOAD, REDUCE, STORE

Lines = Annotated[Any, Line]  # of a cache


def empty(lines: Lines, touched):
    """Take all lines out of the sets that were touched; none is then."""
    for word in range(len(touched)):
        bits = touched[word]
        while bits != 0:
            row = (word << 6) + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            for way in range(lines.shape[1]):
                lines[row, way].chunk = -1
                lines[row, way].fill = -1
        touched[word] = np.uint64(0)


def settle(lines: Lines, line_sectors, touched, sectors):
    """Have what is in the sets that were touched be filled at tick 0 at the latest; none is touched then."""
    for word in range(len(touched)):
        bits = touched[word]
        while bits != 0:
            row = (word << 6) + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            for way in range(lines.shape[1]):
                if lines[row, way].fill >= 0:
                    lines[row, way].fill &= WRITTEN
                if sectors > 1:
                    for sector in range(sectors):
                        line_sectors[row, way, sector] = min(line_sectors[row, way, sector], np.int64(0))
        touched[word] = np.uint64(0)


def warm(  # noqa: PLR0913, PLR0917 - no records of values
    parameters: Annotated[Any, Parameters],
    l2: Lines,
    l2_sectors,
    touched,
    last_level: Lines,
    last_level_sectors,
    last_level_touched,
    kind,
    amount,
    chunks,
    sectors,
):
    """Let the L2, and the last-level cache behind it, see what an earlier run of these operations went through, one
    after another.
    """
    at = np.int64(0)
    below = parameters.last_level_sets > 0
    for index in range(len(kind)):
        what = kind[index]
        if what not in (LOAD, ASYNC, STORE, ATOMIC, REDUCE, COPY):
            continue
        count = np.int64(amount[index]) & LISTED
        loads = what in (LOAD, ASYNC, COPY)
        writes = (what == STORE and parameters.writes_back != 0) or (
            what in (ATOMIC, REDUCE) and parameters.atomics_here != 0
        )
        if loads or writes or below:
            for place in range(at, at + count):
                chunk = chunks[place]
                accessed = accessed_of(parameters, sectors, place)
                wanted = np.int64(0) if what == STORE else wanted_of(parameters, accessed)
                if loads or writes:
                    row = l2_row(parameters, chunk)
                    touch(touched, row)
                    line = find_line(l2, row, chunk, parameters.l2_ways)
                    read = runs_of(parameters, lacking_of(parameters, l2_sectors, row, line, wanted))
                    if below and read != 0:
                        see_below(
                            parameters, last_level, last_level_sectors, last_level_touched, chunk, read, False, read
                        )
                    if line == ABSENT:
                        if parameters.l2_random != 0:
                            choose_line(l2, row, chunk, np.int64(0), parameters.l2_ways)
                        last = parameters.l2_ways - 1
                        dropped = l2[row, last].fill
                        if below and l2[row, last].chunk >= 0 and dropped & WRITTEN != 0:
                            stored = stored_of(parameters, l2_sectors, row, dropped)
                            see_below(
                                parameters, last_level, last_level_sectors, last_level_touched,
                                l2[row, last].chunk, np.int64(0), True, stored,
                            )  # fmt: skip
                        insert_empty(l2, row, chunk, parameters.l2_ways)
                    if read != 0:
                        put_sectors(parameters, l2, l2_sectors, row, read, np.int64(0))
                    if writes:
                        store_sectors(parameters, l2, l2_sectors, row, accessed, np.int64(0))
                else:
                    read = runs_of(parameters, wanted)
                    see_below(
                        parameters, last_level, last_level_sectors, last_level_touched, chunk, read, True, accessed
                    )
        at += count


def see_below(parameters: Annotated[Any, Parameters], lines: Lines, line_sectors, touched, chunk, read, writes, stored):
    """Let the last-level cache see a chunk: sectors that are read, and the bytes of each that are stored, if it
    writes.
    """
    row = last_level_row(parameters, chunk)
    touch(touched, row)
    line = find_line(lines, row, chunk, parameters.last_level_ways)
    lacking = runs_of(parameters, lacking_of(parameters, line_sectors, row, line, read))
    if line == ABSENT:
        if parameters.last_level_random != 0:
            choose_line(lines, row, chunk, np.int64(0), parameters.last_level_ways)
        insert_empty(lines, row, chunk, parameters.last_level_ways)
    if lacking != 0:
        put_sectors(parameters, lines, line_sectors, row, lacking, np.int64(0))
    if writes:
        store_sectors(parameters, lines, line_sectors, row, stored, np.int64(0))
