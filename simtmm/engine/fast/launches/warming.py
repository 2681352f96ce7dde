"""What a launch begins with in the L2: nothing, what the launch before left, or what an earlier run of it would have
left (section 4). Sets that are touched are noted, so that this costs no more than they are many.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Annotated, Any

import numpy as np

from simtmm.engine.fast.layout import ABSENT, WRITTEN, Line, Parameters
from simtmm.engine.fast.memory.cache import choose_line, find_line, l2_row, touch
from simtmm.engine.fast.memory.sectors import (
    accessed_of,
    insert_empty,
    lacking_of,
    put_sectors,
    runs_of,
    store_sectors,
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


def warm(parameters: Annotated[Any, Parameters], l2: Lines, l2_sectors, touched, kind, amount, chunks, sectors):
    """Let the L2 see what an earlier run of these operations went through, one after another."""
    ways = parameters.l2_ways
    at = np.int64(0)
    for index in range(len(kind)):
        what = kind[index]
        if what not in (LOAD, ASYNC, STORE, ATOMIC, REDUCE, COPY):
            continue
        count = np.int64(amount[index]) & LISTED
        loads = what in (LOAD, ASYNC, COPY)
        writes = (what == STORE and parameters.writes_back != 0) or (
            what in (ATOMIC, REDUCE) and parameters.atomics_here != 0
        )
        if loads or writes:
            for place in range(at, at + count):
                chunk = chunks[place]
                accessed = accessed_of(parameters, sectors, place)
                row = l2_row(parameters, chunk)
                touch(touched, row)
                line = find_line(l2, row, chunk, ways)
                lacking = np.int64(0)
                if what != STORE:
                    lacking = lacking_of(parameters, l2_sectors, row, line, wanted_of(parameters, accessed))
                if line == ABSENT:
                    if parameters.l2_random != 0:
                        choose_line(l2, row, chunk, np.int64(0), ways)
                    insert_empty(l2, row, chunk, ways)
                if what != STORE:
                    put_sectors(parameters, l2, l2_sectors, row, runs_of(parameters, lacking), np.int64(0))
                if writes:
                    store_sectors(parameters, l2, l2_sectors, row, accessed, np.int64(0))
        at += count
