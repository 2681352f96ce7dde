"""What the models say: of programs, of the papers' algorithms, of two of them, and over blocks."""

import dataclasses
import json
import math

import numpy as np
import pytest

from simtmm import count, load_machine, load_trace, predict, program
from simtmm.analysis.prediction.crossover import versus
from simtmm.analysis.prediction.predict import is_algorithm, predict_paper, predict_program
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.analysis.zigzag import sweep_blocks
from simtmm.errors import KernelError, ModelError, TraceError
from simtmm.model import MODELS
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.model.algorithms.algorithm import Algorithm, Form, Need, constant
from simtmm.model.algorithms.symbol_ranges import domain, range_of, timed
from simtmm.model.algorithms.times import predict_algorithm
from simtmm.model.calibrated import calibrated
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.integrated import integrated
from simtmm.model.latency_hiding import hiding
from simtmm.model.launch.occupancy import occupancy
from simtmm.trace.recording import TraceRecorder

GTX_480 = load_machine("gtx480")  # P 480, Q 32, L 512, C 32, X 48, Z 12288 words
CRAY_XMT = load_machine("cray-xmt")
TRACE = shipped_trace(DEFAULT_TRACE)
SIZES = {  # inside every domain on the GTX 480
    "n": 1e5, "N": 1e5, "m": 1e5, "k": 20.0, "Q_s": 1000.0, "n_sub": 100.0,
}  # fmt: skip


def symbols_of(name):
    return {symbol.name: SIZES[symbol.name] for symbol in find(name).symbols if symbol.name in SIZES}


@pytest.fixture
def nothing_is_recorded(monkeypatch):
    def record(*arguments, **options):
        pytest.fail("recorded")

    monkeypatch.setattr(program, "record", record)


# What is what


def test_an_algorithm_comes_before_a_kernel_of_its_name():
    assert is_algorithm("fft")
    assert not is_algorithm("list-ranking-wyllie")
    assert not is_algorithm("any.parquet")


def test_a_folder_may_be_a_kernel(tmp_path):
    assert not is_algorithm(str(tmp_path))


def test_what_is_neither_is_refused_with_the_nearest_of_both():
    with pytest.raises(
        ModelError, match=r"^'merge-sorts': not an algorithm, a kernel .* or a trace \(.parquet\); did you"
    ):
        is_algorithm("merge-sorts")
    with pytest.raises(ModelError, match=r"did you mean 'vector-add'\?$"):
        is_algorithm("vector-sad")
    with pytest.raises(ModelError, match=r"known: apsp-bellman-ford, apsp-dynamic-programming, .*, suffix-tree$"):
        is_algorithm("???")


# Programs


def test_of_a_program_all_models_say_what_they_say_of_its_counts():
    prediction = predict_program(TRACE, GTX_480)
    counts = count(load_trace(TRACE), GTX_480)
    assert prediction.predictions == {model: predict(model, GTX_480, counts) for model in MODELS}
    assert (prediction.program, prediction.parameters["n"]) == ("list-ranking-wyllie", 4096)


def test_a_program_has_the_closed_form_of_its_algorithm():
    prediction = predict_program(TRACE, GTX_480, models=["pram"])
    assert prediction.algorithm == "list-ranking"
    assert prediction.closed_form == predict_algorithm(find("list-ranking"), GTX_480, {"n": 4096})
    assert prediction.no_closed_form is None


def traced(kernel, parameters):
    """A trace without a launch, of a kernel by name."""
    return TraceRecorder().finish(kernel, parameters, [], [], [], {"recorder": "test"})


def test_a_size_outside_the_closed_forms_domain_is_reported(tmp_path):
    traced("merge-sort", {"n": 5000}).save(tmp_path / "t.parquet")
    prediction = predict_program(tmp_path / "t.parquet", GTX_480, models=["pram"])
    assert (prediction.algorithm, prediction.closed_form) == ("merge-sort", {})
    assert prediction.no_closed_form == "merge-sort: n = 5000: must be above Z = 12288"


