"""Laws on who is granted, of the ready warps. They say nothing of turns at which a rule holds back.

In the formulas t is a turn, R(t) the ready warps, g(t) the warp that is granted, last(t) the one that was granted
before, of the group or of the port to which warps are bound.
"""

from collections.abc import Callable

from simtmm.testing.grants import Grants, Seen, Turn
from simtmm.testing.laws.law import Breach, family, law

ANY = ("slots", "slots", "always", "late", "phases", "barriers", "memory")


def _each(grants: Grants, expected: Callable[[Turn], set[int]], why: str) -> Breach | None:
    """The first turn whose grant is none of the expected."""
    for index, turn in enumerate(grants.turns):
        if turn.granted is not None and turn.granted not in (right := expected(turn)):
            what = f"warp {turn.granted} was granted instead of {_either(right)}: {why}"
            return Breach(what, index, index, (turn.granted, *sorted(right)))
    return None


def _either(numbers: set[int]) -> str:
    return "warp " + " or ".join(str(number) for number in sorted(numbers))


def _least(warps: list[Seen], key: Callable[[Seen], object]) -> set[int]:
    """The numbers of all warps that have the least key."""
    least = min(key(warp) for warp in warps)  # type: ignore[type-var]
    return {warp.number for warp in warps if key(warp) == least}


@law(*ANY)
def oldest_first(grants: Grants) -> Breach | None:
    """The oldest ready warp is granted.

    Formula: age(g(t)) = min {age(i): i in R(t)}
    """
    return _each(grants, lambda turn: _least(turn.may_be_granted, lambda warp: warp.age), "it is the oldest")


@law(*ANY)
def first_come(grants: Grants) -> Breach | None:
    """The warp that became ready first is granted, the oldest of equals.

    Formula: g(t) = argmin {(ready_time(i), age(i)): i in R(t)}
    """

    def expected(turn: Turn) -> set[int]:
        return _least(turn.may_be_granted, lambda warp: (warp.ready_time, warp.age))

    return _each(grants, expected, "it became ready first")


@law(*ANY)
def greedy_oldest(grants: Grants) -> Breach | None:
    """The warp granted last is granted again if it is ready, else the oldest.

    Formula: g(t) = last(t) if last(t) in R(t), else argmin {age(i): i in R(t)}
    """

    def expected(turn: Turn) -> set[int]:
        if turn.last is not None and turn.last.number in turn.ready:
            return {turn.last.number}
        return _least(turn.may_be_granted, lambda warp: warp.age)

    return _each(grants, expected, "it was granted last, or is the oldest while that one is not ready")


@law(*ANY)
def round_robin(grants: Grants) -> Breach | None:
    """Going round the slots, the next ready warp behind the slot granted last.

    Formula: g(t) = argmin {(slot(i) <= slot(last(t)), slot(i)): i in R(t)}
    """

    def expected(turn: Turn) -> set[int]:
        return _least(turn.may_be_granted, lambda warp: (warp.slot <= turn.last_slot, warp.slot))

    return _each(grants, expected, "its slot comes next")


@family(*ANY)
def stays_in_set(size: int) -> Callable[[Grants], Breach | None]:
    """While a warp of the set granted last is ready, a warp of that set is granted; a set is this many
    consecutive slots.

    Formula: set(g(t)) = set(last(t)) if some i in R(t) has set(i) = set(last(t)), with set(i) = floor(slot(i) / size)
    """

    def expected(turn: Turn) -> set[int]:
        current = max(turn.last_slot, 0) // size
        return {warp.number for warp in turn.may_be_granted if warp.slot // size == current} or set(turn.ready)

    return lambda grants: _each(grants, expected, f"it is of the set of {size} slots that was granted last")


@law(*ANY)
def least_progress_first(grants: Grants) -> Breach | None:
    """The ready warp that has issued least is granted.

    Formula: issued(g(t)) = min {issued(i): i in R(t)}
    """
    return _each(grants, lambda turn: _least(turn.may_be_granted, lambda warp: warp.issued), "it has issued least")


@law("barriers", "barriers", "mixed")
def helps_barriers(grants: Grants) -> Breach | None:
    """A warp is granted whose block has as many warps at its barrier as that of any ready warp.

    Formula: b(g(t)) = max {b(i): i in R(t)}, b(i) = |{j: block(j) = block(i), state(j) = barrier}|
    """

    def expected(turn: Turn) -> set[int]:
        waiting = [warp.block for warp in turn.warps if warp.state == "barrier"]
        return _least(turn.may_be_granted, lambda warp: -waiting.count(warp.block))

    return _each(grants, expected, "most warps wait for its block's barrier")
