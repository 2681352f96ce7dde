"""What a simulation found is known the next time, whole: by all that decides it, and only if it is sound."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given

from simtmm import Workload, load_machine, simulate
from simtmm.analysis.run import run_program
from simtmm.cache import find, keep
from simtmm.engine import known_results
from simtmm.engine.known_cycles import MODULE
from simtmm.engine.known_results import NOTHING, NUMBERS, TABLES, Found, found, result_key
from simtmm.program import open_program
from simtmm.result import Result
from simtmm.stalls import Stalls
from simtmm.testing import machines, workloads
from simtmm.trace.lower import lower, lower_or_stream
from tests.engine.test_known_cycles import MACHINE, SMALL, loads
from tests.examples import examples
from tests.test_keys import covers, keys_apart


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Where nothing is stored yet, and all is worth it."""
    monkeypatch.setattr(known_results, "kept_folder", {MODULE: tmp_path}.get)
    monkeypatch.setattr(known_results, "WORTH", 1)
    return tmp_path


def asked(machine, workload, seen=NOTHING, how=""):
    """What is found, and whether it was simulated."""
    begun = []

    def simulated():
        begun.append(workload)
        return Found(simulate(machine, workload, "fast", stalls=True), seen)

    return found(machine, workload, workload.operations, simulated, how), bool(begun)


def whole(result):
    """All of a result, those fields too that do not count when two are compared."""
    return {field.name: getattr(result, field.name) for field in fields(Result)}


@examples(40)
@given(machine=machines(), workload=workloads())
def test_a_result_comes_back_as_it_was(machine, workload):
    first, was_simulated = asked(machine, workload)
    again, is_simulated = asked(machine, workload)
    assert not is_simulated or not was_simulated or not workload.operations
    assert whole(again.result) == whole(first.result)
    assert again.result.stalls.levels == first.result.stalls.levels
    assert again.result.stalls.places is workload.known_places


def test_all_of_a_result_is_stored_or_follows_from_what_is_asked():
    follows = {"ticks_per_cycle", "clock_hz", "engine", "engine_reason"}
    never = {"timeline", "traffic", "units"}  # of a run with a timeline, which is simulated
    stored = {*NUMBERS, "time", "launch_ticks", "reached_memory", "stalls"}
    assert stored | follows | never == {field.name for field in fields(Result)}
    assert {*TABLES, "places", "levels"} == {field.name for field in fields(Stalls)}


def test_what_was_noted_besides_comes_back():
    seen = np.array([[1, 2], [3, 4]], np.int64)
    asked(MACHINE, SMALL, seen)
    (_, back), simulated = (lambda both: ((both[0].result, both[0].seen), both[1]))(asked(MACHINE, SMALL))
    assert not simulated
    assert back.tolist() == seen.tolist()


def test_it_is_found_by_all_that_decides_it():
    trace = open_program("vector-add", {"n": 256}, machine=MACHINE).trace
    held = lower(trace, MACHINE, places=True)
    other = replace(held.places, arrays=(*held.places.arrays[:-1], "other"))
    place = held.place.copy()
    place[0] = place[-1]
    site = replace(held.places.sites[0], line=held.places.sites[0].line + 1)
    parts = {
        "machine": (MACHINE, MACHINE.replace({"memory.latency": 7}), MACHINE.replace({"ticks_per_cycle": 2})),
        "workload": (
            held, SMALL, loads(41), replace(held, place=place), replace(held, places=other),
            replace(held, places=replace(held.places, sites=(site, *held.places.sites[1:]))),
        ),
        "how": ("", "1", "2"),
    }  # fmt: skip
    assert covers(result_key, parts)
    keys_apart(result_key, parts)


def test_a_streamed_workload_is_known_as_well():
    trace = open_program("vector-add", {"n": 4096}, machine=MACHINE).trace
    streamed, _ = lower_or_stream(trace, MACHINE, most_held=0, places=True)
    first, _ = asked(MACHINE, streamed)
    again, simulated = asked(MACHINE, streamed)
    assert not simulated
    assert whole(again.result) == whole(first.result) == whole(simulate(MACHINE, streamed, stalls=True))


