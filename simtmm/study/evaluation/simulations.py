"""Simulations: a study of a kernel or a trace, point by point, on cores or a cluster, each kept as it is done."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from time import perf_counter
from typing import Any

from simtmm.computer import cores
from simtmm.errors import SimtmmError
from simtmm.model.series import MEASURED
from simtmm.parallel.processes import Local
from simtmm.parallel.tasks import Executor, Serial, Task
from simtmm.recorder.compiler import find_compiler
from simtmm.study.design.design import Design
from simtmm.study.design.points import Point, points_of
from simtmm.study.evaluation.measured_times import Measured, measured_times
from simtmm.study.evaluation.recorded_traces import is_recorded, prune_traces, remove_half_traces, trace_key
from simtmm.study.evaluation.steps import Outcome, is_fatal
from simtmm.study.evaluation.tasks import Pending, architecture_of, recording_key, tasks_of
from simtmm.study.forecast import Estimate, Left
from simtmm.study.results import Results, Row, Status
from simtmm.study.store.store import Begin, Store
from simtmm.watch import Watch, tell, watched

NEEDED = (
    "simtmm.study.evaluation.steps",
    "simtmm.engine.fast",
)  # modules that workers read while others record for them
WARM = 2.0  # seconds: a first point that took less is timed again, as it has compiled and imported what others find


class Simulations:
    """The points of a study, computed by calls that share traces, workloads and counts."""

    def __init__(self, design: Design, watch: Watch | None = None) -> None:
        """watch: called with ("planning", points made, points). Raises the errors of `points_of`."""
        self.design = design
        self.points = points_of(design, watch)

    def compute(
        self,
        store: Store,
        begin: Begin,
        measured: Measured,
        workers: int | None = None,
        cluster: Executor | None = None,
        watch: Watch | None = None,
    ) -> Results:
        """Compute what the store lacks, and give all of it.

        begin: called with what the run says of itself and the points, gives the run's number in the store.
        measured: as `measured` gives it.
        workers: processes on this machine; one for each core if left out, and 1 is this process.
        cluster: what runs the tasks in their place.
        watch: called with ("points", done, to do).
        """
        waiting = store.mended(lambda: self._pending(store))
        run = begin({"engine": self.design.engine, "points": len(waiting)}, self.points)
        for key, document in measured.items():
            store.put(key, {MEASURED: document}, {}, run)
        store.forget_failures(waiting.points)
        tasks = tasks_of(self.design, waiting)
        if tasks:
            traces = self._traces(waiting)
            prune_traces({trace_key(*trace) for trace in traces})
            if not self.design.subject.is_compiled and not all(is_recorded(*trace) for trace in traces):
                find_compiler()  # its absence is told once, not for each point
            with watched(watch):
                keep_outcomes(
                    cluster or executor_here(len(waiting), workers), tasks, lambda key: (store, run), "points"
                )
        return self.results(store, verify=bool(tasks))  # where nothing was to be done they were verified just now

    def measured(self) -> Measured:
        """The measured times that stand beside points, by their keys. Raises StudyError."""
        return measured_times(self.design, self.points) if self.design.measured else {}

    def results(self, store: Store, verify: bool = True) -> Results:
        """What a store knows of the points. verify: see Store.results. Raises DamageError."""
        results, skipped, failures = store.results(verify), store.skipped(), store.failures()
        wanted = self.design.compute
        rows = []
        for point in self.points:
            there = results.get(point.key, {})
            found = {name: there[name] for name in wanted if name in there}
            errors = {name: said for name, said in failures.get(point.key, {}).items() if name in ("", *wanted)}
            reason = point.skipped or skipped.get(point.key, "")
            status: Status = "done"
            if reason:
                status = "skipped"
            elif errors:
                status = "failed"
                reason = "; ".join(f"{name}: {said}" if name else said for name, said in errors.items())
            elif any(name not in found for name in wanted if name != MEASURED):
                status = "open"
            rows.append(Row(point, status, reason, found))
        return Results.of_rows(self.design, rows)

    def left(self, store: Store) -> Left:
        """What a store lacks."""
        waiting, skipped = self._pending(store), store.skipped()
        excluded = sum(bool(point.skipped) or point.key in skipped for point in self.points)
        still_open = sum(not point.skipped and point.key in waiting.points for point in self.points)
        return Left(
            excluded=excluded,
            stored=len(self.points) - excluded - still_open,
            to_compute=len(waiting),
            recordings=len(self._by_recording(waiting)) if self.design.subject.kind == "kernel" else 0,
            may_share=True,
            pending=waiting,
        )

    def estimate(self, store: Store, left: Left, workers: int) -> Estimate:
        """How long it takes to compute what a store lacks: from what is there, else from the point in the middle."""
        waiting, mean = left.pending, store.mean_seconds()
        assert waiting is not None
        if mean is not None:
            return Estimate(mean * len(waiting) / workers, "the points in the store")
        key = list(waiting.points)[len(waiting) // 2]
        alone = Pending({key: waiting.points[key]}, {key: waiting.lacking[key]})
        overall, own, said = _timed(self.design, alone)
        preparing = overall - own
        if not said and overall < WARM:
            overall, own, said = _timed(self.design, alone)
        if said:
            return Estimate(None, f"the point in the middle can't be computed: {said}")
        seconds = (own * len(waiting) + preparing * len(self._by_recording(waiting))) / workers
        return Estimate(seconds, "the point in the middle")

    def _pending(self, store: Store) -> Pending:
        """The points that are neither in the store nor skipped, and what they lack."""
        finished, skipped = store.finished(), store.skipped()
        wanted = [quantity for quantity in self.design.compute if quantity != MEASURED]
        points: dict[str, Point] = {}
        lacking: dict[str, tuple[str, ...]] = {}
        for point in self.points:
            missing = tuple(quantity for quantity in wanted if quantity not in finished.get(point.key, ()))
            if missing and not point.skipped and point.key not in skipped:
                points.setdefault(point.key, point)
                lacking[point.key] = missing
        return Pending(points, lacking)

    def _traces(self, waiting: Pending) -> list[tuple[str, str, dict[str, Any], int | None]]:
        """The traces that are needed of a kernel, as `recorded` takes them."""
        subject = self.design.subject
        if subject.kind != "kernel":
            return []
        return [
            (subject.source, subject.digest, dict(point.parameters), architecture_of(subject, point))
            for point in self._by_recording(waiting).values()
        ]

    def _by_recording(self, waiting: Pending) -> dict[str, Point]:
        """A point of each recording."""
        return {recording_key(self.design.subject, point): point for point in waiting.points.values()}


def executor_here(points: int, workers: int | None) -> Executor:
    """What computes so many points on this machine. workers: processes; one for each core if left out."""
    number = min(cores() if workers is None else workers, points)
    return Serial() if number == 1 else Local(number, NEEDED)


def keep_outcomes(
    executor: Executor, tasks: Mapping[Task, str], place: Callable[[str], tuple[Store, int]], stage: str
) -> None:
    """Compute, and commit each point as it comes.

    tasks: with the keys of the points that they compute, or none. place: of a key, the store that keeps the point, and
    the number of the run in it. stage: as which it is told what is done.
    """
    done, total = 0, sum(map(bool, tasks.values()))
    tell(stage, 0, total)
    with ExitStack() as stack:
        stack.callback(remove_half_traces)  # of processes that Ctrl-C has ended
        for task, outcome in stack.enter_context(closing(executor.run(list(tasks)))):
            key = tasks[task]
            store, run = place(key)
            if isinstance(outcome, SimtmmError):
                if is_fatal(outcome):
                    raise outcome
                store.put(key, {}, {"": str(outcome)}, run)
            elif outcome.skipped:
                store.skip(key, outcome.skipped, run)
            else:
                store.put(key, outcome.results, outcome.errors, run, outcome.seconds)
            done += 1
            tell(stage, done, total)


def _timed(design: Design, alone: Pending) -> tuple[float, float, str]:
    """Seconds that a point takes with its recording, and without; and why it can't be computed."""
    begun = perf_counter()
    outcome: Outcome | SimtmmError
    ((_, outcome),) = Serial().run(list(tasks_of(design, alone)))
    overall = perf_counter() - begun
    if isinstance(outcome, SimtmmError):
        return overall, 0.0, str(outcome)
    return overall, outcome.seconds, outcome.skipped
