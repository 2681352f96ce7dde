"""Laws of two runs: what a rule's answer may depend on. All say that where the rule saw the same, it answers the same.

In the formulas q(t) is all that the rule saw up to its turn t in a group, a(t) what it answered then; with ' of the
second run.
"""

from simtmm.testing.grants import Grants, Turn
from simtmm.testing.laws.law import Breach, law

ANY = ("always", "late", "phases", "barriers", "memory", "slots")


@law(*ANY, pair="same")
def deterministic(first: Grants, second: Grants) -> Breach | None:
    """The same workload, run twice, has the same grants: no luck, no clock, no memory of an earlier run.

    Formula: q(t) = q'(t) implies a(t) = a'(t), of two runs of one workload
    """
    return _other_answer(first, second, "when the same workload ran again")


@law(*ANY, pair="future")
def no_foresight(first: Grants, second: Grants) -> Breach | None:
    """An answer depends on what has happened, not on what warps will do: no peeking at hidden state.

    Formula: q(t) = q'(t) implies a(t) = a'(t), of workloads that differ in what is still to come
    """
    return _other_answer(first, second, "when only later work differed")


@law("grouped", pair="others")
def group_local(first: Grants, second: Grants) -> Breach | None:
    """An answer depends on the core group that asks, not on what other groups do: each has a scheduler in hardware.

    Formula: q(t) = q'(t) implies a(t) = a'(t), in group 0, of workloads that differ in the blocks of other groups
    """
    return _other_answer(first, second, "when only other groups' blocks differed", groups={0})


def _other_answer(first: Grants, second: Grants, when: str, groups: set[int] | None = None) -> Breach | None:
    """groups: that are looked at, all if left out."""
    found = []
    for group in sorted({turn.group for turn in first.turns} if groups is None else groups):
        seconds = [turn for turn in second.turns if turn.group == group]
        firsts = [(index, turn) for index, turn in enumerate(first.turns) if turn.group == group]
        for (index, one), other in zip(firsts, seconds, strict=False):
            if one.question != other.question:
                break
            if one.answer != other.answer:
                what = f"in group {group} the rule returned {_said(one)}, but {_said(other)} {when}"
                found.append(Breach(what, index, index, tuple(one.ready)))
                break
    return min(found, key=lambda breach: breach.turn, default=None)


def _said(turn: Turn) -> str:
    return f"Idle({turn.until})" if turn.granted is None else f"warp {turn.granted}"
