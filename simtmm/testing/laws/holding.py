"""Laws on when a rule holds back.

In the formulas t is a turn, R(t) the ready warps, L(t) the living ones of the group, g(t) the warp that is granted,
none where the rule holds back.
"""

from collections.abc import Callable

from simtmm.testing.grants import Grants
from simtmm.testing.laws.law import Breach, family, law

LOADS = ("load", "async")


@law("always", "late", "phases", "barriers", "memory", "slots")
def work_conserving(grants: Grants) -> Breach | None:
    """No port stays free while a warp is ready: the rule never holds back.

    Formula: g(t) != none, as R(t) is never empty
    """
    for index, turn in enumerate(grants.turns):
        if turn.granted is None:
            ready = ", ".join(str(number) for number in turn.ready)
            return Breach(f"no warp was granted, although {ready} were ready", index, index, turn.ready)
    return None


@law("misses", "misses", "memory", "phases", "barriers", "mixed", "always")
def holds_back_loads_only(grants: Grants) -> Breach | None:
    """A rule that throttles loads holds back where all ready warps are about to load, and nowhere else.

    Formula: g(t) = none implies operation(i) in {load, async} for each i in R(t)
    """
    for index, turn in enumerate(grants.turns):
        if turn.granted is not None:
            continue
        others = [warp for warp in turn.may_be_granted if warp.operation not in LOADS]
        if others:
            what = f"no warp was granted, although warp {others[0].number} was ready for a {others[0].operation}"
            return Breach(what, index, index, (others[0].number,))
    return None


@family("always", "barriers", "memory", "slots", "mixed", "misses")
def admits_at_most(most: int) -> Callable[[Grants], Breach | None]:
    """A warp gets its first turn only if fewer than this many others are active: begun, and not at a barrier.

    Formula: issued(g(t)) = 0 implies |{i in L(t): issued(i) > 0, state(i) != barrier}| < most
    """

    def look(grants: Grants) -> Breach | None:
        for index, turn in enumerate(grants.turns):
            chosen = turn.chosen
            if chosen is None or chosen.issued:
                continue
            active = [warp.number for warp in turn.warps if warp.issued and warp.state != "barrier"]
            if len(active) >= most:
                what = (
                    f"warp {chosen.number} had its first turn with {len(active)} active warps: "
                    f"at most {most} may be active"
                )
                return Breach(what, index, index, (chosen.number, *active))
        return None

    return look


@family("misses", "misses", "memory", "mixed")
def loads_of_few(few: int, slack: int) -> Callable[[Grants], Breach | None]:
    """Where the living warps have missed the L1 more often than hit it, by more than the slack, only the oldest few
    that stand at no barrier may load.

    Formula: sum(misses) > sum(hits) + slack and operation(g(t)) in {load, async} imply
    g(t) in the `few` oldest of {i in L(t): state(i) != barrier}
    """

    def look(grants: Grants) -> Breach | None:
        for index, turn in enumerate(grants.turns):
            chosen = turn.chosen
            if chosen is None or chosen.operation not in LOADS:
                continue
            hits, misses = sum(warp.hits for warp in turn.warps), sum(warp.misses for warp in turn.warps)
            may = [warp.number for warp in turn.warps if warp.state != "barrier"][:few]
            if misses > hits + slack and chosen.number not in may:
                what = f"warp {chosen.number} loads, with {misses} misses and {hits} hits so far: only {may} may load"
                return Breach(what, index, index, (chosen.number, *may))
        return None

    return look
