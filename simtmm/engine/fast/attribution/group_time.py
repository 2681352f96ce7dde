"""What a group's ticks went into, and the timeline (docs/machine.md, section 7)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.engine.fast.layout import Group
from simtmm.native import inlined

KEEP = -1  # in the place of a place


@inlined
def account(s, g, t):
    """Book the ticks since the group's last event under what it was doing (section 7)."""
    passed = t - s.group[g].accounted
    if passed > 0:
        if s.group[g].held > 0:
            state = Group.time_issuing
        elif s.group[g].living == 0:
            state = Group.time_empty
        elif s.group[g].memory > 0:
            state = Group.time_memory
        elif s.group[g].barrier > 0:
            state = Group.time_barrier
        else:
            state = Group.time_start
        s.group[g, state] += passed
        s.group[g].accounted = t


def note(s, g, w, state, place, reason, t):
    """Another state of a warp begins, because of an operation at a place, KEEP for that of before; the interval that
    ends goes into the timeline. A user's rule sees it. state: KEEP at a warp's end.
    """
    if s.parameters.own_rule != 0:
        s.asked[g].stirred = 1
        if state != KEEP:
            s.seen[w].state = state
        if s.parameters.timeline == 0:
            return
    since = s.watch[w].since
    if t > since:
        index = s.parameters.intervals
        s.parameters.intervals = index + 1
        s.intervals[index].warp = s.watch[w].number
        s.intervals[index].group = g
        s.intervals[index].slot = w - g * s.parameters.slots
        s.intervals[index].state = s.watch[w].state
        s.intervals[index].begin = since
        s.intervals[index].end = t
        s.intervals[index].place = s.watch[w].place
        s.intervals[index].reason = s.watch[w].reason
    s.watch[w].state = state
    s.watch[w].since = t
    s.watch[w].reason = reason
    if place != KEEP:
        s.watch[w].place = place


@inlined
def turn(s, g, w, state, place, reason, t):
    """A warp is in another state from now on."""
    if s.parameters.turns != 0:
        note(s, g, w, state, place, reason, t)
