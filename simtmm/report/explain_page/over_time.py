"""Warps over time: how many are there, wait for a port, or have one, in so many stretches of a run."""

from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.timeline import Timeline, WarpState

MOST_POINTS = 500


def over_time(machine: Machine, result: Result) -> dict[str, Any] | None:
    """For JSON: warps of a core group, on average over the groups and over each stretch; None without a timeline.

    whole: the run's length, in seconds or, without a clock, in cycles. most: warps that a group holds at most.
    """
    timeline = result.timeline
    if timeline is None or not result.ticks:
        return None
    points = min(MOST_POINTS, result.ticks)
    groups = machine.cores.groups
    everything = np.ones(len(timeline), bool)
    series = {
        "living": everything,
        "waiting for memory": timeline.state == WarpState.MEMORY,
        "ready": timeline.state == WarpState.READY,
        "issuing": timeline.state == WarpState.ISSUING,
    }
    return {
        "whole": result.cycles if result.seconds is None else result.seconds,
        "unit": "cycles" if result.seconds is None else "s",
        "most": machine.warps_per_group,
        "groups": groups,
        "series": {
            name: [float(f"{value:.4g}") for value in warps(timeline, chosen, result.ticks, points) / groups]
            for name, chosen in series.items()
        },
    }


def warps(timeline: Timeline, chosen: npt.NDArray[np.bool_], ticks: int, points: int) -> npt.NDArray[np.float64]:
    """How many warps are in the chosen intervals, on average over each of so many stretches of equal length."""
    edges: npt.NDArray[np.float64] = np.arange(points + 1, dtype=np.float64) * (ticks / points)
    spent = _before(timeline.begin[chosen], edges) - _before(timeline.end[chosen], edges)
    average: npt.NDArray[np.float64] = np.diff(spent) / np.diff(edges)
    return np.maximum(average, 0.0)  # what is left of a difference of large numbers


def _before(times: npt.NDArray[np.int64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The time that has gone by at each edge since those of the times that lie before it, summed."""
    stretch = np.clip(np.searchsorted(edges, times, side="left"), 0, len(edges))
    number = np.cumsum(np.bincount(stretch, minlength=len(edges) + 1))[: len(edges)]
    summed = np.cumsum(np.bincount(stretch, weights=times, minlength=len(edges) + 1))[: len(edges)]
    return number * edges - summed
