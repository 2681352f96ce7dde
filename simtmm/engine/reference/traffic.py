"""Chunks over time (docs/machine.md, section 7)."""

from collections import Counter

import numpy as np

from simtmm.timeline import MOST_STRETCHES, TRAFFIC, Traffic


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
