"""Predictions as a person reads them."""

import io

import pytest
from rich.console import Console

from simtmm import load_machine
from simtmm.analysis.prediction.crossover import Versus
from simtmm.analysis.prediction.predict import predict_paper, predict_program
from simtmm.analysis.prediction.predictions import Predictions
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.analysis.zigzag import sweep_blocks
from simtmm.model import all_models
from simtmm.model.algorithms.regimes import Crossover, Regime, Stretch
from simtmm.report.papers.predict import (
    describe_formulas,
    describe_prediction,
    describe_versus,
    describe_zigzag,
)
from simtmm.result import Prediction

GTX_480 = load_machine("gtx480")
TRACE = shipped_trace(DEFAULT_TRACE)


def lines(parts, width=120):
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    for part in parts:
        console.print(part)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def predicted(**changes):
    prediction = Prediction(
        "tmm",
        cycles=1234.5,
        bound="memory",
        terms={"compute": 12.34, "memory": 1234.5},
        symbols={"n": 4096, "T": 12.345678, "Tinf": 123456.7, "M": 7},
        source="a paper, Eq (1)",
        clock_hz=1e9,
    )
    return Predictions("list", {"n": 4096, "order": "random"}, GTX_480, {"tmm": prediction}, **changes)


def test_a_report_has_times_terms_and_symbols():
    assert lines(describe_prediction(predicted())) == [
        "list (n=4,096, order=random) on GeForce GTX 480",
        "",
        "Time",
        "      cycles      time   bound by   source",
        "TMM    1,234   1.23 us   memory     a paper, Eq (1)",
        "",
        "Terms",
        "                cycles",
        "TMM   compute     12.3",
        "      memory     1,234   binds",
        "",
        "Symbols",
        "TMM   n=4,096, T=12.35, Tinf=123,457, M=7",
    ]


def test_a_closed_form_stands_beside_the_counts():
    found = predicted()
    with_form = predicted(algorithm="list-ranking", closed_form=found.predictions)
    shown = lines(describe_prediction(with_form))
    assert shown[4].startswith("TMM                 1,234 ")
    assert shown[5].startswith("TMM, closed form    1,234 ")


def test_a_closed_form_that_is_not_there_is_reported_why():
    shown = lines(describe_prediction(predicted(no_closed_form="merge-sort: n = 7: must be above Z")))
    assert shown[5:8] == ["", "No closed form: merge-sort: n = 7: must be above Z", ""]


def test_what_binds_is_reported_with_where_it_begins_as_people_write_it():
    import sympy

    Z, C = sympy.symbols("Z C", positive=True)  # noqa: N806 - the papers' letters
    regimes = {"L": [Regime("compute", 1, 1536.25), Regime("memory", 1536.25, 2e12, C * sympy.log(Z, 2) ** 2)]}
    assert lines(describe_prediction(predicted(regimes=regimes)))[-4:] == [
        "What binds along L",
        "L",
        "1 to 1,536       compute",
        "1,536 to 2e+12   memory    from L = C lg(Z)^2",
    ]


def test_an_algorithm_has_its_counts_and_speedup():
    shown = lines(describe_prediction(predict_paper("list-ranking", GTX_480, {"n": 2**20})))
    start = shown.index("Counts")
    assert shown[start : shown.index("What binds along n") - 1] == [
        "Counts",
        "T1     20,971,520   operations   n lg(n)",
        "Tinf           20   operations   lg(n)",
        "M      20,971,520   transfers    n lg(n)",
        "",
        "Hiding the latency",
        "threads per core in use       48   T",
        "that hide the latency        512   by the TMM, at L = 512",
        "                          16,384   if a warp's threads wait together",
        "limit: threads per core       48   X, threads a core may hold",
        "limit: shared memory         384   Z / (Q S), what shared memory allows",
        "limit: parallelism         2,185   T1 / (Tinf P), what the program can feed",
        "largest L that T hides        48   cycles",
        "",
        "Speedup",
        "effective work     223,696,213   operations, T_E = max(T1, M L / T)",
        "speedup                     45   S_P, of P = 480",
        "linear up to L =            48   X (threads per core), not met by L = 512",
        "linear up to L =           384   Z / Q (shared memory), not met by L = 512",
    ]


