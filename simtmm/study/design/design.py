"""Design: what a study asks for, checked before any of its points is built: subject, machines, axes, quantities."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel

from simtmm.engine import ENGINES
from simtmm.errors import SimtmmError, StudyError, nearest, shown
from simtmm.files import is_file, is_there
from simtmm.machine import Machine, load_machine, machine_files
from simtmm.machine.spec import units
from simtmm.machine.spelled import factor_of, size_in_bytes
from simtmm.model import MODELS
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.recorder.sources import refuse_files
from simtmm.renamed import MACHINE_KEYS, PARAMETERS, renamed_with_notice
from simtmm.study.design.axes import Axis, Span, Value, axis, flattened, sample, size, span
from simtmm.study.design.by_sample import ENGINE, BySample
from simtmm.study.design.constraints import Constraint, constraint
from simtmm.study.design.programs import PROGRAM, Programs, several
from simtmm.study.design.rules import Rule
from simtmm.study.design.study_file import StudyFile, programs_of, read_study
from simtmm.study.design.subject import Subject, named_subject, typed_subject

OF_ALGORITHMS = ("tmm", "pram")
DEFAULT_COMPUTE = (SIMULATED, "tmm", "tmm-warps")
MACHINE_AXIS = "machine"
MOST_POINTS = 1_000_000
RULES = "rules"  # the key of a store's study that has the hashes of scheduling rules
DESCRIPTION = "kernel"  # the key of a store's study that describes the kernel that was run

Made = TypeVar("Made")


@dataclass(frozen=True)
class Design:
    """What a study computes, and over what.

    machines: as they are without changes, by the names that the study has for them. compute: names of quantities:
    "simulated", models, "measured". groups: the axes that are crossed with one another, linked ones together. spans,
    drawn: the sampled axes, and the values drawn of them; one empty draw where there are none. origin: the file that
    it is from, if any, for errors. rules: scheduling rules of a file, by name.
    """

    study: StudyFile
    subject: Subject
    machines: Mapping[str, Machine]
    compute: tuple[str, ...]
    groups: tuple[tuple[Axis, ...], ...]
    spans: tuple[Span, ...]
    drawn: tuple[Mapping[str, Value], ...]
    conditions: tuple[Constraint, ...]
    measured: tuple[Path, ...]
    origin: str = ""
    rules: Mapping[str, Rule] = field(default_factory=dict)

    @cached_property
    def crossed(self) -> tuple[tuple[str, ...], ...]:
        """The names of the axes that are crossed with one another, linked ones together."""
        machines = ((MACHINE_AXIS,),) if len(self.machines) > 1 else ()
        return (*machines, *(tuple(entry.name for entry in group) for group in self.groups))

    @cached_property
    def sampled(self) -> tuple[str, ...]:
        """The names of the axes that are drawn."""
        return tuple(entry.name for entry in self.spans)

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The names of all axes, in order."""
        return (*(name for group in self.crossed for name in group), *self.sampled)

    @property
    def size(self) -> int:
        """How many points there are."""
        return len(self.machines) * size(self.groups) * len(self.drawn)

    @property
    def engine(self) -> str:
        """The engine that simulates."""
        return self.study.engine

    @property
    def by_sample(self) -> BySample | None:
        """That samples are simulated, to within how much; None where points are simulated whole. Raises EngineError."""
        return None if self.study.sample_error is None else BySample(self.study.sample_error)

    @property
    def changes(self) -> dict[str, Any]:
        """What is changed of every machine, by dotted key."""
        return flattened(self.study.changes)

    def located(self) -> StudyFile:
        """The study with whole paths, so that it means the same wherever it is read again."""
        machines = [str(Path(name).resolve()) if is_file(name) else name for name in self.machines]
        measured = [str(path.resolve()) for path in self.measured]
        sources = self.subject.sources
        return self.study.model_copy(
            update={
                "program": sources[0] if len(sources) == 1 else sources,
                "kind": self.subject.kind if len(sources) == 1 else self.study.kind,
                "machines": machines,
                "measured": measured,
            }
        )

    def named(self, make: Callable[[], Made]) -> Made:
        """The result of `make`; the study's file, if there is one, named in errors."""
        return named(self.origin, make) if self.origin else make()

    def document(self) -> str:
        """What a store keeps of the study, as JSON: the study, `located`, and a kernel's description."""
        study = self.located().model_dump(mode="json", by_alias=True)
        description = self.subject.description()
        document = study if description is None else {**study, DESCRIPTION: description}
        rules = {name: rule.digest for name, rule in self.rules.items()}
        return json.dumps({**document, RULES: rules} if rules else document)