@pytest.mark.parametrize(
    ("kernel", "parameters"), [("stream", {}), ("of-somebody-else", {"n": 4}), ("merge-sort", {"n": "other"})]
)
def test_a_kernel_that_is_not_known_to_follow_an_algorithm_has_no_closed_form(tmp_path, kernel, parameters):
    traced(kernel, parameters).save(tmp_path / "t.parquet")
    prediction = predict_program(tmp_path / "t.parquet", GTX_480, models=["pram"])
    assert (prediction.algorithm, prediction.closed_form, prediction.no_closed_form) == (None, {}, None)


def test_only_the_models_that_are_named():
    prediction = predict_program(TRACE, GTX_480, models=["tmm-warps", "roofline"])
    assert list(prediction.predictions) == ["tmm-warps", "roofline"]
    assert list(prediction.formulas()) == ["tmm-warps", "roofline"]


def test_with_constants_the_calibrated_model_is_among_them():
    prediction = predict_program(TRACE, GTX_480, constants={"a1": 2, "a0": 10}, models=["tmm"])
    counts = count(load_trace(TRACE), GTX_480)
    assert list(prediction.predictions) == ["tmm", "calibrated"]
    assert prediction.predictions["calibrated"] == calibrated(GTX_480, counts, 2, 10, unit="cycles")
    assert prediction.formulas()["calibrated"] == r"T_P = a_1 f_{app} f_{cache} f_{sched} + a_0"
    assert list(predict_program(TRACE, GTX_480, constants={"a1": 2, "a0": 10}).predictions) == [*MODELS, "calibrated"]


def test_the_calibrated_model_may_be_named_alone():
    constants = {"a1": 1e-9, "a0": 0.5}
    prediction = predict_program(TRACE, GTX_480, models=["calibrated"], constants=constants, unit="s")
    assert list(prediction.predictions) == ["calibrated"]
    assert prediction.predictions["calibrated"].symbols["a0"] == 0.5 * GTX_480.clock_hz


@pytest.mark.usefixtures("nothing_is_recorded")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        ({"models": ["tmmm"]}, "model 'tmmm': unknown; did you mean 'tmm'"),
        ({"models": ["calibrated"]}, "calibrated: a1: must be given (fit it to measured times"),
        ({"constants": {"a1": 1}}, "calibrated: a0: must be given (fit it to measured times"),
        ({"constants": {"a1": 1, "a0": 1, "b": 1}}, "calibrated: b: unknown; the constants are a1, a0, m, C_s, G, f_a"),
        ({"constants": {"a1": 1, "a0": 1}, "unit": "h"}, "calibrated: unit = 'h': must be cycles or s"),
    ],
)
def test_wrong_names_are_refused_before_anything_is_recorded(words, line):
    with pytest.raises(ModelError) as caught:
        predict_program("stream", GTX_480, **words)
    assert str(caught.value).startswith(line)


def test_a_trace_takes_no_parameters_and_must_be_there(tmp_path):
    with pytest.raises(KernelError, match=r"parameters \(n\) can only be given to a kernel$"):
        predict_program(TRACE, GTX_480, {"n": 4})
    with pytest.raises(TraceError, match=r"none.parquet: can't be read"):
        predict_program(tmp_path / "none.parquet", GTX_480)


# Algorithms


def test_of_an_algorithm_pram_and_tmm_say_what_they_say():
    prediction = predict_paper("list-ranking", GTX_480, {"n": 2**20})
    assert prediction.predictions == predict_algorithm(find("list-ranking"), GTX_480, {"n": 2**20})
    assert (prediction.program, prediction.parameters, prediction.algorithm) == ("list-ranking", {"n": 2**20}, None)


