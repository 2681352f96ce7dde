"""Sheets: large studies of closed forms say, as columns, what they would say point by point."""

import itertools
from math import isclose

import numpy as np
import pytest

from simtmm.errors import MachineError, ModelError, StudyError
from simtmm.machine import load_machine
from simtmm.machine.spec import FREE, units
from simtmm.study import sheet
from simtmm.study.findings import answers
from simtmm.study.known import computed, known
from simtmm.study.layout import is_machine_key, layout
from simtmm.study.plan import plan
from simtmm.study.sheet import is_sheet, points_left, sweep_sheet
from simtmm.study.store.store import Store
from simtmm.study.design.study_file import study_of
from simtmm.study.sweep import sweep

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


def laid(**tables):
    return layout(study_of({"program": "list-ranking", "kind": "algorithm", **tables}))


STUDIES = {
    "two machine keys": {
        "parameters": {"n": 2**16},
        "axes": {"memory.latency": "100:1600:log:7", "cores.max_threads_per_core": [8, 16.5, 32]},
    },
    "several machines": {"machines": ["gtx480", "cray-xmt"], "axes": {"n": "10:1e6:log:6", "clock_hz": [1e9, "none"]}},
    "threads, some too many": {"parameters": {"n": 4096}, "axes": {"T": [0, 8, 40, 64], "memory.latency": [1, 400]}},
    "sizes out of the domain": {"axes": {"n": [-1, 0.5, 1, 2, 1e9], "cores.groups": "1:4"}},
    "values that are no numbers": {"axes": {"n": ["many", 64], "memory.latency": [1, 2]}},
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
        "constraints": ["n * memory.latency <= 5000", "machine == 'gtx280' or n < 50", "min(cores.groups, n) > 1"],
        "axes": {"n": [1, 10, 100], "memory.latency": [10, 100, 1000]},
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
def test_a_sheet_has_the_table_of_the_points(tables):
    made = laid(**tables)
    sheets, points = sweep_sheet(made).to_table(), sweep(plan(made)).to_table()
    assert sheets.column_names == points.column_names
    assert sheets["status"].to_pylist() == points["status"].to_pylist()
    done = np.array(points["status"].to_pylist()) == "done"
    for name in points.column_names:
        mine, theirs = sheets[name].to_pylist(), points[name].to_pylist()
        if name == "reason":  # of the models' refusals a sheet leaves the value out, so that it can count them
            assert [bool(reason) for reason in mine] == [bool(reason) for reason in theirs]
            for one, other in zip(mine, theirs, strict=True):
                if other.startswith("machine "):  # of two faults of a machine either is told
                    assert one.startswith("machine ")
                elif other.startswith("does not meet"):
                    assert one == other
        else:
            assert all(map(alike, mine, theirs)), name
    assert done.any()


@pytest.mark.parametrize("name", ["two machine keys", "several machines", "drawn axes", "conditions"])
def test_a_sheet_has_the_answers_of_the_points(name):
    made = laid(**STUDIES[name])
    mine, theirs = answers(sweep_sheet(made)), answers(sweep(plan(made)))
    assert mine.fastest == theirs.fastest
    for entries in ("elasticities", "spreads", "changes", "knees"):
        for one, other in itertools.zip_longest(getattr(mine, entries), getattr(theirs, entries)):
            assert alike(vars(one), vars(other), 1e-9), entries  # the fits' own rounding


def test_only_large_studies_of_closed_forms_are_sheets():
    assert is_sheet(laid(axes={"n": "1:1e9:log:20000"}))
    assert not is_sheet(laid(axes={"n": "1:1e9:log:19999"}))
    assert not is_sheet(layout(study_of({"program": "stream", "axes": {"memory.latency": "1:1e9:log:20000"}})))


def test_a_part_that_is_there_is_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sheet, "PART", 10)
    made, path = laid(axes={"n": "10:1e6:log:35"}), tmp_path / "s.sqlite"
    told = []

    def stop(stage, done, total):
        told.append((stage, done, total))
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep_sheet(made, path, stop)
    assert told == [("points", 0, 35), ("points", 10, 35), ("points", 20, 35)]
    with Store(path) as store:
        assert points_left(made, store) == 15
        half = sheet.read_sheet(made, store)
    assert (half.number("done"), half.number("open")) == (20, 15)
    computing = []
    usual = sheet.PointsOf.compute
    monkeypatch.setattr(sheet.PointsOf, "compute", lambda *given: computing.append(given[1:]) or usual(*given))
    assert sweep_sheet(made, path).results.equals(sweep_sheet(made).results)
    assert computing == [(20, 30), (30, 35), (0, 10), (10, 20), (20, 30), (30, 35)]  # the latter of the one in memory


def test_another_study_has_other_parts(tmp_path):
    path = tmp_path / "s.sqlite"
    sweep_sheet(laid(axes={"n": [10, 20]}), path)
    for change in (
        {"set": {"memory.latency": 7}},
        {"machines": ["gtx480"]},
        {"compute": ["tmm"]},
        {"constraints": ["n < 15"]},
    ):
        other = laid(axes={"n": [10, 20]}, **change)
        with Store(path) as store:
            assert points_left(other, store) == 2


def test_what_a_store_has_of_a_large_study_is_a_sheet(tmp_path):
    made = laid(axes={"n": "10:1e6:log:200", "memory.latency": "10:1000:log:100"})
    done = computed(made, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        again = known(layout(study_of({k: v for k, v in store.study().items() if v})), store)
    assert again.results.equals(done.results)
    assert again.number("done") == len(again) == 20_000
    assert len(again.to_frame()) == 20_000


def test_a_study_of_which_all_points_are_refused_is_wrong(tmp_path):
    for _ in range(2):  # found again in the store
        with pytest.raises(MachineError, match=r"memory\.latency = -3"):
            sweep_sheet(laid(set={"memory.latency": -3}, axes={"n": [1, 2]}), tmp_path / "s.sqlite")
    with pytest.raises(ModelError, match="n = many: must be a number"):
        sweep_sheet(laid(axes={"n": ["many"]}))
    with pytest.raises(StudyError, match="can't be computed"):
        sweep_sheet(laid(axes={"n": [1, 2]}, constraints=["1 / (n - 1) > 0"]))


def test_no_rule_ties_a_free_key_to_another():
    """A value is refused or not whatever value another key has."""
    caches = {"sets": 4, "ways": 2, "latency": 3}
    base = load_machine("gtx480").replace({"memory.l1": caches, "memory.l2": caches})
    tried = [0, 0.3, 1, 3, 128, 1000, "serial", "half-warp-segments", "every-instruction", None]
    keys = [key for key in units() if is_machine_key(key)]
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
