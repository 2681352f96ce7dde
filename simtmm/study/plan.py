"""Plan: the points that a study asks for, each with a key of its content."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from simtmm.engine import ENGINES
from simtmm.errors import KernelError, MachineError, ModelError, SimtmmError, StudyError, nearest
from simtmm.kernel import kernel_folders
from simtmm.machine import Machine, load_machine, machine_files
from simtmm.machine.spec import units
from simtmm.model import MODELS
from simtmm.model.algorithms import ALGORITHMS
from simtmm.provenance import VERSION
from simtmm.study.axes import Axis, Value, axis, flattened, product, sample, size, span
from simtmm.study.constraints import constraint
from simtmm.study.program import Program, program
from simtmm.study.study_file import StudyFile

SIMULATED, MEASURED = "simulated", "measured"
OF_ALGORITHMS = ("tmm", "pram")
DEFAULT_COMPUTE = (SIMULATED, "tmm", "tmm-warps")
MACHINE_AXIS = "machine"
MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Point:
    """One point of a study.

    axes: what was varied, by name. key: of its content; two points with one key are one. machine: None where the
    values were refused. skipped: why it is not computed; empty if it is.
    """

    number: int
    axes: Mapping[str, Value]
    parameters: Mapping[str, Any]
    machine: Machine | None
    key: str
    skipped: str = ""


@dataclass(frozen=True)
class Plan:
    """What a study computes.

    machines: as they are without changes, by the names that the study has for them. axes: the names of all, in order.
    grid: those that are crossed with one another, linked ones together. sampled: those that are drawn. compute: names
    of quantities: "simulated", models, "measured".
    """

    study: StudyFile
    program: Program
    machines: Mapping[str, Machine]
    axes: tuple[str, ...]
    compute: tuple[str, ...]
    points: tuple[Point, ...]
    grid: tuple[tuple[str, ...], ...] = ()
    sampled: tuple[str, ...] = ()
    measured: tuple[Path, ...] = ()

    @property
    def engine(self) -> str:
        """The engine that simulates."""
        return self.study.engine

    def located(self) -> StudyFile:
        """The study with whole paths, so that it means the same wherever it is read again."""
        machines = [str(Path(name).resolve()) if Path(name).is_file() else name for name in self.machines]
        measured = [str(path.resolve()) for path in self.measured]
        return self.study.model_copy(
            update={"program": self.program.source, "machines": machines, "measured": measured}
        )


def plan(study: StudyFile, folder: Path | None = None) -> Plan:
    """The points of a study, in order: machines first, then axes as they stand, the last changing fastest.

    folder: from which paths in the study are told, where there is such a file. A point whose machine or parameters
    are refused, or which does not meet a constraint, is kept as skipped. Raises StudyError, and the error of the
    first point where none can be computed.
    """
    ran = program(_beside(study.program, folder, {*kernel_folders(), *ALGORITHMS}), study.kind)
    names = [_beside(name, folder, machine_files()) for name in study.machines]
    machines = {name: load_machine(name) for name in names}
    compute = _quantities(study, ran)
    groups = _groups(study, ran)
    spans = [span(name, given, _whole(name, ran)) for name, given in _table(study.sample.axes if study.sample else {})]
    varied = [entry.name for group in groups for entry in group] + [entry.name for entry in spans]
    _check_names(study, ran, varied)
    drawn: list[dict[str, Value]] = [{}]
    if study.sample:
        if not spans:
            raise StudyError("sample.axes: must have at least one axis")
        drawn = sample(spans, study.sample.points, study.sample.method, study.sample.seed)
    number = len(machines) * size(groups) * len(drawn)
    if number > MOST_POINTS:
        raise StudyError(f"study: {number} points: must be at most {MOST_POINTS}")
    conditions = [constraint(text) for text in study.constraints]
    maker = _Maker(ran, machines, flattened(study.changes), study.parameters, study.engine, len(machines) > 1)
    points: list[Point] = []
    first_refusal: SimtmmError | None = None
    for name in machines:
        for values in product(groups):
            for more in drawn:
                point, refusal = maker.point(len(points), name, {**values, **more})
                first_refusal = first_refusal or refusal
                if not refusal:
                    said = {**point.parameters, **(point.machine.values() if point.machine else {}), **point.axes}
                    broken = next((one.text for one in conditions if not one.holds(said)), None)
                    if broken:
                        point = Point(
                            point.number,
                            point.axes,
                            point.parameters,
                            point.machine,
                            point.key,
                            f"does not meet {broken}",
                        )
                points.append(point)
    if first_refusal and all(point.skipped for point in points):
        raise first_refusal
    grid: list[tuple[str, ...]] = [(MACHINE_AXIS,)] if len(machines) > 1 else []
    grid += [tuple(entry.name for entry in group) for group in groups]
    sampled = tuple(entry.name for entry in spans)
    axes = (*(name for group in grid for name in group), *sampled)
    measured = tuple(Path(_beside(name, folder, ())) for name in study.measured)
    return Plan(study, ran, machines, axes, compute, tuple(points), tuple(grid), sampled, measured)


def whole_key(key: str) -> bool:
    """Whether a machine's key takes only whole numbers."""
    model: type[BaseModel] = Machine
    *parents, last = key.split(".")
    for parent in parents:
        kinds = [model.model_fields[parent].annotation, *get_args(model.model_fields[parent].annotation)]
        model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    annotation = model.model_fields[last].annotation
    inner = [get_args(kind)[0] if get_args(kind) else kind for kind in get_args(annotation)]
    return int in (annotation, *inner)


