"""Sectors of lines: what is wanted of a chunk, what a cache has of it, and what was stored (section 4).

Sectors are a set of bits, the first lowest; without sectors a chunk is one. A line that has no sectors keeps its fill
time itself.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import (
    FILL_SHIFT,
    LINE_CHUNK,
    LINE_FILL,
    P_FETCH_SECTORS,
    P_SECTOR_BYTES,
    P_SECTORS,
    WRITTEN,
)
from simtmm.native import inlined
from simtmm.workload import MOST_SECTOR_BYTES, SECTOR_BITS


@inlined
def all_sectors(parameters):
    """All sectors of a chunk."""
    return (np.int64(1) << parameters[P_SECTORS]) - 1


@inlined
def accessed_of(parameters, sectors, index):
    """The bytes that are accessed of each sector of a chunk, packed; 0 for all of all."""
    if parameters[P_SECTORS] == 1 or len(sectors) <= index:
        return np.int64(0)
    return np.int64(sectors[index]) & ((np.int64(1) << SECTOR_BITS * parameters[P_SECTORS]) - 1)


@inlined
def bytes_of_sector(parameters, accessed, sector):
    """Those of one."""
    if accessed == 0:
        return parameters[P_SECTOR_BYTES]
    return min(accessed >> SECTOR_BITS * sector & MOST_SECTOR_BYTES, parameters[P_SECTOR_BYTES])


@inlined
def wanted_of(parameters, accessed):
    """The sectors that are accessed."""
    if accessed == 0:
        return all_sectors(parameters)
    wanted = np.int64(0)
    for sector in range(parameters[P_SECTORS]):
        if accessed >> SECTOR_BITS * sector & MOST_SECTOR_BYTES != 0:
            wanted |= np.int64(1) << sector
    return wanted


@inlined
def partial_of(parameters, accessed):
    """The sectors of which only some bytes are accessed."""
    partial = np.int64(0)
    if accessed != 0:
        for sector in range(parameters[P_SECTORS]):
            number = accessed >> SECTOR_BITS * sector & MOST_SECTOR_BYTES
            if 0 < number < parameters[P_SECTOR_BYTES]:
                partial |= np.int64(1) << sector
    return partial


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
    sectors = parameters[P_SECTORS]
    if sectors == 1:
        return duration
    return (duration * count_of(chosen) + sectors - 1) // sectors


@inlined
def runs_of(parameters, chosen):
    """What global memory is read of a chunk where these sectors are lacking: aligned runs of them."""
    together = parameters[P_FETCH_SECTORS]
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
def lacking_of(parameters, sectors, row, line, wanted):
    """Which of the sectors that are wanted are not there, or not as a whole. line: as `find_line` has it."""
    if line < 0:
        return wanted
    if parameters[P_SECTORS] == 1:
        return np.int64(0)
    lacking = np.int64(0)
    for sector in range(parameters[P_SECTORS]):
        if wanted >> sector & 1 != 0 and sectors[row, line >> FILL_SHIFT, sector] < 0:
            lacking |= np.int64(1) << sector
    return lacking


@inlined
def fill_of(parameters, sectors, row, line, wanted):
    """When the last of the sectors that are wanted, all of which are there, is filled."""
    if parameters[P_SECTORS] == 1:
        return line >> FILL_SHIFT
    fill = np.int64(0)
    for sector in range(parameters[P_SECTORS]):
        if wanted >> sector & 1 != 0:
            fill = max(fill, sectors[row, line >> FILL_SHIFT, sector])
    return fill


@inlined
def insert_empty(parameters, lines, sectors, row, chunk, ways):
    """Put a chunk into a set as its latest used line, with none of its sectors; the one used longest ago falls out."""
    last = lines[row, ways - 1, LINE_FILL] & ~np.int64(WRITTEN)
    for later in range(ways - 1, 0, -1):
        lines[row, later, LINE_CHUNK] = lines[row, later - 1, LINE_CHUNK]
        lines[row, later, LINE_FILL] = lines[row, later - 1, LINE_FILL]
    lines[row, 0, LINE_CHUNK] = chunk
    lines[row, 0, LINE_FILL] = last
    if parameters[P_SECTORS] == 1:
        lines[row, 0, LINE_FILL] = -1 << FILL_SHIFT
        return
    for sector in range(parameters[P_SECTORS]):
        sectors[row, last >> FILL_SHIFT, sector] = -1
    sectors[row, last >> FILL_SHIFT, parameters[P_SECTORS]] = 0


@inlined
def put_sectors(parameters, lines, sectors, row, chosen, fill):
    """Sectors of the latest used line come, filled at `fill`; those that are there stay as they are."""
    line = lines[row, 0, LINE_FILL]
    if parameters[P_SECTORS] == 1:
        if line < 0:
            lines[row, 0, LINE_FILL] = fill << FILL_SHIFT
        return
    for sector in range(parameters[P_SECTORS]):
        if chosen >> sector & 1 != 0 and sectors[row, line >> FILL_SHIFT, sector] < 0:
            sectors[row, line >> FILL_SHIFT, sector] = fill


@inlined
def store_sectors(parameters, lines, sectors, row, accessed, finish):
    """Bytes of the latest used line are stored; a sector that is whole by that is there from `finish` on."""
    put = np.int64(0)
    if parameters[P_SECTORS] == 1:
        put = np.int64(1)
    else:
        slot = lines[row, 0, LINE_FILL] >> FILL_SHIFT
        stored = np.int64(0)
        for sector in range(parameters[P_SECTORS]):
            before = sectors[row, slot, parameters[P_SECTORS]] >> SECTOR_BITS * sector & MOST_SECTOR_BYTES
            number = min(before + bytes_of_sector(parameters, accessed, sector), parameters[P_SECTOR_BYTES])
            stored |= number << SECTOR_BITS * sector
            if number == parameters[P_SECTOR_BYTES]:
                put |= np.int64(1) << sector
        sectors[row, slot, parameters[P_SECTORS]] = stored
    put_sectors(parameters, lines, sectors, row, put, finish)
    lines[row, 0, LINE_FILL] |= WRITTEN


@inlined
def written_of(parameters, sectors, row, line):
    """The sectors of a written line that what lies below lacks."""
    if parameters[P_SECTORS] == 1:
        return np.int64(1)
    written = np.int64(0)
    for sector in range(parameters[P_SECTORS]):
        stored = sectors[row, line >> FILL_SHIFT, parameters[P_SECTORS]] >> SECTOR_BITS * sector & MOST_SECTOR_BYTES
        if stored != 0:
            written |= np.int64(1) << sector
    return written
