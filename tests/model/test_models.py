"""All models alike: what `predict` gives by name, from counts, and its formula over arrays."""

from pathlib import Path

import numpy as np
import pytest

from simtmm import count, load_machine, load_trace
from simtmm.errors import ModelError
from simtmm.model import MODELS, formula, predict
from simtmm.trace.counts import Counts

TRACE = Path(__file__).parents[2] / "traces" / "list-ranking-wyllie.parquet"
MACHINES = ("gtx280", "gtx480", "a100-80", "cray-xmt", "ideal")
TERMS = {
    "pram": ["compute", "span"],
    "tmm": ["compute", "span", "memory"],
    "tmm-warps": ["compute", "span", "memory"],
    "integrated": ["compute", "memory"],
    "integrated-sum": ["compute", "memory"],
    "rehman": ["compute", "memory"],
    "rehman-sum": ["compute", "memory"],
    "roofline": ["compute", "memory"],
    "mwp-cwp": ["memory", "compute", "synchronisation"],
}


@pytest.fixture(scope="module")
def counts():
    """Of the shipped trace, by machine."""
    trace = load_trace(TRACE)
    return {name: count(trace, load_machine(name)) for name in MACHINES}


def test_every_model_is_here():
    assert set(TERMS) == set(MODELS)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("model", MODELS)
def test_a_prediction_names_its_terms_the_binding_one_and_its_symbols(model, machine, counts):
    on = load_machine(machine)
    prediction = predict(model, on, counts[machine])
    assert prediction.model == model
    assert list(prediction.terms) == TERMS[model]
    assert prediction.bound in prediction.terms
    assert prediction.clock_hz == on.clock_hz
    assert prediction.source == formula(model).source
    assert all(np.isfinite(term) and term >= 0 for term in prediction.terms.values())
    unique = {symbol.name for symbol in formula(model).symbols}
    assert prediction.symbols.keys() & unique  # those that are the same in all launches, and more
    assert all(isinstance(value, (int, float)) for value in prediction.symbols.values())


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("model", MODELS)
def test_the_time_is_made_of_the_terms(model, machine, counts):
    """Their maximum or sum; over launches the sum of maxima, which the largest sum does not exceed."""
    prediction = predict(model, load_machine(machine), counts[machine])
    terms = list(prediction.terms.values())
    if formula(model).combine == "sum":
        assert prediction.cycles == pytest.approx(sum(terms), rel=1e-12)  # summed in another order
        assert prediction.terms[prediction.bound] > 0
    else:
        # summed over launches in another order; the sum of maxima is at most the sum of all terms
        assert max(terms) * (1 - 1e-12) <= prediction.cycles <= sum(terms)


@pytest.mark.parametrize("model", ["pram", "tmm", "tmm-warps", "roofline"])
def test_of_a_model_of_the_whole_program_the_largest_term_is_the_time(model, counts):
    prediction = predict(model, load_machine("gtx480"), counts["gtx480"])
    assert prediction.terms[prediction.bound] == prediction.cycles == max(prediction.terms.values())


@pytest.mark.parametrize("model", ["tmm", "tmm-warps", "integrated", "integrated-sum", "rehman", "rehman-sum"])
def test_a_doubled_latency_doubles_the_memory_term(model, counts):
    on = load_machine("gtx480")
    slower = on.replace({"memory.latency": 2 * on.memory.latency})
    before, after = (predict(model, machine, counts["gtx480"]) for machine in (on, slower))
    assert after.terms["memory"] == pytest.approx(2 * before.terms["memory"], rel=1e-12)  # a sum over launches
    assert after.terms["compute"] == before.terms["compute"]


WHOLE = Counts(1600, 10, 5, 5, threads_per_core=1.0, warps_in_use=1.0, launches=())


@pytest.mark.parametrize("model", ["pram", "tmm", "tmm-warps", "integrated", "integrated-sum", "roofline"])
def test_counts_of_a_whole_program_are_enough_for_some_models(model):
    prediction = predict(model, load_machine("gtx480"), WHOLE)
    assert (prediction.model, list(prediction.terms)) == (model, TERMS[model])
    assert prediction.cycles > 0


@pytest.mark.parametrize("model", ["rehman", "rehman-sum", "mwp-cwp"])
def test_the_other_models_ask_for_the_launches(model):
    with pytest.raises(ModelError, match=rf"^{model}: counts without launches: must have at least one"):
        predict(model, load_machine("gtx480"), WHOLE)


@pytest.mark.parametrize("call", [formula, lambda name: predict(name, load_machine("ideal"), None)])
def test_an_unknown_model_is_refused_with_the_nearest(call):
    with pytest.raises(ModelError, match=r"^model 'tmm-warp': unknown; did you mean 'tmm-warps'"):
        call("tmm-warp")


@pytest.mark.parametrize("model", MODELS)
def test_a_value_outside_the_domain_is_refused_by_name(model):
    result = formula(model)
    for symbol in result.symbols:
        with pytest.raises(ModelError, match=rf"^{model}: {symbol.name} = -1: must be "):
            result.evaluate(**(drawn(result, 1) | {symbol.name: -1}))


@pytest.mark.parametrize("model", MODELS)
def test_a_formula_can_be_printed(model):
    latex = formula(model).latex
    assert latex.startswith("T_P = ")
    assert latex.count("{") == latex.count("}")
    assert ("\\max\\left(" in latex.split("=")[1][:14]) == (formula(model).combine == "max")


def drawn(made, points):
    """Values inside each symbol's domain, over eight orders of magnitude where it is open above."""
    random = np.random.default_rng(1)
    values = {}
    for symbol in made.symbols:
        low = max(symbol.minimum, 1e-3 if symbol.above else 0)
        high = min(symbol.maximum, low + 1e8)
        value = low + (high - low) * random.random(points) ** 4
        values[symbol.name] = np.floor(value) if symbol.whole else value
    return values


@pytest.mark.parametrize("model", MODELS)
def test_a_grid_gives_what_its_points_give(model):
    result = formula(model)
    values = drawn(result, 20)
    whole = result.evaluate(**values)
    for point in range(20):
        alone = result.evaluate(**{name: value[point] for name, value in values.items()})
        assert float(alone.total) == whole.total[point]
        assert str(alone.bound) == whole.bound[point]