def stored(folder):
    return find(folder, "result", result_key(MACHINE, SMALL, ""), ".npz")


def _with(path, **changed):
    with np.load(path) as tables:
        return {**tables, **changed}


def about(path, **changed):
    text = json.loads(np.load(path)["about"].tobytes())
    return np.frombuffer(json.dumps({**text, **changed}).encode(), np.uint8)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: {},
        lambda path: _with(path, ticks=np.zeros((1, 2))),
        lambda path: _with(path, ticks=np.load(path)["ticks"][1:]),
        lambda path: _with(path, launches=np.load(path)["launches"][1:]),
        lambda path: _with(path, counts=np.load(path)["counts"][:, 1:]),
        lambda path: _with(path, about=np.frombuffer(b"[", np.uint8)),
        lambda path: _with(path, about=np.frombuffer(b"[]", np.uint8)),
        *(lambda path, name=name: _with(path, about=about(path, **{name: 1.5})) for name in NUMBERS),
        lambda path: _with(path, about=about(path, time=3)),
        lambda path: _with(path, about=about(path, launch_ticks=3)),
        lambda path: _with(path, about=about(path, launch_ticks=["3"])),
        lambda path: _with(path, about=about(path, launch_ticks=[3, 4])),
        lambda path: _with(path, about=about(path, time={"issuing": "3"})),
        lambda path: _with(path, about=about(path, reached_memory=3)),
    ],
)
def test_what_is_not_sound_is_not_believed(damage, folder):
    first, _ = asked(MACHINE, SMALL)
    path = stored(folder)
    tables = damage(path)
    path.unlink()

    def write(to):
        with to.open("wb") as file:
            np.savez(file, **tables)

    keep(path.parent, "result", result_key(MACHINE, SMALL, ""), ".npz", write)
    again, simulated = asked(MACHINE, SMALL)
    assert simulated
    assert whole(again.result) == whole(first.result)


def test_a_file_that_was_changed_is_not_believed(folder):
    asked(MACHINE, SMALL)
    stored(folder).write_bytes(b"PK")
    assert asked(MACHINE, SMALL)[1]
    assert not asked(MACHINE, SMALL)[1]


def test_the_latest_are_stored_and_none_that_is_large(monkeypatch, folder):
    monkeypatch.setattr(known_results, "MOST", 2)
    for count in (40, 41, 42):
        asked(MACHINE, loads(count))
    assert len(list(folder.rglob("result-*"))) == 2
    monkeypatch.setattr(known_results, "MOST_BYTES", 100)
    assert asked(MACHINE, loads(43))[1]
    assert asked(MACHINE, loads(43))[1]


def test_short_ones_and_what_has_no_folder_are_simulated_each_time(monkeypatch):
    monkeypatch.setattr(known_results, "WORTH", 41)
    assert [asked(MACHINE, loads(40))[1] for _ in range(2)] == [True, True]
    monkeypatch.setattr(known_results, "kept_folder", lambda module: None)
    assert [asked(MACHINE, loads(42))[1] for _ in range(2)] == [True, True]


def test_a_run_again_says_the_same_and_simulates_nothing(monkeypatch):
    machine = load_machine("gtx480")
    program = open_program("reduce", {"n": 1 << 12}, machine=machine)
    first = run_program(program, machine)
    monkeypatch.setattr("simtmm.analysis.run.simulate", None)
    again = run_program(program, machine)
    assert again.to_dict() == first.to_dict()
    assert again.advice == first.advice
    with pytest.raises(TypeError):
        run_program(program, machine, timeline=True)
    with pytest.raises(TypeError):
        run_program(program, machine, "reference")


def test_nothing_is_known_of_a_workload_that_was_changed():
    table = {"blocks": [{"warps": [[["load", [1]], ["compute", 3]]]}]}
    one, other = (
        Workload.from_dict(table),
        Workload.from_dict({"blocks": [{"warps": [[["load", [1]], ["compute", 4]]]}]}),
    )
    assert asked(MACHINE, one)[0].result.ticks < asked(MACHINE, other)[0].result.ticks
