"""Sectors of lines: what is wanted of a chunk, what a cache has of it, and what was stored (section 4).

Sectors are a set of bits, the first lowest; without sectors a chunk is one. A line that is there as a whole keeps the
fill time of its sectors itself, and if it is written all of it is. Others are *apart*: their sectors have a row in a
table beside the lines, in the place of one of the set's ways. That table is large, and a look at it mostly misses this
computer's caches. So a line whose sectors came together says itself which are there and since when: it is *joint*.
So is one that nothing is to be written down of, once the last of its sectors has been filled; with all of them it is
whole.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import (
    EMPTY,
    FILL_SHIFT,
    FIRST_APART,
    JOINT,
    JOINT_SECTORS,
    JOINT_SHIFT,
    LAST_APART,
    LATEST_JOINT,
    WRITTEN,
)
from simtmm.native import inlined
from simtmm.workload import MOST_SECTOR_BYTES, SECTOR_BITS

LOOKED_AT = 62  # rows of a set at once for one that is free, as many as bits of an integer allow


@inlined
def all_sectors(parameters):
    """All sectors of a chunk."""
    return (np.int64(1) << parameters.sectors) - 1


@inlined
def accessed_of(parameters, sectors, index):
    """The bytes that are accessed of each sector of a chunk, packed; 0 for all of all."""
    if parameters.sectors == 1 or len(sectors) <= index:
        return np.int64(0)
    return np.int64(sectors[index]) & ((np.int64(1) << SECTOR_BITS * parameters.sectors) - 1)


@inlined
def bytes_of_sector(parameters, accessed, sector):
    """Those of one."""
    if accessed == 0:
        return parameters.sector_bytes
    return min(accessed >> SECTOR_BITS * sector & MOST_SECTOR_BYTES, parameters.sector_bytes)


@inlined
def wanted_of(parameters, accessed):
    """The sectors that are accessed."""
    if accessed == 0:
        return all_sectors(parameters)
    wanted = np.int64(0)
    for sector in range(parameters.sectors):
        if accessed >> SECTOR_BITS * sector & MOST_SECTOR_BYTES != 0:
            wanted |= np.int64(1) << sector
    return wanted


@inlined
def partial_of(parameters, accessed):
    """The sectors of which only some bytes are accessed."""
    partial = np.int64(0)
    if accessed != 0:
        for sector in range(parameters.sectors):
            number = accessed >> SECTOR_BITS * sector & MOST_SECTOR_BYTES
            if 0 < number < parameters.sector_bytes:
                partial |= np.int64(1) << sector
    return partial


@inlined
def is_all(parameters, accessed):
    """Whether all bytes of all sectors are."""
    return wanted_of(parameters, accessed) == all_sectors(parameters) and partial_of(parameters, accessed) == 0


@inlined
def count_of(chosen):
    """How many sectors these are."""
    count = np.int64(0)
    while chosen != 0:
        count += chosen & 1
        chosen >>= 1
    return count


@inlined
def part_of(parameters, duration, chosen):
    """What some sectors of a chunk take of what it takes as a whole."""
    sectors = parameters.sectors
    if chosen == all_sectors(parameters):
        return duration
    return (duration * count_of(chosen) + sectors - 1) // sectors


@inlined
def runs_of(parameters, chosen):
    """What global memory is read of a chunk where these sectors are lacking: aligned runs of them."""
    together = parameters.fetch_sectors
    if together == 1:
        return chosen
    read = np.int64(0)
    run = (np.int64(1) << together) - 1
    while run <= all_sectors(parameters):
        if chosen & run != 0:
            read |= run
        run <<= together
    return read


@inlined
def is_apart(line):
    """Whether a line's sectors are told apart, in a row of their own."""
    return LAST_APART <= line <= FIRST_APART + WRITTEN


@inlined
def is_joint(line):
    """Whether a line itself says which of its sectors are there."""
    return line < LAST_APART


