"""Measured times that stand beside a study's points: those of the same kernel, machine and parameters."""

from pathlib import Path
from statistics import median
from typing import Any

from simtmm.measurement.timings import Timing, load_timings, matching
from simtmm.study.layout import MACHINE_AXIS
from simtmm.study.plan import Plan, Point


def measured_times(made: Plan) -> dict[str, dict[str, Any]]:
    """Of each point that was measured: seconds, cycles and how many times were told, by key.

    The files are those of timings.py; of several times the median is taken. A machine whose keys a study changes is
    not the one that was measured, and has none. Raises StudyError.
    """
    times = [time for path in made.measured for time in load_timings(path)]
    found = {}
    for point in made.points:
        told = [times[index] for index in _own(made, point, times)]
        if told and point.machine is not None:
            seconds, clock = median(time.seconds for time in told), point.machine.clock_hz
            found[point.key] = {
                "seconds": seconds,
                "cycles": None if clock is None else seconds * clock,
                "times": len(told),
                "origin": told[0].origin,
            }
    return found


def _own(made: Plan, point: Point, times: list[Timing]) -> list[int]:
    given = str(point.axes.get(MACHINE_AXIS, next(iter(made.machines))))
    if point.machine is None or point.machine.digest() != made.machines[given].digest():
        return []
    return matching(times, made.program.name, point.parameters, {point.machine.name, Path(given).stem, given})
