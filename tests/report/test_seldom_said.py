"""What reports say of what seldom is: more rows than fit, what was left out, what can't be drawn."""

import io
from types import SimpleNamespace as Some

import numpy as np
import pytest
from rich.console import Console

from simtmm.analysis.micro import MicroResult
from simtmm.analysis.nsight import Compared
from simtmm.errors import OutputError
from simtmm.measurement.campaign import Outcome
from simtmm.report.explain.code import left_out
from simtmm.report.measurements.measure import LAUNCHES_SHOWN, describe_all, describe_measurement
from simtmm.report.measurements.micro import describe_micro
from simtmm.report.nsight import MOST_LINES, describe_beside
from simtmm.report.papers.claims import _describe_band, describe_claim
from simtmm.report.papers.equations import MOST_ROWS, _shown, describe_evaluated, describe_fitted
from simtmm.report.papers.predict import told_counts
from simtmm.report.pictures.charts import curves, heat_map
from simtmm.result import LaunchTime, Quartiles


def text(parts):
    """Lines as a terminal of 150 columns shows them."""
    console = Console(file=io.StringIO(), width=150)
    for part in parts:
        console.print(part)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def launches(numbers):
    quartiles = Quartiles(1e-6, 2e-6, 3e-6)
    return [LaunchTime("k", (number, 1, 1), (64, 1, 1), 32, 0, 48, 8, quartiles) for number in numbers]


@pytest.mark.parametrize(
    ("numbers", "more"),
    [
        (range(LAUNCHES_SHOWN), None),
        (range(LAUNCHES_SHOWN + 1), "and 1 more launch"),
        ([*range(LAUNCHES_SHOWN), 99, 99, 99, 7], "and 4 more launches"),
    ],
)
def test_launches_that_find_no_room_are_counted(numbers, more):
    some = Quartiles(1e-6, 2e-6, 3e-6)
    measured = Some(
        kernel="k", parameters={"n": 3}, device={"device": "a GPU", "clock_hz": 1.5e9}, cold=True, repeat=7, total=some,
        elapsed=some, launches=launches(numbers),
    )  # fmt: skip
    said = text(describe_measurement(measured))
    assert [line for line in said if line.startswith("and ")] == ([more] if more else [])
    assert said[0] == "k (n=3) on a GPU"
    assert said[-1] == "core clock 1.500 GHz, measured; the answer is right"
    assert "Time, 7 runs, empty caches" in (line.strip() for line in said)


def test_of_a_campaign_what_went_wrong_is_told_by_its_name():
    said = text(
        describe_all(
            [
                Outcome("stream", "one", "done", "fine"), Outcome("stream", "two", "differs", "0.1 % more"),
                Outcome("chase", "three", "failed", "no memory"), Outcome("chase", "four", "there", "old"),
                Outcome("chase", "five", "left", "late"),
            ]
        )
    )  # fmt: skip
    assert said[-2:] == ["stream/two: differs: 0.1 % more", "chase/three: failed: no memory"]
    rows = [line.split() for line in said if line.strip().startswith(("stream ", "chase "))]
    assert rows == [["stream", "1", "0", "1", "0", "0"], ["chase", "0", "1", "0", "1", "1"]]


def line(number):
    counted = [Compared("samples", 0.5, 0.25, True), Compared("instructions", 100.0 - number, 50.0)]
    return Some(file="folder/k.cu", line=number, text=f"  x[{number}] = 1;", compared=counted)


def test_beside_nsight_there_are_sums_copies_lines_and_what_was_left_out():
    times = [Compared("total", 3e-6, 2e-6), Compared("mean", 1e-6, 1e-6)]
    found = Some(
        launches=[], sums=[Some(kernel="k", launches=3, measured_launches=1002, compared=times)],
        copies=[Some(operation="[CUDA memcpy HtoD]", copies=2, measured_copies=2, compared=times[:1])],
        kernels=[
            Some(kernel="k", launches=2, measured_launches=1, left_out=("m.hpp:5", "m.hpp:6"),
                 lines=[line(number) for number in range(MOST_LINES + 2)])
        ], warnings=["a warning"], left_out=["other", "another"],
    )  # fmt: skip
    said = [" ".join(each.split()) for each in text(describe_beside(found))]
    assert "k, compared with Nsight Systems" in said
    assert "launches 3 1,002" in said
    assert "total, us 3.00 2.00 +50.0 %" in said
    assert "mean, us 1.00 1.00 +0.0 %" in said
    assert "copies 2 2" in said
    assert "Measured in 1 of 2 launches; counts are scaled to all of them." in said
    assert "2 more lines are in --json, in --html and, in Python, in .to_frame()." in said
    assert "Measured, but not among the lines here: m.hpp:5, m.hpp:6." in said
    assert said[-3:] == ["a warning", "", "Measured, but not launched here: other, another."]
    assert sum(each.startswith("k.cu:") for each in said) == MOST_LINES


