"""Points: those that a study asks for, an object each, with a key of its content."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from simtmm.errors import KernelError, MachineError, ModelError, SimtmmError
from simtmm.machine import Machine
from simtmm.provenance import computed_by
from simtmm.study.design.axes import Value, product
from simtmm.study.design.design import MACHINE_AXIS, Design
from simtmm.study.design.rules import ENGINE, Rule
from simtmm.study.design.rules import KEY as RULE_KEY
from simtmm.watch import Watch

OFTEN = 256  # points between two calls of a watcher


@dataclass(frozen=True)
class Point:
    """One point of a study.

    axes: what was varied, by name.
    machine: None where the values were refused.
    key: of its content; two points with one key are one.
    skipped: why it is not computed; empty if it is.
    rule: that schedules, instead of the machine's own.
    """

    number: int
    axes: Mapping[str, Value]
    parameters: Mapping[str, Any]
    machine: Machine | None
    key: str
    skipped: str = ""
    rule: Rule | None = None


def points_of(design: Design, watch: Watch | None = None) -> tuple[Point, ...]:
    """The points of a study, in order: machines first, then axes as they stand, the last changing fastest.

    watch: called with ("planning", points made, points).

    A point whose machine or parameters are refused, or which does not meet a constraint, is stored as skipped. Raises
    StudyError, and the error of the first point where none can be computed.
    """
    maker = _Maker(design)
    points: list[Point] = []
    first_refusal: SimtmmError | None = None
    for name in design.machines:
        for values in product(design.groups):
            for more in design.drawn:
                if watch and len(points) % OFTEN == 0:
                    watch("planning", len(points), design.size)
                point, refusal = maker.point(len(points), name, {**values, **more})
                first_refusal = first_refusal or refusal
                if design.conditions and not refusal:
                    known = {
                        **point.parameters,
                        **(point.machine.values() if point.machine else {}),
                        **point.axes,
                    }
                    broken = next((one.text for one in design.conditions if not one.holds(known)), None)
                    if broken:
                        point = replace(point, skipped=f"does not meet {broken}")
                points.append(point)
    if first_refusal and all(point.skipped for point in points):
        raise first_refusal
    return tuple(points)


class _Maker:
    """Makes points; machines and parameters that occur again are built once."""

    def __init__(self, design: Design) -> None:
        self._subject, self._machines, self._changes = design.subject, design.machines, design.changes
        self._parameters, self._engine, self._named = design.study.parameters, design.engine, len(design.machines) > 1
        self._rules = design.rules
        self._more = design.by_sample.content if design.by_sample else []
        self._made: dict[str, Machine | dict[str, Any] | SimtmmError] = {}

    def point(self, number: int, name: str, values: Mapping[str, Value]) -> tuple[Point, SimtmmError | None]:
        """The point of these values on that machine; and the error for which it is skipped."""
        own = set(self._subject.parameters)
        of_machine = {**self._changes, **{key: value for key, value in values.items() if key not in own}}
        given = {**self._parameters, **{key: value for key, value in values.items() if key in own}}
        machine = self._once(["machine", name, of_machine], lambda: self._replaced(name, of_machine))
        parameters = self._once(["parameters", given], lambda: self._subject.resolve(given))
        axes = {**({MACHINE_AXIS: name} if self._named else {}), **values}
        refusal = next((outcome for outcome in (machine, parameters) if isinstance(outcome, SimtmmError)), None)
        if isinstance(machine, Machine) and isinstance(parameters, dict):
            of = self._subject.of(axes)
            rule = self._rules.get(str(of_machine.get(RULE_KEY)))
            engine, more = (ENGINE, rule.content()) if rule else (self._engine, self._more)
            key = point_key(of.digest, parameters, machine, engine, of.is_compiled, *more)
            return Point(number, axes, parameters, machine, key, rule=rule), None
        key = _digest([self._subject.digest, given, name, of_machine])
        return Point(number, axes, given, None, key, str(refusal)), refusal

    def _replaced(self, name: str, changes: Mapping[str, Any]) -> Machine:
        changes = {key: value for key, value in changes.items() if key != RULE_KEY or str(value) not in self._rules}
        if not changes:
            return self._machines[name]
        return self._machines[name].replace({key: None if value == "none" else value for key, value in changes.items()})

    def _once(self, what: list[Any], make: Any) -> Any:
        key = json.dumps(what, sort_keys=True, default=str)
        if key not in self._made:
            try:
                self._made[key] = make()
            except (MachineError, KernelError, ModelError) as error:
                self._made[key] = error
        return self._made[key]


def point_key(
    digest: str,
    parameters: Mapping[str, Any],
    machine: Machine,
    engine: str,
    compiled: bool,
    *more: object,
    sources: str | None = None,
) -> str:
    """What a store keeps a point by: a hash of all that decides its results.

    digest: of the content of what is run. compiled: whether it is compiled for the machine. more: what else decides.
    sources: of simtmm, as they were (computed_by); as they are if left out.
    """
    target = [f"compiled for {machine.compute_capability}"] if compiled else []  # which is not in the machine's digest
    if compiled:
        from simtmm.cuda.compilers.release import chosen_compilers  # late: most points are of what is written

        target += chosen_compilers()
    return _digest([digest, parameters, machine.digest(), engine, sources or computed_by(), *target, *more])


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:32]
