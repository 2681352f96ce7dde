"""A model of one's own: an object in a file anywhere, added to MODELS by a line, is in every command and picture."""

import csv
import importlib.util
import io

import pytest
from rich.console import Console

import simtmm
from simtmm.analysis.comparison.compare import compare
from simtmm.analysis.prediction.predict import predict_program
from simtmm.analysis.run import DEFAULT_MODELS, DEFAULT_TRACE, run, shipped_trace
from simtmm.errors import ModelError
from simtmm.model import MODELS, formula
from simtmm.model.equations.formula import Formula
from simtmm.model.model import Model
from simtmm.model.series import all_series, label
from simtmm.report.compare import comparison_csv, comparison_latex, describe_comparison
from simtmm.report.page import Table
from simtmm.report.papers.predict import describe_formulas, describe_prediction
from simtmm.report.pictures import looks
from simtmm.report.pictures.comparison import scatter
from simtmm.report.pictures.study import picture_of
from simtmm.report.run import describe
from simtmm.report.studies.sweep import describe_study
from simtmm.report.text import number
from simtmm.study.findings import findings
from simtmm.study.sweep import sweep
from tests.study.programs import designed, write

needs_matplotlib = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")

TRACE = shipped_trace(DEFAULT_TRACE)
MACHINE = simtmm.load_machine("gtx480")
FILE = '''
"""Nothing overlaps: every operation and every transfer of a core is waited for."""

from simtmm.model.equations.formula import Formula
from simtmm.model.equations.symbols import T1, L, M, P
from simtmm.model.model import Model


def _terms(T1, M, P, L):
    return {"compute": T1 / P, "memory": M * L / P}


def one_by_one(machine, counts):
    formula = ONE_BY_ONE.formula
    values = {"T1": counts.work, "M": counts.memory_operations, "P": machine.processors, "L": machine.memory.latency}
    return formula.evaluate(**values).prediction(machine.clock_hz)


ONE_BY_ONE = Model(
    label="One by one",
    formula=Formula("one-by-one", _terms, (T1, M, P, L), "a scratch file", combine="sum"),
    prediction=one_by_one,
)
'''


@pytest.fixture
def model(tmp_path, monkeypatch):
    """The model of FILE, among MODELS."""
    path = tmp_path / "one_by_one.py"
    path.write_text(FILE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("one_by_one", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = module.ONE_BY_ONE
    monkeypatch.setitem(MODELS, result.name, result)
    return result


def cycles(machine=MACHINE, trace=TRACE):
    """What the model must say, by hand."""
    counts = simtmm.count(simtmm.load_trace(trace), machine)
    return (counts.work + counts.memory_operations * machine.memory.latency) / machine.processors


def text(parts):
    console = Console(file=io.StringIO(), width=200)
    for part in parts:
        console.print(part, soft_wrap=True)
    return console.file.getvalue()


def row(shown, *words):
    """The one line that has all of these words."""
    (found,) = [line for line in shown.splitlines() if all(word in line for word in words)]
    return found


def test_its_file_says_all_of_it(model):
    assert (model.name, model.label, model.reference) == ("one-by-one", "One by one", "a scratch file")
    assert label("one-by-one") == "One by one"
    assert formula("one-by-one").latex == r"T_P = \frac{T_1}{P} + \frac{L M}{P}"


def test_the_library_predicts_by_it(model):
    prediction = simtmm.predict("one-by-one", MACHINE, simtmm.count(simtmm.load_trace(TRACE), MACHINE))
    assert prediction.cycles == pytest.approx(cycles(), rel=1e-15)  # one quotient here, a sum of two there
    assert prediction.source == "a scratch file"


def test_it_is_in_a_prediction(model):
    prediction = predict_program(TRACE, MACHINE)
    assert list(prediction.predictions)[-1] == "one-by-one"
    assert "a scratch file" in row(text(describe_prediction(prediction)), "One by one", number(cycles()), "memory")
    assert row(text(describe_formulas(prediction.formulas())), "one-by-one: T_P =")


def test_it_stands_beside_a_run(model):
    done = run(TRACE, MACHINE, models=[*DEFAULT_MODELS, "one-by-one"])
    shown = text(describe(done))
    assert row(shown, "One by one", number(cycles()))
    assert row(shown, "memory, One by one")
    assert "compute, One by one" not in shown  # T1 / P, as of the TMM
    assert done.verdict == run(TRACE, MACHINE).verdict


def test_a_run_needs_none_of_the_models_that_are_usual(model):
    assert list(run(TRACE, MACHINE, models=["one-by-one"]).predictions) == ["one-by-one"]
    with pytest.raises(ModelError, match=r"^model 'one-by-two': unknown; did you mean 'one-by-one'"):
        run(TRACE, MACHINE, models=["one-by-two"])


def test_it_is_in_a_comparison_its_csv_and_its_latex(model):
    comparison = compare([str(TRACE)], {"gtx480": MACHINE})
    (found,) = [
        line for line in csv.DictReader(io.StringIO(comparison_csv(comparison))) if line["series"] == "one-by-one"
    ]
    assert float(found["cycles"]) == pytest.approx(cycles(), rel=1e-15)
    assert (
        text(describe_comparison(comparison)).count("One by one") == 4
    )  # over times, ratios and bounds, and for agreement
    assert "One by one" in comparison_latex(comparison)


@needs_matplotlib
def test_it_is_in_the_picture_of_a_comparison(model):
    (axes,) = scatter(compare([str(TRACE)], {"gtx480": MACHINE}, models=["tmm", "one-by-one"])).axes
    lines = {line.get_label(): line for line in axes.lines}
    assert lines["One by one"].get_ydata() == pytest.approx([cycles() / MACHINE.clock_hz], rel=1e-15)
    assert lines["One by one"].get_color() == looks.look("one-by-one")["color"]


def test_it_is_in_a_sweep_and_its_picture(model, tmp_path):
    folder = write(tmp_path)
    axes = {"memory.latency": [100, 200, 400]}
    study = sweep(designed(folder, axes=axes, compute=["simulated", "one-by-one"]), workers=1)
    small = simtmm.load_machine(folder / "small.toml")
    expected = [
        cycles(small.replace({"memory.latency": latency}), folder / "traced.parquet") for latency in (100, 200, 400)
    ]
    assert study.cycles["one-by-one"].tolist() == pytest.approx(expected, rel=1e-15)
    assert row(text(describe_study(study, findings(study), "memory")), "memory.latency", "One by one", "simulated")
    if importlib.util.find_spec("matplotlib"):
        lines = {line.get_label() for line in picture_of(Table.from_study(study)).axes[0].lines}
        assert {"simulated", "One by one"} <= lines


def test_it_changes_no_other_s_look(model):
    with_it = {name: looks.look(name) for name in all_series()}
    del MODELS["one-by-one"]
    assert with_it == {**{name: looks.look(name) for name in all_series()}, "one-by-one": with_it["one-by-one"]}


def test_fifty_models_have_looks_of_their_own(monkeypatch):
    for place in range(50):
        result = Model(f"Model {place}", Formula(f"model-{place}", dict, (), "nowhere"), dict)
        monkeypatch.setitem(MODELS, result.name, result)
    different = {tuple(looks.look(name).items()) for name in all_series()}
    assert len(different) == len(all_series())


def test_a_model_that_needs_constants_is_refused_where_there_are_counts_only():
    with pytest.raises(ModelError, match=r"^model 'calibrated': needs constants \(a1, a0, m, C_s, G, f_app\)"):
        simtmm.predict("calibrated", MACHINE, simtmm.count(simtmm.load_trace(TRACE), MACHINE))
