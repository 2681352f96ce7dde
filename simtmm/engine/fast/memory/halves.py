"""Two halves of an L2: the ways between them, and copies in one of what the other is the home of (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.engine.fast.layout import CROSSING
from simtmm.engine.fast.memory.cache import drop_line, home_of, l2_row, touch
from simtmm.engine.fast.memory.sectors import part_of
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
