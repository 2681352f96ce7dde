"""Changes of the source that an earlier run tried are known: by all that decides them, and only if they are sound."""

import json
from dataclasses import fields, replace

import pytest

from simtmm import load_machine, simulate
from simtmm.analysis.run import diagnosis, known_changes, run_program
from simtmm.analysis.run.known_changes import changes_key
from simtmm.analysis.source_changes import Advice, advice
from simtmm.analysis.what_if import WhatIf, trials
from simtmm.cache import find, keep
from simtmm.program import open_program
from simtmm.result import Result
from simtmm.stalls import Stalls
from simtmm.stalls.places import Places
from tests.engine.test_known_cycles import loads
from tests.test_keys import covers, keys_apart

MACHINE = load_machine("gtx480")
FOUND = (
    Advice("tile", "a tile", "a.cu", 3, "x", 1.5, "simulated", ""),
    Advice("fuse", "in one", "", 0, "", 1 / 3, "bound", "1 of 2 blocks"),
)
TRIALS = (
    WhatIf("latency", "with the latency halved", 4 / 3, True),
    WhatIf("issue", "without both", 2.5, False, 0.25, ("issue", "pipes"), "the issue rate"),
)


@pytest.fixture(autouse=True)
def stored_in(monkeypatch, tmp_path):
    """Where nothing is stored yet, and all is worth it."""
    monkeypatch.setattr(known_changes, "kept_folder", dict.fromkeys((advice.__name__, trials.__name__), tmp_path).get)
    monkeypatch.setattr(known_changes, "WORTH", 1)
    return tmp_path


@pytest.fixture(scope="module")
def run():
    """A machine, a workload with places, what it takes, and the shapes of its launches."""
    program = open_program("vector-add", {"n": 256}, machine=MACHINE)
    workload = program.on(MACHINE, places=True).workload
    return MACHINE, workload, simulate(MACHINE, workload, "fast", stalls=True), program.trace.info.launches


def asked(run, is_left=False, gives=FOUND):
    """What is found, and whether it was tried."""
    begun = []

    def tried():
        begun.append(run)
        return gives

    return known_changes.known_changes(*run, is_left, tried), bool(begun)


def test_what_was_tried_comes_back_and_is_not_tried_again(run):
    assert asked(run) == (FOUND, True)
    assert asked(run, gives=None) == (FOUND, False)
    assert asked(run, True, ()) == ((), True)
    assert asked(run, True) == ((), False)


def tried_on(machine, workload, result, _, is_left=False, gives=TRIALS):
    """The changes of the machine that are found, and whether they were tried."""
    begun = []
    found = known_changes.known_trials(machine, workload, result, is_left, lambda: begun.append(machine) or gives)
    return found, bool(begun)


def test_so_do_changes_of_the_machine_beside_them(run):
    assert asked(run) == (FOUND, True)
    assert tried_on(*run) == (TRIALS, True)
    assert tried_on(*run, gives=None) == (TRIALS, False)
    assert tried_on(*run, is_left=True, gives=()) == ((), True)
    assert tried_on(MACHINE.replace({"memory.latency": 7}), *run[1:], gives=()) == ((), True)
    assert asked(run, gives=None) == (FOUND, False)


TRIAL = {"cause": "c", "words": "w", "speedup": 2.0, "halves": True, "part": 1.0, "together": ["a"], "parameter": ""}


@pytest.mark.parametrize(
    "wrong", [{"together": [1]}, {"together": "a"}, {"speedup": 2}, {"halves": 1}, {"more": 1}, {"cause": ["c"]}]
)
def test_changes_of_the_machine_that_are_not_sound_are_not_believed(wrong, run, stored_in):
    key = changes_key(*run[:3], (), False)
    for row, is_sound in ((TRIAL, True), (TRIAL | wrong, False)):
        keep(stored_in, "trials", key, ".json", lambda to, row=row: to.write_text(json.dumps([row])))
        assert tried_on(*run)[1] is not is_sound
        find(stored_in, "trials", key, ".json").unlink()