def is_machine_key(name: str) -> bool:
    """Whether a study can vary that key of a machine."""
    return name in units() and name not in ("name", "description", "sources")


class _Maker:
    """Makes points; machines and parameters that occur again are made once."""

    def __init__(
        self,
        ran: Program,
        machines: Mapping[str, Machine],
        changes: Mapping[str, Any],
        parameters: Mapping[str, Any],
        engine: str,
        named: bool,
    ) -> None:
        self._program, self._machines, self._changes = ran, machines, changes
        self._parameters, self._engine, self._named = parameters, engine, named
        self._made: dict[str, Machine | dict[str, Any] | SimtmmError] = {}

    def point(self, number: int, name: str, values: Mapping[str, Value]) -> tuple[Point, SimtmmError | None]:
        """The point of these values on that machine; and the error for which it is skipped."""
        own = set(self._program.parameters)
        of_machine = {**self._changes, **{key: value for key, value in values.items() if key not in own}}
        given = {**self._parameters, **{key: value for key, value in values.items() if key in own}}
        machine = self._once(["machine", name, of_machine], lambda: self._replaced(name, of_machine))
        parameters = self._once(["parameters", given], lambda: self._program.resolve(given))
        axes = {**({MACHINE_AXIS: name} if self._named else {}), **values}
        refusal = next((made for made in (machine, parameters) if isinstance(made, SimtmmError)), None)
        if isinstance(machine, Machine) and isinstance(parameters, dict):
            key = _digest([self._program.digest, parameters, machine.digest(), self._engine, VERSION])
            return Point(number, axes, parameters, machine, key), None
        key = _digest([self._program.digest, given, name, of_machine])
        return Point(number, axes, given, None, key, str(refusal)), refusal

    def _replaced(self, name: str, changes: Mapping[str, Any]) -> Machine:
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


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _quantities(study: StudyFile, ran: Program) -> tuple[str, ...]:
    known = OF_ALGORITHMS if ran.kind == "algorithm" else (SIMULATED, *MODELS)
    compute = study.compute or (OF_ALGORITHMS if ran.kind == "algorithm" else DEFAULT_COMPUTE)
    for name in compute:
        if name == MEASURED and not study.measured:
            raise StudyError("compute: 'measured' needs a file of measured times (key `measured`)")
        if name != MEASURED and name not in known:
            raise StudyError(f"compute: {name!r}: unknown for {ran.kind} {ran.name}{nearest(name, known)}")
    if study.engine not in ENGINES:
        raise StudyError(f"engine {study.engine!r}: unknown{nearest(study.engine, ENGINES)}")
    also = (MEASURED,) if study.measured else ()
    return tuple(dict.fromkeys((*compute, *also)))


def _groups(study: StudyFile, ran: Program) -> list[list[Axis]]:
    groups = [[axis(name, given, _whole(name, ran))] for name, given in _table(study.axes)]
    for table in study.linked:
        if not table:
            raise StudyError("linked: must have at least one axis")
        groups.append([axis(name, given, _whole(name, ran), unique=False) for name, given in _table(table)])
    return groups


def _table(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(flattened(table).items())


def _whole(name: str, ran: Program) -> bool:
    if name in ran.parameters:
        return ran.whole(name)
    return is_machine_key(name) and whole_key(name)


def _check_names(study: StudyFile, ran: Program, varied: list[str]) -> None:
    """Every name must be known, and be given once."""
    for name in varied:
        if name not in ran.parameters and not is_machine_key(name):
            known = [*ran.parameters, *filter(is_machine_key, units())]
            raise StudyError(
                f"axis {name}: neither a machine's key nor a parameter{nearest(name, known, ran.parameters)}"
            )
        if varied.count(name) > 1:
            raise StudyError(f"axis {name}: is there twice")
        if name in study.parameters or name in flattened(study.changes):
            raise StudyError(f"axis {name}: has a fixed value as well")
    for name in study.parameters:
        if name not in ran.parameters:
            raise StudyError(f"{ran.kind} {ran.name}: parameter {name!r}: unknown{nearest(name, ran.parameters)}")


def _beside(name: str, folder: Path | None, known: Collection[str]) -> str:
    """A path in a study file is told from the file's folder; known names, and what is not there, stay as they are."""
    if folder is None or name in known or not (folder / name).exists():
        return name
    return str(folder / name)
