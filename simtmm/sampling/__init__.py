"""A program's time from a sample of its blocks and launches, with the interval in which it lies (docs/sampling.md).

stretches   which blocks of a launch          sample         these as a trace of their own
sources     where blocks come from            recording      recorded as they are asked for
simulation  a sample simulated                interval       of what few values say
strata      launches that are alike           paces, trend   what others take, by their work
program     strata of launches, and more of both until the interval is met
extrapolation  results and counts of a sample as those of the whole
sampled     a kernel or a program by all of these, or why not

What is asked of a sample stands here, for commands that take none.
"""

from simtmm.errors import EngineError, nearest, shown
from simtmm.sampling.interval import SYSTEMATIC

AUTO = "auto"
DEFAULT_ERROR = 0.03  # of the time, 95 % of the time
LEAST_ERROR = SYSTEMATIC
PART = "simulating a part of a wave"  # a stage, as progress calls it


def check_sample(sample: object, error: object, engine: str, timeline: bool = False) -> None:
    """Raise EngineError for options that a sample does not support. engine, timeline: as `simtmm.run` has them.

    sample: what was given as `sample`, such as "auto".
    error: half of the requested interval, as a fraction of the time.
    """
    if sample != AUTO:
        raise EngineError(f"sample = {shown(sample)}: must be {AUTO!r}{nearest(str(sample), [AUTO])}")
    if not isinstance(error, (int, float)) or isinstance(error, bool) or not LEAST_ERROR < error < 1:
        raise EngineError(
            f"error = {shown(error)}: must be above {LEAST_ERROR:g}, because repetitions can't show a smaller error, "
            "and "
            "below 1"
        )
    if engine not in ("fast", "auto"):
        raise EngineError(f"engine {engine!r}: can't simulate samples: only 'fast' can")
    if timeline:
        raise EngineError("timeline: needs all blocks: leave out --sample or the timeline")
