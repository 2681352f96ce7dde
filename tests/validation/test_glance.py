"""All tables at a glance: errors by kind of kernel, and how often the faster of two versions is called so."""

from pathlib import Path

import pytest

from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.glance import (
    APART,
    CALIBRATED,
    COMPARED,
    FITTED,
    KINDS,
    LEFT_OUT,
    RELATIVES,
    decisions,
    glance,
    work_of,
)
from simtmm.validation.snapshot import read

TABLES = [kept.accuracy for kept in read(Path(__file__).parents[2] / "docs" / "accuracy")]


def table(name, *points, machine="m", reference="measured"):
    found = tuple(Measured(case, measured, said, group=case.partition(",")[0]) for case, measured, said in points)
    return Accuracy(name, name, "time", "us", found, "", "", machine, reference=reference)


def simulated(*values):
    return [{"simulated": value} for value in values]


def test_each_table_of_measured_values_has_a_kind_or_is_left_out():
    measured = {each.name for each in TABLES if each.reference == "measured"}
    assert measured - KINDS.keys() - LEFT_OUT == set()
    assert KINDS.keys() - measured <= {"contributed-seconds"}  # nobody has sent any yet
    assert KINDS.keys() >= COMPARED


def test_a_table_that_says_it_was_fitted_is_no_prediction():
    fitted = [each.name for each in TABLES if "fitted" in each.name or "calibration" in each.name]
    assert {KINDS[name][1] for name in fitted} == {FITTED}
    of_none = [each.name for each in TABLES if each.name in KINDS and each.calibrated.startswith("nothing on this GPU")]
    assert {KINDS[name][1] for name in of_none} == {RELATIVES}


def test_errors_are_of_all_points_of_a_kind():
    rows = glance([
        table("h100-sxm-sdk", ("a", 10.0, {"simulated": 11.0, "tmm": 20.0}), machine="h100-sxm"),
        table("h100-sxm-tiles", ("b", 10.0, {"simulated": 7.0, "tmm": 10.0}), machine="h100-sxm"),
        table("ladder-fitted", ("c", 10.0, {"simulated": 10.0}), machine="rtx-3080"),
        table("ladder", ("d", 10.0, {"simulated": 1.0}), reference="fitted line"),
        table("of no kind", ("e", 1.0, {"simulated": 9.0})),
    ])  # fmt: skip
    assert [(row.kind, row.decided, row.points) for row in rows] == [
        ("whole benchmarks", CALIBRATED, 2),
        ("shared memory, barriers", FITTED, 1),
    ]
    first = rows[0]
    assert (first.mean, first.median, first.worst) == pytest.approx((0.2, 0.2, -0.3))
    assert first.machines == ("h100-sxm",)
    assert first.best == ("tmm", 0.5)


def test_a_model_that_lacks_points_is_not_the_best():
    (row,) = glance([
        table("h100-sxm-sdk", ("a", 10.0, {"simulated": 10.0, "tmm": 10.0, "pram": 5.0})),
        table("h100-sxm-tiles", ("b", 10.0, {"simulated": 10.0, "pram": 5.0})),
    ])  # fmt: skip
    assert row.best == ("pram", 0.5)


@pytest.mark.parametrize(
    ("case", "work"),
    [
        ("gemm, n = 128, side = 16", "gemm, n = 128"),
        ("n = 32, blocks of 8 x 8 threads", "n = 32"),
        ("n = 32, blocks of 8 threads", "n = 32"),
        ("init, 2 x 160 threads", "init"),
        ("add_by_columns, n = 4096", "add, n = 4096"),
        ("sum_divergent, n = 64", "sum, n = 64"),
        ("empty, threads = 32, blocks = 128", "empty"),
    ],
)
def test_work_is_a_case_without_what_is_chosen(case, work):
    group = case.partition(",")[0]
    assert work_of(Measured(case, 1.0, {}, group=group)) == work


def test_pairs_of_versions_are_counted_by_how_far_apart_they_were_measured():
    points = [
        (f"gemm, n = 8, side = {side}", measured, said)
        for side, measured, said in zip((1, 2, 3), (100.0, 104.0, 130.0), simulated(100, 99, 140), strict=True)
    ]
    found = {row.apart: (row.right, row.pairs) for row in decisions([table("h100-sxm-polybench", *points)])}
    assert found == {0.02: (2, 3), 0.05: (2, 2), 0.1: (2, 2), 0.2: (2, 2)}


def test_other_work_and_equal_times_are_no_pair_and_no_right_call():
    points = [("gemm, n = 8, side = 1", 1.0, {"simulated": 5.0}), ("gemm, n = 9, side = 1", 2.0, {"simulated": 4.0})]
    assert decisions([table("h100-sxm-polybench", *points)]) == []
    equal = [("gemm, n = 8, side = 1", 1.0, {"simulated": 5.0}), ("gemm, n = 8, side = 2", 2.0, {"simulated": 5.0})]
    assert [(row.right, row.pairs) for row in decisions([table("h100-sxm-polybench", *equal)])] == [(0, 1)] * len(APART)


def test_decisions_of_what_is_kept_are_right_mostly():
    """No worse than 95 % of pairs over 10 % apart, which is the project's aim."""
    found = [row for row in decisions(TABLES) if row.apart == 0.10]
    assert {row.decided for row in found} == {FITTED, CALIBRATED, RELATIVES}
    assert [row for row in found if row.right / row.pairs < 0.95] == []