def test_what_binds_is_reported_along_the_size_latency_and_threads():
    prediction = predict_paper("list-ranking", GTX_480, {"n": 2**20})
    assert list(prediction.regimes) == ["n", "L", "T"]
    assert [(regime.bound, regime.start) for regime in prediction.regimes["n"]] == [("chain", 2), ("memory", 480 * 48)]
    assert [(regime.bound, regime.start) for regime in prediction.regimes["L"]] == [("compute", 1), ("memory", 48)]
    (whole,) = prediction.regimes["T"]  # L = 512 is above X = 48
    assert (whole.bound, whole.start, whole.stop) == ("memory", 0.01, 48)


def test_what_binds_along_the_size_begins_where_the_algorithm_does():
    """A merge sort begins above Z; up to there nothing was known."""
    for name, machine, least in (("merge-sort", GTX_480, 12288), ("odd-even-sort", load_machine("gtx280"), 4096)):
        found = predict_paper(name, machine, {"n": 1e8}).regimes["n"]
        assert least < found[0].start <= np.nextafter(least, np.inf)
        assert found[-1].stop == 1e12


def test_what_binds_along_the_size_ends_where_the_algorithm_does():
    """Johnson with arrays whose vertices fit in shared memory: n below Z."""
    found = predict_paper("apsp-johnson-array", GTX_480, {"n": 1e3, "m": 1e4}, variant="vertices-fit").regimes["n"]
    assert found[0].start == 100  # a graph of m edges has sqrt(m) vertices at least
    assert np.nextafter(12288, 0) <= found[-1].stop < 12288


def test_a_graph_has_at_most_as_many_edges_as_pairs_of_vertices():
    prediction = predict_paper("boruvka", GTX_480, {"n": 1000, "m": 4000})
    assert prediction.regimes["m"][-1].stop == 1e6
    assert prediction.regimes["n"][0].start == pytest.approx(4000**0.5, rel=1e-15)  # one rounding
    for call in (
        lambda: predict_paper("boruvka", GTX_480, {"n": 1000, "m": 1e6 + 1}),
        lambda: versus("boruvka", "connected-components", GTX_480, {"n": 1000, "m": 1e6 + 1}),
    ):
        with pytest.raises(ModelError, match=r": m = 1000001: must be at most n\^2 = 1000000 \(edges of the graph\)$"):
            call()


def test_a_text_may_be_longer_than_the_queries_are_many():
    prediction = predict_paper("suffix-array", GTX_480, {"n": 10, "k": 20, "m": 1e9})
    assert prediction.regimes["m"][-1].stop == 1e12


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_regime_at_the_given_values_is_the_prediction(name):
    """What is told along a symbol has, where that symbol has its value, the time that is predicted."""
    parameters = symbols_of(name) | ({"m": 1e4} if name == "bloom-filter" else {})
    prediction = predict_paper(name, GTX_480, parameters)
    values = {"P": 480, "Q": 32, "L": 512, "C": 32, "X": 48, "Z": 12288} | parameters
    formula = timed(find(name), None, set(parameters), with_threads=False)
    here = formula.evaluate(**{symbol.name: values[symbol.name] for symbol in formula.symbols})
    assert prediction.predictions["tmm"].cycles == pytest.approx(
        float(here.total), rel=1e-12
    )  # rounded in another order
    assert set(prediction.regimes) & set(parameters)
    for over in set(prediction.regimes) - {"T"}:
        (regime,) = [found for found in prediction.regimes[over] if found.start <= values[over] < found.stop]
        assert float(here.terms[regime.bound]) == pytest.approx(float(here.total), rel=1e-12)  # one of equal terms


def test_threads_that_are_given_hold_along_the_size_too():
    """Reduce: by what it feeds, memory binds up to some size; with few threads it always does."""
    fed, given = (predict_paper("reduce", GTX_480, {"n": 1e3}, threads_per_core=T) for T in (None, 3))
    assert [regime.bound for regime in fed.regimes["n"]] == ["chain", "compute"]
    assert [regime.bound for regime in given.regimes["n"]] == ["span", "memory"]
    assert given.predictions["tmm"].symbols["T"] == 3


