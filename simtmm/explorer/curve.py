"""The time over what is being dragged: simulated around the present point, with the TMM, the knee and the threshold.

Points come from the nearest outwards, so that what a person looks at is there first. The knee is that of studies
(simtmm.study.curves.bend). The TMM's threshold is where the term that binds changes (Eq (3.2)), found along the curve
by bisection of the closed form, which takes no simulation.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log, sqrt
from typing import Any

import numpy as np

from simtmm.errors import SimtmmError, shown_error
from simtmm.explorer.controls import BY_NAME, Control, Value, changed
from simtmm.explorer.programs import Programs
from simtmm.explorer.simulation import (
    Ready,
    cycles,
    estimated_cycles,
    prepare,
    sample,
    work_of,
)
from simtmm.explorer.state import PARAMETER, Configuration
from simtmm.machine import Machine
from simtmm.model import predict
from simtmm.parameter import Parameter
from simtmm.study.curves import bend
from simtmm.watch import Watch, telling, watched
from simtmm.workload import Workload

MODEL = "tmm"
POINTS = 17
POINTS_OF_PARAMETER = 7  # an odd number; each is recorded anew
FURTHEST = 8.0  # times a parameter's present value: a kernel's time may grow with its cube
BISECTIONS = 30
WORK = 3_000_000  # operations and chunks that a whole curve may take: less than a second


@dataclass(frozen=True)
class Point:
    """What is known at a value. cycles: None where the machine or kernel refuses it, with the reason."""

    value: Value
    cycles: float | None
    model: float | None
    bound: str = ""
    refused: str = ""


@dataclass(frozen=True)
class Curve:
    """The points so far, in the order of values.

    name: what they are over. present: the value now. part: of the program that was simulated, below 1 for a sample.
    """

    name: str
    present: Value
    points: tuple[Point, ...]
    part: float
    whole: bool
    knee: float | None = None
    threshold: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For the page."""
        return {
            "name": self.name,
            "present": self.present,
            "values": [point.value for point in self.points],
            "simulated": [point.cycles for point in self.points],
            "model": [point.model for point in self.points],
            "refused": [point.refused for point in self.points],
            "part": self.part,
            "whole": self.whole,
            "knee": self.knee,
            "threshold": self.threshold,
        }


def curves(programs: Programs, ready: Ready, drag: str, watch: Watch | None = None) -> Iterator[Curve]:
    """The curve as it grows, ever more points of it, and at last whole. Raises Superseded, from the watch.

    drag: a control's name, or a parameter's behind `p.`. A name that is neither has no curve.
    """
    if drag.startswith(PARAMETER):
        parameters = programs.parameters(ready.configuration.program)
        parameter = parameters.get(drag.removeprefix(PARAMETER))
        if parameter is None:
            return
        present = ready.program.parameters.get(drag.removeprefix(PARAMETER), parameter.default)
        values = values_of_parameter(parameter, present)
    elif drag in BY_NAME:
        control = BY_NAME[drag]
        own = control.own(ready.machine)
        present = control.absent if own is None else own
        values = values_of_control(control, ready.base, ready.machine)
    else:
        return
    found: dict[Value, Point] = {}
    part = 1.0
    for count, value in enumerate(_outwards(values, present), start=1):
        point, part = _point(programs, ready, drag, value, len(values), watch)
        found[value] = point
        if count in (1, len(values)) or count % 4 == 0:
            points = tuple(found[each] for each in values if each in found)
            curve = Curve(drag, present, points, part, count == len(values))
            yield _with_marks(curve, ready) if curve.whole else curve


def values_of_control(control: Control, base: Machine, machine: Machine) -> list[Value]:
    """Values along a control's range on the unmodified machine, and the present one."""
    values, present = control.values(base, POINTS), control.own(machine)
    if not isinstance(present, float | int) or any(_is_same(value, present) for value in values):
        return values
    return sorted([*values, float(present)])