def design_of(study: StudyFile, folder: Path | None = None, ran: Subject | None = None) -> Design:
    """A study's design.

    folder: of the file that the study is from, which paths in it are relative to; the study is a user's own words if
    left out, and may name any kernel (simtmm.catalogue). ran: what the study runs, where that is known.
    study: the document.

    Raises the errors of simtmm.errors.
    """
    study = _with_new_names(study)
    is_stored = ran is not None  # by an earlier simtmm, it may be, which skipped what is refused now
    ran = ran or _subject(study, folder)
    names = [_beside(name, folder, machine_files()) for name in study.machines]
    machines = {name: load_machine(name) for name in names}
    compute = _quantities(study, ran)
    groups = _groups(study, ran)
    if isinstance(ran, Programs):
        groups = [[axis(PROGRAM, list(ran.each), False)], *groups]
    spans = [span(name, given, _whole(name, ran)) for name, given in _table(study.sample.axes if study.sample else {})]
    _check_plain([entry for group in groups for entry in group])
    _check_names(study, ran, [entry.name for group in groups for entry in group] + [entry.name for entry in spans])
    if not is_stored:
        _check_types(ran, [entry for group in groups for entry in group])
    drawn: list[dict[str, Value]] = [{}]
    if study.sample:
        if not spans:
            raise StudyError("sample.axes: must have at least one axis")
        drawn = sample(spans, study.sample.points, study.sample.method, study.sample.seed)
    design = Design(
        study=study,
        subject=ran,
        machines=machines,
        compute=compute,
        groups=tuple(map(tuple, groups)),
        spans=tuple(spans),
        drawn=tuple(drawn),
        conditions=tuple(constraint(text) for text in study.constraints),
        measured=tuple(Path(_beside(name, folder, ())) for name in study.measured),
    )
    if design.by_sample is not None and (ran.kind == "algorithm" or study.engine != ENGINE):
        what = f"algorithm {ran.name}" if ran.kind == "algorithm" else f"engine {study.engine!r}"
        raise StudyError(f"sample_error: {what}: can't be sampled: only kernels and traces on {ENGINE!r} can")
    if design.size > MOST_POINTS:
        raise StudyError(f"study: {design.size} points: must be at most {MOST_POINTS}")
    return design


def design_file(path: str | Path) -> Design:
    """The design of a study file. Raises the errors of `design_of`, the file named."""
    refuse_files(str(path), "sweep")
    study, folder = read_study(path)
    return replace(named(path, lambda: design_of(study, folder)), origin=str(path))


def named(where: str | Path, make: Callable[[], Made]) -> Made:
    """The result of `make`; the file is named in errors."""
    try:
        return make()
    except SimtmmError as error:
        raise type(error)(f"{where}: {error}") from None


def whole_key(key: str) -> bool:
    """Whether a machine's key takes only whole numbers.

    key: a dotted key.
    """
    return int in _kinds(key)


def _kinds(key: str) -> set[Any]:
    """The types of what a machine's key takes."""
    model: type[BaseModel] = Machine
    *parents, last = key.split(".")
    for parent in parents:
        kinds = [model.model_fields[parent].annotation, *get_args(model.model_fields[parent].annotation)]
        model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    annotation = model.model_fields[last].annotation
    inner = [get_args(kind)[0] if get_args(kind) else kind for kind in get_args(annotation)]
    return {*inner} or {annotation}


def is_machine_key(name: str) -> bool:
    """Whether a study can vary that key of a machine.

    name: a dotted key.
    """
    return name in units() and name not in ("name", "description", "family", "changes", "sources")


def _quantities(study: StudyFile, ran: Subject) -> tuple[str, ...]:
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


