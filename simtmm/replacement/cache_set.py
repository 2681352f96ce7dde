"""A set of a cache, whose full lines a policy replaces."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simtmm.errors import SimtmmError, shown, shown_error


@dataclass(frozen=True)
class Line:
    """A chunk in a set. came, used: numbers of the accesses that brought it and that used it last. uses: how many did,
    including the one that brought it.
    """

    chunk: int
    came: int
    used: int
    uses: int


Policy = Callable[[Sequence[Any], int], Line]
"""A function of the lines of a full set, in the order in which they came, and the chunk that comes; or a class whose
instances are, made anew for each set."""

Replacement = Policy | Mapping[str, Policy]
"""A policy for the L1s and the L2 of a simulation, or policies by the cache: "l1", "l2"."""


@dataclass(frozen=True)
class Access:
    """An access. number: its own, from 0. lines: those that were there before it. dropped: the chunk that made room."""

    number: int
    chunk: int
    lines: tuple[Line, ...]
    hit: bool
    dropped: int | None = None


class Chooser:
    """A policy for one set, and what it sees of that set's lines.

    lines: in the order in which they came, by their chunks.
    """

    def __init__(self, policy: Policy) -> None:
        made: Any = policy() if isinstance(policy, type) else policy
        self._policy: Callable[[Sequence[Line], int], Any] = made
        self._name = str(getattr(policy, "__name__", type(policy).__name__))
        self._number = 0  # of the next access
        self.lines: dict[int, Line] = {}

    def use(self, chunk: int) -> None:
        """An access hits a chunk that is there.

        chunk: its number.
        """
        line = self.lines[chunk]
        self.lines[chunk] = replace(line, used=self._number, uses=line.uses + 1)
        self._number += 1

    def come(self, chunk: int) -> None:
        """An access brings a chunk, for which there is room.

        chunk: its number.
        """
        self.lines[chunk] = Line(chunk, self._number, self._number, 1)
        self._number += 1

    def leave(self, chunk: int) -> None:
        """A chunk is dropped.

        chunk: its number.
        """
        self.lines.pop(chunk, None)

    def victim(self, chunk: int) -> int:
        """The chunk that the policy drops from the full set for one that comes.

        chunk: the number of the one that comes.

        Raises SimtmmError where the policy gives none of the lines, or raises anything.
        """
        lines = tuple(self.lines.values())
        try:
            chosen = self._policy(lines, chunk)
        except Exception as error:
            raise SimtmmError(f"policy {self._name}: failed at access {self._number}: {shown_error(error)}") from error
        if not any(chosen is line for line in lines):
            raise SimtmmError(
                f"policy {self._name}: returned {shown(chosen)} at access {self._number}: must be a line of the set"
            )
        return int(chosen.chunk)


class CacheSet:
    """A set of so many ways, empty at first.

    accesses: so far.
    """

    def __init__(self, policy: Policy, ways: int) -> None:
        """policy: which line a full set drops.
        ways: how many lines the set holds.
        """
        self._chooser = Chooser(policy)
        self.ways = ways
        self.accesses: list[Access] = []

    @property
    def lines(self) -> list[Line]:
        """Those that are there."""
        return list(self._chooser.lines.values())

    def access(self, chunk: int) -> bool:
        """Use a chunk; whether it was there.

        chunk: its number.

        Raises SimtmmError where the policy gives none of the lines.
        """
        number, before = len(self.accesses), tuple(self.lines)
        if chunk in self._chooser.lines:
            self._chooser.use(chunk)
            self.accesses.append(Access(number, chunk, before, hit=True))
            return True
        dropped = None
        if len(before) == self.ways:
            dropped = self._chooser.victim(chunk)
            self._chooser.leave(dropped)
        self._chooser.come(chunk)
        self.accesses.append(Access(number, chunk, before, hit=False, dropped=dropped))
        return False