def test_threads_that_shared_memory_forbids_are_not_told_of():
    little = GTX_480.replace({"resources.shared_memory": 4096})  # T <= Z / (Q S) = 1024 / 32
    prediction = predict_paper("list-ranking", little, {"n": 2**20})
    assert prediction.regimes["T"][-1].stop == 32
    assert prediction.regimes["n"][-1].start == 480 * 32
    assert all(form.shared_memory is constant for each in ALGORITHMS.values() for form in each.forms.values())  # S = 1


def test_a_machine_without_shared_memory():
    assert list(predict_paper("list-ranking", CRAY_XMT, {"n": 2**20}).regimes) == ["n", "L", "T"]
    line = r"^merge-sort: Z: machine Cray XMT has no shared memory \(resources.shared_memory\)$"
    with pytest.raises(ModelError, match=line):
        predict_paper("merge-sort", CRAY_XMT, {"n": 2**20})


def test_a_variant_is_predicted_and_shown_among_the_parameters():
    prediction = predict_paper("fft", GTX_480, {"N": 1024}, variant="mended")
    assert prediction.parameters == {"N": 1024, "variant": "mended"}
    assert prediction.predictions["tmm"].bound == "chain"
    assert r"L \lg{\left(N \right)}" in prediction.formulas()["tmm"]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_formulas_of_an_algorithm_can_be_printed(name):
    parameters = symbols_of(name) | ({"m": 1e4} if name == "bloom-filter" else {})
    formulas = predict_paper(name, GTX_480, parameters).formulas()
    assert list(formulas) == ["pram", "tmm", "tmm, refined"]
    for latex in formulas.values():
        assert latex.startswith(r"T_P = \max\left(")
        assert latex.count("{") == latex.count("}")


@pytest.mark.parametrize(
    ("name", "parameters", "line"),
    [
        ("fft", {}, "fft: N (points) must be given"),
        ("suffix-array", {"n": 4}, "suffix-array: k (length of a query), m (length of the text) must be given"),
        ("fft", {"n": 4}, "fft: n: unknown; known: N"),
        ("fft", {"N": 0.5}, "fft: N = 0.5: must be at least 1 (points)"),
        ("fft", {"N": math.nan}, "fft: N = nan: must be at least 1 (points)"),
        ("fft", {"N": math.inf}, "fft: N = inf: must be at most 1e+60 (points)"),
        ("fft", {"N": 2e60}, "fft: N = 2e+60: must be at most 1e+60 (points)"),
        ("merge-sort", {"n": 100}, "merge-sort: n = 100: must be above Z = 12288"),
        ("merge-sorts", {"n": 100}, "algorithm 'merge-sorts': unknown; did you mean 'merge-sort'"),
        (
            "matrix-multiplication",
            {"n": 9, "S_D": 111},
            "matrix-multiplication: S_D = 111: must be at most sqrt(Z) = 1",
        ),
    ],
)
def test_wrong_symbols_are_refused_by_name(name, parameters, line):
    with pytest.raises(ModelError) as caught:
        predict_paper(name, GTX_480, parameters)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_largest_sizes_still_give_numbers(name):
    largest = {symbol.name: 1e60 for symbol in find(name).symbols}
    largest |= {"m": 1e4} if name == "bloom-filter" else {}
    largest.pop("S_D", None)  # at most sqrt(Z)
    assert math.isfinite(predict_paper(name, GTX_480, largest).predictions["tmm"].cycles)


def test_a_program_tells_how_many_threads_hide_its_latency():
    prediction = predict_program(TRACE, GTX_480, models=["pram"])
    assert prediction.hiding == hiding(GTX_480, count(load_trace(TRACE), GTX_480))
    assert prediction.to_dict()["hiding"]["needed"] == prediction.hiding.needed
    assert prediction.speedup is None