@inlined
def joint_line(chosen, fill):
    """A line that has these sectors, all filled at `fill`, which is no later than LATEST_JOINT."""
    return JOINT + (fill << JOINT_SHIFT) + (chosen << FILL_SHIFT)


@inlined
def sectors_of_joint(line):
    """The sectors that a joint line has."""
    return (line - JOINT) >> FILL_SHIFT & JOINT_SECTORS


@inlined
def fill_of_joint(line):
    """When they were filled."""
    return (line - JOINT) >> JOINT_SHIFT


@inlined
def row_of(line):
    """Where a line that is apart has its sectors."""
    return (FIRST_APART - (line & ~np.int64(WRITTEN))) >> 1


@inlined
def lacking_of(parameters, sectors, row, line, wanted):
    """Which of the sectors that are wanted are not there, or not as a whole. line: as `find_line` has it."""
    if line >= 0:
        return np.int64(0)
    if is_joint(line):
        return wanted & ~sectors_of_joint(line)
    if not is_apart(line):
        return wanted
    lacking = np.int64(0)
    for sector in range(parameters.sectors):
        if wanted >> sector & 1 != 0 and sectors[row, row_of(line), sector] < 0:
            lacking |= np.int64(1) << sector
    return lacking


@inlined
def fill_of(parameters, sectors, row, line, wanted):
    """When the last of the sectors that are wanted, all of which are there, is filled."""
    if line >= 0:
        return line >> FILL_SHIFT
    if is_joint(line):
        return fill_of_joint(line)
    fill = np.int64(0)
    for sector in range(parameters.sectors):
        if wanted >> sector & 1 != 0:
            fill = max(fill, sectors[row, row_of(line), sector])
    return fill


@inlined
def settle_line(parameters, lines, sectors, row, line, t):
    """Have the latest used line of a set say itself which sectors it has, if all of them are filled by t.

    No access finds any of them in flight from then on, so when they were filled makes no difference. Of a line that is
    to be written down, all sectors have to be there and stored as a whole. line: its `fill`.
    """
    if is_apart(line):
        place = row_of(line)
        there = np.int64(0)
        latest = np.int64(0)
        for sector in range(parameters.sectors):
            fill = sectors[row, place, sector]
            latest = max(latest, fill)
            if fill >= 0:
                there |= np.int64(1) << sector
        if latest <= t:
            is_whole = there == all_sectors(parameters)
            if line & WRITTEN == 0:
                lines[row, 0].fill = np.int64(0) if is_whole else joint_line(there, np.int64(0))
            elif is_whole and is_all(parameters, sectors[row, place, parameters.sectors]):
                lines[row, 0].fill = WRITTEN


@inlined
def insert_empty(lines, row, chunk, victim):
    """Put a chunk into a set as its latest used line, with none of its sectors; the one that stood at `victim` falls
    out.
    """
    for later in range(victim, 0, -1):
        lines[row, later].chunk = lines[row, later - 1].chunk
        lines[row, later].fill = lines[row, later - 1].fill
    lines[row, 0].chunk = chunk
    lines[row, 0].fill = EMPTY


def tell_apart(parameters, lines, sectors, row):
    """Give the latest used line a row for its sectors, which it has as they are."""
    ways = lines.shape[1]
    found = np.int64(-1)
    base = np.int64(0)
    while found < 0:  # as many rows as there are ways, of which the others take one each at most
        used = np.int64(0)
        for way in range(1, ways):
            line = lines[row, way].fill
            if lines[row, way].chunk >= 0 and is_apart(line):
                place = row_of(line) - base
                if 0 <= place < LOOKED_AT:
                    used |= np.int64(1) << place
        place = np.int64(0)
        while used >> place & 1 != 0:
            place += 1
        if place < LOOKED_AT:
            found = base + place
        base += LOOKED_AT
    line = lines[row, 0].fill
    there = np.int64(0)
    fill = np.int64(-1)
    if line >= 0:
        there = all_sectors(parameters)
        fill = line >> FILL_SHIFT
    elif is_joint(line):
        there = sectors_of_joint(line)
        fill = fill_of_joint(line)
    for sector in range(parameters.sectors):
        sectors[row, found, sector] = fill if there >> sector & 1 != 0 else np.int64(-1)
    sectors[row, found, parameters.sectors] = 0
    lines[row, 0].fill = FIRST_APART - 2 * found


