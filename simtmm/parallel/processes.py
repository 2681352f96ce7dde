"""Processes: a study's tasks on all cores of this machine.

What serves several tasks lies in files between the workers. A worker that dies takes nothing with it: what it had in
hand is run again, alone, so that the one task that kills workers is found among those that were near it. Workers end
with the process that started them, even if that was killed.
"""

import functools
import importlib
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from simtmm import own_faults
from simtmm.children import ending
from simtmm.children.workers import WorkerPool
from simtmm.errors import SimtmmError, StudyError
from simtmm.parallel.tasks import STEPS, Graph, Task
from simtmm.parallel.value_files import keep_value, kept_value
from simtmm.temporary import own_prefix
from simtmm.watch import tell

PATIENCE = 10.0  # seconds, in which a busy machine comes to end the workers of a pool
SHORTLY = 0.2  # seconds, in which the last trace of a killed process has gone
MOMENT = 0.01  # seconds
DEATHS = 2  # of workers, alone with a task, before it is given up


class Local:
    """Runs tasks in processes of their own; what serves several tasks lies in files between them."""

    def __init__(self, workers: int, needed: Sequence[str] = ()) -> None:
        """needed: modules that workers read as soon as they are started, while others work for them.

        workers: how many processes there are.
        """
        self._workers, self._needed = workers, tuple(needed)

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:  # noqa: C901 - one loop over tasks, and what may become of each
        """See Executor."""
        graph = Graph(tasks)
        numbers = {task: number for number, task in enumerate(tasks)}
        values: dict[Task, Any] = {}  # of tasks that are done: _Kept, or a SimtmmError
        deaths: dict[Task, int] = {}
        suspects: list[Task] = []  # were in the hands of workers when one died
        alone: Task | None = None  # the suspect that runs, with nothing beside it
        running: dict[Future[Any], Task] = {}
        with (
            tempfile.TemporaryDirectory(prefix=own_prefix("study")) as scratch,
            _Pool(self._workers, scratch, self._needed) as pool,
            _Arrivals() as arrivals,
        ):

            def start(task: Task) -> None:
                failed = next((values[need] for need in task.needs if isinstance(values[need], SimtmmError)), None)
                arguments = [values[part] if isinstance(part, Task) else part for part in task.arguments]
                keep = None if task.wanted else Path(scratch) / str(numbers[task])
                if failed is not None:
                    future: Future[Any] = Future()
                    future.set_result((failed, ()))
                else:
                    future = pool.submit(_work, task.function, arguments, keep)
                running[future] = task
                arrivals.expect(future)

            def begin() -> Task | None:
                """Fill the pool; with suspects about, one at a time: that one."""
                if suspects and running:
                    return None
                if suspects:
                    start(suspect := suspects.pop(0))
                    return suspect
                while len(running) < 2 * self._workers and (task := graph.next()) is not None:
                    start(task)
                return None

            begin()
            done = 0
            while running:
                future = arrivals.next()
                task = running.pop(future)
                try:
                    value, faults = future.result()
                    for fault in faults:
                        own_faults.note(fault)
                except BrokenProcessPool:
                    deaths[task] = deaths.get(task, 0) + (task is alone)
                    if deaths[task] < DEATHS:
                        suspects.append(task)
                        suspects.sort(key=numbers.__getitem__)
                        alone = begin()
                        continue
                    value = StudyError(f"its worker died {DEATHS} times: {pool.death()}")
                values[task] = value
                done += 1
                tell(STEPS, done, len(tasks))
                for free in graph.done(task):
                    _forget(values.pop(free))
                alone = begin()
                if task.wanted:
                    yield task, value


@dataclass(frozen=True)
class _Kept:
    """What a task gave, in a file."""

    path: Path


