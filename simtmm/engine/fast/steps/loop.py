"""The loop over ticks: the phases of a step, one after another (section 2)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.group_time import account
from simtmm.engine.fast.layout import (
    EVERY_INSTRUCTION,
    GO_ON,
    LISTED,
    LISTED_AT_ONCE,
    NEVER,
    NEXT,
    NO,
    OVER,
    OWN,
    TOUCHED,
    WIDE,
    YES,
    State,
)
from simtmm.engine.fast.ports.issue import grant_ports, release_ports
from simtmm.engine.fast.ports.own_rule import grant_by_rule
from simtmm.engine.fast.steps.dispatch import dispatch, free_finished
from simtmm.engine.fast.steps.jump import jumped
from simtmm.engine.fast.steps.lanes import dispatch_apart, share_out
from simtmm.engine.fast.steps.wake import next_tick, wake_warps
from simtmm.engine.fast.warps.advance import open_grid_barrier
from simtmm.native import bits_equal, inlined, trailing_zeros, vectorized

AT_ONCE = 16  # groups whose next ticks are compared at once: LLVM takes four vectors of four in a turn


@inlined
def listed(s, row, value):
    """List the groups whose entry in that row of the clock is this, in order; how many they are.

    Few of many are due at a tick, so what looks at all of them is a short loop by itself.
    """
    count = np.int64(0)
    for first in range(0, s.clock.shape[1], LISTED_AT_ONCE):
        found = bits_equal(value, s.clock, row, first)
        while found != 0:
            s.clock[LISTED, count] = first + trailing_zeros(found)
            found &= found - np.uint64(1)
            count += 1
    return count


@inlined
def earliest(s):
    """When something happens in any group next."""
    t = NEVER
    for g in vectorized(range((s.parameters.groups + AT_ONCE - 1) & -AT_ONCE)):
        t = min(t, s.clock[NEXT, g])
    return t


def run_together(s, switch, memory, order, budget):
    """Groups that share something keep one clock; steps in the order of the page."""
    t = s.parameters.tick
    count = listed(s, TOUCHED, np.int64(1))
    while budget > 0 and s.parameters.full == 0:
        if s.parameters.may_open != 0:
            open_grid_barrier(s, t)
        for index in range(count):
            g = s.clock[LISTED, index]
            s.clock[TOUCHED, g] = 0
            if order == OWN:
                grant_by_rule(s, switch, memory, g, t)
                if s.asking.fault != 0:
                    return OVER
            else:
                grant_ports(s, switch, memory, order, g, t)
            s.clock[NEXT, g] = next_tick(s, order, g)
        t = earliest(s)
        s.parameters.tick = t
        if t == NEVER:
            return OVER
        count = listed(s, NEXT, t)
        for index in range(count):
            g = s.clock[LISTED, index]
            s.clock[TOUCHED, g] = 1
            budget -= 1
            if switch == EVERY_INSTRUCTION and s.parameters.jumps != 0 and jumped(s, order, g, t) > t:
                continue
            if s.parameters.breakdown != 0:
                account(s, g, t)
            release_ports(s, switch, memory, order, g, t)
            # Waking touches nothing of other groups, so it need not wait for their releases.
            wake_warps(s, order, g, t)
        if s.parameters.any_finished != 0:
            dispatch(s, order, t)
            if s.parameters.hungry != 0:
                return GO_ON
            count = listed(s, TOUCHED, np.int64(1))
    return GO_ON


def run_apart(s, switch, memory, order, budget, mark):
    """Groups touched with this mark go on, each on its own clock, up to where a block ends and others are pending."""
    for g in range(s.parameters.groups):
        if s.clock[TOUCHED, g] != mark:
            continue
        t = s.group[g].parked
        while True:
            grant_ports(s, switch, memory, order, g, t)
            t = next_tick(s, order, g)
            if t == NEVER:
                break
            if budget <= 0 or s.parameters.full != 0:
                # Issuing again at the tick it stopped before finds no free port or no ready warp, and does nothing.
                return GO_ON
            budget -= 1
            if switch == EVERY_INSTRUCTION and s.parameters.jumps != 0:
                t = jumped(s, order, g, t)
            if s.parameters.breakdown != 0:
                account(s, g, t)
            release_ports(s, switch, memory, order, g, t)
            wake_warps(s, order, g, t)
            if s.group[g].finished > 0:
                if s.parameters.pending < s.parameters.last_block:
                    break
                free_finished(s, g)
        s.clock[TOUCHED, g] = 0
        s.group[g].parked = t
    return OVER


def run(s: State, coupled, switch, memory, order, budget, mark):
    """Go on with a launch for at most about `budget` steps of a group: GO_ON, OVER or WIDE.

    mark: 1, or LANE and a lane's number to go on with that lane's groups only, which lanes may do at the same time.
    """
    groups = s.parameters.groups
    if s.parameters.started == 0:
        s.parameters.started = 1
        dispatch(s, order, np.int64(0))
        for g in range(groups):
            s.clock[TOUCHED, g] = 1
            s.group[g].parked = 0
        if coupled == NO and share_out(s, groups):
            return WIDE
    elif s.parameters.hungry != 0:
        dispatch(s, order, s.parameters.tick)
    if s.parameters.hungry != 0:
        return GO_ON
    if coupled == YES:
        return run_together(s, switch, memory, order, budget)
    while True:
        if run_apart(s, switch, memory, order, budget, mark) == GO_ON:
            return GO_ON
        if mark != 1:
            return OVER
        touched = dispatch_apart(s, order)
        if touched == 0:
            return OVER
        if share_out(s, touched):
            return WIDE
