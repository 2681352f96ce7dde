"""What a launch begins with in the L2: nothing, what the launch before left, or what an earlier run of it would have
left (section 4). Sets that are touched are noted, so that this costs no more than they are many.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.engine.fast.layout import ABSENT, WRITTEN, Line, Parameters
from simtmm.engine.fast.memory.cache import (
    drop_line,
    find_line,
    home_of,
    l2_row,
    place_of,
    touch,
    victim_of,
)
from simtmm.engine.fast.memory.last_level import last_level_row
from simtmm.engine.fast.memory.sectors import (
    accessed_of,
    clean_line,
    insert_empty,
    is_joint,
    joint_line,
    lacking_of,
    put_sectors,
    runs_of,
    sectors_of_joint,
    store_sectors,
    stored_of,
    wanted_of,
)
from simtmm.native import inlined, trailing_zeros
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
                elif is_joint(lines[row, way].fill):
                    lines[row, way].fill = joint_line(sectors_of_joint(lines[row, way].fill), np.int64(0))
                if sectors > 1:
                    for sector in range(sectors):
                        line_sectors[row, way, sector] = min(line_sectors[row, way, sector], np.int64(0))
        touched[word] = np.uint64(0)


class Caches(NamedTuple):
    """The L2, or those of all dies, and the last-level cache, as an earlier run leaves them: lines, sectors and bits of
    the sets that were touched of each.
    """

    parameters: Annotated[Any, Parameters]
    l2: Lines
    l2_sectors: Any
    l2_touched: Any
    last_level: Lines
    last_level_sectors: Any
    last_level_touched: Any


def warm(s: Caches, die_of, kind, amount, chunks, sectors):
    """Let the caches see what an earlier run of these operations went through, one after another. die_of: the die of
    each operation, or its half of the L2, where there are several.
    """
    at = np.int64(0)
    for index in range(len(kind)):
        what = kind[index]
        if what not in (LOAD, ASYNC, STORE, ATOMIC, REDUCE, COPY):
            continue
        count = np.int64(amount[index]) & LISTED
        die = np.int64(die_of[index]) if s.parameters.l2_dies > 1 or s.parameters.l2_halves > 1 else np.int64(0)
        for place in range(at, at + count):
            see(s, die, what, chunks[place], accessed_of(s.parameters, sectors, place))
        at += count


def see(s: Caches, die, what, chunk, accessed):
    """Let them see a chunk. accessed: bytes of each of its sectors."""
    writes = what in (STORE, ATOMIC, REDUCE)
    wanted = np.int64(0) if what == STORE else wanted_of(s.parameters, accessed)
    stays = s.parameters.writes_back != 0 if what == STORE else s.parameters.atomics_here != 0
    if writes and not stays:
        see_below(s, chunk, runs_of(s.parameters, wanted), writes, accessed)
        return
    own = home_of(chunk) if writes and s.parameters.l2_halves > 1 else die
    row = l2_row(s.parameters, own, chunk)
    touch(s.l2_touched, row)
    if writes:
        see_others(s, own, chunk, writes)
    line = find_line(s.l2, row, chunk, s.parameters.l2_ways)
    lacking = lacking_of(s.parameters, s.l2_sectors, row, line, wanted)
    come = np.int64(0)  # from the other half
    if lacking != 0 and s.parameters.l2_halves > 1 and own != home_of(chunk):
        come = lacking
        own = home_of(chunk)
        row = l2_row(s.parameters, own, chunk)
        touch(s.l2_touched, row)
        line = find_line(s.l2, row, chunk, s.parameters.l2_ways)
        lacking = lacking_of(s.parameters, s.l2_sectors, row, line, come)
    read = runs_of(s.parameters, lacking)
    if read != 0:
        see_others(s, own, chunk, False)
        see_below(s, chunk, read, False, np.int64(0))
    if line == ABSENT:
        have_room(s, row, chunk)
    if read != 0:
        put_sectors(s.parameters, s.l2, s.l2_sectors, row, read, np.int64(0))
    if writes:
        store_sectors(s.parameters, s.l2, s.l2_sectors, row, accessed, np.int64(0))
    if come != 0:
        row = l2_row(s.parameters, die, chunk)
        if find_line(s.l2, row, chunk, s.parameters.l2_ways) == ABSENT:
            have_room(s, row, chunk)
        put_sectors(s.parameters, s.l2, s.l2_sectors, row, come, np.int64(0))


@inlined
def have_room(s, row, chunk):
    """Put a chunk into the L2, with none of its sectors; a written line that falls out is stored below."""
    victim = victim_of(s.l2, row, chunk, np.int64(0), s.parameters.l2_ways, s.parameters.l2_random)
    dropped = s.l2[row, victim].fill
    if s.l2[row, victim].chunk >= 0 and dropped & WRITTEN != 0:
        stored = stored_of(s.parameters, s.l2_sectors, row, dropped)
        see_below(s, s.l2[row, victim].chunk, np.int64(0), True, stored)
    insert_empty(s.l2, row, chunk, victim)


def see_others(s: Caches, own, chunk, takes):
    """Write down what other dies have written of a chunk, and take it out of their L2s where that is to be."""
    for die in range(max(s.parameters.l2_dies, s.parameters.l2_halves)):
        if die != own:
            row = l2_row(s.parameters, np.int64(die), chunk)
            way = place_of(s.l2, row, chunk, s.parameters.l2_ways)
            if way >= 0:
                line = s.l2[row, way].fill
                if line & WRITTEN != 0:
                    see_below(s, chunk, np.int64(0), True, stored_of(s.parameters, s.l2_sectors, row, line))
                    clean_line(s.parameters, s.l2, s.l2_sectors, row, way)
                if takes:
                    drop_line(s.l2, row, chunk, s.parameters.l2_ways)


def see_below(s: Caches, chunk, read, writes, stored):
    """Let the last-level cache see a chunk, if there is one: sectors that are read, and the bytes of each that are
    stored, if it writes.
    """
    if s.parameters.last_level_sets == 0:
        return
    row = last_level_row(s.parameters, chunk)
    touch(s.last_level_touched, row)
    line = find_line(s.last_level, row, chunk, s.parameters.last_level_ways)
    lacking = runs_of(s.parameters, lacking_of(s.parameters, s.last_level_sectors, row, line, read))
    if line == ABSENT:
        ways, is_random = s.parameters.last_level_ways, s.parameters.last_level_random
        insert_empty(s.last_level, row, chunk, victim_of(s.last_level, row, chunk, np.int64(0), ways, is_random))
    if lacking != 0:
        put_sectors(s.parameters, s.last_level, s.last_level_sectors, row, lacking, np.int64(0))
    if writes:
        store_sectors(s.parameters, s.last_level, s.last_level_sectors, row, stored, np.int64(0))
