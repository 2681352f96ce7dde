"""Laws that the author of a scheduling rule may promise, by name. simtmm.testing.check_rule looks for runs that break
them; docs/rules.md is a tutorial.
"""

import re
from collections.abc import Callable

from simtmm.errors import SimtmmError, nearest
from simtmm.testing.laws.holding import admits_at_most, holds_back_loads_only, loads_of_few, work_conserving
from simtmm.testing.laws.law import Breach, Law
from simtmm.testing.laws.order import (
    first_come,
    greedy_oldest,
    helps_barriers,
    least_progress_first,
    oldest_first,
    round_robin,
    stays_in_set,
)
from simtmm.testing.laws.repeated import deterministic, group_local, no_foresight
from simtmm.testing.laws.waiting import bounded_wait, fair_within, no_starvation, one_turn_each

LAWS: dict[str, Law] = {
    each.name: each
    for each in (
        no_starvation, one_turn_each, work_conserving, deterministic, no_foresight, group_local, oldest_first,
        first_come, greedy_oldest, round_robin, least_progress_first, helps_barriers, holds_back_loads_only,
    )
}  # fmt: skip
"""Laws without a number."""
FAMILIES: dict[str, tuple[Callable[..., Law], tuple[str, ...]]] = {
    "bounded_wait": (bounded_wait, ("turns",)),
    "fair_within": (fair_within, ("turns",)),
    "stays_in_set": (stays_in_set, ("size",)),
    "admits_at_most": (admits_at_most, ("most",)),
    "loads_of_few": (loads_of_few, ("few", "slack")),
}
"""Laws with numbers: what makes them, and what the numbers are."""
MOST = 10**6  # of a number of a law


def law_named(text: str) -> Law:
    """The law that is written so: its name, with its numbers in brackets if it has any, as "bounded_wait(16)".

    text: a law's name, with its numbers or without.

    Raises SimtmmError for another text, which says what is allowed.
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([\d\s,]*)\))?\s*", text)
    name = match[1] if match else text
    if match and name in LAWS and match[2] is None:
        return LAWS[name]
    if name in LAWS:
        raise SimtmmError(f"promise {text!r}: takes no number: write {name}")
    if name not in FAMILIES:
        known = [*LAWS, *FAMILIES]
        raise SimtmmError(f"promise {text!r}: unknown{nearest(name, known)}")
    make, of = FAMILIES[name]
    numbers = [int(number) for number in re.findall(r"\d{1,18}", match[2] or "")] if match else []
    if len(numbers) != len(of) or max(numbers) > MOST:
        raise SimtmmError(f"promise {text!r}: write {name}({', '.join(of)}) with whole numbers of at most {MOST}")
    if name == "stays_in_set" and not numbers[0]:
        raise SimtmmError(f"promise {text!r}: a set has at least one slot")
    return make(*numbers)


__all__ = [
    "FAMILIES", "LAWS", "Breach", "Law", "admits_at_most", "bounded_wait", "deterministic", "fair_within",
    "first_come", "greedy_oldest", "group_local", "helps_barriers", "holds_back_loads_only", "law_named",
    "least_progress_first", "loads_of_few", "no_foresight", "no_starvation", "oldest_first", "one_turn_each",
    "round_robin", "stays_in_set", "work_conserving",
]  # fmt: skip
