"""The answers of a study, of findings made by hand: each one's columns, first row, rows that fit, and what is left."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.report.studies.answers import LISTED, answers, contest, reasons
from simtmm.study.alongside import Carried
from simtmm.study.findings import MOST_CURVES, Elasticity, Findings, Form, Knee, Spread
from simtmm.study.regimes import Change, Held
from simtmm.study.shapes import Shape
from simtmm.study.winners import Winner

SERIES = ["simulated", "tmm"]
STUDY = SimpleNamespace(design=SimpleNamespace(compute=SERIES), cycles={"simulated": np.array([900.0, 700.0, np.nan])})
AT = [(8 * i, 8 * i + 8) for i in range(LISTED + 2)]
FIXED = {"m": 2, "machine": "x"}
MANY = 7 * LISTED  # curves with an axis, of which MOST_CURVES are examined
EXAMINED = f"n: {MOST_CURVES:,} of {MANY:,} curves were examined, evenly spaced"


def of(number):
    """Findings, so many of each kind, no two of which are told as one."""
    some = range(number)
    return Findings(
        study=STUDY,
        elasticities=tuple(Elasticity(f"n{i}", "simulated", -0.001, 0.25, 1.5, 4 * (i % 2)) for i in some),
        spreads=(
            Spread("rule", "simulated", 1.25, ("a", "b"), 3, 1, 5, 1000.0, 1250.0),
            Spread("rule", "tmm", 1.0, (), 0, 5, 5, 1000.0, 1000.0),
        ),
        changes=tuple(
            Change("n", ("simulated", "tmm")[i % 2], {**FIXED, "i": i}, "memory", "compute", AT[i], 8 * i + 3)
            for i in some
        ),
        forms=tuple(
            Form(f"n{i}", "simulated", {**FIXED, "i": i}, Shape("linear", (5.0, 2.0), 0.012 * (i % 2))) for i in some
        ),
        knees=tuple(
            Knee("n", "simulated", {**FIXED, "i": i}, 100.0 + i, (96, 128), 0.0, 1.0, 0.01, {"tmm": (90.0, 99.5)})
            for i in some
        ),
        fastest={"simulated": {"n": 3, "rule": "a"}},
        ties={"simulated": (2, 3)},
        held=tuple(
            Held("block", {**FIXED, "i": i}, ((32, 32, "blocks_per_group"), (64, 64 + i, "warps_per_group")))
            for i in some
        ),
        carried=(Carried("n", (1, 8), "the bandwidth", "bytes/s", 2e9, 4e9, "memory.service"),
                 Carried("n", (1, 8), "a block's memory", "bytes", 2.0, 16.0, "")),
        winners=tuple(
            Winner({"n": i, "m": 2}, series, best, {"a": 10.0, "b": 10.0 + 5 * (len(best) == 1)})
            for i in some
            for series, best in (("simulated", ("a",) if i % 2 else ("b",)), ("tmm", ("a", "b")))
        ),
        curves={"n": MANY} if number > 2 else {},
    )  # fmt: skip


# title: the columns, the first row, the rows that there are of so many findings of each kind
EXPECTED = {
    "Elasticity of time: per cent for one per cent more": (
        ("axis", "by", "median", "lowest", "highest", "curves"), (0, 1),
        ("n0", "simulated", "0.00", "0.25", "1.50", "sampled"),
    ),
    "Slowest over fastest: medians over curves, times in cycles": (
        ("axis", "by", "fastest", "slowest", "ratio", "best", "in", "ties"), (0, 1, 5, 6, 7),
        ("rule", "simulated", "1,000", "1,250", "1.250", "a = b", "3 of 5", "1 of 5 equal"),
    ),
    "Form of the curves: cycles over the axis, x": (
        ("axis", "by", "form", "to within", "curves", "with"), (0, 1, 2, 5),
        ("n0", "simulated", "5 + 2 x", "exact", "1", "m=2, machine=x, i=0"),
    ),
    "Knees, and the elasticity on each side": (
        ("axis", "by", "knee at", "between", "before", "after", "models' thresholds", "curves", "with"), (0, 1, 6, 8),
        ("n", "simulated", "100", "96 to 128", "0.00", "1.00", "TMM 90, 99.5", "1", "m=2, machine=x, i=0"),
    ),
    "Where what binds changes": (
        ("axis", "at", "between", "by", "what binds", "curves", "with"), (0, 3, 4, 6),
        ("n", "-", "0 to 8", "simulated", "memory to compute", "1", "m=2, machine=x, i=0"),
    ),
    "Fastest program, and the next one's time as a multiple of its time": (
        ("n", "m", "simulated", "TMM"), (2, 3), ("0", "2", "b (0.667)", "a = b (equal)"),
    ),
    "Where the fastest program changes": (
        ("axis", "between", "by", "fastest", "curves", "with"), (0, 2, 3, 5),
        ("n", "0 to 1", "simulated", "b to a", "1", "m=2"),
    ),
    "What limits the resident blocks of a group, by the values of an axis": (
        ("axis", "held by", "curves", "with"), (0, 1, 3),
        ("block", "32: blocks_per_group; 64: warps_per_group", "1", "m=2, machine=x, i=0"),
    ),
    "What else changes along an axis": (
        ("axis", "from", "changes too", "from", "to hold it"), (0, 1, 2, 3, 4),
        ("n", "1 to 8", "the bandwidth", "2 GB/s to 4 GB/s", "memory.service"),
    ),
    "Fastest [cycles]": (("by", "time", "at", "ties"), (0, 2, 3), ("simulated", "700", "n=3, rule=a", "2 of 3 equal")),
}  # fmt: skip
WHOLE = {  # these are never cut: how many rows they have, None if as many as there are findings
    "Elasticity of time: per cent for one per cent more": None,
    "Slowest over fastest: medians over curves, times in cycles": 2, "What else changes along an axis": 2,
    "Fastest [cycles]": 1,
}  # fmt: skip
OF_CURVES = {
    "Form of the curves: cycles over the axis, x", "Knees, and the elasticity on each side", "Where what binds changes",
    "What limits the resident blocks of a group, by the values of an axis",
}  # fmt: skip


@pytest.mark.parametrize("title", EXPECTED)
def test_an_answer_has_its_columns_and_values(title):
    found = {answer.title: answer for answer in answers(STUDY, of(2))}
    assert list(found) == list(EXPECTED)  # in the order in which they are read
    answer = found[title]
    assert (answer.header, answer.left, answer.rows[0]) == EXPECTED[title]
    assert all(len(row) == len(answer.header) for row in answer.rows)
    assert answer.more == ()


def test_second_rows_say_what_first_ones_do_not():
    rows = {answer.title: answer.rows[1] for answer in answers(STUDY, of(2)) if len(answer.rows) > 1}
    assert rows["Elasticity of time: per cent for one per cent more"][-1] == "4"
    assert rows["Slowest over fastest: medians over curves, times in cycles"][4:] == ("-", "-", "", "5 of 5 equal")
    assert rows["Form of the curves: cycles over the axis, x"][3] == "1.2 %"
    assert rows["Where what binds changes"][1:4] == ("11", "8 to 16", "TMM")  # a closed form's place is exact
    assert rows["Fastest program, and the next one's time as a multiple of its time"] == (
        "1", "2", "a (1.5)", "a = b (equal)",
    )  # fmt: skip
    held = "What limits the resident blocks of a group, by the values of an axis"
    assert rows[held][1] == "32: blocks_per_group; 64 to 65: warps_per_group"
    assert rows["What else changes along an axis"][3:] == ("2 bytes to 16 bytes", "-")


@pytest.mark.parametrize("title", EXPECTED)
def test_what_does_not_fit_is_counted_and_curves_that_were_not_examined_are_told(title):
    there = LISTED + 2
    answer = {answer.title: answer for answer in answers(STUDY, of(there))}[title]
    if title in WHOLE:
        assert (len(answer.rows), answer.more) == (WHOLE[title] or there, ())
        return
    left = there - LISTED - (title == "Where the fastest program changes")  # between neighbours
    assert len(answer.rows) == LISTED
    assert answer.more == (f"and {left} more: see --json", *([EXAMINED] if title in OF_CURVES else []))


def test_changes_between_the_same_programs_are_one_row_and_others_rows_of_their_own():
    """The winner at each of two values of n, on curves of an m each."""
    curves = {1: ("a", "b"), 2: ("a", "c"), 4: ("a", "b"), 8: ("c", "b")}
    told = [
        Winner({"n": n, "m": m}, "simulated", (best,), {"a": 9.0, "b": 9.0, "c": 9.0} | {best: 3.0})
        for m, bests in curves.items()
        for n, best in enumerate(bests)
    ]
    changes = contest(told, ["simulated"])[1]
    of_n = [row[3:] for row in changes.rows if row[0] == "n"]
    assert of_n == [("a to b", "2", "m=1,4"), ("a to c", "1", "m=2"), ("c to b", "1", "m=8")]


def test_nothing_found_is_no_answer():
    nothing = Findings(STUDY, (), (), (), (), (), {}, {}, (), (), (), {"n": MANY})
    assert answers(STUDY, nothing) == []


def test_reasons_that_differ_in_numbers_and_names_of_machines_are_one_and_the_most_frequent_comes_first():
    there = Counter({"n is 3 (on x)": 1, "other": 2, "n is 5.5 (on y)": 1100})
    there.update({f"reason {chr(97 + i)}": 1 for i in range(LISTED)})
    study = SimpleNamespace(reasons=lambda status: there if status == "failed" else Counter())
    (answer,) = reasons(study)
    assert (answer.title, answer.header, answer.left) == ("Failed", ("points", "reason"), (1,))
    assert list(answer.rows[:2]) == [("1,101", "n is 5.5 (on y) (and 1 more like it)"), ("2", "other")]
    assert (len(answer.rows), answer.more) == (LISTED, ("and 2 more: see --json",))
