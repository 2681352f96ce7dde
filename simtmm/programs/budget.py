"""How much of a program's launches is recorded for a report, so that one of any length ends with one.

Programs time themselves over a hundred or a thousand launches of millions of threads. All launches run. What is
recorded, and simulated later, are the first ones, and a part of each kernel and shape that comes later.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

MOST_EVENTS, MOST_LAUNCHES = 300_000_000, 10_000  # of a trace: recording and simulating them takes about a minute
PART = 50  # of those events, one in so many is for a later launch that is the first of its kernel and shape


@dataclass
class Budget:
    """What of the next launch is recorded. is_bounded: whether it is at all less than everything.

    left_out: launches that are not recorded, as the trace is full.
    """

    is_bounded: bool = True
    left_out: int = 0
    _known: set[Hashable] = field(default_factory=set)

    def events(self, shape: Hashable, events: int, launches: int) -> int | None:
        """Events of a launch after which no more of its blocks are recorded; None for no such number, 0 for no launch.

        shape: of the kernel and its grid. events, launches: in the trace so far.
        """
        if not self.is_bounded:
            return None
        is_new = shape not in self._known
        self._known.add(shape)
        left = MOST_EVENTS - events if launches < MOST_LAUNCHES else 0
        if left > 0 or is_new:
            return max(left, MOST_EVENTS // PART)
        self.left_out += 1
        return 0

    @property
    def words(self) -> list[str]:
        """What a reader of the trace must know."""
        if not self.left_out:
            return []
        ends = f"{MOST_EVENTS // 10**6} million events or {MOST_LAUNCHES:,} launches"
        which = f"{self.left_out:,} later launches of the same kernels and sizes"
        return [f"{which} ran, but are not in the trace, which has at most {ends}, about (simtmm record has no limit)"]
