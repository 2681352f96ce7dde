"""Answers: the fits find what curves of known form have."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.study.curves import BEND, bend, slope
from simtmm.study.design.design import design_of
from simtmm.study.design.study_file import study_of
from simtmm.study.findings import findings
from simtmm.study.results import Results, Row
from simtmm.study.sweep import sweep
from tests.study.programs import designed, write

SLOPES = st.floats(-3, 3)


def two_segments(x, knee, before, after, level=1.0):
    return level * np.where(x < knee, (x / knee) ** before, (x / knee) ** after)


@given(st.floats(0.1, 1e6), st.floats(-3, 3), st.floats(1.1, 100))
def test_the_slope_of_a_power_is_its_exponent(level, power, reach):
    x = np.geomspace(3, 3 * reach, 7)
    assert slope(x, level * x**power) == pytest.approx(power, abs=1e-6)  # rounding, over a reach as short as 1.1


@given(st.floats(0.25, 0.75), SLOPES, SLOPES, st.integers(8, 30))
def test_the_knee_of_two_segments_is_found(place, before, after, points):
    x = np.geomspace(10, 10_000, points)
    knee = exp(log(10) + place * log(1000))
    found = bend(x, two_segments(x, knee, before, after, 77.0))
    if abs(after - before) > 1.5 * BEND:
        # to the last of the finer and finer steps, each a sixteenth of the one before
        assert found.at == pytest.approx(knee, rel=1e-3)
        assert found.before == pytest.approx(before, abs=1e-2)
        assert found.after == pytest.approx(after, abs=1e-2)
        assert found.error < 1e-3
    elif abs(after - before) < BEND / 1.5:
        assert found is None


@given(SLOPES, st.integers(5, 30))
def test_a_straight_line_has_no_knee(power, points):
    x = np.geomspace(1, 1e4, points)
    assert bend(x, x**power) is None


def test_fewer_than_five_points_have_no_knee():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert bend(x, two_segments(x, 3, 0, 1)) is None
    assert bend(np.repeat(x, 4), np.repeat(two_segments(x, 3, 0, 1), 4)) is None


def algorithm(**tables):
    return sweep(design_of(study_of({"program": "list-ranking", "machines": ["gtx480"], **tables})))


@pytest.fixture(scope="module")
def along_latency():
    """By the TMM the memory term is proportional to L / T, and the compute term depends on neither."""
    return algorithm(parameters={"n": 2**20}, axes={"memory.latency": "0.1:1000:log:25", "T": [2, 8, 16]})


def test_the_knee_of_a_model_is_where_its_terms_are_equal(along_latency):
    found = findings(along_latency)
    changes = {change.fixed["T"]: change for change in found.changes if change.axis == "memory.latency"}
    knees = {knee.fixed["T"]: knee for knee in found.knees if knee.axis == "memory.latency" and knee.quantity == "tmm"}
    assert set(changes) == set(knees) == {2, 8, 16}
    for threads, change in changes.items():
        row = next(row for row in along_latency.rows if row.point.axes["T"] == threads)
        terms, latency = row.results["tmm"]["terms"], row.point.axes["memory.latency"]
        equal = max(terms["compute"], terms["span"]) / (terms["memory"] / latency)
        assert change.at == pytest.approx(equal, rel=1e-9)  # both terms are powers of L, so the line is exact
        assert change.between[0] <= equal <= change.between[1]
        assert (change.before, change.after) == ("compute", "memory")
        assert knees[threads].at == pytest.approx(equal, rel=1e-3)  # of the fit's finest step
        assert knees[threads].thresholds == {"tmm": [change.at]}
        assert (knees[threads].before, knees[threads].after) == pytest.approx((0, 1), abs=1e-2)


def test_elasticities_are_medians_and_ranges_over_curves():
    study = algorithm(parameters={"n": 2**20}, axes={"memory.latency": "1000:8000:log:4", "T": [0.01, 0.02, 48]})
    found = {(entry.axis, entry.quantity): entry for entry in findings(study).elasticities}
    along = found["memory.latency", "tmm"]
    assert (along.value, along.high, along.curves) == (pytest.approx(1), pytest.approx(1), 3)
    assert 0 <= along.low < 1  # with 48 threads a part of the latency is hidden
    assert found["memory.latency", "pram"].value == 0


def test_sampled_axes_have_the_elasticities_of_a_regression():
    study = algorithm(
        parameters={"n": 2**20},
        compute=["tmm"],
        sample={"points": 30, "axes": {"memory.latency": "5000:50000:log", "T": "0.01:1:log"}},
    )
    found = {entry.axis: entry for entry in findings(study).elasticities}
    assert {axis: entry.value for axis, entry in found.items()} == pytest.approx({"memory.latency": 1, "T": -1})
    assert all(entry.curves == 0 for entry in found.values())


def test_elasticities_to_sampled_axes_lie_two_standard_errors_around_those_of_least_squares():
    """As a table with a column for each place of the grid has them: these take degrees of freedom, too."""
    exact = algorithm(
        axes={"n": [2**12, 2**16, 2**20]},
        compute=["tmm"],
        sample={"points": 6, "axes": {"memory.latency": "5000:50000:log", "T": "0.01:1:log"}},
    )
    noise = np.random.default_rng(3).normal(0, 0.2, len(exact.rows))
    rows = tuple(
        replace(row, results={"tmm": {**row.results["tmm"], "cycles": row.cycles("tmm") * exp(off)}})
        for row, off in zip(exact.rows, noise, strict=True)
    )
    study = Results.of_rows(exact.design, rows)
    names = ("memory.latency", "T")
    sampled = np.array([[log(row.point.axes[name]) for name in names] for row in rows])
    levels = np.array([[row.point.axes["n"] == n for n in (2**12, 2**16, 2**20)] for row in rows], float)
    table, time = np.hstack([sampled, levels]), np.log([row.cycles("tmm") for row in rows])
    fitted, (squares,), _, _ = np.linalg.lstsq(table, time, rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(table.T @ table)) * squares / (len(rows) - 5))
    found = {each.axis: each for each in findings(study).elasticities}
    for name, value, error in zip(names, fitted, errors, strict=False):
        assert found[name].value == pytest.approx(value)
        assert (found[name].low, found[name].high) == pytest.approx((value - 2 * error, value + 2 * error))


def test_axes_of_words_have_a_spread_and_the_value_that_is_fastest():
    study = sweep(
        design_of(
            study_of(
                {
                    "program": "list-ranking",
                    "machines": ["gtx280", "a100-80"],
                    "parameters": {"n": 2**20},
                    "axes": {"T": [1, 2]},
                    "compute": ["tmm"],
                }
            )
        )
    )
    (spread,) = findings(study).spreads
    times = {(row.point.axes["machine"], row.point.axes["T"]): row.cycles("tmm") for row in study.rows}
    ratios = [times["gtx280", threads] / times["a100-80", threads] for threads in (1, 2)]
    assert (spread.axis, spread.best, spread.wins, spread.curves) == ("machine", ("a100-80",), 2, 2)
    assert spread.ratio == pytest.approx(sum(ratios) / 2)  # the median of two
    assert spread.fastest == pytest.approx((times["a100-80", 1] + times["a100-80", 2]) / 2)


def test_values_that_take_the_same_time_are_a_tie(tmp_path):
    """A trace without contention: the scheduler has nothing to choose."""
    axes = {"scheduling.scheduler": ["fifo", "oldest"], "memory.latency": [100, 200]}
    found = findings(sweep(designed(write(tmp_path, blocks=1, threads=8), axes=axes), workers=1))
    (spread,) = (spread for spread in found.spreads if spread.quantity == "simulated")
    assert (spread.best, spread.equal, spread.curves, spread.ratio) == ((), 2, 2, 1)
    assert found.ties["simulated"] == (2, 4)


def test_linked_axes_are_one_curve():
    study = algorithm(
        parameters={"n": 2**20}, compute=["tmm"], linked=[{"memory.latency": [1000, 2000, 4000], "T": [1, 2, 4]}]
    )
    (found,) = findings(study).elasticities
    assert (found.axis, found.value, found.curves) == ("memory.latency", pytest.approx(0, abs=1e-12), 1)


def test_what_binds_a_simulation_is_where_most_of_its_time_goes(tmp_path):
    study = sweep(designed(write(tmp_path), axes={"memory.latency": "1:400:log:12"}), workers=1)
    (change,) = (change for change in findings(study).changes if change.quantity == "simulated")
    assert (change.before, change.after) == ("instruction issue", "memory latency")
    for row in study.rows:
        causes = row.results["simulated"]["causes"]
        largest = max(causes, key=causes.get)
        latency = row.point.axes["memory.latency"]
        assert (largest == "memory latency") == (latency >= change.between[1])


def test_bandwidth_and_latency_are_told_apart(tmp_path):
    axes = {"memory.latency": [400, 1], "memory.service": [0, 100]}
    study = sweep(designed(write(tmp_path, blocks=16, rounds=20), axes=axes), workers=1)
    told = {
        tuple(row.point.axes.values()): study.bounds["simulated"].at(number) for number, row in enumerate(study.rows)
    }
    assert told[400, 0] == "memory latency"
    assert told[1, 100] == "memory bandwidth"


def test_what_was_simulated_before_causes_were_told_has_where_its_time_goes(tmp_path):
    study = sweep(designed(write(tmp_path), axes={"memory.latency": [1, 400]}), workers=1)
    rows = []
    for row in study.rows:
        simulated = {key: value for key, value in row.results["simulated"].items() if key != "causes"}
        rows.append(replace(row, results={**row.results, "simulated": simulated}))
    older = Results.of_rows(study.design, tuple(rows))
    assert [older.bounds["simulated"].at(point) for point in range(2)] == ["issuing", "memory"]
    assert [study.bounds["simulated"].at(point) for point in range(2)] == ["instruction issue", "memory latency"]


def test_the_simulated_knee_stands_beside_the_models_threshold(tmp_path):
    study = sweep(designed(write(tmp_path, blocks=16, rounds=20), axes={"memory.latency": "2:1000:log:17"}), workers=1)
    (knee,) = (knee for knee in findings(study).knees if knee.quantity == "simulated")
    assert set(knee.thresholds) == {"tmm", "tmm-warps"}
    assert 0 <= knee.before < 0.5 < knee.after <= 1
    low, high = sorted((knee.thresholds["tmm"][0], knee.thresholds["tmm-warps"][0]))
    assert low / 4 < knee.at < high * 4  # orders of bounds: their constants are 1


def test_the_fastest_point_is_told_for_each_quantity(along_latency):
    assert findings(along_latency).fastest["tmm"] == {"memory.latency": 0.1, "T": 2}


def test_a_study_without_results_has_no_findings(along_latency):
    rows = tuple(Row(row.point, "open", "", {}) for row in along_latency.rows)
    found = findings(Results.of_rows(along_latency.design, rows))
    nothing = dict.fromkeys(("elasticities", "spreads", "changes", "forms", "knees", "held", "carried", "winners"), ())
    assert found.to_dict() == {**nothing, "fastest": {}, "ties": {}, "curves": {}}


def test_of_very_many_curves_some_are_looked_at_and_that_is_told(along_latency, monkeypatch):
    monkeypatch.setattr("simtmm.study.findings.MOST_CURVES", 2)
    every, found = 3, findings(along_latency)
    assert found.curves == {"memory.latency": every, "T": 25}
    assert {change.fixed["T"] for change in found.changes if change.axis == "memory.latency"} == {2, 8}
    assert {entry.curves for entry in found.elasticities} == {every, 25}
