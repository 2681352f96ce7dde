"""Over time: warps that are there, wait for a port, or have one; bandwidth and hits; in so many stretches of a run."""

from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.analysis.bandwidth import OverTime
from simtmm.analysis.bandwidth import over_time as bandwidth_over_time
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
    passing = bandwidth_over_time(machine, result, MOST_POINTS)
    return {
        "whole": result.cycles if result.seconds is None else result.seconds,
        "unit": "cycles" if result.seconds is None else "s",
        "most": machine.warps_per_group,
        "groups": groups,
        "series": {
            name: [float(f"{value:.4g}") for value in warps(timeline, chosen, result.ticks, points) / groups]
            for name, chosen in series.items()
        },
        "passing": passing and _passing(passing, result.ticks),
    }


def _passing(over_time: OverTime, ticks: int) -> dict[str, Any]:
    """ends: of stretches, as parts of the run. bandwidth, peaks, hits: by name; no hits where nothing came."""
    return {
        "ends": [float(f"{end / ticks:.6g}") for end in over_time.edges[1:].tolist()],
        "bandwidth": {name: [float(f"{value:.4g}") for value in own] for name, own in over_time.bandwidth.items()},
        "peaks": dict(over_time.peaks),
        "hits": {
            name: [None if np.isnan(value) else float(f"{value:.4g}") for value in own]
            for name, own in over_time.hits.items()
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
