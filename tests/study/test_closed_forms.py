"""Closed forms: as columns they say what the library says of each point."""

import itertools
import json
import re
from math import isclose

import pytest

from simtmm.errors import MachineError, ModelError, StudyError
from simtmm.machine import load_machine
from simtmm.machine.bandwidth import BANDWIDTH
from simtmm.machine.rules import FREE
from simtmm.machine.spec import units
from simtmm.model.algorithms import find
from simtmm.model.algorithms.times import predict_algorithm
from simtmm.study.design.design import design_of, is_machine_key
from simtmm.study.design.points import points_of
from simtmm.study.design.study_file import study_of
from simtmm.study.evaluation import closed_forms
from simtmm.study.evaluation.closed_form_times import ClosedFormTimes
from simtmm.study.evaluation.closed_forms import ClosedForms
from simtmm.study.results import LARGE
from simtmm.study.store.store import Store
from simtmm.study.sweep import read, sweep

ROUNDING = 1e-12  # a function of an array and of a number may differ in the last bits


def alike(one, other, rounding=ROUNDING):
    """Equal but for rounding, in depth."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key], rounding) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(alike(*pair, rounding) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return isclose(one, other, rel_tol=rounding, abs_tol=1e-12)
    return one == other


def designed(**tables):
    return design_of(study_of({"program": "list-ranking", "kind": "algorithm", **tables}))


STUDIES = {
    "two machine keys": {
        "parameters": {"n": 2**16},
        "axes": {"memory.latency": "100:1600:log:7", "cores.max_threads_per_core": [8, 16.5, 32]},
    },
    "several machines": {"machines": ["gtx480", "cray-xmt"], "axes": {"n": "10:1e6:log:6", "clock_hz": [1e9, "none"]}},
    "threads, some too many": {"parameters": {"n": 4096}, "axes": {"T": [0, 8, 40, 64], "memory.latency": [1, 400]}},
    "sizes out of the domain": {"axes": {"n": [-1, 0.5, 1, 2, 1e9], "cores.groups": "1:4"}},
    "machines that are refused": {"axes": {"n": [64, 128], "memory.latency": [-3, 0, 5], "cores.groups": [0, 2.5, 3]}},
    "rules that tie keys": {
        "parameters": {"n": 64},
        "axes": {"memory.latency": [0.01, 1, 4], "ticks_per_cycle": [1, 100], "memory.service": [0, 2],
                 "memory.transfers": ["pipelined", "serial"]},
    },
    "linked axes": {"linked": [{"n": [10, 20, 10], "memory.latency": [5, 6, 7]}], "axes": {"cores.groups": [1, 2]}},
    "drawn axes": {
        "sample": {"points": 20, "seed": 3, "axes": {"memory.latency": "10:1000:log", "n": "10:1e6"}},
        "axes": {"cores.groups": [2, 4]},
    },
    "conditions": {
        "machines": ["gtx280", "gtx480"],
        "constraints": ["n * memory.latency <= 5000", "machine == 'gtx280' or n < 50", "min(cores.groups, n) > 1",
                        "cores.groups * n > 200"],  # of 30 and of 15
        "axes": {"n": [1, 10, 20, 100], "memory.latency": [10, 100, 1000]},
    },
    "variants": {
        "program": "odd-even-sort",
        "axes": {"n": [1024, 1e6], "variant": ["printed", "none such"], "memory.latency": [100, 200]},
    },
    "shared memory": {
        "program": "matrix-multiplication",
        "machines": ["gtx480", "cray-xmt"],
        "axes": {"n": [48, 4096], "resources.shared_memory": [16384, 49152, "none"]},
    },
    "one model": {"compute": ["pram"], "axes": {"n": [10, 20]}},
}  # fmt: skip


@pytest.mark.parametrize("tables", STUDIES.values(), ids=STUDIES)
def test_the_table_says_what_the_library_says_of_each_point(tables):
    design = designed(**tables)
    made = sweep(design)
    table = made.to_table().to_pylist()
    for point, row in zip(points_of(design), table, strict=True):
        mixed = {
            name for name, value in point.axes.items() if isinstance(row[name], str)
        }  # among words a number is one
        assert {name: row[name] for name in design.axes} == {
            name: str(value) if name in mixed else value for name, value in point.axes.items()
        }
        told, reason = library(design, point)
        assert (row["status"], bool(row["reason"])) == (("done", False) if told else ("skipped", True))
        if not reason.startswith("machine ") and "must be a number" not in reason:  # of two faults either is told
            # The library's machine is a changed one, and its name says so; in a table the columns do.
            assert row["reason"] == re.sub(r" \([\w.]+ = \w+\)(?= has )", "", reason)
        for quantity in design.compute:
            expected = told[quantity].to_dict() if told else {"terms": {}}
            for name in ("cycles", "seconds", "bound"):
                assert alike(row[f"{quantity}.{name}"], expected.get(name)), (point, name)
            for name, term in expected["terms"].items():
                assert alike(row[f"{quantity}.terms.{name}"], term), (point, name)
    assert made.number("done") > 0


def library(design, point):
    """What the models say of a point; nothing, and why, where there is no such point."""
    if point.skipped:
        return {}, point.skipped
    given = dict(point.parameters)
    threads, variant = given.pop("T", None), given.pop("variant", None)
    try:
        return predict_algorithm(find(design.subject.source), point.machine, given, threads, variant), ""
    except ModelError as error:
        return {}, str(error)


@pytest.mark.parametrize("name", ["several machines", "threads, some too many", "conditions"])
def test_a_point_has_all_that_the_models_say(name):
    made = sweep(designed(**STUDIES[name]))
    for point, row in zip(points_of(made.design), made.rows, strict=True):
        told, _ = library(made.design, point)
        assert row.point == point
        assert row.results == {quantity: told[quantity].to_dict() for quantity in made.design.compute if told}


def test_points_are_objects_in_json_until_there_are_very_many():
    small = sweep(designed(axes={"n": "1:1e9:log:19"})).to_dict()
    assert len(small["points"]) == 19
    assert json.loads(json.dumps(small)) == small
    large = sweep(designed(axes={"n": f"1:1e9:log:{LARGE}"}, compute=["tmm"])).to_dict()
    assert "points" not in large
    assert len(large["columns"]["tmm.cycles"]) == LARGE


def test_a_part_that_is_there_is_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(closed_forms, "PART", 10)
    made, path = designed(axes={"n": "10:1e6:log:35"}), tmp_path / "s.sqlite"
    told = []

    def stop(stage, done, total):
        told.append((stage, done, total))
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(made, path, watch=stop)
    assert told == [("points", 0, 35), ("points", 10, 35), ("points", 20, 35)]
    with Store(path) as store:
        assert ClosedForms(made).left(store).to_compute == 15
        half = read(made, store)
    assert (half.number("done"), half.number("open")) == (20, 15)
    computing = []
    usual = ClosedFormTimes.compute
    monkeypatch.setattr(ClosedFormTimes, "compute", lambda *given: computing.append(given[1:]) or usual(*given))
    assert sweep(made, path).table.equals(sweep(made).table)
    assert computing == [(20, 30), (30, 35), (0, 10), (10, 20), (20, 30), (30, 35)]  # the latter of the one in memory


def test_a_store_that_has_all_is_not_written_to(tmp_path):
    made, path = designed(axes={"n": "10:1e6:log:35"}), tmp_path / "s.sqlite"
    done = sweep(made, path)
    written = path.read_bytes()
    assert sweep(made, path).table.equals(done.table)
    assert path.read_bytes() == written


def test_another_study_has_other_parts(tmp_path):
    path = tmp_path / "s.sqlite"
    sweep(designed(axes={"n": [10, 20]}), path)
    for change in (
        {"set": {"memory.latency": 7}},
        {"machines": ["gtx480"]},
        {"compute": ["tmm"]},
        {"constraints": ["n < 15"]},
    ):
        other = designed(axes={"n": [10, 20]}, **change)
        with Store(path) as store:
            assert ClosedForms(other).left(store).to_compute == 2


def test_what_a_store_has_is_what_was_computed(tmp_path):
    made = designed(axes={"n": "10:1e6:log:200", "memory.latency": "10:1000:log:100"})
    done = sweep(made, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        again = read(design_of(study_of({key: value for key, value in store.study().items() if value})), store)
    assert again.table.equals(done.table)
    assert again.number("done") == len(again) == 20_000
    assert len(again.to_frame()) == 20_000


def test_measured_times_stand_beside_closed_forms_and_are_kept(tmp_path):
    times = tmp_path / "times.csv"
    times.write_text("kernel,machine,seconds,n\nlist-ranking,gtx480,0.5,1024\n", encoding="utf-8")
    tables = {"machines": ["gtx480"], "measured": [str(times)], "axes": {"n": [64, 1024], "memory.latency": [512, 9]}}
    study = sweep(designed(**tables), tmp_path / "s.sqlite")
    seconds = [row.results.get("measured", {}).get("seconds") for row in study.rows]
    assert seconds == [None, None, 0.5, None]  # the GTX 480 has L = 512
    assert (
        study.rows[2].results["measured"]["cycles"]
        == study.cycles["measured"][2]
        == 0.5 * load_machine("gtx480").clock_hz
    )
    with Store(tmp_path / "s.sqlite") as store:
        assert read(study.design, store).table.equals(study.table)


def test_a_study_of_which_all_points_are_refused_is_wrong(tmp_path):
    for _ in range(2):  # found again in the store
        with pytest.raises(MachineError, match=r"memory\.latency = -3"):
            sweep(designed(set={"memory.latency": -3}, axes={"n": [1, 2]}), tmp_path / "s.sqlite")
    with pytest.raises(StudyError, match="axis n = 'many': must be a number"):
        designed(axes={"n": ["many", 64]})
    with pytest.raises(StudyError, match="can't be computed"):
        sweep(designed(axes={"n": [1, 2]}, constraints=["1 / (n - 1) > 0"]))


def test_no_rule_ties_a_free_key_to_another():
    """A value is refused or not whatever value another key has."""
    caches = {"sets": 4, "ways": 2, "latency": 3}
    base = load_machine("gtx480").replace({"memory.l1": caches, "memory.l2": caches})
    tried = [0, 0.3, 1, 3, 128, 1000, "serial", "half-warp-segments", "every-instruction", None]
    keys = [key for key in units() if is_machine_key(key) and key != BANDWIDTH]  # which ties the clock: see _tied
    assert set(keys) >= FREE

    def refused(changes):
        try:
            base.replace(changes)
        except MachineError:
            return True
        return False

    good = {key: [value for value in tried if not refused({key: value})] for key in keys}
    for free, other in itertools.product(sorted(FREE), keys):
        for mine, theirs in itertools.product(good[free], good[other] if other != free else []):
            assert not refused({free: mine, other: theirs}), (free, mine, other, theirs)
