"""Scheduling rules: what a rule sees and may answer, and examples of rules, one a file (docs/schedulers.md).

from simtmm import simulate
from simtmm.rules import two_level

simulate(machine, workload, scheduler=two_level(8))
"""

import re
from collections.abc import Callable
from typing import Any

from simtmm.errors import SimtmmError, nearest
from simtmm.rules.barrier_aware import barrier_aware
from simtmm.rules.cache_conscious import cache_conscious
from simtmm.rules.criticality_aware import criticality_aware
from simtmm.rules.fewer_warps import fewer_warps
from simtmm.rules.fifo import fifo
from simtmm.rules.greedy_then_oldest import greedy_then_oldest
from simtmm.rules.loose_round_robin import loose_round_robin
from simtmm.rules.oldest import oldest
from simtmm.rules.seen import Answer, CoreGroup, Idle, ReadyWarp, Rule, rule_name
from simtmm.rules.two_level import two_level

BUILT_IN = {
    "fifo": fifo,
    "oldest": oldest,
    "greedy-oldest": greedy_then_oldest,
    "round-robin": loose_round_robin,
}
"""The rules that a machine may name, on both engines, as functions that say the same."""
SIMPLE: dict[str, Rule] = {
    each.__name__: each
    for each in (
        fifo, oldest, greedy_then_oldest, loose_round_robin, criticality_aware, barrier_aware
    )
}  # fmt: skip
"""Rules without a number."""
NUMBERED: dict[str, tuple[Callable[..., Rule], tuple[int, ...]]] = {
    "two_level": (two_level, (8,)),
    "fewer_warps": (fewer_warps, (4,)),
    "cache_conscious": (cache_conscious, (2, 8)),
}
"""Rules with numbers: what makes them, and the numbers that are taken if none are given."""
MOST = 10**6  # of a number of a rule


def example_rule(text: str) -> Rule:
    """The rule of this package that is written so: its name, with its numbers in brackets, as "two_level(4)".

    text: the name of a rule, or that with numbers in brackets.

    Raises SimtmmError for another text, which says what is allowed.
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([\d\s,]*)\))?\s*", text)
    name = match[1] if match else text
    if name in SIMPLE:
        if match and match[2] is not None:
            raise SimtmmError(f"rule {text!r}: takes no number: write {name}")
        return SIMPLE[name]
    if match is None or name not in NUMBERED:
        raise SimtmmError(f"rule {text!r}: unknown{nearest(name, [*SIMPLE, *NUMBERED])}")
    make, usual = NUMBERED[name]
    numbers: list[Any] = [int(number) for number in re.findall(r"\d{1,18}", match[2] or "")] or list(usual)
    if len(numbers) != len(usual) or max(numbers) > MOST or not numbers[0]:
        written = ", ".join(str(number) for number in usual)
        raise SimtmmError(
            f"rule {text!r}: write {name}({written}), with whole numbers of at most {MOST}, the first above 0"
        )
    return make(*numbers)


__all__ = [
    "BUILT_IN", "NUMBERED", "SIMPLE", "Answer", "CoreGroup", "Idle", "ReadyWarp", "Rule", "barrier_aware",
    "cache_conscious", "criticality_aware", "example_rule", "fewer_warps", "fifo", "greedy_then_oldest",
    "loose_round_robin", "oldest", "rule_name", "two_level",
]  # fmt: skip