def test_forced_active_blocks_are_those_of_the_occupancy_with_the_shared_memory_that_is_reported():
    """Section 6.4. 128 threads a block: 8 blocks on the GTX 480; three of 48 KB claim more than a quarter each."""
    prediction = predict_program(TRACE, GTX_480, models=["integrated"], active_blocks=3)
    (claim,) = prediction.forced.shared_memory
    assert claim == 49152 // 4 + 1
    (launch,) = {dataclasses.replace(launch, shared_memory_bytes=claim) for launch in load_trace(TRACE).info.launches}
    assert occupancy(GTX_480, launch).active_blocks == 3
    assert prediction.predictions["integrated"].symbols["B_a"] == 3
    assert prediction.predictions["integrated"] == predict_integrated(GTX_480, 3)
    assert prediction.to_dict()["forced"] == {"active_blocks": 3, "shared_memory": [12289]}


def predict_integrated(machine, active_blocks):
    return integrated(machine, count(load_trace(TRACE), machine), active_blocks)


@pytest.mark.parametrize("blocks", [0, 9])
def test_active_blocks_that_a_core_group_cannot_have_are_refused(blocks):
    with pytest.raises(ModelError, match=rf"^active blocks = {blocks}: must be from 1 to 8, what a core group of"):
        predict_program(TRACE, GTX_480, models=["pram"], active_blocks=blocks)


def test_a_measured_time_departs_from_the_models_that_are_off_by_more_than_the_factor():
    prediction = predict_program(TRACE, GTX_480, models=["pram", "tmm-warps"])
    seconds = prediction.predictions["tmm-warps"].seconds * 1.5
    found = prediction.beside(seconds, 2).departed
    assert found.ratios["tmm-warps"] == pytest.approx(1.5, rel=1e-14)
    assert list(found.ratios) == ["pram", "tmm-warps", "pram, closed form", "tmm, closed form"]
    assert found.departing == tuple(name for name, ratio in found.ratios.items() if not 0.5 <= ratio <= 2)
    assert "pram" in found.departing
    assert "tmm-warps" not in found.departing
    assert "tmm-warps" in prediction.beside(seconds, 1.4).departed.departing
    assert prediction.beside(seconds, 2).to_dict()["measured"] == found.to_dict()


@pytest.mark.parametrize(
    ("seconds", "factor", "line"),
    [
        (0, 2, "measured = 0: must be above 0"),
        (1, 0.5, "factor = 0.5: must be at least 1"),
        (math.nan, 2, "measured = n"),
    ],
)
def test_a_wrong_measured_time_or_factor_is_refused_by_name(seconds, factor, line):
    with pytest.raises(ModelError, match=rf"^departures: {line}"):
        predict_paper("fft", GTX_480, {"N": 64}).beside(seconds, factor)


def test_without_a_clock_no_measured_time_can_be_set_beside():
    timeless = GTX_480.replace({"clock_hz": None})
    with pytest.raises(ModelError, match=r"^measured time: the machine has no clock_hz"):
        predict_paper("fft", timeless, {"N": 64}).beside(1, 2)


def test_an_algorithm_tells_its_speedup_and_how_many_threads_hide_the_latency():
    prediction = predict_paper("list-ranking", GTX_480, {"n": 2**20}, 8)
    assert (prediction.hiding.in_use, prediction.hiding.needed, prediction.hiding) == (
        8,
        512,
        prediction.speedup.hiding,
    )
    assert prediction.to_dict()["speedup"] == prediction.speedup.to_dict()


def test_predictions_are_one_json_document():
    for result in (
        predict_paper("fft", GTX_480, {"N": 1e6}),
        predict_program(TRACE, GTX_480, constants={"a1": 1, "a0": 0}),
    ):
        document = result.to_dict()
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        assert document["provenance"]["machine"] == GTX_480.digest()
        assert {name: entry["cycles"] for name, entry in document["predictions"].items()} == {
            name: each.cycles for name, each in result.predictions.items()
        }
    regimes = predict_paper("fft", GTX_480, {"N": 1e6}).to_dict()["regimes"]["L"]
    assert regimes[1] == {"bound": "memory", "start": 1536, "stop": 1e6, "begins": "C*X"}


# Ranges