@inlined
def put_sectors(parameters, lines, sectors, row, chosen, fill):
    """Sectors of the latest used line come, filled at `fill`; those that are there stay as they are."""
    line = lines[row, 0].fill
    if line >= 0:
        return
    if line == EMPTY and chosen == all_sectors(parameters):
        lines[row, 0].fill = fill << FILL_SHIFT
        return
    if line == EMPTY and fill <= LATEST_JOINT:
        lines[row, 0].fill = joint_line(chosen, fill)
        return
    if is_joint(line) and chosen & ~sectors_of_joint(line) == 0:
        return
    if not is_apart(line):
        tell_apart(parameters, lines, sectors, row)
        line = lines[row, 0].fill
    for sector in range(parameters.sectors):
        if chosen >> sector & 1 != 0 and sectors[row, row_of(line), sector] < 0:
            sectors[row, row_of(line), sector] = fill


@inlined
def store_sectors(parameters, lines, sectors, row, accessed, finish):
    """Bytes of the latest used line are stored; a sector that is whole by that is there from `finish` on.

    accessed: 0 for all of all, as it always is without sectors.
    """
    line = lines[row, 0].fill
    if line == EMPTY and accessed == 0:
        lines[row, 0].fill = finish << FILL_SHIFT | WRITTEN
    elif line >= 0 and (accessed == 0 or line & WRITTEN != 0):
        lines[row, 0].fill |= WRITTEN  # all of it
    else:
        if not is_apart(line):
            tell_apart(parameters, lines, sectors, row)
        add_stored(parameters, lines, sectors, row, accessed, finish)


def add_stored(parameters, lines, sectors, row, accessed, finish):
    """Likewise, of a line that is apart."""
    place = row_of(lines[row, 0].fill)
    stored = np.int64(0)
    put = np.int64(0)
    for sector in range(parameters.sectors):
        before = sectors[row, place, parameters.sectors] >> SECTOR_BITS * sector & MOST_SECTOR_BYTES
        number = min(before + bytes_of_sector(parameters, accessed, sector), parameters.sector_bytes)
        stored |= number << SECTOR_BITS * sector
        if number == parameters.sector_bytes:
            put |= np.int64(1) << sector
    sectors[row, place, parameters.sectors] = stored
    put_sectors(parameters, lines, sectors, row, put, finish)
    lines[row, 0].fill |= WRITTEN


@inlined
def written_of(parameters, sectors, row, line):
    """The sectors of a written line that what lies below lacks."""
    if line >= 0:
        return all_sectors(parameters)
    written = np.int64(0)
    for sector in range(parameters.sectors):
        stored = sectors[row, row_of(line), parameters.sectors] >> SECTOR_BITS * sector & MOST_SECTOR_BYTES
        if stored != 0:
            written |= np.int64(1) << sector
    return written


@inlined
def clean_line(parameters, lines, sectors, row, way):
    """What lies below lacks nothing of a line any more."""
    line = lines[row, way].fill & ~np.int64(WRITTEN)
    lines[row, way].fill = line
    if is_apart(line):
        sectors[row, row_of(line), parameters.sectors] = 0


@inlined
def stored_of(parameters, sectors, row, line):
    """The bytes of each sector of a written line that what lies below lacks, packed; 0 for all of all."""
    if line >= 0:
        return np.int64(0)
    return sectors[row, row_of(line), parameters.sectors]