class _Arrivals:
    """Futures as they are done, and signals in their turn: raised anywhere else, they could leave one of the pool's
    locks held for ever.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[Future[Any] | int] = SimpleQueue()  # whose `put` a signal handler may call
        self._signals = ending.put_off(self._queue.put)

    def __enter__(self) -> "_Arrivals":
        self._signals.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._signals.__exit__(None, None, None)

    def expect(self, future: Future[Any]) -> None:
        """The future will be among the next ones."""
        future.add_done_callback(self._queue.put)

    def next(self) -> Future[Any]:
        """The next future that is done. Raises KeyboardInterrupt."""
        future = self._queue.get()
        if isinstance(future, int):
            raise ending.exception(future)
        return future


class _Pool:
    """A process pool that is started when it is needed, and again after a worker died; its workers end with us."""

    def __init__(self, workers: int, scratch: str, needed: tuple[str, ...]) -> None:
        self._workers, self._scratch, self._needed = workers, scratch, needed
        self._pool: WorkerPool | None = None
        self._processes: list[Any] = []  # of the workers

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end(at_once=kind is not None)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hand a call to a worker."""
        for _ in range(2):
            if self._pool is None:
                self._pool = WorkerPool(self._workers, _begin_worker, self._scratch)
                self._pool.start(_get_ready, self._needed)
                self._processes = self._pool.processes
            try:
                return self._pool.submit(function, *arguments)
            except BrokenProcessPool:
                self._end(at_once=True)
        raise StudyError("workers die as soon as they start")

    def death(self) -> str:
        """How a worker ended; the others of a pool are ended by SIGTERM then."""
        until = time.monotonic() + PATIENCE
        for process in self._processes:  # all of which are ended with the one that died
            process.join(max(0.0, until - time.monotonic()))
            while process.exitcode is None and time.monotonic() < until:
                time.sleep(MOMENT)  # the pool's own thread has asked how it ended, and is about to note it
        ends = [process.exitcode for process in self._processes if process.exitcode is not None]
        return _death(next((end for end in ends if end not in (0, -signal.SIGTERM)), 0))

    def _end(self, at_once: bool) -> None:
        if self._pool is not None:
            self._pool.end(at_once=at_once)
            self._pool = None


def _death(status: int) -> str:
    """What the exit status of a worker says of its end."""
    if status == -signal.SIGKILL:
        return "it was killed: possibly out of memory"
    if status < 0:
        return f"it crashed ({signal.strsignal(-status) or f'signal {-status}'})"
    return f"it exited (exit status {status})"


def _begin_worker(stop: connection.Connection, scratch: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # what a kernel prints is no part of what the parent prints
    threading.Thread(target=_end_with_parent, args=(stop, scratch), daemon=True).start()


def _get_ready(needed: tuple[str, ...]) -> None:
    for module in needed:
        importlib.import_module(module)


def _end_with_parent(stop: connection.Connection, scratch: str) -> None:
    """A worker whose parent was killed would wait for ever, and leave the parent's files behind."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel, stop])
    if connection.wait([parent.sentinel], SHORTLY):
        shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)


def _work(function: Callable[..., Any], arguments: Sequence[Any], keep: Path | None) -> tuple[Any, tuple[str, ...]]:
    """Make a call in a worker; gives its value, and the faults of simtmm that it met."""
    own_faults.noted()
    value = _value(function, arguments, keep)
    return value, own_faults.noted()


def _value(function: Callable[..., Any], arguments: Sequence[Any], keep: Path | None) -> Any:
    """What a call gives; its SimtmmError is a value, as it is no reason to stop."""
    try:
        value = function(*(_read(part.path) if isinstance(part, _Kept) else part for part in arguments))
    except SimtmmError as error:
        return error
    except MemoryError:
        return StudyError("out of memory")
    if keep is None:
        return value
    keep_value(value, keep)
    return _Kept(keep)


_read = functools.lru_cache(maxsize=6)(kept_value)  # points mostly share a trace, a workload and counts


def _forget(value: Any) -> None:
    if isinstance(value, _Kept):
        value.path.unlink(missing_ok=True)
