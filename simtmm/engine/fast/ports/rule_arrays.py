"""A launch that a user's rule schedules: the arrays by which it is asked, and what ends the launch because of it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from simtmm.engine import holding_back
from simtmm.engine.fast import layout as at
from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.own_rule import columns as of
from simtmm.engine.own_rule.operands import RuleLeftError
from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload

if TYPE_CHECKING:
    from simtmm.engine.own_rule.compiled import CompiledRule

MOST_WRITTEN = 64  # elements of a list that a rule writes out


class AskedRule:
    """A rule in a launch. arrays: of the launch's state, those that it needs."""

    def __init__(self, rule: "CompiledRule", machine: Machine, slots: int, reused: Reused) -> None:
        groups, ports = machine.cores.groups, machine.ports
        zeros = reused.zeros
        self._rule, self._object = rule, rule.begin()
        fields = rule.values(self._object)
        asked = zeros("asked", groups, int(at.Asked.last) + 2 * ports)
        asked[:, at.Asked.until] = at.NEVER
        asked[:, at.Asked.last : at.Asked.last + ports] = -1
        asking = zeros("asking", len(of.Asking))
        seen = zeros("seen", groups * (slots + ports), len(of.Seen))
        ready, living = zeros("ready", slots), zeros("living", groups, slots)
        lists = zeros("lists", max(1, rule.lists), max(slots, MOST_WRITTEN))
        own = zeros("fields", max(1, len(fields)))
        own[: len(fields)] = fields
        self._own = own
        asking[of.Asking.cycle] = machine.ticks_per_cycle
        asking[of.Asking.most_holds] = holding_back.MOST_HOLDS
        self._bound = rule.loop.bind(of.Asked(asking, seen, ready, living, lists, own))
        asking[of.Asking.entry], asking[of.Asking.table] = self._bound.entry, self._bound.table
        self._name = rule.name
        self.arrays: dict[str, Any] = {
            "seen": seen, "living": living, "asked": asked, "asking": asking, "ready": ready,
        }  # fmt: skip

    def end(self) -> None:
        """The rule's object is as the launch leaves it. Raises IndexError for what a loop of checked indices noted."""
        if self._bound.line:
            raise IndexError(f"rule {self._name}: line {self._bound.line} of its text: index out of bounds")
        self._rule.end(self._object, self._own.tolist())

    def check_end(self, state: at.State) -> None:
        """Raise EngineError where the rule ended the launch, or holds back for ever; RuleLeftError where the reference
        engine is to tell what it does.
        """
        self._check_fault(state.asking, state.seen)
        for group in np.flatnonzero(state.group[:, at.Group.ready]).tolist():
            ready, tick = int(state.group[group, at.Group.ready]), int(state.asked[group, at.Asked.since])
            raise EngineError(holding_back.for_ever(self._name, group, tick, ready))

    def _check_fault(self, asking: Any, seen: Any) -> None:
        fault, group, now = (int(asking[column]) for column in (of.Asking.fault, of.Asking.group, of.Asking.now))
        if fault == of.NOT_READY:
            number = int(seen[asking[of.Asking.answer], of.Seen.number])
            raise EngineError(holding_back.not_ready(self._name, f"warp {number}", now))
        if fault == of.NO_LATER_TICK:
            raise EngineError(holding_back.no_later_tick(self._name, str(asking[of.Asking.until]), now))
        if fault == of.HELD_TOO_OFTEN:
            raise EngineError(holding_back.too_often(self._name, group, now, int(asking[of.Asking.most_holds])))
        if fault == of.TOO_LATE:
            raise RuleLeftError(f"scheduler {self._name}: at tick {now} it names a tick beyond 2^60")
        if fault:
            raise RuleLeftError(
                f"scheduler {self._name}: line {fault}: raises, needs more than 64 bits, or takes too many turns, at "
                f"tick {now}"
            )


def not_asked(reused: Reused) -> dict[str, Any]:
    """The same arrays where no user's rule schedules."""
    dimensions = {"seen": 2, "living": 2, "asked": 2, "asking": 1, "ready": 1}
    return {name: reused.zeros(name, *[1] * count) for name, count in dimensions.items()}


def first_warp_of(workload: AnyWorkload, launch: int) -> int:
    """The number of the first warp of a launch."""
    if isinstance(workload, StreamedWorkload):
        return int(workload.launch_warps[launch])
    return int(workload.block_warps[workload.launch_blocks[launch]])
