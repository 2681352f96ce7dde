"""A set of a cache, whose full lines a policy replaces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simtmm.errors import SimtmmError, shown


@dataclass(frozen=True)
class Line:
    """A chunk in a set. came, used: numbers of the accesses that brought it and that used it last. uses: how many did,
    that which brought it included.
    """

    chunk: int
    came: int
    used: int
    uses: int


Policy = Callable[[Sequence[Any], int], Line]
"""A function of the lines of a full set, in the order in which they came, and the chunk that comes; or a class whose
instances are, made anew for each set."""


@dataclass(frozen=True)
class Access:
    """An access. number: its own, from 0. lines: those that were there before it. dropped: the chunk that made room."""

    number: int
    chunk: int
    lines: tuple[Line, ...]
    hit: bool
    dropped: int | None = None


class CacheSet:
    """A set of so many ways, empty at first.

    lines: in the order in which they came. accesses: so far.
    """

    def __init__(self, policy: Policy, ways: int) -> None:
        made: Any = policy() if isinstance(policy, type) else policy
        self._policy: Callable[[Sequence[Line], int], Any] = made
        self._name = str(getattr(policy, "__name__", type(policy).__name__))
        self.ways = ways
        self.lines: list[Line] = []
        self.accesses: list[Access] = []

    def access(self, chunk: int) -> bool:
        """Use a chunk; whether it was there.

        Raises SimtmmError where the policy gives none of the lines.
        """
        number, before = len(self.accesses), tuple(self.lines)
        for index, line in enumerate(before):
            if line.chunk == chunk:
                self.lines[index] = replace(line, used=number, uses=line.uses + 1)
                self.accesses.append(Access(number, chunk, before, hit=True))
                return True
        dropped = None
        if len(before) == self.ways:
            victim = self._policy(before, chunk)
            if not any(victim is line for line in before):
                raise SimtmmError(
                    f"policy {self._name}: gave {shown(victim)} at access {number}: must be a line of the set"
                )
            self.lines.remove(victim)
            dropped = victim.chunk
        self.lines.append(Line(chunk, number, number, 1))
        self.accesses.append(Access(number, chunk, before, hit=False, dropped=dropped))
        return False
