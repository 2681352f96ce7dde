"""Schedulers: which of a group's ready warps is granted a port (docs/machine.md, section 5)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from simtmm.errors import EngineError, shown

if TYPE_CHECKING:
    from simtmm.engine.reference.group import Group
    from simtmm.engine.reference.warp import Warp

Pick = Callable[[list["Warp"], "Group"], "Warp"]


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


def checked(rule: Callable[..., Any]) -> Pick:
    """A user's rule: it sees the ready warps and must give one of them."""

    def pick(ready: list["Warp"], group: "Group") -> "Warp":
        chosen: object = rule(tuple(ready), group)
        for warp in ready:
            if chosen is warp:
                return warp
        name = getattr(rule, "__name__", type(rule).__name__)
        raise EngineError(f"scheduler {name}: gave {shown(chosen)} at tick {group.now}: must be a ready warp")

    return pick
