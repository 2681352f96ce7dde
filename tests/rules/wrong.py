"""Scheduling rules that are wrong, each with a promise that it breaks: what an author may well write and believe in."""

import random
import time
from itertools import count

from simtmm.rules import Idle, greedy_then_oldest, loose_round_robin, oldest
from simtmm.testing.laws import law_named

WRONG = {}


def breaks(*promises):
    """The rule is wrong: any of these promises shows it."""

    def kept(rule):
        WRONG[rule.__name__] = (rule, tuple(law_named(each) for each in promises))
        return rule

    return kept


def last_slot(group):
    return group.granted_last.slot if group.granted_last else -1


# Starving


@breaks("no_starvation")
def youngest_first(ready, group):
    return max(ready, key=lambda warp: warp.age)


@breaks("bounded_wait(16)")
def lowest_slot_first(ready, group):
    return min(ready, key=lambda warp: warp.slot)


@breaks("no_starvation")
def never_warp_zero_while_another_is_ready(ready, group):
    return next((warp for warp in ready if warp.number), ready[0])


@breaks("no_starvation")
def last_come_first(ready, group):
    """A stack in the place of a queue."""
    return max(ready, key=lambda warp: (warp.ready_time, warp.age))


@breaks("no_starvation")
def ping_pong(ready, group):
    """The two oldest take turns."""
    first = sorted(ready, key=lambda warp: warp.age)[:2]
    return next((warp for warp in first if warp is not group.granted_last), first[0])


@breaks("no_starvation")
class FirstSeenFirst:
    """Whoever comes late stays behind those that were there first."""

    def __init__(self):
        self.order = {}

    def __call__(self, ready, group):
        for warp in ready:
            self.order.setdefault(warp.number, len(self.order))
        return min(ready, key=lambda warp: self.order[warp.number])


# Unfair


@breaks("fair_within(2)")
class WarpZeroTwice:
    """Round-robin in which slot 0 has every other turn."""

    def __init__(self):
        self.asked = count()

    def __call__(self, ready, group):
        first = next((warp for warp in ready if warp.slot == 0), None)
        return first if first and next(self.asked) % 2 else loose_round_robin(ready, group)


@breaks("fair_within(2)")
class GreedyForEight:
    """A warp keeps the port for eight turns."""

    def __init__(self):
        self.left = 8

    def __call__(self, ready, group):
        self.left -= 1
        if self.left > 0 and group.granted_last in ready:
            return group.granted_last
        self.left = 8
        return loose_round_robin(ready, group)


@breaks("bounded_wait(16)")
class GreedyForTwenty:
    """A warp keeps the port for twenty turns."""

    def __init__(self):
        self.left = 20

    def __call__(self, ready, group):
        self.left -= 1
        if self.left > 0 and group.granted_last in ready:
            return group.granted_last
        self.left = 20
        return loose_round_robin(ready, group)


# Off by one


@breaks("one_turn_each", "fair_within(2)")
def round_robin_from_the_last(ready, group):
    """`<` for `<=`: the last granted may have another turn."""
    return min(ready, key=lambda warp: (warp.slot < last_slot(group), warp.slot))


@breaks("one_turn_each")
def round_robin_that_skips_a_slot(ready, group):
    return min(ready, key=lambda warp: (warp.slot <= last_slot(group) + 1, warp.slot))


@breaks("round_robin")
def round_robin_by_number(ready, group):
    """Numbers for slots: the same until slots are taken again."""
    last = group.granted_last.number if group.granted_last else -1
    return min(ready, key=lambda warp: (warp.number <= last, warp.number))


@breaks("round_robin")
def round_robin_downwards(ready, group):
    last = group.granted_last.slot if group.granted_last else 10**6
    return max(ready, key=lambda warp: (warp.slot < last, warp.slot))


