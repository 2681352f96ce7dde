"""Single equations at many points, and constants fitted to files."""

import inspect

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.prediction.equations import evaluate, fit
from simtmm.errors import ModelError, StudyError
from simtmm.model.applications.catalogue import EQUATIONS
from simtmm.model.cache import cache_factor

GTX480 = load_machine("gtx480")
ONE_WAVE = {"B_r": [15.0], "B_a": [1.0]}


def test_values_are_combined_and_what_varies_is_reported():
    evaluated = evaluate("block-scheduling", {"B_r": [15, 16, 30], "B_a": [1, 2]}, GTX480)
    assert evaluated.varied == ("B_r", "B_a")
    assert evaluated.symbols["B_r"].tolist() == [15, 15, 16, 16, 30, 30]
    assert evaluated.values["f_sched"] == pytest.approx([1, 2, 30 / 16, 30 / 16, 1, 1])


def test_the_documents_false_positive_rates_and_times():
    """ma.fpr and ma.bloom_fit: the rates of Fig 5.14's vector, and 58.1 s at n_sub = 50,000."""
    given = {"m": [262144], "k": [6], "n_sub": [10000, 30000, 50000], "a1": [4.01e5], "a0": [10], **ONE_WAVE}
    evaluated = evaluate("bloom-tradeoff", given, GTX480)
    assert evaluated.values["FPR"] == pytest.approx([7.33e-5, 0.01502, 0.1003], rel=1e-3)
    assert evaluated.values["time"][-1] == pytest.approx(58.1, abs=0.05)


def test_eq_6_10_says_115_seconds_of_the_anomaly():
    evaluated = evaluate("apsp-fit", {"a1": [0.957], "a0": [53.9], "B_r": [65536], "T": [4]})
    assert evaluated.values["total"] == pytest.approx([115.1], abs=0.05)


def test_the_documents_threads_are_optimal_and_a_broken_warp_is_not():
    """ma.occupancy_tr: 960 and 1024 threads."""
    given = {"T_r": [960, 1000, 1024], "N_W": [6], "R_T": [20], **ONE_WAVE}
    evaluated = evaluate("optimal-threads", given, GTX480)
    assert evaluated.values["A_T"].tolist() == [True, False, True]
    assert evaluated.values["whole warps"].tolist() == [True, False, True]


def test_a_machine_gives_what_is_not_given():
    assert evaluate("hit-rate", {"m": [1e6]}, GTX480).symbols["C_s"].tolist() == [
        GTX480.memory.l1.sets * GTX480.memory.l1.ways * GTX480.chunk_bytes
    ]
    assert evaluate("hit-rate", {"m": [65536], "C_s": [16384]}, GTX480).values["r_H"] == pytest.approx([0.25])


@pytest.mark.parametrize("equation", EQUATIONS.values(), ids=lambda equation: equation.name)
def test_every_equation_takes_its_symbols_and_gives_what_it_says(equation):
    given = {symbol.name: [max(symbol.minimum, 1) + symbol.above] for symbol in equation.symbols}
    given |= {name: [65536.0] for name in ("m", "N", "n", "R", "Q_s") if name in given}
    evaluated = evaluate(equation.name, given)
    assert all(np.asarray(values).shape == (1,) for values in evaluated.values.values())
    assert set(equation.units) <= set(evaluated.values)
    assert set(equation.of_machine) >= {"P", "Q"} or not {"P", "Q"} & {symbol.name for symbol in equation.symbols}
    assert equation.source
    assert inspect.isfunction(equation.values)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("blom", {}, "equation 'blom': unknown; did you mean 'bloom'"),
        ("hit-rate", {"m": [1.0]}, "hit-rate: C_s: must be given, or a machine"),
        ("hit-rate", {"m": [1.0], "C_s": [1.0], "x": [1.0]}, "hit-rate: x: unknown"),
        ("hit-rate", {"m": [-1.0], "C_s": [1.0]}, "m = -1"),
        ("hit-rate", {"m": [], "C_s": [1.0]}, "hit-rate: m: must have a value"),
        ("hit-rate", {"m": [1.0] * 1000, "C_s": [1.0] * 1000}, "more than 100000 combinations"),
    ],
)
def test_what_is_wrong_is_reported(name, given, said):
    with pytest.raises(ModelError) as caught:
        evaluate(name, given)
    assert said in str(caught.value)


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "t.csv"
        path.write_text(text)
        return path

    return write