LENGTH = Symbol("n", "elements", minimum=1)


def between(low, high):
    """An algorithm that there is for n above `low` and at most `high` only."""
    needs = (Need("n", "above", lambda: low, "low"), Need("n", "at most", lambda: high, "high"))
    form = Form(lambda n: n, lambda: 1, lambda n: n, "made up", needs=needs)
    return Algorithm("made-up", "", (LENGTH,), {"printed": form}).tmm()


VALUES = {"P": 4, "L": 10, "T": 2}


@pytest.mark.parametrize(("low", "high"), [(100, 1e6), (1, 1e6), (100, 1e13), (7.5, 9), (1, 1e13)])
def test_the_domain_of_a_formula_is_found_to_the_last_bit(low, high):
    start, stop = domain((between(low, high),), VALUES, "n", 2, 1e12)
    assert start == max(2, np.nextafter(low, np.inf))
    assert stop == min(high, 1e12)


def test_of_two_formulas_the_domain_is_the_common_one():
    assert domain((between(5, 900), between(50, 1000)), VALUES, "n", 2, 1e12) == (np.nextafter(50, 99), 900)


@pytest.mark.parametrize("formulas", [(between(2e12, 1e13),), (between(5, 10), between(20, 1000))])
def test_a_domain_that_a_range_misses_is_refused(formulas):
    with pytest.raises(ModelError, match=r"^made-up: n = 2: must be above low"):
        domain(formulas, VALUES, "n", 2, 1e12)


def test_an_empty_range_is_refused():
    with pytest.raises(ModelError, match=r"^made-up \(TMM\): n: no values from 50$"):
        domain((between(1, 9),), VALUES, "n", 50, 50)


def test_where_symbols_may_go():
    symbols = find("boruvka").symbols
    assert range_of(symbols, "n", {}, GTX_480) == (2, 1e12)
    assert range_of(symbols, "n", {"m": 100}, GTX_480) == (10, 1e12)
    assert range_of(symbols, "m", {"n": 100}, GTX_480) == (2, 1e4)
    assert range_of(symbols, "L", {}, GTX_480) == (1, 1e6)
    assert range_of(symbols, "T", {}, GTX_480) == (0.01, 48)
    assert range_of(find("list-ranking-helman-jaja").symbols, "n", {}, GTX_480) == (4, 1e12)


# Two algorithms


def test_who_wins_is_reported_along_all_that_can_vary():
    crossovers = versus("apsp-johnson-array", "apsp-dynamic-programming", GTX_480, {"n": 1000, "m": 1e5})
    assert list(crossovers.crossovers) == ["n", "m", "L", "T"]
    assert crossovers.skipped == {}
    along = crossovers.crossovers["m"]
    assert [stretch.winner for stretch in along.stretches] == ["apsp-johnson-array", "apsp-dynamic-programming"]
    # m n L / (X P) = n^3 lg n / P, the dynamic program being bound by compute
    assert along.points == (pytest.approx(1000**2 * math.log2(1000) * 48 / 512, rel=1e-11),)  # of the search


def test_variants_are_compared_by_their_names():
    """Section 4.1.6, m = n^2 / lg n: where edges fit, Bellman-Ford overtakes Johnson's heaps, m n^2 = m n lg n L."""
    values = {"n": 1024, "m": 1024**2 / 10}

    def along_latency(variant):
        pair = ("apsp-bellman-ford", "apsp-johnson-heap")
        return versus(*pair, GTX_480, values, ["L"], threads_per_core=1, variants=(variant, None)).crossovers["L"]

    found = along_latency("edges-fit")
    assert [stretch.winner for stretch in found.stretches] == ["apsp-johnson-heap", "apsp-bellman-ford, edges-fit"]
    assert found.points == (pytest.approx(1024 / 10, rel=1e-11),)  # of the search
    assert along_latency(None).everywhere == "apsp-johnson-heap"


