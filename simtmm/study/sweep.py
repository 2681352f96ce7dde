"""Sweep: compute the points of a study that its store does not have yet, and tell what is known of all."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from simtmm.computer import cores
from simtmm.errors import StudyError, shown
from simtmm.files import is_file
from simtmm.parallel.tasks import Executor
from simtmm.provenance import computed_by, provenance
from simtmm.study.design.design import Design, design_file, design_of
from simtmm.study.design.points import Point
from simtmm.study.design.rules import rules_in
from simtmm.study.design.study_file import study_of
from simtmm.study.evaluation.closed_forms import ClosedForms
from simtmm.study.evaluation.measured_times import Measured
from simtmm.study.evaluation.simulations import Simulations
from simtmm.study.forecast import Estimate, Forecast, Left
from simtmm.study.results import Results
from simtmm.study.store.file import is_writable
from simtmm.study.store.store import Begin, Store
from simtmm.watch import Watch


class Evaluation(Protocol):
    """How the points of a study are computed and read: ClosedForms of an algorithm, Simulations of all else."""

    def compute(
        self,
        store: Store,
        begin: Begin,
        measured: Measured,
        workers: int | None = None,
        cluster: Executor | None = None,
        watch: Watch | None = None,
    ) -> Results:
        """Compute what a store lacks, and give all of it."""
        ...

    def measured(self) -> Measured:
        """The measured times that stand beside points, by their keys."""
        ...

    def results(self, store: Store) -> Results:
        """What a store has."""
        ...

    def left(self, store: Store) -> Left:
        """What a store lacks."""
        ...

    def estimate(self, store: Store, left: Left, workers: int) -> Estimate:
        """How long it takes to compute what a store lacks; it lacks something."""
        ...


def sweep(
    study: str | Path | Mapping[str, Any] | Design,
    store: str | Path | Store = ":memory:",
    workers: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
    rules: Sequence[str | Path] = (),
) -> Results:
    """Run a study, or the rest of it, and return all of it, in its order.

    study: a study file's path, or its tables as a dict, or a design.
    store: an SQLite file, created if absent; finished points in it are not run again, failed and damaged ones
        are. Kept in memory if left out. An open one stays open; one that can't be written to must be complete.
    workers: processes on this machine, one for each core if left out; 1 runs in this process. Closed forms need none.
    cluster: the address of a Dask scheduler (tcp://HOST:PORT), or local:N for N workers here.
    watch: called with (stage, done, to do): of the points, and in this process of what each goes through.
    rules: Python files with scheduling rules, functions that the study names as values of `scheduling.scheduler`.

    Workers do not read the script that calls this: it needs no `if __name__ == "__main__":`.
    Raises the errors of simtmm.errors; an error at a single point is stored as that point's failure.
    """
    design = _design(study)
    if rules:
        design = replace(design, rules=rules_in(rules))
    if design.rules and cluster is not None:
        raise StudyError(
            "rules: are files on this computer, which a cluster's workers can't read: leave out the cluster"
        )
    if workers is not None and workers < 1:
        raise StudyError(f"workers = {workers}: must be at least 1")
    executor = None if cluster is None else _cluster(cluster)
    evaluation = evaluation_of(design, watch)
    measured = evaluation.measured()
    if not isinstance(store, Store) and is_file(store) and not is_writable(Path(store)):
        with Store(store, make=False) as opened:
            return _complete(evaluation, opened)
    with contextlib.nullcontext(store) if isinstance(store, Store) else Store(store) as opened:

        def begin(own: Mapping[str, Any], points: Sequence[Point]) -> int:
            about = {**provenance(), "sources": computed_by(), "workers": cluster or workers or "all cores", **own}
            return opened.begin(design, points, about)

        return evaluation.compute(opened, begin, measured, workers, executor, watch)


def _complete(evaluation: Evaluation, store: Store) -> Results:
    """All of a study, from a store that can't be written to. Raises StudyError where it lacks something."""
    left = evaluation.left(store)
    if left.to_compute:
        raise StudyError(f"{store.path}: can't be written, but lacks {left.to_compute} points")
    return evaluation.results(store)


def read(design: Design, store: Store) -> Results:
    """What a store has of a study, whatever computed it. Raises StudyError for what is damaged, and where all it has is
    of another study.
    """
    store.check()
    found = evaluation_of(design).results(store)
    if found.number("open") == len(found) and (store.finished() or store.parts()):
        raise StudyError(
            f"{store.path}: none of its points belongs to this study: its program, parameters, machines or axes differ"
        )
    return found


def forecast(design: Design, store: str | Path, workers: int | None = None) -> Forecast:
    """Count points and estimate the time; what is computed for that is not kept.

    store: path of the file that has results from before.
    workers: processes that would simulate.
    """
    evaluation = evaluation_of(design)
    with Store(store if is_file(store) else ":memory:") as opened:
        left = evaluation.left(opened)
        most = cores() if workers is None else workers
        number = max(min(most, left.to_compute), 1) if left.may_share else 1
        estimate = (
            evaluation.estimate(opened, left, number) if left.to_compute else Estimate(0.0, "nothing left to compute")
        )
    return Forecast(
        points=design.size,
        excluded=left.excluded if estimate.excluded is None else estimate.excluded,
        stored=left.stored,
        to_compute=left.to_compute,
        recordings=left.recordings,
        workers=number,
        seconds=estimate.seconds,
        estimate=estimate.source,
        interval=estimate.interval,
    )


def evaluation_of(design: Design, watch: Watch | None = None) -> Evaluation:
    """How a study's points are computed. watch: called where that begins with making them."""

    def make() -> Evaluation:
        return ClosedForms(design) if design.subject.kind == "algorithm" else Simulations(design, watch)

    return design.named(make)


def _design(study: str | Path | Mapping[str, Any] | Design) -> Design:
    if isinstance(study, Design):
        return study
    if isinstance(study, Mapping):
        return design_of(study_of(study))
    if isinstance(study, (str, Path)):
        return design_file(study)
    raise StudyError(f"study = {shown(study)}: must be a path to a study file (.toml), or a dict of its tables")


def _cluster(where: str) -> Executor:
    from simtmm.parallel.dask import Cluster  # Dask is an extra

    return Cluster(where)