def test_a_line_over_an_equation_gives_back_its_constants(written):
    """a1 and a0 of the micro-benchmark, Eq (5.16), from times over B_r."""
    rows = "".join(
        f"{n},{b},1,{2e-9 * n * 15 * -(-b // 15) / b + 0.5}\n" for n in (1000, 5000) for b in (10, 15, 16, 40)
    )
    result = fit(written(f"# made up\nn,B_r,B_a,seconds\n{rows}"), "seconds", equation="microbenchmark", machine=GTX480)
    assert (result.line.a1, result.line.a0, result.line.r_squared) == pytest.approx((2e-9, 0.5, 1.0), rel=1e-6)


def test_an_equation_with_constants_of_its_own_is_fitted_without_them(written):
    """Eq (5.24), mended: 401,000 and 10 come back from its times."""
    given = {"a1": [4.01e5], "a0": [10], "k": [4, 8], "n_sub": [10000, 50000], **ONE_WAVE}
    evaluated = evaluate("bloom-fit", given, GTX480)
    rows = zip(evaluated.symbols["k"], evaluated.symbols["n_sub"], evaluated.values["total"], strict=True)
    text = "k,n_sub,B_r,B_a,seconds\n" + "".join(f"{k},{n_sub},15,1,{time!r}\n" for k, n_sub, time in rows)
    found = fit(
        written(text.replace("np.float64(", "").replace(")", "")), "seconds", equation="bloom-fit", machine=GTX480
    )
    assert (found.line.a1, found.line.a0) == pytest.approx((4.01e5, 10))


def test_g_comes_back_from_times_over_the_working_set(written):
    rows = "".join(f"{m},{3.0 * float(cache_factor(m, 49152, 7.5))}\n" for m in (8192, 65536, 131072, 1048576))
    result = fit(written(f"m,seconds\n{rows}"), "seconds", x="m", cache=49152)
    assert (result.cache.G, result.cache.hit_time) == pytest.approx((7.5, 3.0))


@pytest.mark.parametrize(("words", "own"), [({}, set()), ({"cache": 49152}, {"G", "hit_time"})])
def test_the_document_of_a_fit_has_its_file_rows_and_constants(written, words, own):
    of = (lambda m: 3.0 * float(cache_factor(m, 49152, 7.5))) if own else (lambda m: 2 * m + 3)
    path = written("m,seconds\n" + "".join(f"{m},{of(m)}\n" for m in (8192, 16384, 65536, 131072, 1048576)))
    result = fit(path, "seconds", x="m", **words)
    document = result.to_dict()
    assert set(document) == {"file", "rows", "x", "line", "provenance"} | own
    assert (document["file"], document["rows"], document["x"]) == (result.file, 5, result.x)
    assert set(document["line"]) == {"a1", "a0", "r_squared", "residuals"}
    assert [document[name] for name in sorted(own)] == [getattr(result.cache, name) for name in sorted(own)]
    if not own:
        assert (document["line"]["a1"], document["line"]["a0"]) == pytest.approx((2, 3))


def test_the_document_of_an_equation_has_its_symbols_and_values():
    found = evaluate("microbenchmark", {"n": [1000, 2000], **ONE_WAVE}, GTX480)
    document = found.to_dict()
    assert set(document) == {"equation", "source", "machine", "symbols", "values", "units", "provenance"}
    assert (document["equation"], document["machine"]) == ("microbenchmark", GTX480.name)
    assert document["units"] == dict(found.equation.units)
    assert document["symbols"] == {name: column.tolist() for name, column in found.symbols.items()}
    assert set(document["values"]) == set(found.values)


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("x,seconds\n1,2\n", {"x": "y"}, "column 'y': is missing"),
        ("x,seconds\n1,two\n2,3\n", {"x": "x"}, "row 1: seconds = 'two': must be a number"),
        ("x,seconds\n1,2\n", {"x": "x"}, "must be at least 2"),
        ("x,x\n1,2\n", {"x": "x"}, "column 'x': appears more than once"),
        ("x,seconds\n1\n", {"x": "x"}, "row 1: must have 2 columns"),
        ("x,seconds\n1,2\n", {}, "either x or an equation"),
        ("x,seconds\n1,2\n", {"x": "x", "equation": "bloom"}, "either x or an equation"),
    ],
)
def test_what_is_wrong_of_a_file_is_reported(written, text, words, said):
    with pytest.raises((ModelError, StudyError), match=said):
        fit(written(text), "seconds", **words)