def values_of_parameter(parameter: Parameter, present: Value) -> list[Value]:
    """Values of a kernel's parameter about the present one: its choices, or equal ratios as far as is allowed."""
    if parameter.choices is not None:
        return list(parameter.choices)
    if isinstance(present, str):
        return [present]
    base = max(float(present), 1.0)
    low = max(base / FURTHEST, parameter.minimum if parameter.minimum is not None else -np.inf)
    high = min(base * FURTHEST, parameter.maximum if parameter.maximum is not None else np.inf)
    low = max(low, 1.0 if isinstance(parameter.default, int) else low)
    if isinstance(parameter.default, int) and high - low <= 2 * POINTS_OF_PARAMETER:  # a few: each of them
        found: set[float] = {float(value) for value in range(int(low), int(high) + 1)}
    else:
        found = {base}
        step = FURTHEST ** (2 / (POINTS_OF_PARAMETER - 1))
        for power in range(1, POINTS_OF_PARAMETER // 2 + 1):
            found |= {value for value in (base / step**power, base * step**power) if low <= value <= high}
    if isinstance(parameter.default, int):
        # Neighbours show what goes by steps, as waves of blocks do
        near = {value for value in (int(present) - 1, int(present) + 1) if low <= value <= high}
        return sorted({round(value) for value in found} | {int(present)} | near)
    return sorted(found | {float(present)})


def _outwards(values: Sequence[Value], present: Value) -> list[Value]:
    """From the present value outwards."""
    if isinstance(present, str) or present <= 0:
        return sorted(values, key=lambda value: value != present)
    return sorted(
        values, key=lambda value: np.inf if isinstance(value, str) or value <= 0 else abs(log(value / present))
    )


def _point(
    programs: Programs, ready: Ready, drag: str, value: Value, number: int, watch: Watch | None
) -> tuple[Point, float]:
    """A point, and the part of the program that was simulated for it."""
    try:
        at = _moved(programs, ready, drag, value, watch)
        workload, machine = at.prepared.workload, at.machine
        with watched(watch):
            progress = telling("curve")
            if isinstance(workload, Workload) and work_of(workload) > WORK // number:
                some = sample(workload, machine, WORK // number)
                simulated, part = estimated_cycles(machine, some, progress), some.part
            else:
                simulated, part = cycles(machine, workload, progress), 1.0
        counts = at.prepared.counts
        if counts is None:
            return Point(value, simulated, None), part
        prediction = predict(MODEL, machine, counts)
        return Point(value, simulated, prediction.cycles, prediction.bound), part
    except SimtmmError as error:
        return Point(value, None, None, refused=shown_error(error)), 1.0


def _moved(programs: Programs, ready: Ready, drag: str, value: Value, watch: Watch | None) -> Ready:
    """The configuration with the dragged value at another place."""
    configuration = ready.configuration
    if drag.startswith(PARAMETER):
        parameters = {**configuration.parameters, drag.removeprefix(PARAMETER): str(value)}
        return prepare(programs, replace(configuration, parameters=parameters), watch)
    machine = changed(ready.base, with_control(configuration, drag, value))
    return replace(ready, machine=machine, prepared=ready.program.on(machine, telling_of(watch), places=True))


def telling_of(watch: Watch | None) -> Any:
    """What hears of lowering, where there is a watch."""
    return None if watch is None else lambda done, total: watch("lowering", done, total)


def with_control(configuration: Configuration, name: str, value: Value) -> Configuration:
    """The configuration with a control at a value."""
    text = value if isinstance(value, str) else f"{value:.12g}"
    controls: Mapping[str, str] = {**configuration.controls, name: text}
    return replace(configuration, controls=controls)


def _with_marks(curve: Curve, ready: Ready) -> Curve:
    """With the knee of the simulated curve, and the threshold of the model."""
    good = [(point.value, point.cycles) for point in curve.points if point.cycles and not isinstance(point.value, str)]
    knee = None
    if len(good) > 1:
        x, time = (np.array(column, dtype=float) for column in zip(*good, strict=True))
        found = bend(x, time) if (x > 0).all() else None
        knee = None if found is None else found.at
    return replace(curve, knee=knee, threshold=_threshold(curve, ready))


def _threshold(curve: Curve, ready: Ready) -> float | None:
    """Where another of the model's terms begins to bind: the nearest such place to the present value."""
    known = [point for point in curve.points if point.bound and not isinstance(point.value, str)]
    found: list[float] = []
    for before, after in pairwise(known):
        if before.bound != after.bound:
            found.append(_between(curve, ready, before, after))
    if not found:
        return None
    present = curve.present
    if isinstance(present, str) or present <= 0:
        return found[0]
    return min(found, key=lambda value: abs(log(value / present)))


def _between(curve: Curve, ready: Ready, before: Point, after: Point) -> float:
    """Where the bound changes between two points; halfway, in ratios, where only simulated points are at hand."""
    low, high = float(before.value), float(after.value)
    if curve.name.startswith(PARAMETER) or BY_NAME[curve.name].steps != "ratio":
        return sqrt(low * high)
    for _ in range(BISECTIONS):
        middle = sqrt(low * high)
        machine = changed(ready.base, with_control(ready.configuration, curve.name, middle))
        counts = ready.program.on(machine, places=True).counts
        assert counts is not None
        if predict(MODEL, machine, counts).bound == before.bound:
            low = middle
        else:
            high = middle
    return sqrt(low * high)


def _is_same(one: Value, other: Value) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))
