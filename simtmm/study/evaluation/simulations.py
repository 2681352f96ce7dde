"""Simulations: a study of a kernel or a trace, point by point, on cores or a cluster, each kept as it is done."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from simtmm.computer import cores
from simtmm.errors import SimtmmError
from simtmm.model.series import MEASURED
from simtmm.parallel.processes import Local
from simtmm.parallel.tasks import Executor, Serial, Task
from simtmm.recorder.compiler import find_compiler
from simtmm.study.design.design import Design
from simtmm.study.design.points import Point, point_key, points_of
from simtmm.study.design.rules import ENGINE
from simtmm.study.evaluation.estimating import estimated
from simtmm.study.evaluation.identity import Identity, earlier_identities, run_says
from simtmm.study.evaluation.measured_times import Measured, measured_times
from simtmm.study.evaluation.recorded_traces import is_recorded, prune_traces, remove_half_traces, trace_key
from simtmm.study.evaluation.steps import checked, is_fatal
from simtmm.study.evaluation.tasks import Pending, architecture_of, recording_key, tasks_of
from simtmm.study.forecast import Estimate, Left
from simtmm.study.results import Results, Row, Status
from simtmm.study.store.store import Begin, Store
from simtmm.watch import Watch, tell, watched

NEEDED = (
    "simtmm.study.evaluation.steps",
    "simtmm.engine.fast",
)  # modules that workers read while others record for them


class Simulations:
    """The points of a study, computed by calls that share traces, workloads and counts."""

    def __init__(self, design: Design, watch: Watch | None = None) -> None:
        """watch: called with ("planning", points planned, points). Raises the errors of `points_of`."""
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
        if not waiting and not measured and store.has(self.design):
            return self.results(store, verify=False)
        about = {"engine": self.design.engine, "points": len(waiting), **run_says(self.design, store)}
        run = begin(about, self.points)
        for key, document in measured.items():
            store.put(key, {MEASURED: document}, {}, run)
        store.forget_failures(waiting.points)
        tasks = tasks_of(self.design, waiting)
        if tasks:
            traces = self._traces(waiting)
            prune_traces({trace_key(*trace) for trace in traces})
            if not self.design.subject.is_compiled and not all(is_recorded(*trace) for trace in traces):
                find_compiler()  # its absence is reported once, not for each point
            with watched(watch):
                keep_outcomes(
                    cluster or executor_here(len(waiting), workers), tasks, lambda key: (store, run), "points"
                )
        return self.results(store, verify=bool(tasks))  # where nothing was to be done they were verified just now

    def measured(self) -> Measured:
        """The measured times that stand beside points, by their keys. Raises StudyError."""
        return measured_times(self.design, self.points) if self.design.measured else {}

    def results(self, store: Store, verify: bool = True) -> Results:
        """What a store knows of the points, by what computes now or, where there is nothing, by what did last.

        verify: see Store.results. Raises DamageError.
        """
        results, skipped, failures = store.results(verify), store.skipped(), store.failures()
        wanted, subject = self.design.compute, self.design.subject
        earlier: dict[str, list[Identity]] = {}
        rows = []
        for point in self.points:
            key, by = point.key, ""
            if not point.skipped and not any(key in known for known in (results, skipped, failures)):
                ran = subject.of(point.axes)
                if ran.digest not in earlier:
                    earlier[ran.digest] = earlier_identities(ran, store)
                key, by = self._earlier(point, earlier[ran.digest], results, skipped)
            there = results.get(key, {})
            found = {name: there[name] for name in wanted if name in there}
            errors = {name: error for name, error in failures.get(key, {}).items() if name in ("", *wanted)}
            reason = point.skipped or skipped.get(key, "")
            status: Status = "done"
            if reason:
                status = "skipped"
            elif errors:
                status = "failed"
                reason = "; ".join(f"{name}: {error}" if name else error for name, error in errors.items())
            elif any(name not in found for name in wanted if name != MEASURED):
                status = "open"
            rows.append(Row(point, status, reason, found, by))
        return Results.of_rows(self.design, rows)

    def _earlier(self, point: Point, earlier: Sequence[Identity], *known: Mapping[str, Any]) -> tuple[str, str]:
        """The key of a point by the latest of these that computed it, and which; its own if none did."""
        subject, machine = self.design.subject.of(point.axes), point.machine
        for one in earlier if machine else ():
            assert machine is not None
            own = self.design.by_sample.content if self.design.by_sample else ()
            engine, more = (ENGINE, point.rule.content()) if point.rule else (self.design.engine, own)
            key = point_key(
                one.program,
                point.parameters,
                machine,
                engine,
                subject.is_compiled,
                *more,
                sources=one.sources,
            )
            if any(key in there for there in known):
                return key, one.in_words(subject.digest)
        return point.key, ""

    def left(self, store: Store) -> Left:
        """What a store lacks."""
        waiting, skipped = self._pending(store), store.skipped()
        excluded = sum(bool(point.skipped) or point.key in skipped for point in self.points)
        still_open = sum(not point.skipped and point.key in waiting.points for point in self.points)
        return Left(
            excluded=excluded,
            stored=len(self.points) - excluded - still_open,
            to_compute=len(waiting),
            recordings=len(self._traces(waiting)),
            may_share=True,
            pending=waiting,
        )

    def estimate(self, store: Store, left: Left, workers: int) -> Estimate:
        """How long it takes to compute what a store lacks: from a few of these points."""
        waiting = left.pending
        assert waiting is not None
        traces = self._traces(waiting)
        return estimated(self.design, waiting, workers, lambda: sum(not is_recorded(*trace) for trace in traces))

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
        """The traces that are needed of a kernel, as `recorded` takes them; samples need none."""
        subject = self.design.subject
        if self.design.by_sample is not None:
            return []
        return [
            (ran.source, ran.files, dict(point.parameters), architecture_of(subject, point))
            for point in self._by_recording(waiting).values()
            if (ran := subject.of(point.axes)).kind == "kernel"
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
    the number of the run in it. stage: under which progress is reported.
    """
    done, total = 0, sum(map(bool, tasks.values()))
    tell(stage, 0, total)
    with ExitStack() as stack:
        stack.callback(remove_half_traces)  # of processes that Ctrl-C has ended
        for task, given in stack.enter_context(closing(executor.run(list(tasks)))):
            key, outcome = tasks[task], checked(given)
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
