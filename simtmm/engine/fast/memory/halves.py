"""Two halves of an L2: the ways between them, and copies in one of what the other is the home of (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import ABSENT, COME, CROSSING
from simtmm.engine.fast.memory.cache import copy_of, drop_line, find_line, home_of, l2_row, mix, touch
from simtmm.engine.fast.memory.sectors import insert_empty, part_of, put_sectors
from simtmm.native import inlined


@inlined
def cross(s, half, wanted, start, t):
    """When the way into a half takes up sectors from the other one, which it does not before `start`; `told` has how
    long they wait for it.
    """
    begin = max(t, s.half_free[half])
    s.half_free[half] = begin + part_of(s.parameters, s.parameters.far_service, wanted)
    crossed = max(start, begin)
    s.told[CROSSING] = crossed - start
    return crossed


@inlined
def come_to_home(s, g, chunk, wanted, start, t):
    """When sectors that a group writes come to the half that is the chunk's home."""
    home = home_of(chunk)
    crossed = start
    if home != g & 1:
        crossed = cross(s, home, wanted, start, t)
    return crossed


def drop_copy(s, chunk):
    """Take a chunk out of the half that is not its home."""
    row = l2_row(s.parameters, 1 - home_of(chunk), chunk)
    touch(s.l2_touched, row)
    drop_line(s.l2, row, chunk, s.parameters.l2_ways)


def keep_copy(s, g, chunk, done, t):
    """Store the sectors of a chunk that came from the other half in that of the group, if there is room."""
    half = g & 1
    row = l2_row(s.parameters, half, chunk)
    touch(s.l2_touched, row)
    if place_for_copy(s.parameters, s.l2, row, half, chunk, t) >= 0:
        put_sectors(s.parameters, s.l2, s.l2_sectors, row, s.told[COME], done)


def place_for_copy(parameters, lines, row, half, chunk, t):
    """Have a line for a copy of a chunk, the latest used of its set; -1 where there is no room for it."""
    ways = parameters.l2_ways
    if find_line(lines, row, chunk, ways) != ABSENT:
        return np.int64(0)
    place = np.int64(ways - 1)
    if lines[row, place].chunk >= 0:
        begin = np.int64(mix(chunk + t) % np.uint64(ways)) if parameters.l2_random != 0 else place
        place = copy_of(lines, row, half, ways, begin)
    if place >= 0:
        insert_empty(lines, row, chunk, place)
    return place
