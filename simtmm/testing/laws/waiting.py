"""Laws on how long a ready warp waits for its turn, in turns of others.

In the formulas t is a turn of a group (of a port, where warps are bound to ports), R(t) the ready warps, g(t) the warp
that is granted. W(i) is a wait of warp i: the turns from the one at which it is first ready up to its grant.
"""

from collections.abc import Callable
from itertools import combinations

from simtmm.testing.grants import COMPETING, Grants, Turn
from simtmm.testing.laws.law import Breach, family, law

PATIENCE = 16  # turns that each other warp may have before a wait is called starvation
Numbered = tuple[int, Turn]


@law("always", "late", "phases", "slots", "crowded")
def no_starvation(grants: Grants) -> Breach | None:
    """A ready warp is granted before the others have had 16 turns each, however long they go on.

    Formula: |{t in W(i): g(t) != i}| <= 16 (n - 1), n = the most warps that live in its group during W(i)

    A finite run shows no "for ever". A rule that needs more turns promises `bounded_wait` with a number of its own.
    """

    def most(living: int) -> int:
        return PATIENCE * max(1, living - 1)

    return _first(grants, lambda queue: _overdue(queue, most))


@family("always", "late", "phases", "slots", "memory", "crowded")
def bounded_wait(turns: int) -> Callable[[Grants], Breach | None]:
    """While a warp is ready, at most this many turns go to others.

    Formula: |{t in W(i): g(t) != i}| <= turns
    """
    return lambda grants: _first(grants, lambda queue: _overdue(queue, lambda _: turns))


@law("always", "late", "phases", "slots", "memory", "barriers")
def one_turn_each(grants: Grants) -> Breach | None:
    """While a warp is ready, every other slot has at most one turn, as with round-robin.

    Formula: |{t in W(i): slot(g(t)) = s}| <= 1 for each slot s
    """

    def second_turn(queue: list[Numbered]) -> Breach | None:
        since: dict[int, int] = {}
        had: dict[int, set[int]] = {}
        for index, turn in queue:
            chosen = turn.chosen
            for number in turn.ready:
                since.setdefault(number, index)
                slots = had.setdefault(number, set())
                if chosen is None or chosen.number == number:
                    continue
                if chosen.slot in slots:
                    what = f"warp {number} was ready, but slot {chosen.slot} (warp {chosen.number}) had a second turn"
                    return Breach(what, index, since[number], (number, chosen.number))
                slots.add(chosen.slot)
            if chosen is not None:
                since.pop(chosen.number)
                had.pop(chosen.number)
        return None

    return _first(grants, second_turn)


@family("always", "staggered", "crowded")
def fair_within(turns: int) -> Callable[[Grants], Breach | None]:
    """Two warps that both always want turns differ by at most so many turns.

    Formula: | |{t in S: g(t) = i}| - |{t in S: g(t) = j}| | <= turns

    S is any run of turns at each of which i and j are ready, issue, or wait out the pipeline. It is a law for grants
    that take equally long, and workloads are drawn so.
    """
    return lambda grants: _first(grants, lambda queue: _unfair(queue, turns))


def _first(grants: Grants, look: Callable[[list[Numbered]], Breach | None]) -> Breach | None:
    """The breach that is shown first, of all queues."""
    found = [breach for queue in grants.queues() if (breach := look(queue))]
    return min(found, key=lambda breach: breach.turn, default=None)


def _overdue(queue: list[Numbered], most: Callable[[int], int]) -> Breach | None:
    """A warp that waits for more turns than the most, given the warps that live."""
    since: dict[int, int] = {}
    passed: dict[int, int] = {}
    living: dict[int, int] = {}
    for index, turn in queue:
        for number in turn.ready:
            since.setdefault(number, index)
            living[number] = max(len(turn.warps), living.get(number, 0))
            if turn.granted in (None, number):
                continue
            passed[number] = passed.get(number, 0) + 1
            if passed[number] > (limit := most(living[number])):
                what = f"{passed[number]} turns went to others while warp {number} was ready: at most {limit} may"
                return Breach(what, index, since[number], (number,))
        if turn.granted is not None:
            for table in (since, passed, living):
                table.pop(turn.granted, None)
    return None


def _unfair(queue: list[Numbered], most: int) -> Breach | None:
    """Two warps of which one has more turns than the other by more than the most."""
    found = []
    numbers = {number for _, turn in queue for number in turn.ready}
    for one, other in combinations(sorted(numbers), 2):
        ahead, since = {0: -1}, -1  # the turns by which `one` is ahead, and the index at which that was so first
        lead = 0
        for index, turn in queue:
            wanting = {warp.number for warp in turn.warps if warp.state in COMPETING}
            if not {one, other} <= wanting:
                ahead, since, lead = {0: -1}, -1, 0
                continue
            since = index if since < 0 else since
            lead += (turn.granted == one) - (turn.granted == other)
            ahead.setdefault(lead, index)
            gap = max(lead - min(ahead), max(ahead) - lead)
            if gap > most:
                more, less = (one, other) if lead == max(ahead) else (other, one)
                begin = ahead[min(ahead) if lead == max(ahead) else max(ahead)]
                what = f"warp {more} had {gap} more turns than warp {less} while both wanted turns: at most {most}"
                found.append(Breach(what, index, max(begin, since), (more, less)))
                break
    return min(found, key=lambda breach: breach.turn, default=None)
