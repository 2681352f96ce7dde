"""What a user's rule sees of warps, kept as it changes (docs/schedulers.md)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.engine.fast.layout import (
    ASKED_LAST,
    ASKED_LIVING,
    P_GROUPS,
    P_OWN_PORTS,
    P_PORTS,
    P_SLOTS,
    R_AGE,
    START,
)
from simtmm.engine.own_rule.columns import (
    SEEN_AGE,
    SEEN_BLOCK,
    SEEN_HITS,
    SEEN_ISSUED,
    SEEN_MISSES,
    SEEN_NUMBER,
    SEEN_OPERATION,
    SEEN_READY_TIME,
    SEEN_ROW,
    SEEN_SLOT,
    SEEN_STATE,
)


def see(s, g, slot, number, block):
    """A warp is placed in a slot: the one that had it may still be the one that was granted a port last."""
    ports = s.parameters[P_PORTS]
    w = g * s.parameters[P_SLOTS] + slot
    for index in range(ports if s.parameters[P_OWN_PORTS] != 0 else 1):
        if s.asked[g, ASKED_LAST + index] == w:
            ghost = s.parameters[P_GROUPS] * s.parameters[P_SLOTS] + g * ports + index
            for column in range(SEEN_ROW):
                s.seen[ghost, column] = s.seen[w, column]
            s.asked[g, ASKED_LAST + index] = ghost
    s.seen[w, SEEN_NUMBER] = number
    s.seen[w, SEEN_AGE] = s.parameters[R_AGE]
    s.seen[w, SEEN_SLOT] = slot
    s.seen[w, SEEN_READY_TIME] = -1
    s.seen[w, SEEN_BLOCK] = block
    s.seen[w, SEEN_STATE] = START
    s.seen[w, SEEN_OPERATION] = 0
    s.seen[w, SEEN_ISSUED] = 0
    s.seen[w, SEEN_HITS] = 0
    s.seen[w, SEEN_MISSES] = 0
    count = s.asked[g, ASKED_LIVING]
    s.living[g, count] = w
    s.asked[g, ASKED_LIVING] = count + 1


def lose(s, g, w):
    """A warp lives no more; those behind it move up."""
    count = s.asked[g, ASKED_LIVING] - 1
    s.asked[g, ASKED_LIVING] = count
    at = count
    moved = s.living[g, count]
    while moved != w:
        at -= 1
        before = s.living[g, at]
        s.living[g, at] = moved
        moved = before