def test_it_is_found_by_all_that_decides_it(run):
    machine, workload, result, launches = run
    stalls = result.stalls

    def other(**changed):
        return replace(result, stalls=replace(stalls, **changed))

    places = stalls.places
    tables = {
        name: getattr(stalls, name) + 1 for name in ("ticks", "counts", "launches", "launch_counts", "active")
    }  # fmt: skip
    of_places = [replace(places, threads=places.threads + 1), replace(places, threads=None),
                 replace(places, launches=places.launches + 1)]  # fmt: skip
    numbers = [each.name for each in fields(Result) if type(getattr(result, each.name)) is int]
    renamed = machine.model_copy(update={"name": "another"})
    parts = {
        "machine": (machine, machine.replace({"memory.latency": 7}), renamed),
        "workload": (workload, loads(41), replace(workload, places=replace(places, arrays=(*places.arrays[:-1], "o")))),
        "result": (
            result, *(other(**{name: table}) for name, table in tables.items()),
            *(other(places=each) for each in of_places),
            *(replace(result, **{name: getattr(result, name) + 1}) for name in numbers), other(levels=None),
            replace(result, launch_ticks=(1,)), replace(result, time={}), replace(result, reached_memory=False),
        ),
        "launches": (launches, (), (replace(launches[0], block=(7, 1, 1)),), (*launches, *launches)),
        "is_left": (False, True),
    }  # fmt: skip
    assert covers(changes_key, parts)
    keys_apart(changes_key, parts)
    assert {*tables, "places", "levels"} == {each.name for each in fields(Stalls)}
    assert {"sites", "arrays", "threads", "launches"} == {each.name for each in fields(Places)}


ROW = {"change": "tile", "words": "w", "file": "f", "line": 1, "array": "a", "gain": 1.5, "how": "bound", "part": ""}


@pytest.mark.parametrize(
    "text",
    ["[", "{}", "3", "[3]", json.dumps([{**ROW, "gain": 2}]), json.dumps([{**ROW, "line": 1.5}]),
     json.dumps([{**ROW, "more": 1}]), json.dumps([{**ROW, "words": None}]), json.dumps([ROW, {}])],
)  # fmt: skip
def test_what_is_not_sound_is_not_believed(text, run, stored_in):
    key = changes_key(*run, False)
    asked(run)
    path = find(stored_in, "changes", key, ".json")
    path.unlink()
    keep(stored_in, "changes", key, ".json", lambda to: to.write_text(text))
    assert asked(run) == (FOUND, True)


def test_rows_that_are_sound_are_believed(run, stored_in):
    keep(stored_in, "changes", changes_key(*run, False), ".json", lambda to: to.write_text(json.dumps([ROW])))
    assert asked(run) == ((Advice(**ROW),), False)


def test_the_latest_are_stored(monkeypatch, run, stored_in):
    monkeypatch.setattr(known_changes, "MOST", 2)
    for ticks in (1, 2, 3):
        asked((*run[:2], replace(run[2], ticks=ticks), run[3]))
    assert len(list(stored_in.glob("changes-*"))) == 2


def test_short_ones_and_those_of_another_engine_or_without_a_folder_are_tried_each_time(monkeypatch, run):
    slow = *run[:2], replace(run[2], engine="reference"), run[3]
    assert [asked(slow)[1] for _ in range(2)] == [True, True]
    monkeypatch.setattr(known_changes, "WORTH", run[1].operations + 1)
    assert [asked(run)[1] for _ in range(2)] == [True, True]
    monkeypatch.setattr(known_changes, "WORTH", 1)
    monkeypatch.setattr(known_changes, "kept_folder", lambda module: None)
    assert [asked(run)[1] for _ in range(2)] == [True, True]


def test_a_run_again_says_the_same_and_tries_nothing(monkeypatch):
    program = open_program("histogram", {"n": 1 << 12}, machine=MACHINE)
    first = run_program(program, MACHINE)
    assert first.advice
    monkeypatch.setattr(diagnosis, "try_changes", None)
    monkeypatch.setattr(diagnosis, "try_out", None)
    again = run_program(program, MACHINE)
    assert again.to_dict() == first.to_dict()
    assert again.advice == first.advice
