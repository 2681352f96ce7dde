"""A result's timeline, and how many of its intervals hold at each tick."""

import numpy as np
import numpy.typing as npt

from simtmm.errors import SimtmmError
from simtmm.result import Result
from simtmm.timeline import Timeline

Integers = npt.NDArray[np.int64]


def timeline_of(result: Result) -> Timeline:
    """The timeline of a result. Raises SimtmmError if it was simulated without one."""
    if result.timeline is None:
        raise SimtmmError("invariants: the result has no timeline: simulate(..., timeline=True)")
    return result.timeline


def edges(timeline: Timeline, rows: npt.NDArray[np.bool_]) -> Integers:
    """The ticks at which intervals begin or end, in ascending order, each once; nothing changes between two of them.

    rows: which intervals of the timeline count, shape (intervals,).
    """
    return np.unique(np.concatenate([timeline.begin[rows], timeline.end[rows]]))


def running(timeline: Timeline, rows: npt.NDArray[np.bool_], ticks: Integers) -> Integers:
    """How many intervals hold from each tick to the next, shape (len(ticks) - 1,).

    rows: which intervals of the timeline count, shape (intervals,).
    ticks: ascending ticks, among them each begin and end of those intervals; what `edges` gives.
    """
    change = np.zeros(max(1, len(ticks)), dtype=np.int64)
    np.add.at(change, np.searchsorted(ticks, timeline.begin[rows]), 1)
    np.add.at(change, np.searchsorted(ticks, timeline.end[rows]), -1)
    return np.cumsum(change)[:-1]
