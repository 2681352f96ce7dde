"""A core group that is driven by hand, for a rule alone: no machine, no workload, no ticks but those that are given.

It suits Hypothesis's rule-based state machines (docs/rules.md): each step is a method, and what was granted is there to
be judged by the laws.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from simtmm.errors import EngineError, SimtmmError, shown
from simtmm.rules import Idle, Rule, rule_name
from simtmm.testing.grants import Grants, Watch
from simtmm.timeline import STATES


@dataclass(eq=False)
class BenchWarp:
    """A warp of a bench, as a rule sees it: the attributes of simtmm.rules.ReadyWarp."""

    number: int
    age: int
    slot: int
    block: int
    state: str = "start"
    ready_time: int = -1
    operation: str = ""
    issued: int = 0
    hits: int = 0
    misses: int = 0


@dataclass(eq=False)
class _BenchGroup:
    """The core group, as a rule sees it."""

    number: int = 0
    now: int = 0
    cycle: int = 1
    granted_last: BenchWarp | None = None
    warps: list[BenchWarp] = field(default_factory=list)


class Bench:
    """A core group of one port, and a rule.

    warps: living, the oldest first. now: the tick. A warp is placed, becomes ready, is granted, waits for something, is
    ready again, and ends; nothing of it happens by itself.
    """

    def __init__(self, rule: Rule) -> None:
        self._watch = Watch(rule)
        self._name = rule_name(rule)
        self._group = _BenchGroup()
        self._placed = 0

    @property
    def warps(self) -> list[BenchWarp]:
        """Those that live, the oldest first."""
        return list(self._group.warps)

    @property
    def ready(self) -> list[BenchWarp]:
        """Those that may be granted, in the order in which they became ready."""
        found = [warp for warp in self._group.warps if warp.state == "ready"]
        return sorted(found, key=lambda warp: warp.ready_time)

    @property
    def now(self) -> int:
        """The tick."""
        return self._group.now

    @property
    def grants(self) -> Grants:
        """All turns so far, as laws take them."""
        return self._watch.grants

    def place(self, block: int = 0) -> int:
        """Place a warp of a block into the lowest free slot; gives its number."""
        taken = {warp.slot for warp in self._group.warps}
        slot = next(slot for slot in range(len(taken) + 1) if slot not in taken)
        self._group.warps.append(BenchWarp(self._placed, self._placed, slot, block))
        self._placed += 1
        return self._placed - 1

    def make_ready(self, number: int, operation: str = "compute") -> None:
        """Let a warp wait for its turn to issue an operation from now on; nothing if it does already."""
        warp = self._warp(number)
        if warp.state != "ready":
            warp.state, warp.operation, warp.ready_time = "ready", operation, self.now

    def wait(self, number: int, state: str = "memory", *, hits: int = 0, misses: int = 0) -> None:
        """Let a warp wait for something else. state: of simtmm.timeline.STATES; hits, misses: chunks more."""
        if state not in STATES or state == "ready":
            raise SimtmmError(
                f"state {state!r}: must be one of {', '.join(each for each in STATES if each != 'ready')}"
            )
        warp = self._warp(number)
        warp.state, warp.operation = state, ""
        warp.hits += hits
        warp.misses += misses

    def end(self, number: int) -> None:
        """End a warp, whose slot is free again."""
        self._group.warps.remove(self._warp(number))

    def pass_time(self, ticks: int = 1) -> None:
        """Let so many ticks pass, at least 1."""
        if ticks < 1:
            raise SimtmmError(f"ticks = {ticks}: must be at least 1")
        self._group.now += ticks

    def ask(self) -> int | None:
        """Ask the rule, at this tick: the number of the warp that it grants, which is in the pipeline then.

        None where it holds back, and, without asking it, where no warp is ready.

        Raises EngineError where it gives something else.
        """
        ready = self.ready
        if not ready:
            return None
        answer: Any = self._watch(tuple(ready), self._group)
        if answer is None or isinstance(answer, Idle):
            return None
        if not _is_one_of(answer, ready):
            raise EngineError(
                f"scheduler {self._name}: returned {shown(answer)} at tick {self.now}: must be a ready warp, None or "
                "Idle(until)"
            )
        answer.state, answer.operation = "pipeline", ""
        answer.issued += 1
        self._group.granted_last = answer
        return int(answer.number)

    def _warp(self, number: int) -> BenchWarp:
        for warp in self._group.warps:
            if warp.number == number:
                return warp
        living = ", ".join(str(warp.number) for warp in self._group.warps) or "none"
        raise SimtmmError(f"warp {number}: is not resident; resident are {living}")


def _is_one_of(answer: object, warps: Iterable[BenchWarp]) -> bool:
    return any(answer is warp for warp in warps)
