"""What a group's ticks went into, and the timeline (docs/machine.md, section 7)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.engine.fast.layout import (
    ASKED_STIRRED,
    GROUP_ACCOUNTED,
    GROUP_BARRIER,
    GROUP_HELD,
    GROUP_LIVING,
    GROUP_MEMORY,
    INTERVAL_BEGIN,
    INTERVAL_END,
    INTERVAL_GROUP,
    INTERVAL_PLACE,
    INTERVAL_REASON,
    INTERVAL_SLOT,
    INTERVAL_STATE,
    INTERVAL_WARP,
    P_OWN_RULE,
    P_SLOTS,
    P_TIMELINE,
    P_TURNS,
    R_INTERVALS,
    TIME_BARRIER,
    TIME_EMPTY,
    TIME_ISSUING,
    TIME_MEMORY,
    TIME_START,
    WATCH_NUMBER,
    WATCH_PLACE,
    WATCH_REASON,
    WATCH_SINCE,
    WATCH_STATE,
)
from simtmm.engine.own_rule.columns import SEEN_STATE
from simtmm.native import inlined

KEEP = -1  # in the place of a place


@inlined
def account(s, g, t):
    """Book the ticks since the group's last event under what it was doing (section 7)."""
    passed = t - s.group[g, GROUP_ACCOUNTED]
    if passed > 0:
        if s.group[g, GROUP_HELD] > 0:
            state = TIME_ISSUING
        elif s.group[g, GROUP_LIVING] == 0:
            state = TIME_EMPTY
        elif s.group[g, GROUP_MEMORY] > 0:
            state = TIME_MEMORY
        elif s.group[g, GROUP_BARRIER] > 0:
            state = TIME_BARRIER
        else:
            state = TIME_START
        s.group[g, state] += passed
        s.group[g, GROUP_ACCOUNTED] = t


def note(s, g, w, state, place, reason, t):
    """Another state of a warp begins, because of an operation at a place, KEEP for that of before; the interval that
    ends goes into the timeline. A user's rule sees it. state: KEEP at a warp's end.
    """
    if s.parameters[P_OWN_RULE] != 0:
        s.asked[g, ASKED_STIRRED] = 1
        if state != KEEP:
            s.seen[w, SEEN_STATE] = state
        if s.parameters[P_TIMELINE] == 0:
            return
    since = s.watch[w, WATCH_SINCE]
    if t > since:
        index = s.parameters[R_INTERVALS]
        s.parameters[R_INTERVALS] = index + 1
        s.intervals[index, INTERVAL_WARP] = s.watch[w, WATCH_NUMBER]
        s.intervals[index, INTERVAL_GROUP] = g
        s.intervals[index, INTERVAL_SLOT] = w - g * s.parameters[P_SLOTS]
        s.intervals[index, INTERVAL_STATE] = s.watch[w, WATCH_STATE]
        s.intervals[index, INTERVAL_BEGIN] = since
        s.intervals[index, INTERVAL_END] = t
        s.intervals[index, INTERVAL_PLACE] = s.watch[w, WATCH_PLACE]
        s.intervals[index, INTERVAL_REASON] = s.watch[w, WATCH_REASON]
    s.watch[w, WATCH_STATE] = state
    s.watch[w, WATCH_SINCE] = t
    s.watch[w, WATCH_REASON] = reason
    if place != KEEP:
        s.watch[w, WATCH_PLACE] = place


@inlined
def turn(s, g, w, state, place, reason, t):
    """A warp is in another state from now on."""
    if s.parameters[P_TURNS] != 0:
        note(s, g, w, state, place, reason, t)
