"""Sweep: compute the points of a study that its store does not have yet, and gather what came of all."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.errors import SimtmmError, StudyError
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.parallel.processes import Local
from simtmm.parallel.tasks import Executor, Serial, Task, cores
from simtmm.provenance import computed_by, provenance
from simtmm.recorder.compiler import find_compiler
from simtmm.study.measured_times import measured_times
from simtmm.study.plan import Plan, Point, plan_file
from simtmm.study.point import (
    compute,
    compute_algorithm,
    counted,
    counting_key,
    is_fatal,
    is_recorded,
    lowered_once,
    lowering_key,
    prune_traces,
    recorded,
    trace_key,
)
from simtmm.study.results import Study, gather
from simtmm.study.store.store import Store

Watch = Callable[[str, int, int | None], None]  # stage, done, total


@dataclass(frozen=True)
class Pending:
    """What is to be done: the first point of each key, and what it still lacks."""

    points: Mapping[str, Point]
    lacking: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.points)


def sweep(
    study: "str | Path | Plan",
    store: str | Path = ":memory:",
    workers: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Study:
    """Run a study, or what is left of it, and give all of it, in its order.

    study: a study file's path, or a plan. store: an SQLite file, made if it is not there; finished points in it are
    not run again, failed and damaged ones are. workers: processes on this machine, one for each core if left out; 1
    runs in this process. cluster: the address of a Dask scheduler (tcp://HOST:PORT), or local:N for N workers here.
    watch: called with (stage, points done, points to do).

    A script that calls this with several workers needs `if __name__ == "__main__":`, as with any process pool.
    Raises the errors of simtmm.errors; what goes wrong at a single point is kept as that point's failure.
    """
    made = study if isinstance(study, Plan) else plan_file(study)
    if workers is not None and workers < 1:
        raise StudyError(f"workers = {workers}: must be at least 1")
    elsewhere = None if cluster is None else _cluster(cluster)
    measured = measured_times(made) if made.measured else {}
    with Store(store) as opened:
        waiting = opened.mended(lambda: pending(made, opened))
        said = {
            "engine": made.engine,
            "workers": cluster or workers or "all cores",
            "points": len(waiting),
            "sources": computed_by(),
        }
        run = opened.begin(made, {**provenance(), **said})
        for key, document in measured.items():
            opened.put(key, {MEASURED: document}, {}, run)
        opened.forget_failures(waiting.points)
        tasks = tasks_of(made, waiting)
        if tasks:
            traces = _traces(made, waiting)
            prune_traces({trace_key(*trace) for trace in traces})
            if not all(is_recorded(*trace) for trace in traces):
                find_compiler()  # its absence is told once, not for each point
            _run(elsewhere or _here(made, len(waiting), workers), tasks, opened, run, len(waiting), watch)
        return gather(made, opened, verify=bool(tasks))  # where nothing was to be done they were verified just now


def pending(made: Plan, store: Store) -> Pending:
    """The points that are neither in the store nor skipped, and what they lack."""
    finished, skipped = store.finished(), store.skipped()
    wanted = [quantity for quantity in made.compute if quantity != MEASURED]
    points: dict[str, Point] = {}
    lacking: dict[str, tuple[str, ...]] = {}
    for point in made.points:
        missing = tuple(quantity for quantity in wanted if quantity not in finished.get(point.key, ()))
        if missing and not point.skipped and point.key not in skipped:
            points.setdefault(point.key, point)
            lacking[point.key] = missing
    return Pending(points, lacking)


def _cluster(where: str) -> Executor:
    from simtmm.parallel.dask import Cluster  # Dask is an extra

    return Cluster(where)


def _here(made: Plan, points: int, workers: int | None) -> Executor:
    number = min(cores() if workers is None else workers, points)
    if number == 1 or made.program.kind == "algorithm":  # closed forms take less time than the handing over
        return Serial()
    return Local(number)


def _run(executor: Executor, tasks: dict[Task, str], store: Store, run: int, total: int, watch: Watch | None) -> None:
    """Compute, and commit each point as it comes."""
    done = 0
    if watch:
        watch("points", 0, total)
    with closing(executor.run(list(tasks))) as outcomes:
        for task, outcome in outcomes:
            key = tasks[task]
            if isinstance(outcome, SimtmmError):
                if is_fatal(outcome):
                    raise outcome
                store.put(key, {}, {"": str(outcome)}, run)
            elif outcome.skipped:
                store.skip(key, outcome.skipped, run)
            else:
                store.put(key, outcome.results, outcome.errors, run, outcome.seconds)
            done += 1
            if watch:
                watch("points", done, total)


def tasks_of(made: Plan, waiting: Pending) -> dict[Task, str]:
    """All calls that are needed, each behind those it needs, with the keys of the points that they compute.

    Recording comes once for each set of kernel parameters, lowering once for each (W, C) of those, and counting once
    for each machine that differs in what counts.
    """
    program, engine = made.program, made.engine
    tasks: dict[Task, str] = {}
    shared: dict[tuple[str, ...], Task] = {}

    def once(key: tuple[str, ...], *task: Any, here: bool = False) -> Task:
        if key not in shared:
            function, *arguments = task
            shared[key] = Task(function, tuple(arguments), here=here)
            tasks[shared[key]] = ""
        return shared[key]

    for key, point in _by_trace(waiting.points):
        machine, quantities = point.machine, waiting.lacking[key]
        assert machine is not None
        if program.kind == "algorithm":
            task = Task(compute_algorithm, (program.source, machine, point.parameters, quantities), wanted=True)
            tasks[task] = key
            continue
        of = repr(sorted(point.parameters.items()))
        if program.kind == "trace":
            trace = once(("trace",), Path, program.source, here=True)
        else:
            given = (program.source, program.digest, dict(point.parameters))
            trace = once(("trace", of), recorded, *given, here=True)
        workload = once(("lower", of, lowering_key(machine)), lowered_once, trace, machine)
        counts = None
        if any(quantity != SIMULATED for quantity in quantities):
            counts = once(("count", of, counting_key(machine)), counted, trace, workload, machine)
        tasks[Task(compute, (trace, workload, counts, machine, quantities, engine), wanted=True)] = key
    return tasks


def _traces(made: Plan, waiting: Pending) -> list[tuple[str, str, dict[str, Any]]]:
    """The traces that are needed of a kernel, as `recorded` takes them."""
    if made.program.kind != "kernel":
        return []
    source, digest = made.program.source, made.program.digest
    different = {repr(sorted(point.parameters.items())): point.parameters for point in waiting.points.values()}
    return [(source, digest, dict(parameters)) for parameters in different.values()]


def _by_trace(points: Mapping[str, Point]) -> Iterator[tuple[str, Point]]:
    """Points of one trace together, so that few traces are in hand at once; else in the plan's order."""
    groups: dict[str, list[tuple[str, Point]]] = {}
    for key, point in points.items():
        groups.setdefault(repr(sorted(point.parameters.items())), []).append((key, point))
    for group in groups.values():
        yield from group
