"""Tasks of a study: the calls that its points need, with what points share built once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.errors import StudyError
from simtmm.model.series import SIMULATED
from simtmm.parallel.tasks import Task
from simtmm.study.design.by_sample import BySample
from simtmm.study.design.design import Design
from simtmm.study.design.points import Point
from simtmm.study.design.subject import Subject
from simtmm.study.evaluation.recorded_traces import recorded
from simtmm.study.evaluation.steps import compute, compute_by_sample, counted, counting_key, lowered_once, lowering_key


@dataclass(frozen=True)
class Pending:
    """What is to be done: the first point of each key, and what it still lacks."""

    points: Mapping[str, Point]
    lacking: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.points)


def architecture_of(subject: Subject, point: Point) -> int | None:
    """What a kernel is compiled for at a point; None for what is not recorded as compiled. Raises CompilerError."""
    if not subject.of(point.axes).is_compiled:
        return None
    from simtmm.cuda.compilers import architecture_of as chosen

    assert point.machine is not None
    return chosen(point.machine).number


def recording_key(subject: Subject, point: Point) -> str:
    """The same for points that share a trace: of the same parameters, and compiled for the same architecture."""
    ran = subject.of(point.axes)
    return repr((ran.digest, sorted(point.parameters.items()), architecture_of(subject, point)))


def tasks_of(design: Design, waiting: Pending) -> dict[Task, str]:
    """All calls that are needed, each behind those it needs, with the keys of the points that they compute.

    Recording comes once for each set of kernel parameters and each architecture that is compiled for, lowering once for
    each (W, C) of those, and counting once for each machine that differs in what counts.
    """
    subject, engine = design.subject, design.engine
    tasks: dict[Task, str] = {}
    if design.by_sample is not None:
        return _of_samples(subject, waiting, design.by_sample)
    shared: dict[tuple[str, ...], Task] = {}

    def once(key: tuple[str, ...], *task: Any, here: bool = False) -> Task:
        if key not in shared:
            function, *arguments = task
            shared[key] = Task(function, tuple(arguments), here=here)
            tasks[shared[key]] = ""
        return shared[key]

    for key, point in _by_trace(subject, waiting.points):
        machine, quantities = point.machine, waiting.lacking[key]
        assert machine is not None
        of = recording_key(subject, point)
        ran = subject.of(point.axes)
        if ran.kind == "trace":
            trace = once(("trace", of), Path, ran.source, here=True)
        else:
            given = (ran.source, ran.files, dict(point.parameters), architecture_of(subject, point))
            trace = once(("trace", of), recorded, *given, here=True)
        workload = once(("lower", of, lowering_key(machine)), lowered_once, trace, machine)
        counts = None
        if any(quantity != SIMULATED for quantity in quantities):
            counts = once(("count", of, counting_key(machine)), counted, trace, workload, machine)
        arguments = (trace, workload, counts, machine, quantities, engine, point.rule)
        tasks[Task(compute, arguments, wanted=True)] = key
    return tasks


def _of_samples(subject: Subject, waiting: Pending, by: BySample) -> dict[Task, str]:
    """A call for each point, which records the sample that it needs."""
    if any(point.rule for point in waiting.points.values()):
        raise StudyError("sample_error: scheduling rules can't be sampled: leave out the sample or the rules")
    tasks: dict[Task, str] = {}
    for key, point in waiting.points.items():
        ran = subject.of(point.axes)
        parameters = None if ran.kind == "trace" else dict(point.parameters)
        given = (ran.source, parameters, point.machine, waiting.lacking[key], by)
        tasks[Task(compute_by_sample, given, wanted=True)] = key
    return tasks


def _by_trace(subject: Subject, points: Mapping[str, Point]) -> Iterator[tuple[str, Point]]:
    """Points of one trace together, so that few traces are in hand at once; else in the study's order."""
    groups: dict[str, list[tuple[str, Point]]] = {}
    for key, point in points.items():
        groups.setdefault(recording_key(subject, point), []).append((key, point))
    for group in groups.values():
        yield from group
