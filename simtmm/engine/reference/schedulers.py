"""Schedulers: which of a group's ready warps is granted a port (docs/machine.md, section 5)."""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from simtmm.engine.holding_back import LARGEST, no_later_tick, not_ready
from simtmm.engine.reference.rule_sight import CoreGroup
from simtmm.errors import EngineError, shown
from simtmm.rules.seen import Idle, rule_name

if TYPE_CHECKING:
    from simtmm.engine.reference.group import Group
    from simtmm.engine.reference.warp import Warp

Pick = Callable[[list["Warp"], "Group"], "Warp | Idle"]


def fifo(ready: list["Warp"], group: "Group") -> "Warp":
    """The smallest (ready time, age)."""
    return min(ready, key=lambda warp: (warp.ready_time, warp.age))


def oldest(ready: list["Warp"], group: "Group") -> "Warp":
    """The smallest age."""
    return min(ready, key=lambda warp: warp.age)


def greedy_oldest(ready: list["Warp"], group: "Group") -> "Warp":
    """The warp granted last in this group if it is ready, else the oldest."""
    return group.granted_last if group.granted_last in ready else oldest(ready, group)


def round_robin(ready: list["Warp"], group: "Group") -> "Warp":
    """Going round the slots from the one after that of the warp granted last."""
    last = group.granted_last.slot if group.granted_last else -1
    return min(ready, key=lambda warp: (warp.slot <= last, warp.slot))


SCHEDULERS: dict[str, Pick] = {
    "fifo": fifo,
    "oldest": oldest,
    "greedy-oldest": greedy_oldest,
    "round-robin": round_robin,
}


def checked(scheduler: Callable[..., Any]) -> Pick:
    """A user's rule for a launch: it sees the ready warps, and gives one of them or holds back.

    scheduler: the rule, or a class of such rules.
    """
    rule = scheduler() if isinstance(scheduler, type) else scheduler
    name = rule_name(rule)
    groups: dict[Group, CoreGroup] = {}

    def pick(ready: list["Warp"], group: "Group") -> "Warp | Idle":
        if group not in groups:
            groups[group] = CoreGroup(group)
        ready = sorted(ready, key=lambda warp: (warp.ready_time, warp.age))
        seen = groups[group].seen(ready)
        chosen: object = rule(seen, groups[group])
        for shown_warp, warp in zip(seen, ready, strict=True):
            if chosen is shown_warp:
                return warp
        if chosen is None:
            return Idle()
        if isinstance(chosen, Idle) and (chosen.until is None or _is_later(chosen.until, group.now)):
            return chosen
        if isinstance(chosen, Idle):
            raise EngineError(no_later_tick(name, shown(chosen.until), group.now))
        raise EngineError(not_ready(name, shown(chosen), group.now))

    pick.__name__ = name
    return pick


def _is_later(tick: object, now: int) -> bool:
    try:
        return not isinstance(tick, bool) and now < operator.index(tick) <= LARGEST  # type: ignore[arg-type]
    except TypeError:
        return False
