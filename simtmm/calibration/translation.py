"""Address translation in a pointer chase: the reach of the TLB, and the cost of a miss.

A chase in random order over n pages finds the translations of e of them, as many as there is room for, so a step takes
(1 - e / n) times longer what fetching one takes (docs/machine.md, section 4). Such a rise goes on for octaves, unlike
the climb to another cache or memory: two levels of the curve are the same memory, before and behind the reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from simtmm.calibration.latency_levels import LatencyCurve, Level, Numbers
from simtmm.calibration.values import Value

PAGE = 1 << 21  # bytes, an assumption: a chase shows only the product of entries and page
SAME_MEMORY = 1.25  # a level that is slower by no more may be the one before it behind the reach
CLOSE = 0.015  # root mean square of what the rise leaves of the latency, at most
LEAST_RISE = 0.05  # of the latency
LEAST_PLATEAU = 1.25  # last size over first of what lies before the reach, as of a level
BEFORE = 4  # of the level before the reach, buffers down to a quarter of its largest count


@dataclass(frozen=True)
class Translation:
    """reach: bytes whose translations are there. miss: cycles that another one takes. latency: cycles before the reach.
    first, last: bytes, the buffers that show it.
    """

    reach: int
    miss: float
    latency: float
    first: float
    last: float

    def __str__(self) -> str:
        return (
            f"a TLB whose {self.reach / 2**20:g} MiB of reach and miss of {self.miss:.1f} cycles would explain why the "
            f"latency rises above {self.latency:.1f} cycles"
        )

    def of(self, size: float) -> float:
        """Cycles that translations add to a step of a chase over so many bytes."""
        return self.miss * max(0.0, 1 - self.reach / size)


def find_translation(curve: LatencyCurve, levels: Sequence[Level]) -> Translation | None:
    """The farthest rise that translations explain; None where no two levels are one memory's."""
    found = None
    for near, far in pairwise(levels):
        if far.latency <= SAME_MEMORY * near.latency:
            found = _fitted(curve, near, far) or found
    return found


def translation_values(found: Translation, called: str) -> list[Value]:
    """The TLB of a machine. called: the measurement."""
    note = f"rise for buffers from {found.first / 2**20:.3g} to {found.last / 2**20:.3g} MiB as 1 - reach / buffer"
    reach = f"{found.reach / 2**20:g} MiB are reached"
    return [
        Value("memory.tlb.entries", found.reach // PAGE, "pages", called, f"{note}: {reach}"),
        Value("memory.tlb.page", PAGE, "bytes", called, "assumption: only entries times page is measured", False),
        Value("memory.tlb.miss", round(found.miss, 1), "cycles", called, note),
    ]


def _fitted(curve: LatencyCurve, near: Level, far: Level) -> Translation | None:
    """The reach and the miss that leave least of the latencies of both levels and between them."""
    first = max(near.first, near.last / BEFORE)
    shown = (curve.sizes >= first) & (curve.sizes <= far.last)
    sizes, latencies = curve.sizes[shown], curve.latencies[shown]
    best, least = None, (CLOSE * near.latency) ** 2
    for reach in range(PAGE, int(far.first) + 1, PAGE):
        rise = np.maximum(0.0, 1 - reach / sizes)
        latency, miss, left = _line(rise, latencies)
        if left < least and miss >= LEAST_RISE * latency and reach >= LEAST_PLATEAU * first:
            best, least = Translation(reach, miss, latency, first, far.last), left
    return best


def _line(rise: Numbers, latencies: Numbers) -> tuple[float, float, float]:
    """A straight line by least squares: its value at 0, its slope, and the mean square of what it leaves."""
    slope = float(np.cov(rise, latencies, bias=True)[0, 1] / max(np.var(rise), 1e-12))
    begin = float(latencies.mean() - slope * rise.mean())
    return begin, slope, float(np.mean((begin + slope * rise - latencies) ** 2))
