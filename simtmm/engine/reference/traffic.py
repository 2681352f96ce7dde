"""Chunks over time, and what goes on beside warps (docs/machine.md, section 7)."""

from collections import Counter

import numpy as np

from simtmm.timeline import COPIES, MOST_STRETCHES, OF_WARP, TRAFFIC, Traffic, Units


class OverTime:
    """How many chunks pass each level of memory, in stretches of a run. begin: the present launch's first tick."""

    def __init__(self) -> None:
        self.begin = 0
        self._length = 1
        self._passed: Counter[tuple[int, str]] = Counter()

    def note(self, what: str, tick: int, number: int) -> None:
        """So many chunks or sectors pass at a tick of the launch."""
        while (self.begin + tick) // self._length >= MOST_STRETCHES:
            self._length *= 2
            old, self._passed = self._passed, Counter()
            for (stretch, column), chunks in old.items():
                self._passed[stretch // 2, column] += chunks
        self._passed[(self.begin + tick) // self._length, what] += number

    def traffic(self) -> Traffic:
        """All of it."""
        chunks = np.zeros((MOST_STRETCHES, len(TRAFFIC)), np.int64)
        for (stretch, column), number in self._passed.items():
            chunks[stretch, TRAFFIC.index(column)] = number
        return Traffic(self._length, chunks)


class InUse:
    """When copies in bulk are under way, and pipes of products taken; by which warps they were begun."""

    def __init__(self) -> None:
        self._used: dict[tuple[int, int, int], list[list[int]]] = {}  # of a unit in a launch: begin, end, count
        self._roles: set[tuple[int, int]] = set()

    def note(self, launch: int, group: int, unit: int, begin: int, end: int, warp: int) -> None:
        """Something is under way in a unit of a group, between two ticks of a launch, and was begun by a warp.

        What overlaps, or follows at once in a launch, is one use. launch: the tick at which that begins.
        """
        self._roles.add((OF_WARP if unit == COPIES else OF_WARP - 1, warp))
        uses = self._used.setdefault((unit, group, launch), [])
        if not uses or launch + begin > uses[-1][1]:
            uses.append([launch + begin, launch + begin, 0])
        uses[-1][1] = max(uses[-1][1], launch + end)
        uses[-1][2] += 1

    def all(self) -> Units:
        """All of it."""
        rows = [(*of[:2], *use) for of, uses in self._used.items() for use in uses]
        rows += [(role, warp, 0, 0, 1) for role, warp in self._roles]
        return Units.from_rows(np.array(rows, np.int64).reshape(-1, 5))
