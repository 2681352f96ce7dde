"""What a scheduling rule sees of a core group, and what it may answer (docs/schedulers.md)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class ReadyWarp(Protocol):
    """A living warp as a scheduling rule sees it; a rule changes nothing of it."""

    @property
    def number(self) -> int:
        """Its index among the workload's warps."""

    @property
    def age(self) -> int:
        """Its place in the order of placement over the whole machine: smaller is older."""

    @property
    def slot(self) -> int:
        """Its place in the group; with the block it becomes free for another warp."""

    @property
    def ready_time(self) -> int:
        """The tick since which it is ready, or was when it last was; -1 if it never was."""

    @property
    def block(self) -> int:
        """The index of its block among the workload's blocks."""

    @property
    def state(self) -> str:
        """What it does: a word of simtmm.timeline.STATES, as "ready", "memory" or "barrier"."""

    @property
    def operation(self) -> str:
        """The operation that it is ready to issue, as "compute" or "load"; empty unless it is ready."""

    @property
    def issued(self) -> int:
        """Instructions that it has been granted so far."""

    @property
    def hits(self) -> int:
        """Chunks of its loads and asyncs that the L1 had, so far."""

    @property
    def misses(self) -> int:
        """Those that the L1 had not; all of them on a machine without one."""


class CoreGroup(Protocol):
    """A core group as a scheduling rule sees it."""

    @property
    def number(self) -> int:
        """Its index, from 0."""

    @property
    def granted_last(self) -> ReadyWarp | None:
        """The warp that was granted a port last in this group, which may have ended; None before any grant."""

    @property
    def now(self) -> int:
        """The tick."""

    @property
    def cycle(self) -> int:
        """Ticks of a core cycle."""

    @property
    def warps(self) -> Sequence[ReadyWarp]:
        """Its living warps, ready or not, the oldest first."""


@dataclass(frozen=True)
class Idle:
    """A rule's answer that grants nobody.

    until: a later tick, at which the rule is asked again at the latest [ticks]; None for no such tick. In either case
        it is asked as soon as a warp of the group begins to do something else, or ends, a port becomes free, or a block
        is placed in the group.
    """

    until: int | None = None


Answer = ReadyWarp | Idle | None
Rule = Callable[[Sequence[Any], Any], Answer]
"""A function of the ready warps and the core group; or a class whose instances are, made anew for each launch."""


def rule_name(rule: object) -> str:
    """What a rule is called in messages.

    rule: a function, an object or a class.
    """
    return str(getattr(rule, "__name__", type(rule).__name__))
