"""Pools of processes, of Python's own and of Dask's on this machine: the only place that starts them.

Both are started by Python's multiprocessing, which has each begin with `-c`, where the working directory comes first:
the environment says that it does not, while they are started. And it has each read the user's script, which would
start workers of its own where nothing in it says that it is only read: ours need nothing of it, and do not.
"""

import contextlib
import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import connection, resource_tracker, spawn
from typing import Any

from simtmm.children import ending
from simtmm.children.bond import end_with_parent
from simtmm.children.family import family
from simtmm.children.guard import VARIABLE
from simtmm.temporary import scratch

SAFE_PATH = "PYTHONSAFEPATH"  # of Python

_lock = threading.Lock()
_blocks = 0
_before: dict[str, str | None] = {}  # variables as they were before the first of them
_MAIN = ("init_main_from_name", "init_main_from_path")  # what multiprocessing tells a process of the user's script
_OF_DASK = "Dask Worker process"  # how the processes are called that a nanny starts, in threads of its own
_ours = threading.local()  # .start: whether this thread starts processes of ours
_usual_preparation: Callable[[str], dict[str, Any]] = spawn.get_preparation_data


@contextlib.contextmanager
def spawning() -> Iterator[None]:
    """What multiprocessing starts within the block imports nothing from the working directory, and is of our family.

    Nor does it read the user's script, where this thread starts it, or Dask.
    """
    global _blocks, _usual_preparation
    name = family()
    with _lock:
        if not _blocks:
            _usual_preparation = spawn.get_preparation_data
            spawn.get_preparation_data = _preparation
            _before.update({each: os.environ.get(each) for each in (SAFE_PATH, VARIABLE)})
            os.environ[SAFE_PATH] = "1"
            resource_tracker.ensure_running()  # is not of the family: it removes what the others leave, and ends then
            os.environ[VARIABLE] = name
        _blocks += 1
    is_outer, _ours.start = not getattr(_ours, "start", False), True
    try:
        yield
    finally:
        _ours.start = not is_outer
        with _lock:
            _blocks -= 1
            if not _blocks:
                spawn.get_preparation_data = _usual_preparation  # type: ignore[assignment]  # whatever it was
                for each, value in _before.items():
                    if value is None:
                        os.environ.pop(each, None)
                    else:
                        os.environ[each] = value


def _preparation(name: str) -> dict[str, Any]:
    """What multiprocessing tells a process of that name as it begins."""
    told = _usual_preparation(name)
    if getattr(_ours, "start", False) or name.startswith(_OF_DASK):
        told = {key: value for key, value in told.items() if key not in _MAIN}
    return told


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Processes and threads started here inherit that Ctrl-C is not for them; for us it waits until they are."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    with spawning():
        pass  # what begins with it would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class WorkerPool:
    """Processes that carry out calls, started at once; they end with us.

    processes: of the workers.
    """

    def __init__(self, workers: int, begin: Callable[..., None], *arguments: Any) -> None:
        """begin: called in each worker, first with an end of a pipe that is closed where it is to end at once.

        workers: how many there are at most.
        arguments: of `begin`, behind the pipe.
        """
        # Not forked: this process may have threads, a progress bar's say, and a fork takes their locks along
        context = multiprocessing.get_context("spawn")
        reader, self._stop = context.Pipe(duplex=False)
        bound = threading.current_thread() is threading.main_thread()
        given = (os.getpid() if bound else None, begin, reader, *arguments)
        with spawning():  # what keeps count of locks begins with the first one
            self._pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=given)
        self._workers = workers
        self.processes: list[Any] = []

    def start(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Start all workers, each with a call; else each is started when there is something for it to do.

        call: a function that a process can be sent.
        arguments: of the call.
        """
        others = multiprocessing.active_children()
        with interrupts_held(), spawning():
            for _ in range(self._workers):
                self._pool.submit(call, *arguments)
        self.processes = [each for each in multiprocessing.active_children() if each not in others]

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hand a call to a worker; gives a future.

        call: a function that a process can be sent.
        arguments: of the call.

        Raises BrokenProcessPool where one has died.
        """
        with interrupts_held(), spawning():
            return self._pool.submit(call, *arguments)

    def end(self, *, at_once: bool) -> None:
        """Have workers end: when they are done with what they do, or whatever they are doing.

        at_once: whether they leave what they are doing.
        """
        if at_once:
            self._stop.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._stop.close()


def _begin(parent: int | None, begin: Callable[..., None], stop: connection.Connection, *arguments: Any) -> None:
    """What a worker does first. parent: where the system is to end it with the thread that started it."""
    if parent is not None:
        end_with_parent(parent)
    begin(stop, *arguments)


@contextlib.contextmanager
def dask_cluster(distributed: Any, workers: int) -> Iterator[Any]:
    """A Dask cluster on this machine, which ends with the block. distributed: the package.

    workers: how many processes there are.
    """
    config = importlib.import_module("dask.config")
    # Scheduler, nannies and workers each put a folder of theirs first on their path, ours that of the scheduler: in the
    # usual folder of temporary files others could have made it
    got: list[int] = []  # signals that came when there was half a cluster, which nobody could end
    with (
        scratch("dask") as folder,
        config.set({"temporary-directory": str(folder)}),
        spawning(),
        contextlib.ExitStack() as stack,
    ):
        with ending.put_off(got.append), interrupts_held():
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
                )
            )
        if got:
            raise ending.exception(got[0])
        yield cluster
