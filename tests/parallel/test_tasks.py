"""Tasks: a graph of calls gives the same wherever it runs, whoever dies."""

import os
import signal
import time
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import own_faults
from simtmm.errors import SimtmmError, StudyError
from simtmm.parallel.processes import Local
from simtmm.parallel.tasks import Graph, Serial, Task


def number(value):
    return value


def add(*values):
    return sum(values)


def refuse(*_):
    raise StudyError("refused")


def exhaust(*_):
    raise MemoryError


def die_once(path, value):
    """The worker that is the first to come here dies."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def abort(*_):
    signal.signal(signal.SIGABRT, signal.SIG_DFL)
    os.abort()


def note(folder, name, seconds=0.0):
    """A file for each time that this is called; then wait, and leave a file for that."""
    Path(folder, f"{name}-{os.getpid()}-{time.monotonic_ns()}").touch()
    if seconds:
        time.sleep(seconds)
        Path(folder, f"{name} has waited").touch()
    return name


def note_a_fault(text):
    own_faults.note(text)
    return text


def test_a_fault_that_a_worker_met_is_known_where_its_command_ends():
    own_faults.noted()
    tasks = [Task(note_a_fault, (text,), wanted=True) for text in ("one", "two")]
    assert dict(Local(1).run(tasks)) == dict(zip(tasks, ("one", "two"), strict=True))
    assert sorted(own_faults.noted()) == ["one", "two"]


def graph():
    """Sums of numbers, of which some are shared and one is refused."""
    one, two, three = (Task(number, (value,)) for value in (1, 2, 3))
    bad = Task(refuse, ())
    both = Task(add, (one, two))
    last = [
        Task(add, (both, three), wanted=True),
        Task(add, (both, both, 10), wanted=True),
        Task(add, (bad, one), wanted=True),
        Task(add, (4, 5), wanted=True),
        Task(exhaust, (one,), wanted=True),
    ]
    return [one, two, three, bad, both, *last]


@pytest.mark.parametrize("executor", [Serial(), Local(2)], ids=["serial", "local"])
def test_wanted_tasks_give_their_values_or_their_errors(executor):
    tasks = graph()
    found = dict(executor.run(tasks))
    lines = [str(found[task]) if isinstance(found[task], SimtmmError) else found[task] for task in tasks if task.wanted]
    assert lines == [6, 16, "refused", 9, "out of memory"]
    assert set(found) == {task for task in tasks if task.wanted}


@given(st.lists(st.lists(st.integers(0, 20), max_size=4), max_size=15), st.randoms(use_true_random=False))
def test_every_task_comes_behind_its_needs_and_values_are_kept_as_long_as_they_are_needed(needs, random):
    tasks = []
    for mine in needs:
        tasks.append(Task(add, tuple(tasks[index] for index in mine if index < len(tasks))))
    order = Graph(tasks)
    held, done, ready = set(), [], []
    while True:
        while (task := order.next()) is not None:
            ready.append(task)
        if not ready:
            break
        task = ready.pop(random.randrange(len(ready)))
        assert all(need in held for need in task.needs)
        held.add(task)
        done.append(task)
        held -= set(order.done(task))
    assert len(done) == len(set(done)) == len(tasks)
    assert not held


def test_what_several_need_is_done_once(tmp_path):
    shared = Task(note, (str(tmp_path), "shared"))
    tasks = [shared, *(Task(add, (index,), wanted=True) for index in range(3))]
    tasks += [Task(note, (str(tmp_path), f"user{index}", 0.0), wanted=True) for index in range(3)]
    users = [Task(_second, (shared, index), wanted=True) for index in range(6)]
    found = dict(Local(2).run([*tasks, *users]))
    assert [found[task] for task in users] == list(range(6))
    assert len(list(tmp_path.glob("shared-*"))) == 1


def _second(_, value):
    return value


def test_what_a_dead_worker_had_in_hand_is_done_again(tmp_path):
    tasks = [Task(add, (index, 100), wanted=True) for index in range(10)]
    tasks.insert(3, Task(die_once, (str(tmp_path / "died"), 7), wanted=True))
    found = dict(Local(2).run(tasks))
    assert (tmp_path / "died").exists()
    assert found[tasks[3]] == 7
    assert [found[task] for task in tasks if task.function is add] == [index + 100 for index in range(10)]


def test_a_task_that_kills_its_workers_is_given_up_and_the_others_are_not():
    tasks = [Task(add, (index,), wanted=True) for index in range(6)]
    tasks.insert(2, Task(die, (), wanted=True))
    found = dict(Local(2).run(tasks))
    assert isinstance(found[tasks[2]], StudyError)
    assert str(found[tasks[2]]) == "its worker died 2 times: it was killed: possibly out of memory"
    assert [found[task] for task in tasks if task.function is add] == list(range(6))


def test_closing_ends_the_workers_at_once(tmp_path):
    waits = [Task(note, (str(tmp_path), "x", 1000.0), wanted=True) for _ in range(4)]
    tasks = [Task(number, (1,), wanted=True), *waits]
    outcomes = Local(2).run(tasks)
    assert next(outcomes) == (tasks[0], 1)
    workers = [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
    assert workers
    outcomes.close()
    _, alive = psutil.wait_procs(workers, timeout=500)
    assert not alive
    assert not list(tmp_path.glob("* has waited"))


def test_an_exception_that_is_a_bug_is_not_kept_quiet():
    for executor in (Serial(), Local(1)):
        with pytest.raises(TypeError):
            list(executor.run([Task(add, ("a", 1), wanted=True)]))


def test_a_worker_that_aborts_is_not_said_to_have_run_out_of_memory():
    task = Task(abort, (), wanted=True)
    assert str(dict(Local(1).run([task]))[task]) == "its worker died 2 times: it crashed (Aborted)"