@breaks("stays_in_set(2)")
def sets_of_three(ready, group):
    current = max(last_slot(group), 0) // 3
    return min(ready, key=lambda warp: (warp.slot // 3 != current, warp.slot <= last_slot(group), warp.slot))


@breaks("admits_at_most(2)")
def one_warp_too_many(ready, group):
    active = sum(warp.issued > 0 and warp.state != "barrier" for warp in group.warps)
    may = [warp for warp in ready if warp.issued or active <= 2]
    return min(may, key=lambda warp: warp.age, default=None)


# Not in the order that was promised


@breaks("greedy_oldest")
def greedy_then_youngest(ready, group):
    return group.granted_last if group.granted_last in ready else max(ready, key=lambda warp: warp.age)


@breaks("greedy_oldest")
def greedy_by_slot(ready, group):
    """Takes the next warp in a slot for the one that was granted there."""
    return next((warp for warp in ready if warp.slot == last_slot(group)), oldest(ready, group))


@breaks("first_come")
def first_come_youngest_of_equals(ready, group):
    return min(ready, key=lambda warp: (warp.ready_time, -warp.age))


@breaks("oldest_first")
def oldest_by_slot(ready, group):
    """The same until slots are taken again."""
    return min(ready, key=lambda warp: warp.slot)


@breaks("least_progress_first")
def most_progress_first(ready, group):
    return max(ready, key=lambda warp: warp.issued)


@breaks("helps_barriers")
def blind_to_barriers(ready, group):
    return oldest(ready, group)


@breaks("helps_barriers")
def barriers_of_any_block(ready, group):
    """Counts those that stand at a barrier, and not whose."""
    waits = any(warp.state == "barrier" for warp in group.warps)
    return loose_round_robin(ready, group) if waits else oldest(ready, group)


# Idle


@breaks("work_conserving")
def idle_while_one_is_ready(ready, group):
    """Waits for a second warp, unless there is none."""
    if len(ready) == 1 and len(group.warps) > 1:
        return Idle(group.now + group.cycle) if group.now % 3 else ready[0]
    return ready[0]


@breaks("work_conserving")
def every_other_cycle(ready, group):
    return Idle(group.now + group.cycle) if group.now // group.cycle % 2 else ready[0]


@breaks("holds_back_loads_only")
def holds_back_everything(ready, group):
    """A throttle that forgets to look at the operation."""
    if sum(warp.misses for warp in group.warps) > sum(warp.hits for warp in group.warps) + 2:
        loading = [warp for warp in group.warps if warp.state != "barrier"][:1]
        return next((warp for warp in ready if warp in loading), None)
    return ready[0]


@breaks("loads_of_few(2, 8)")
def throttles_nothing(ready, group):
    return ready[0]


@breaks("work_conserving", "no_starvation")
def never(ready, group):
    return None


@breaks("work_conserving", "no_starvation")
def later(ready, group):
    return Idle(group.now + 1)


@breaks("no_starvation")
def a_lone_warp_waits_for_ever(ready, group):
    """The textbook's slip: fewer than two ready, so nobody."""
    return ready[0] if len(ready) > 1 else None


@breaks("work_conserving", "greedy_oldest")
def greedy_whatever_it_does(ready, group):
    """Gives the last granted also where it is not ready."""
    return group.granted_last or oldest(ready, group)


# What hangs on luck, clocks, earlier runs


@breaks("deterministic")
def lottery(ready, group):
    return random.choice(ready)


@breaks("deterministic")
def by_the_clock(ready, group):
    return ready[time.perf_counter_ns() // 100 % len(ready)]


RUNS = count()


@breaks("deterministic")
def by_what_was_asked_before(ready, group):
    """Counts over runs, as module-level state does."""
    return ready[next(RUNS) % len(ready)]


# What peeks


def hidden(seen):
    """The engine's own warp behind what a rule is shown."""
    return seen._ReadyWarp__warp


@breaks("no_foresight")
def shortest_job_first(ready, group):
    """Looks at the operations to come."""
    return min(ready, key=lambda warp: (len(hidden(warp).kinds) - hidden(warp).position, warp.age))


@breaks("no_foresight")
def longest_compute_first(ready, group):
    return max(ready, key=lambda warp: (sum(hidden(warp).amounts[hidden(warp).position :]), -warp.age))


@breaks("no_foresight", "greedy_oldest")
def asks_for_what_is_not_shown(ready, group):
    return min(ready, key=lambda warp: warp.amounts[0])


@breaks("group_local")
class OneMemoryForAllGroups:
    """Round-robin over the slot granted last in any group."""

    def __init__(self):
        self.last = -1

    def __call__(self, ready, group):
        chosen = min(ready, key=lambda warp: (warp.slot <= self.last, warp.slot))
        self.last = chosen.slot
        return chosen


@breaks("group_local")
class WaitsForTheOtherGroup:
    """Greedy in the group that was asked last, oldest first in the other."""

    def __init__(self):
        self.group = -1

    def __call__(self, ready, group):
        same, self.group = self.group == group.number, group.number
        return greedy_then_oldest(ready, group) if same else max(ready, key=lambda warp: warp.age)
