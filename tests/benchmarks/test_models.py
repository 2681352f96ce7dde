"""How fast models are: a prediction from counts, and a formula over a grid."""

from pathlib import Path

import numpy as np
import pytest

from simtmm import count, load_machine, load_trace
from simtmm.model import MODELS, formula, predict
from simtmm.model.algorithms import find
from simtmm.model.algorithms.times import predict_algorithm
from tests.model.test_models import drawn

TRACE = Path(__file__).parents[2] / "traces" / "list-ranking-wyllie.parquet"
POINTS, FEW = 10**6, 10**4


@pytest.fixture(scope="module")
def machine():
    return load_machine("gtx480")


@pytest.mark.parametrize("model", MODELS)
def test_a_prediction(benchmark, machine, model):
    counts = count(load_trace(TRACE), machine)
    first = predict(model, machine, counts)
    assert benchmark(predict, model, machine, counts) == first
    if benchmark.enabled:
        assert benchmark.stats.stats.median < 1e-3  # twelve launches; what is asked of a prediction


def test_a_prediction_of_an_algorithm(benchmark, machine):
    result = benchmark(predict_algorithm, find("merge-sort"), machine, {"n": 10**8})
    assert result["tmm"].bound == "compute"


@pytest.mark.parametrize("model", MODELS)
def test_a_grid(benchmark, sized, model):
    result, points = formula(model), sized(POINTS, FEW)
    values = drawn(result, points)
    evaluated = benchmark.pedantic(lambda: result.evaluate(**values), rounds=3)
    assert evaluated.total.shape == evaluated.bound.shape == (points,)
    assert np.isfinite(evaluated.total).all()
    if benchmark.enabled:
        assert benchmark.stats.stats.median < 2  # seconds; 0.02 to 0.3 were measured
        benchmark.extra_info["points a second"] = round(points / benchmark.stats.stats.median)