def _groups(study: StudyFile, ran: Subject) -> list[list[Axis]]:
    groups = [[axis(name, given, _whole(name, ran))] for name, given in _table(study.axes)]
    for table in study.linked:
        if not table:
            raise StudyError("linked: must have at least one axis")
        groups.append([axis(name, given, _whole(name, ran), unique=False) for name, given in _table(table)])
    return groups


def _table(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(flattened(table).items())


def _whole(name: str, ran: Subject) -> bool:
    if name in ran.parameters:
        return ran.whole(name)
    return is_machine_key(name) and whole_key(name)


def _check_plain(axes: Sequence[Axis]) -> None:
    """A machine's key takes plain values along an axis: multiples and sizes are for `set`, which knows the machine."""
    for entry in axes:
        for value in entry.values if is_machine_key(entry.name) else ():
            if factor_of(value) is not None or size_in_bytes(f"axis {entry.name}", value) is not None:
                raise StudyError(
                    f"axis {entry.name} = {value}: must be a plain number; multiples and sizes are for set"
                )


def _check_names(study: StudyFile, ran: Subject, varied: list[str]) -> None:
    """Every name must be known, and be given once."""
    for name in varied:
        if name not in ran.parameters and not is_machine_key(name):
            known = [*ran.parameters, *filter(is_machine_key, units())]
            raise StudyError(f"axis {name}: not a machine's key or a parameter{nearest(name, known, ran.parameters)}")
        if varied.count(name) > 1:
            raise StudyError(f"axis {name}: appears more than once")
        if name in study.parameters or name in flattened(study.changes):
            raise StudyError(f"axis {name}: also has a fixed value")
    for name in study.parameters:
        if name not in ran.parameters:
            raise StudyError(f"{ran.kind} {ran.name}: parameter {name!r}: unknown{nearest(name, ran.parameters)}")


def _check_types(ran: Subject, axes: Sequence[Axis]) -> None:
    """No value may be of another type than what it is for: what is out of range alone is skipped, a slip is not."""
    for entry in axes:
        for value in entry.values:
            own = entry.name in ran.parameters
            if allowed := ran.must_be(entry.name, value) if own else _key_must_be(entry.name, value):
                raise StudyError(f"axis {entry.name} = {shown(value)}: must be {allowed}")


def _key_must_be(key: str, value: Value) -> str:
    """In words what a machine's key must be that takes numbers alone, where the value can't be one; else ""."""
    if value == "none" or not isinstance(value, str | bool) or not _kinds(key) <= {int, float, type(None)}:
        return ""
    return "a whole number" if whole_key(key) else "a number"


def _with_new_names(study: StudyFile) -> StudyFile:
    """The study with names of machine keys and of a shipped kernel's parameters as they are now."""
    renamed = dict(MACHINE_KEYS)
    for name in programs_of(study):
        renamed |= PARAMETERS.get(Path(name).name, {})

    def new(where: str, table: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return renamed_with_notice(where, flattened(table), renamed)
        except ValueError as error:
            raise StudyError(f"{where}: {error}") from None

    sample_ = study.sample
    return study.model_copy(
        update={
            "parameters": new("parameters", study.parameters),
            "changes": new("set", study.changes),
            "axes": new("axes", study.axes),
            "linked": [new("linked", table) for table in study.linked],
            "sample": sample_ and sample_.model_copy(update={"axes": new("sample.axes", sample_.axes)}),
        }
    )


def _subject(study: StudyFile, folder: Path | None) -> Subject:
    """What a study runs; kernels that only a user can name are refused where it is from a file in a folder."""
    names = programs_of(study)
    if folder is None:
        return several([typed_subject(name, study.kind) for name in names])
    return several([named_subject(name, study.kind, Path(_beside(name, folder, ()))) for name in names])


def _beside(name: str, folder: Path | None, known: Collection[str]) -> str:
    """A path in a study file is relative to the file's folder; known names, and what is not there, stay unchanged."""
    if folder is None or name in known:
        return name
    try:
        return str(folder / name) if is_there(folder / name) else name
    except OSError:  # no path can be like that
        return name
