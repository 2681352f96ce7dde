"""Counters of bandwidth and of hits: means over stretches of a run."""

from collections.abc import Sequence

import numpy as np

from simtmm.analysis.bandwidth import over_time
from simtmm.machine import Machine
from simtmm.report.trace_events.events import FIRST_GROUP, PARTS, TRAFFIC, Events
from simtmm.result import Result

MOST_MEANS = 200
MOST_COUNTERS = 5  # three levels and two caches
Counter = tuple[str, str]  # name and unit


def process_of(machine: Machine) -> int:
    """The process of these counters, behind those of core groups."""
    return FIRST_GROUP + machine.cores.groups


def traffic_of(machine: Machine, result: Result, begin: int, end: int, room: int) -> tuple[Events, Sequence[Counter]]:
    """At most so many events that lie in the chosen ticks, and what `Events.look` of them stands for.

    A counter of hits has an event where any load comes there. There are none without room for a mean of each.
    """
    nothing = np.empty(0, np.int64)
    tracks = [Events.of(TRAFFIC, nothing, nothing, process_of(machine), 0, 0)]
    averages = over_time(machine, result, min(MOST_MEANS, room // MOST_COUNTERS)) if room >= MOST_COUNTERS else None
    if averages is None:
        return tracks[0], ()
    has_clock = result.clock_hz is not None
    rate = ("GB/s", 1e-9) if has_clock else ("bytes/cycle", 1.0)
    counters = [(f"bandwidth, {name}", rate, own) for name, own in averages.bandwidth.items()]
    counters += [(f"{name} hits", ("%", 100.0), own) for name, own in averages.hits.items()]
    first = np.maximum(averages.edges[:-1], begin)
    inside = (averages.edges[:-1] < end) & (averages.edges[1:] > begin)
    for number, (_, (_, factor), own) in enumerate(counters):
        chosen = inside & ~np.isnan(own)
        values = np.rint(PARTS * factor * own[chosen]).astype(np.int64)
        tracks.append(Events.of(TRAFFIC, first[chosen], first[chosen], process_of(machine), 0, number, values))
    return Events.together(*tracks), [(name, unit) for name, (unit, _), _ in counters]
