"""Tasks: a study as a graph of calls, and the plain way to run it: one after another, in this process.

processes.py runs it on all cores, dask.py on a Dask cluster, all behind the same interface.
"""

import heapq
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from simtmm.errors import SimtmmError, StudyError

STEPS = "steps"  # the stage under which tasks done elsewhere are reported (simtmm.watch)


@dataclass(frozen=True, eq=False)
class Task:
    """A call to run; tasks among the arguments stand for their results.

    wanted: whether its outcome is returned, or only serves other tasks. here: to be done on this machine.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    wanted: bool = False
    here: bool = False

    @property
    def needs(self) -> list["Task"]:
        """The tasks among the arguments."""
        return [argument for argument in self.arguments if isinstance(argument, Task)]


class Executor(Protocol):
    """What runs tasks."""

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """The wanted tasks, as they are done, with what they give or with the SimtmmError that they end in.

        Each task stands behind those it needs. Closing the generator ends all that still runs.
        """
        ...


class Graph:
    """What is ready, what is not, and what nobody needs any longer."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        self._place = {task: place for place, task in enumerate(tasks)}
        self._waits = [len({id(need) for need in task.needs}) for task in tasks]
        self._users: list[list[int]] = [[] for _ in tasks]
        for place, task in enumerate(tasks):
            for need in {id(need): need for need in task.needs}.values():
                self._users[self._place[need]].append(place)
        self._left = [len(users) for users in self._users]
        self._ready = [place for place, waits in enumerate(self._waits) if not waits]

    def next(self) -> Task | None:
        """The first of the tasks that are ready: those of one trace before those of the next, to hold few at once."""
        return self.tasks[heapq.heappop(self._ready)] if self._ready else None

    def done(self, task: Task) -> list[Task]:
        """Note that a task is done; gives the tasks whose values nobody needs now."""
        place = self._place[task]
        for user in self._users[place]:
            self._waits[user] -= 1
            if not self._waits[user]:
                heapq.heappush(self._ready, user)
        free = [] if self._users[place] else [task]
        for need in {id(need): need for need in task.needs}.values():
            index = self._place[need]
            self._left[index] -= 1
            if not self._left[index]:
                free.append(need)
        return free


class Serial:
    """Runs tasks in this process, one after another."""

    def __init__(self, timed: Callable[[Task, float], None] | None = None) -> None:
        """timed: called with each task and the seconds that it took."""
        self._timed = timed

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """See Executor."""
        graph = Graph(tasks)
        values: dict[Task, Any] = {}
        while (task := graph.next()) is not None:
            begun = perf_counter()
            values[task] = value = _called(task, values)
            if self._timed:
                self._timed(task, perf_counter() - begun)
            for free in graph.done(task):
                del values[free]
            if task.wanted:
                yield task, value


def _called(task: Task, values: dict[Task, Any]) -> Any:
    arguments = [values[part] if isinstance(part, Task) else part for part in task.arguments]
    failed = next((part for part in arguments if isinstance(part, SimtmmError)), None)
    if failed is not None:
        return failed
    try:
        return task.function(*arguments)
    except SimtmmError as error:
        return error
    except MemoryError:
        return StudyError("out of memory")
