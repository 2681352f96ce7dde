"""What a rule of somebody's own sees of warps and of a core group, and no more (docs/schedulers.md)."""

from typing import TYPE_CHECKING, NoReturn

from simtmm.engine.reference.issue import computes
from simtmm.timeline import STATES, WarpState
from simtmm.workload import COMPUTE, OPERATIONS

if TYPE_CHECKING:
    from simtmm.engine.reference.group import Group
    from simtmm.engine.reference.warp import Warp


class _Seen:
    """What has some attributes, and says so where another is asked for."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        has = ", ".join(name for name, value in vars(type(self)).items() if isinstance(value, property))
        raise AttributeError(f"a rule sees no {name!r} of a {type(self).__name__}: it sees {has}")


class ReadyWarp(_Seen):
    """See simtmm.rules.ReadyWarp."""

    __slots__ = ("__warp",)

    def __init__(self, warp: "Warp") -> None:
        self.__warp = warp

    def __repr__(self) -> str:
        return f"warp {self.number}"

    @property
    def number(self) -> int:
        """See simtmm.rules.ReadyWarp, as of all others."""
        return self.__warp.number

    @property
    def age(self) -> int:
        """See there."""
        return self.__warp.age

    @property
    def slot(self) -> int:
        """See there."""
        return self.__warp.slot

    @property
    def ready_time(self) -> int:
        """See there."""
        return self.__warp.ready_time

    @property
    def block(self) -> int:
        """See there."""
        return self.__warp.block.number

    @property
    def state(self) -> str:
        """See there."""
        return STATES[self.__warp.state]

    @property
    def operation(self) -> str:
        """See there."""
        if self.__warp.state != WarpState.READY:
            return ""
        kind = self.__warp.kinds[self.__warp.position]
        return OPERATIONS[COMPUTE if computes(kind) else kind]

    @property
    def issued(self) -> int:
        """See there."""
        return self.__warp.issued

    @property
    def hits(self) -> int:
        """See there."""
        return self.__warp.hits

    @property
    def misses(self) -> int:
        """See there."""
        return self.__warp.misses


class CoreGroup(_Seen):
    """See simtmm.rules.CoreGroup."""

    __slots__ = ("__group", "__of")

    def __init__(self, group: "Group") -> None:
        self.__group = group
        self.__of: dict[Warp, ReadyWarp] = {}

    def seen(self, warps: "list[Warp]") -> tuple[ReadyWarp, ...]:
        """Warps as a rule sees them: each as one object for its whole life."""
        return tuple(self.__of.setdefault(warp, ReadyWarp(warp)) for warp in warps)

    @property
    def number(self) -> int:
        """See simtmm.rules.CoreGroup, as of all others."""
        return self.__group.number

    @property
    def granted_last(self) -> ReadyWarp | None:
        """See there."""
        last = self.__group.granted_last
        return self.seen([last])[0] if last else None

    @property
    def now(self) -> int:
        """See there."""
        return self.__group.now

    @property
    def cycle(self) -> int:
        """See there."""
        return self.__group.run.machine.ticks_per_cycle

    @property
    def warps(self) -> tuple[ReadyWarp, ...]:
        """See there."""
        return self.seen(self.__group.warps)
