"""Caches of chunks, a row a set, its lines in the order of their use, latest first (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import ABSENT
from simtmm.native import inlined


@inlined
def modulo(chunk, count):
    """chunk mod count, without a division where count is a power of two, as it is in most machines."""
    if count & (count - 1) == 0:
        return chunk & (count - 1)
    return np.int64(np.uint64(chunk) % np.uint64(count))


@inlined
def mix(chunk):
    """The finaliser of SplitMix64, by which addresses spread."""
    x = np.uint64(chunk)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined
def spread(chunk, count, hashed):
    """Which of so many a chunk belongs to: by its hash, or in turn."""
    if hashed != 0:
        return np.int64(mix(chunk) % np.uint64(count))
    return modulo(chunk, count)


@inlined
def l2_row(parameters, part, chunk):
    """The set that a chunk belongs to, of a die's L2 or of a half of one."""
    return part * parameters.l2_sets + spread(chunk, parameters.l2_sets, parameters.l2_hashed)


@inlined
def die_of(parameters, group):
    """The die that a group belongs to."""
    return group % parameters.l2_dies if parameters.l2_dies > 1 else np.int64(0)


@inlined
def part_of_l2(parameters, group):
    """The die that a group belongs to, or the half of the L2."""
    return group & 1 if parameters.l2_halves > 1 else die_of(parameters, group)


@inlined
def home_of(chunk):
    """The half of an L2 that a chunk's home is."""
    return np.int64(mix(chunk) >> np.uint64(63))


@inlined
def home_or_die(parameters, group, chunk):
    """The half that a chunk's home is, where the L2 has halves; else the die that a group belongs to."""
    return home_of(chunk) if parameters.l2_halves > 1 else die_of(parameters, group)


@inlined
def place_of(lines, row, chunk, ways):
    """Where a chunk's line stands in a set, which is not used by this; -1 where there is none."""
    found = np.int64(-1)
    for way in range(ways):
        if lines[row, way].chunk == chunk:
            found = np.int64(way)
    return found


@inlined
def touch(touched, row):
    """Note that a set may change."""
    touched[row >> 6] |= np.uint64(1) << np.uint64(row & 63)


@inlined
def find_line(lines, row, chunk, ways):
    """`fill` of a chunk's line in a set whose lines lie in the order of their use, latest first; ABSENT on a miss."""
    for way in range(ways):
        if lines[row, way].chunk == chunk:
            fill = lines[row, way].fill
            for later in range(way, 0, -1):
                lines[row, later].chunk = lines[row, later - 1].chunk
                lines[row, later].fill = lines[row, later - 1].fill
            lines[row, 0].chunk = chunk
            lines[row, 0].fill = fill
            return fill
    return ABSENT


@inlined
def insert_line(lines, row, chunk, fill, ways):
    """Put a chunk into a set as its latest used line; the line used longest ago falls out."""
    for later in range(ways - 1, 0, -1):
        lines[row, later].chunk = lines[row, later - 1].chunk
        lines[row, later].fill = lines[row, later - 1].fill
    lines[row, 0].chunk = chunk
    lines[row, 0].fill = fill


@inlined
def victim_of(lines, row, chunk, t, ways, is_random):
    """Where the line stands in a set that a chunk replaces: the one used longest ago, or if the replacement is random,
    in a full set any, as a hash of the chunk that comes at t decides.
    """
    place = ways - 1
    if is_random != 0 and lines[row, place].chunk >= 0:
        place = np.int64(mix(chunk + t) % np.uint64(ways))
    return place


@inlined
def drop_line(lines, row, chunk, ways):
    """Take a chunk's line out of a set, if it is there."""
    for way in range(ways):
        if lines[row, way].chunk == chunk:
            for earlier in range(way, ways - 1):
                lines[row, earlier].chunk = lines[row, earlier + 1].chunk
                lines[row, earlier].fill = lines[row, earlier + 1].fill
            lines[row, ways - 1].chunk = -1
            return
