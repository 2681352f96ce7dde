"""How the time of what differs goes up with its work: not at all, in proportion, or along a line."""

from dataclasses import dataclass

from simtmm.sampling.differing.signature import Floats

EQUAL = 0.02  # by which work may differ, as a part of it, and be taken to be equal
LINE = 4  # values that tell a line; of fewer, time is taken to be proportional


@dataclass(frozen=True)
class Trend:
    """Ticks are base + slope * work. parameters: how many of the two were fitted."""

    base: float
    slope: float
    parameters: int


def trend(work: Floats, ticks: Floats) -> Trend:
    """The trend of ticks with work, an entry each; time that goes down as work goes up is taken to be the same."""
    mean, at = float(ticks.mean()), float(work.mean())
    proportional = Trend(0.0, mean / max(1e-300, at), 1)
    if float(work.max() - work.min()) <= EQUAL * at:
        return Trend(mean, 0.0, 1)
    if len(work) < LINE:
        return proportional
    slope = float(((work - at) * (ticks - mean)).sum() / ((work - at) ** 2).sum())
    base = mean - slope * at
    if slope <= 0:
        return Trend(mean, 0.0, 2)
    return Trend(0.0, proportional.slope, 2) if base < 0 else Trend(base, slope, 2)