def test_the_variants_of_one_algorithm_are_compared():
    found = versus("fft", "fft", GTX_480, {"N": 1024}, ["N"], variants=(None, "mended"))
    assert (found.first, found.second) == ("fft", "fft, mended")
    assert found.crossovers["N"].stretches[0].winner == "fft"


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"n": 100, "S_D": 111}, "apsp-dynamic-programming: S_D = 111: must be at most sqrt(Z) = 110"),
        ({"n": 100}, "apsp-dynamic-programming and apsp-johnson-heap: m (edges of the graph) must be given"),
    ],
)
def test_wrong_symbols_of_two_are_refused_by_name(parameters, line):
    with pytest.raises(ModelError) as caught:
        versus("apsp-dynamic-programming", "apsp-johnson-heap", GTX_480, parameters, ["L"])
    assert str(caught.value).startswith(line)


def test_the_winner_is_the_one_whose_predicted_time_is_shorter():
    first, second = "apsp-johnson-array", "apsp-johnson-heap"
    crossovers = versus(first, second, GTX_480, {"n": 1000, "m": 1e5})
    seen = set()
    for stretch in crossovers.crossovers["n"].stretches:
        n = math.sqrt(stretch.start * stretch.stop)
        times = {
            name: predict_paper(name, GTX_480, {"n": n, "m": 1e5}).predictions["tmm"].cycles for name in (first, second)
        }
        assert min(times, key=times.get) == stretch.winner
        seen.add(stretch.winner)
    assert seen == {first, second}


def test_symbols_that_need_another_are_skipped_and_told():
    crossovers = versus("apsp-johnson-array", "apsp-dynamic-programming", GTX_480, {"n": 1000})
    assert list(crossovers.crossovers) == ["m"]
    assert set(crossovers.skipped) == {"n", "L", "T"}
    assert crossovers.skipped["L"] == "m (edges of the graph) must be given"


def test_two_sorts_are_compared_where_both_are():
    crossovers = versus("merge-sort", "odd-even-sort", GTX_480, {})
    (whole,) = crossovers.crossovers["n"].stretches
    assert (whole.winner, whole.start, whole.stop) == ("merge-sort", np.nextafter(12288, np.inf), 1e12)


def test_threads_that_are_given_decide():
    free = versus("suffix-tree", "suffix-array", GTX_480, {"n": 1e6, "k": 20}, over=["m"])
    few = versus("suffix-tree", "suffix-array", GTX_480, {"n": 1e6, "k": 20}, over=["m"], threads_per_core=1)
    # k L / T against k lg m max(1, L / (C T)): L / X, and with one thread C
    assert free.crossovers["m"].points == (pytest.approx(2 ** (512 / 48), rel=1e-9),)  # an error in lg m grows
    assert few.crossovers["m"].points == (pytest.approx(2.0**32, rel=1e-9),)


def test_along_any_symbol_that_need_not_be_whole():
    found = versus("suffix-tree", "suffix-array", GTX_480, {"n": 1e6, "k": 20, "m": 1e6}, over=["k", "C"]).crossovers
    assert found["k"].everywhere == "suffix-tree"
    assert list(found) == ["k", "C"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ({"parameters": {"N": 1}}, "suffix-tree and suffix-array: N: unknown; known: k, m, n"),
        ({"parameters": {"k": 0}}, "suffix-tree and suffix-array: k = 0: must be at least 1 (length of a query)"),
        ({"over": ["P"]}, "suffix-tree and suffix-array: P: can't be varied, because it is a whole number (cores)"),
        ({"over": ["Z"]}, "suffix-tree and suffix-array: Z: neither depends on it"),
        (
            {"over": ["L"]},
            "suffix-tree and suffix-array: n (queries of the batch), k (length of a query), m (length of ",
        ),
        ({}, "suffix-tree and suffix-array: nothing to vary (n: k (length of a query), m (length of the text) must "),
        ({"threads_per_core": 49}, "suffix-tree and suffix-array: T = 49: must be above 0 and at most 48, what a core"),
        ({"threads_per_core": 0}, "suffix-tree and suffix-array: T = 0: must be above 0 and at most 48"),
        ({"threads_per_core": math.nan}, "suffix-tree and suffix-array: T = nan: must be above 0 and at most 48"),
    ],
)
def test_a_comparison_that_cannot_be_is_refused_by_name(words, line):
    with pytest.raises(ModelError) as caught:
        versus("suffix-tree", "suffix-array", GTX_480, **({"parameters": {}} | words))
    assert str(caught.value).startswith(line)


