"""Clusters: what a worker with other sources would compute is never told, whenever it comes."""

import re
import shutil
from operator import methodcaller
from pathlib import Path

import distributed
import pytest

import simtmm
from simtmm import load_machine, predict
from simtmm.errors import StudyError
from simtmm.parallel import dask as of_cluster
from simtmm.parallel import dask_workers
from simtmm.parallel.dask import Cluster
from simtmm.parallel.tasks import Serial, Task
from simtmm.trace.counts import Counts
from tests.parallel.clusters import cluster

PATIENCE = 600  # seconds for a worker to come, on a busy machine too
EDIT = """
_own = Prediction.to_dict
Prediction.to_dict = lambda self: {**_own(self), "cycles": -1.0}
"""


@pytest.fixture
def edited(tmp_path):
    """A folder with a simtmm that has other sources, and other results."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(simtmm.__file__).parent, tmp_path / "edited" / "simtmm", ignore=ignored)
    with (tmp_path / "edited" / "simtmm" / "result.py").open("a", encoding="utf-8") as source:
        source.write(EDIT)
    return tmp_path / "edited"


def points(numbers):
    """Tasks of which every other one serves the next."""
    machine, tasks = load_machine("gtx280"), []
    for number in numbers:
        counts = Counts(1000 + number, 10, 5, 5, threads_per_core=1.0, warps_in_use=1.0, launches=())
        point = Task(predict, ("tmm", machine, counts))
        tasks += [point, Task(methodcaller("to_dict"), (point,), wanted=True)]
    return tasks


def wanted(tasks, executor):
    """What the wanted tasks give, in their order."""
    found = dict(executor.run(tasks))
    return [found[task] for task in tasks if task.wanted]


def test_a_worker_with_other_sources_that_joins_late_computes_nothing_and_is_named(tmp_path, edited, caplog):
    def join():
        dask.start(edited)
        distributed.Client.current().wait_for_workers(2, timeout=PATIENCE)

    expected = wanted(points(range(44)), Serial())
    with cluster(tmp_path, 1) as dask:
        tasks = [*points(range(4)), Task(join, (), here=True), *points(range(4, 44))]
        assert wanted(tasks, Cluster(dask.address)) == expected
    (record,) = [record for record in caplog.records if record.name == "simtmm"]
    assert re.fullmatch(
        r"warning: cluster tcp://\S+: worker tcp://\S+ has simtmm \S+ \(\w+\), "
        r"but this computer has \S+ \(\w+\): not used",
        record.getMessage(),
    )


def test_a_study_ends_when_only_workers_with_other_sources_are_left(tmp_path, edited, monkeypatch):
    monkeypatch.setattr(dask_workers, "LOOK", 0.2)
    monkeypatch.setattr(dask_workers, "ALONE", 1.0)

    def replace():
        dask.start(edited)
        distributed.Client.current().wait_for_workers(2, timeout=PATIENCE)
        dask.workers[0].kill()

    with cluster(tmp_path, 1) as dask:
        outcomes = Cluster(dask.address).run([*points(range(4)), Task(replace, (), here=True), *points(range(4, 8))])
        with pytest.raises(StudyError, match=r"no worker with simtmm .* for 1 s: worker tcp://\S+ has simtmm"):
            list(outcomes)


def test_a_worker_hands_back_a_task_of_another_version(monkeypatch):
    monkeypatch.setattr(of_cluster, "PAUSE", 0.0)
    called = []
    with pytest.raises(distributed.Reschedule):
        of_cluster._guarded("another", called.append, 1)
    of_cluster._guarded(of_cluster._version(), called.append, 2)
    assert called == [2]


def test_a_study_ends_when_the_scheduler_has_gone(tmp_path, monkeypatch):
    """It went on, and every point was kept as one that failed."""
    monkeypatch.setattr(dask_workers, "LOOK", 0.2)
    with cluster(tmp_path, 1) as dask:
        tasks = [*points(range(4)), Task(dask.scheduler.kill, (), here=True), *points(range(4, 8))]
        outcomes = Cluster(dask.address).run(tasks)
        with pytest.raises(StudyError, match=r"cluster tcp://\S+: lost the connection to the scheduler"):
            list(outcomes)


def test_a_study_ends_when_all_workers_have_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_workers, "LOOK", 0.2)
    monkeypatch.setattr(dask_workers, "ALONE", 1.0)
    with cluster(tmp_path, 1) as dask:
        tasks = [*points(range(4)), Task(dask.workers[0].kill, (), here=True), *points(range(4, 8))]
        with pytest.raises(StudyError, match=r"no worker with simtmm .* for 1 s: there are no workers"):
            list(Cluster(dask.address).run(tasks))