@pytest.mark.parametrize(
    ("threads", "notes"), [(2, []), (3, ["Note: T = 3 is above its limit from parallelism, 2.083."])]
)
def test_more_threads_than_the_algorithm_feeds_are_remarked_on(threads, notes):
    """1000 sources on 480 cores."""
    prediction = predict_paper("apsp-johnson-heap", GTX_480, {"n": 1000, "m": 1e5}, threads)
    assert [line for line in lines(describe_prediction(prediction)) if line.startswith("Note")] == notes


def test_a_measured_time_is_set_over_the_predicted_ones():
    shown = lines(describe_prediction(predicted().beside(5e-6, 2)))
    start = shown.index("Measured")
    assert shown[start : start + 4] == [
        "Measured",
        "           over predicted",
        "measured             5 us",
        "TMM                  4.05   differs by more than 2 times",
    ]


def test_forced_active_blocks_are_reported_with_what_blocks_must_claim():
    shown = lines(describe_prediction(predict_program(TRACE, GTX_480, models=["pram"], active_blocks=1)))
    assert shown[1] == "Active blocks: 1 at most, so a block must claim 24,577 bytes of shared memory"


def test_without_parameters_there_are_no_parentheses():
    assert lines(describe_prediction(Predictions("list", {}, GTX_480, {})))[0] == "list on GeForce GTX 480"


def test_numbers_beyond_reading_have_an_exponent():
    shown = lines(describe_prediction(predict_paper("fft", GTX_480, {"N": 1e60})))
    assert shown[0] == "fft (N=1e+60) on GeForce GTX 480"
    assert max(len(line) for line in shown) < 120


def test_all_models_have_a_label_of_their_own():
    found = predict_program(TRACE, GTX_480, constants={"a1": 1, "a0": 0})
    assert set(found.predictions) == set(all_models())
    labels = [model.label for model in all_models().values()]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("width", [80, 120])
def test_a_report_of_all_models_fits_the_terminal_and_keeps_its_numbers_whole(width):
    found = predict_program(TRACE, GTX_480, constants={"a1": 1, "a0": 0})
    shown = lines(describe_prediction(found), width)
    assert max(len(line) for line in shown) <= width
    text = "\n".join(shown)
    for prediction in found.predictions.values():
        assert f" {prediction.cycles:,.0f} " in text
    for model in all_models().values():
        assert any(line.startswith(f"{model.label} ") for line in shown)


def test_formulas_are_a_line_each_and_no_markup():
    assert lines(describe_formulas({"tmm": r"T_P = [bold]x[/bold]", "pram": "T_P = y"})) == [
        "tmm: T_P = [bold]x[/bold]",
        "pram: T_P = y",
    ]


def test_two_algorithms_are_distinguished_along_each_symbol():
    found = Versus(
        "one",
        "other",
        GTX_480,
        {"n": 1e6, "k": 2.5},
        {
            "m": Crossover("m", (Stretch("one", 2, 14.5), Stretch("other", 14.5, 1e12))),
            "L": Crossover("L", (Stretch("both", 1, 1e6),)),
            "T": Crossover("T", (Stretch("other", 0.01, 48),)),
        },
        {"Z": "nothing to vary"},
    )
    assert lines(describe_versus(found)) == [
        "one versus other (n=1,000,000, k=2.5) on GeForce GTX 480",
        "",
        "By the TMM",
        "along m   one wins from m = 2 to 14.5; other wins from m = 14.5 to 1e+12",
        "along L   both take the same time for every L, L from 1 to 1,000,000",
        "along T   other wins everywhere, T from 0.01 to 48",
        "along Z   unknown: nothing to vary",
    ]


def test_throughput_over_blocks_has_a_bar_and_marks_its_peaks():
    function, swept = sweep_blocks(TRACE, GTX_480, None, range(119, 122))  # 8 blocks a group, 15 groups
    assert lines(describe_zigzag(function, swept, "GeForce GTX 480")) == [
        f"{function} on GeForce GTX 480: 8 active blocks a core group",
        "",
        "Throughput over requested blocks, Eq (5.13)",
        "blocks   f_sched   relative",
        f"   119     1.008      0.992   {'#' * 24}",
        f"   120         1      1.000   {'#' * 24}   peak",
        f"   121     1.983      0.504   {'#' * 12}",
        "",
        "Peaks at multiples of 120, if the total work stays the same.",
    ]