def micro(simulated, within):
    limit = Some(cycles=10.0, within=within, source="a guide")
    return MicroResult(Some(name="m", repetition="a load", bytes=0, limit=limit), 10.0, simulated, simulated + 5)


def test_micro_kernels_that_are_off_and_those_left_out_are_told():
    found = Some(machine=Some(name="a GPU"), notes=["a note"], results=[micro(30.0, 1.1)], left_out=["fp64: no pipe"])
    said = text(describe_micro(found))
    assert said[:2] == ["Micro-kernels on a GPU, one block on one multiprocessor", "a note"]
    assert "left out: fp64: no pipe" in said
    assert any("should be within 1.1 of its limit" in each for each in said)
    assert said[-1] == "m: a guide"


@pytest.mark.parametrize(("points", "more"), [(MOST_ROWS, None), (MOST_ROWS + 3, "and 3 more: --csv prints all")])
def test_points_of_an_equation_that_find_no_room_are_counted(points, more):
    symbols = [Some(name="n", unit="", meaning="how many"), Some(name="L", unit="cycles", meaning="latency")]
    evaluated = Some(
        equation=Some(name="e", title="a title", source="a paper", symbols=symbols, units={"t": "s"}),
        symbols={"n": np.arange(points), "L": np.full(points, 400)}, varied=("n",),
        values={"t": np.arange(points) * 2.0},
    )  # fmt: skip
    said = text(describe_evaluated(evaluated))
    assert said[:2] == ["e: a title (a paper)", "  L = 400 cycles   latency"]
    assert [each for each in said if each.startswith("and ")] == ([more] if more else [])


def test_a_fit_of_a_cache_tells_its_constants():
    straight = Some(a1=2.0, a0=1.0, r_squared=None, residuals=np.array([0.5, -0.75]))
    fitted = Some(file="f.csv", rows=9, x="hits", cache=Some(G=3.5, hit_time=0.25, line=straight), line=None)
    assert text(describe_fitted(fitted)) == [
        "f.csv: 9 rows, time over hits", "G = 3.5, if no access hits; 0.25 if all do",
        "r^2 = none, as times do not vary; largest residual 0.75", "Fitted to these times, so they do not test it.",
    ]  # fmt: skip
    fitted = Some(file="f.csv", rows=9, x="n", cache=None, line=straight)
    assert text(describe_fitted(fitted))[1] == "a1 = 2, a0 = 1"


def test_values_are_told_as_what_they_are():
    assert [_shown(value) for value in (True, False, 0, 0.5, 1e-5, 1e8)] == ["yes", "no", "0", "0.5", "1e-05", "1e+08"]
    assert told_counts(Some(counts_error=0.0123, words="3 of 9 blocks")) == "counts ± 1.2 % (3 of 9 blocks)"


def test_instructions_without_room_are_counted_by_kernel():
    listings = [
        Some(code="sass", kernel="k", left=1234),
        Some(code="ptx", kernel="k", left=5),
        Some(code="sass", kernel="m", left=0),
    ]
    assert [*left_out(Some(info=Some(listings=listings)), "sass")] == [
        "SASS of k: the last 1,234 instructions are left out."
    ]
    assert [*left_out(Some(info=None), "sass")] == []


def test_nothing_is_no_picture():
    with pytest.raises(OutputError, match="curves: there are no numbers to draw"):
        curves([1, 2], {"tmm": [None, float("nan")]}, "n", "time")
    with pytest.raises(OutputError, match="a heat map: there are no numbers to draw"):
        heat_map([1], [1], [[float("nan")]], "n", "m", "time")


def test_a_claim_without_a_band_says_why_and_a_smaller_one_too():
    claim = Some(
        name="c", text="it wins", part="3", of=["Table 1"], verdict="holds", known="bands", found="2.0",
        command="simtmm run", beside="", no_band="it is a definition", band=None,
    )  # fmt: skip
    assert text(_claim(claim))[-1] == "no band: it is a definition"
    point = Some(values=(8,), outcome=2.5, holds=True)
    other = Some(values=(16,), outcome=0.5, holds=False)
    band = Some(
        name="b", machine="gtx280", outcome="ratio", criterion="above 1", shrunk="16 of 64 n", axes={"n": [8, 16]},
        points=Some(words="1 of 2", points=[point, other], deciding={"n"}, axes=("n",)),
    )  # fmt: skip
    said = [" ".join(each.split()) for each in text(_describe_band(band, True))]
    assert said[:4] == [
        "Band b, on gtx280: 1 of 2",
        "outcome: ratio",
        "holds where: above 1",
        "smaller than in the paper: 16 of 64 n",
    ]
    assert "n 8: 1 of 1; 16: 0 of 1 yes" in said
    assert {"8 2.5 holds", "16 0.5 fails"} <= set(said)
    assert said[-1] == "`simtmm paper reproduce b` simulates it again."


def _claim(claim):
    from simtmm.report.papers.claims import PARTS, WAYS

    claim.part, claim.known = next(iter(PARTS)), next(iter(WAYS))
    return describe_claim(claim)