def test_a_reason_that_is_always_the_same_is_reported_once():
    with pytest.raises(ModelError) as caught:
        versus("merge-sort", "odd-even-sort", CRAY_XMT, {"n": 1e6})
    assert str(caught.value) == (
        "merge-sort and odd-even-sort: Z: machine Cray XMT has no shared memory (resources.shared_memory)"
    )


def test_a_comparison_is_one_json_document():
    document = versus("apsp-johnson-array", "apsp-dynamic-programming", GTX_480, {"n": 1000}).to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    along = document["crossovers"]["m"]
    assert [stretch["winner"] for stretch in along["stretches"]] == ["apsp-johnson-array", "apsp-dynamic-programming"]
    assert along["points"] == [along["stretches"][1]["start"]]
    assert along["in_words"].startswith("apsp-johnson-array wins from m = 2 to ")


# Over blocks


def test_a_sweep_is_of_the_first_launch():
    function, swept = sweep_blocks(TRACE, GTX_480, None, range(1, 31))
    assert function == load_trace(TRACE).info.launches[0].kernel
    assert swept.blocks.tolist() == list(range(1, 31))
    assert swept.period == swept.active_blocks * 15


def test_too_many_counts_are_refused_before_anything_is_recorded(nothing_is_recorded):
    with pytest.raises(ModelError, match=r"^blocks from 1 to 999999: must be at most 100000 counts$"):
        sweep_blocks("stream", GTX_480, None, range(1, 1_000_000))


def test_a_trace_without_a_launch_has_no_blocks_to_vary(tmp_path):
    traced("stream", {}).save(tmp_path / "t.parquet")
    with pytest.raises(ModelError, match=r"t.parquet: has no launch with a number of blocks to vary$"):
        sweep_blocks(tmp_path / "t.parquet", GTX_480, None, range(1, 3))


def test_the_refined_form_of_an_algorithm_that_does_not_say_its_threads():
    """T1 / Tinf threads at most: M L / (T P) is M Tinf L / T1 (chain) and M L / (X P) (memory)."""
    formula = timed(find("reduce"), None, {"n"}, with_threads=False)
    assert isinstance(formula, Formula)
    evaluated = formula.evaluate(n=1024, P=480, L=512, C=32, X=48)
    assert {name: float(term) for name, term in evaluated.terms.items()} == {
        "compute": 1024 / 480,
        "span": 10,
        "chain": 1024 / 32 * 10 / 1024 * 512,
        "memory": 1024 / 32 * 512 / (48 * 480),
    }


@pytest.mark.parametrize(("name", "variant"), [(name, each) for name, of in ALGORITHMS.items() for each in of.forms])
def test_what_binds_is_told_of_every_variant(name, variant):
    """Where SymPy finds no formula for a change, there is its number."""
    problem = {"n": 1e6, "m": 3e6, "k": 20.0, "N": 1e6, "Q_s": 1e6, "n_sub": 5e4}
    fits = {"vertices-fit": {"n": 1000.0, "m": 5000.0}, "edges-fit": {"m": 1e5}, "local": {"m": 4000.0}}
    problem |= fits.get(variant, {})
    given = {symbol.name: problem[symbol.name] for symbol in find(name).symbols if symbol.name in problem}
    found = predict_paper(name, load_machine("gtx280"), given, variant=variant)
    assert found.regimes
    for stretches in found.regimes.values():
        starts = [each.start for each in stretches]
        assert starts == sorted(starts)
        assert [each.stop for each in stretches[:-1]] == starts[1:]
