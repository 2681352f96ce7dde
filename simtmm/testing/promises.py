"""What the authors of the rules in simtmm.rules promise. tests/rules proves it."""

from collections.abc import Callable

from simtmm.testing.laws import (
    Law,
    admits_at_most,
    bounded_wait,
    deterministic,
    fair_within,
    first_come,
    greedy_oldest,
    group_local,
    helps_barriers,
    holds_back_loads_only,
    least_progress_first,
    loads_of_few,
    no_foresight,
    no_starvation,
    oldest_first,
    one_turn_each,
    round_robin,
    stays_in_set,
    work_conserving,
)

ALWAYS = (deterministic, no_foresight, group_local)
"""What a rule in hardware can't help but keep."""
BUSY = (*ALWAYS, work_conserving)
# fifo is not fair: with two ports and three warps the oldest of those that are ready at once gets every other turn.
SIMPLE: dict[str, tuple[Law, ...]] = {
    "fifo": (*BUSY, first_come, no_starvation, bounded_wait(16)),
    "oldest": (*BUSY, oldest_first),
    "greedy_then_oldest": (*BUSY, greedy_oldest),
    "loose_round_robin": (*BUSY, round_robin, one_turn_each, no_starvation, bounded_wait(16), fair_within(2)),
    "criticality_aware": (*BUSY, least_progress_first),
    "barrier_aware": (*BUSY, helps_barriers),
}
"""Rules without a number."""
NUMBERED: dict[str, Callable[..., tuple[Law, ...]]] = {
    "two_level": lambda size: (*BUSY, stays_in_set(size)),
    "fewer_warps": lambda most: (*ALWAYS, admits_at_most(most)),
    "cache_conscious": lambda few, slack: (*ALWAYS, holds_back_loads_only, loads_of_few(few, slack)),
}
"""What those with numbers promise, by their numbers."""
BUILT_IN_PROMISES: dict[str, tuple[Law, ...]] = {
    "fifo": (first_come, work_conserving, no_starvation, bounded_wait(16)),
    "oldest": (oldest_first, work_conserving),
    "greedy-oldest": (greedy_oldest, work_conserving),
    "round-robin": (round_robin, work_conserving, one_turn_each, no_starvation, bounded_wait(16), fair_within(2)),
}
"""The same of the rules that a machine may name, which both engines have."""


def promises_of(rule: str) -> tuple[Law, ...]:
    """What a rule of simtmm.rules promises, by the name that it has, as "two_level(4)".

    rule: its name.
    """
    name, _, numbers = rule.partition("(")
    if not numbers:
        return SIMPLE[name]
    return NUMBERED[name](*(int(number) for number in numbers.rstrip(")").split(",")))


TESTED = [
    *SIMPLE, "two_level(2)", "two_level(8)", "fewer_warps(2)", "fewer_warps(4)", "cache_conscious(2, 8)",
    "cache_conscious(1, 2)",
]  # fmt: skip
PROMISES = {name: promises_of(name) for name in TESTED}
"""The rules that tests look at, and their promises."""
