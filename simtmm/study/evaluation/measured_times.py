"""Measured times that stand beside a study's points: those of the same kernel, machine and parameters."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from simtmm.measurement.timings import Timing, load_timings, matching
from simtmm.study.design.design import MACHINE_AXIS, Design
from simtmm.study.design.points import Point

Measured = Mapping[str, Mapping[str, Any]]  # documents by a point's key


def measured_times(design: Design, points: Sequence[Point]) -> Measured:
    """Of each point that was measured: seconds, cycles and how many times there are, by key.

    The files are those of measurement/timings.py; of several times the median is taken. A machine whose keys a study
    changes is not the one that was measured, and has none. Raises StudyError.
    """
    times = [time for path in design.measured for time in load_timings(path)]
    found = {}
    for point in points:
        own = [times[index] for index in _own(design, point, times)]
        if own and point.machine is not None:
            seconds, clock = median(time.seconds for time in own), point.machine.clock_hz
            found[point.key] = {
                "seconds": seconds,
                "cycles": None if clock is None else seconds * clock,
                "times": len(own),
                "origin": own[0].origin,
            }
    return found


def _own(design: Design, point: Point, times: list[Timing]) -> list[int]:
    given = str(point.axes.get(MACHINE_AXIS, next(iter(design.machines))))
    if point.machine is None or point.machine.digest() != design.machines[given].digest():
        return []
    return matching(
        times, design.subject.of(point.axes).name, point.parameters, {point.machine.name, Path(given).stem, given}
    )
