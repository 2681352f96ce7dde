"""Cluster: a study's tasks on a Dask cluster; the only import of Dask, and a late one."""

import functools
import importlib
import logging
import threading
import time
import warnings
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from simtmm.children.workers import dask_cluster
from simtmm.errors import SimtmmError, StudyError, shown_error
from simtmm.extras import imported
from simtmm.parallel.dask_workers import Workers
from simtmm.parallel.tasks import Task
from simtmm.provenance import VERSION, computed_by
from simtmm.trace.io import Trace, load_trace

logger = logging.getLogger("simtmm")

RETRIES = 3  # of a task whose worker died or that failed for a reason of the cluster's
CONNECT = 30.0  # seconds until a scheduler must have been reached,
ANSWER = 10.0  # and more, until it must have answered: Dask itself waits for ever for one that says nothing
POLL = 0.01  # seconds
PAUSE = 0.2  # seconds, after which a worker with other sources hands a task back: it is idle, and might get it again


class Cluster:
    """Runs tasks on a Dask cluster.

    Recording is done here, as a worker need not have the kernels or a compiler. A trace is handed to the scheduler
    once and moves to each worker that needs it once; what is lowered and counted stays on workers, who hand it to one
    another. When a worker dies, the scheduler has others do again what is lost with it.
    """

    def __init__(self, where: str) -> None:
        """where: a scheduler's address, tcp://HOST:PORT, or local:N. Raises StudyError without Dask."""
        self._where = where
        self._local = 0
        if where.startswith("local:"):
            number = where.removeprefix("local:")
            if not (number.isdecimal() and len(number) < 20 and 1 <= int(number) <= 1024):
                raise StudyError(f"cluster {where!r}: must be local:N, N workers from 1 to 1024")
            self._local = int(number)
        elif "://" not in where:
            raise StudyError(f"cluster {where!r}: must be an address, tcp://HOST:PORT, or local:N")
        self._dask: Any = imported("distributed", "cluster", "a cluster", StudyError)

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """See tasks.Executor."""
        with ExitStack() as stack:
            client = stack.enter_context(self._client(stack))
            workers = Workers(client, f"cluster {self._where}", _version)
            workers.check()
            futures: dict[Task, Any] = {}
            wanted: dict[Any, Task] = {}
            finished = self._dask.as_completed([], raise_errors=False)
            left = sum(task.wanted for task in tasks)
            users = _users(tasks)
            for task in tasks:
                failed = next((futures[need] for need in task.needs if isinstance(futures[need], SimtmmError)), None)
                if failed is not None:
                    futures[task] = failed
                    if task.wanted:
                        yield task, failed
                        left -= 1
                else:
                    futures[task] = _submitted(client, task, futures)
                    if task.wanted:
                        wanted[futures[task]] = task
                        finished.add(futures.pop(task))
                for free in _free(users, task):  # a future that nobody holds lets the cluster forget its value
                    futures.pop(free, None)
                if task.here:  # that took a while: what has come meanwhile is reported
                    while finished.has_ready():
                        future = next(finished)
                        yield wanted.pop(future), workers.outcome(future)
                        left -= 1
            futures.clear()
            while left:
                workers.look()
                if not finished.has_ready():
                    time.sleep(POLL)
                    continue
                future = next(finished)
                yield wanted.pop(future), workers.outcome(future)
                left -= 1
            workers.warn()

    def _client(self, stack: ExitStack) -> Any:
        for name in ("distributed", "distributed.client"):  # which has a level of its own
            logging.getLogger(name).setLevel(logging.CRITICAL)  # who dies is no news, or is reported in a line
        logging.getLogger("asyncio").addFilter(_is_news)
        try:
            if self._local:
                cluster = stack.enter_context(dask_cluster(self._dask, self._local))
                return self._dask.Client(cluster, timeout=CONNECT)
            return self._reached()
        except (OSError, ValueError) as error:
            raise StudyError(f"cluster {self._where}: can't be reached ({shown_error(error)})") from None

    def _reached(self) -> Any:
        """A client of the scheduler. Raises OSError, also for what is no scheduler, whatever it sends or does not."""
        found: list[Any] = []

        def reach() -> None:
            try:
                found.append(self._dask.Client(self._where, timeout=CONNECT))
            except Exception as error:  # by what it reads Dask raises anything, MemoryError for one
                found.append(error)

        thread = threading.Thread(target=reach, name="simtmm-cluster", daemon=True)
        thread.start()
        thread.join(CONNECT + ANSWER)
        if not found:
            raise OSError(f"no answer in {CONNECT + ANSWER:g} s")
        if isinstance(found[0], Exception):
            raise OSError(shown_error(found[0]))
        return found[0]


def _submitted(client: Any, task: Task, futures: dict[Task, Any]) -> Any:
    """A future; of what is done here the value is sent along. A SimtmmError where that fails."""
    arguments = [futures[part] if isinstance(part, Task) else part for part in task.arguments]
    function = task.function
    if task.here:
        try:
            value = function(*arguments)
            arguments, function = [_in_memory(value) if isinstance(value, Path) else value], _same
        except SimtmmError as error:
            return error
    with warnings.catch_warnings():
        # Sent to the scheduler with the task and not scattered, so that it is still there when a worker dies
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(_guarded, _version(), function, *arguments, pure=False, retries=RETRIES)


def _in_memory(path: Path) -> Trace:
    """A worker on another machine does not see the file."""
    trace = load_trace(path)
    return Trace(trace.info, list(trace.runs()))


def _guarded(version: str, function: Any, *arguments: Any) -> Any:
    """On a worker: a SimtmmError is a value, as it comes again however often it is tried.

    version: of the study. A worker of another gives the task back, to be done by another worker.
    """
    if version != _version():
        _tell_once(version)
        time.sleep(PAUSE)
        raise importlib.import_module("distributed").Reschedule
    failed = next((part for part in arguments if isinstance(part, SimtmmError)), None)
    if failed is not None:
        return failed
    try:
        return function(*arguments)
    except SimtmmError as error:
        return error


@functools.cache
def _tell_once(version: str) -> None:
    logger.warning("this worker has simtmm %s, a study has %s: other workers do its tasks", _version(), version)


def _version() -> str:
    """The version, and what computes, which an edit changes without it."""
    return f"{VERSION} ({computed_by()})"


def _same(value: Any) -> Any:
    return value


def _is_news(record: logging.LogRecord) -> bool:
    """What distributed leaves behind of a result that was waited for in vain is none."""
    kind = record.exc_info and record.exc_info[0]
    return getattr(kind, "__name__", "") != "AllExit"


def _users(tasks: Sequence[Task]) -> dict[Task, int]:
    users = dict.fromkeys(tasks, 0)
    for task in tasks:
        for need in set(task.needs):
            users[need] += 1
    return users


def _free(users: dict[Task, int], task: Task) -> list[Task]:
    """What nobody waits for now that a task has been handed over."""
    for need in set(task.needs):
        users[need] -= 1
    return [need for need in set(task.needs) if not users[need]]
