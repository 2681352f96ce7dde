"""What a scheduling rule was asked and what it answered: the timeline that laws of rules look at."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from simtmm.rules import CoreGroup, Idle, ReadyWarp, Rule, rule_name

MOST_HOLDS = 2000  # answers in a row that grant nobody, on workloads that take a few hundred cycles
COMPETING = frozenset({"ready", "issuing", "pipeline"})  # states of a warp that wants its next turn


class Seen(NamedTuple):
    """A living warp as a rule saw it: the attributes of simtmm.rules.ReadyWarp."""

    number: int
    age: int
    slot: int
    ready_time: int
    block: int
    state: str
    operation: str
    issued: int
    hits: int
    misses: int

    @classmethod
    def of(cls, warp: ReadyWarp) -> "Seen":
        """A copy of what it is now."""
        return cls(*(getattr(warp, name) for name in cls._fields))


@dataclass(frozen=True)
class Turn:
    """A rule was asked whom to grant a port.

    group, port: of which group, and of which of its ports where warps are bound to ports, else 0. tick: when [ticks].
    cycle: ticks of a core cycle. warps: those that live in the group, the oldest first. ready: numbers of those that
    may be granted, in the order in which they became ready. last: the warp granted last; None before the first grant.
    granted: the number of the warp that the rule gave; None where it held back. until: when it then wants to be asked
    again, if it said so.
    """

    group: int
    port: int
    tick: int
    cycle: int
    warps: tuple[Seen, ...]
    ready: tuple[int, ...]
    last: Seen | None
    granted: int | None
    until: int | None = None

    def warp(self, number: int) -> Seen:
        """The living warp of that number."""
        return next(warp for warp in self.warps if warp.number == number)

    @property
    def may_be_granted(self) -> list[Seen]:
        """The ready warps, the oldest first."""
        return [warp for warp in self.warps if warp.number in self.ready]

    @property
    def chosen(self) -> Seen | None:
        """The warp that was granted."""
        return None if self.granted is None else self.warp(self.granted)

    @property
    def last_slot(self) -> int:
        """The slot of the warp granted last, -1 before the first grant."""
        return -1 if self.last is None else self.last.slot

    @property
    def question(self) -> tuple[object, ...]:
        """All that the rule saw."""
        last = self.last and (self.last.number, self.last.slot)
        return self.group, self.port, self.tick, self.warps, self.ready, last

    @property
    def answer(self) -> tuple[int | None, int | None]:
        """What it said."""
        return self.granted, self.until


@dataclass(frozen=True)
class Grants:
    """All turns of a run, in order."""

    turns: tuple[Turn, ...]

    def queues(self) -> Iterator[list[tuple[int, Turn]]]:
        """The turns, with their indices, of each group, and of each port whose warps are bound to it."""
        for queue in sorted({(turn.group, turn.port) for turn in self.turns}):
            yield [(index, turn) for index, turn in enumerate(self.turns) if (turn.group, turn.port) == queue]


class HeldForEverError(Exception):
    """A rule that held back MOST_HOLDS times in a row."""


class Watch:
    """A rule that writes down what the rule in it is asked, and what it answers.

    turns: so far, in order; where the rule raised, or gave what it may not, that turn grants nobody. raised: whether it
    raised an exception.
    """

    def __init__(self, rule: Rule, own_ports: int = 0) -> None:
        """own_ports: how many of its group, where warps are bound to them; else 0."""
        made: Any = rule() if isinstance(rule, type) else rule
        self._rule: Callable[[Sequence[ReadyWarp], CoreGroup], Any] = made
        self._own_ports = own_ports
        self._holds = 0
        self.__name__ = rule_name(rule)
        self.turns: list[Turn] = []
        self.raised = False

    def __call__(self, ready: Sequence[ReadyWarp], group: CoreGroup) -> Any:
        """Ask the rule."""
        warps = tuple(Seen.of(warp) for warp in group.warps)
        numbers = tuple(warp.number for warp in ready)
        port = ready[0].slot % self._own_ports if self._own_ports else 0
        last = group.granted_last
        asked = group.number, port, group.now, group.cycle, warps, numbers, Seen.of(last) if last else None
        answer: Any = None
        try:
            answer = self._rule(ready, group)
        except Exception:
            self.raised = True
            raise
        finally:
            granted = next((warp.number for warp in ready if warp is answer), None)
            self.turns.append(Turn(*asked, granted, answer.until if isinstance(answer, Idle) else None))
        self._holds = 0 if granted is not None else self._holds + 1
        if self._holds > MOST_HOLDS:
            raise HeldForEverError(f"it held back {MOST_HOLDS} times in a row")
        return answer

    @property
    def grants(self) -> Grants:
        """What was seen so far."""
        return Grants(tuple(self.turns))
