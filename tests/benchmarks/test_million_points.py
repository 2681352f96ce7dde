"""A million points of each closed form, or of a ranking by one, take less than two seconds of a core."""

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.model.algorithms import find
from simtmm.model.applications.integrated_apsp import APSP
from simtmm.model.calibrated import CALIBRATED_BY_LAUNCH
from simtmm.model.integrated import INTEGRATED
from simtmm.model.launch.ranked_configurations import ranked_apsp_configurations
from simtmm.model.launch.scheduling import zigzag
from simtmm.model.mwp_cwp import MWP_CWP
from tests.model.algorithms.test_catalogue import values
from tests.model.launch.test_scheduling import launch
from tests.model.test_calibrated import FULL
from tests.model.test_integrated import VALUES
from tests.model.test_mwp_cwp import EXAMPLE, terms

GTX480 = load_machine("gtx480")
SIDE, FEW = 1000, 50  # of a square of points: a million, or enough to see what comes
LONGEST = 2  # seconds; 0.02 to 0.5 were measured


@pytest.fixture
def side(sized):
    return sized(SIDE, FEW)


@pytest.fixture
def points(side):
    return side * side


@pytest.fixture
def blocks(points):
    return np.arange(1, points + 1)


@pytest.fixture
def quick(benchmark):
    """Call a function, and hold its time against the longest where times are taken."""

    def call(function):
        result = benchmark.pedantic(function, rounds=3)
        if benchmark.enabled:
            assert benchmark.stats.stats.median < LONGEST
        return result

    return call


def test_calibrated(quick, points, blocks):
    values = {"f_app": blocks, "m": np.linspace(1, points, points)}
    result = quick(lambda: CALIBRATED_BY_LAUNCH.evaluate(a1=1, a0=0, C_s=49152, G=3, **values, **FULL).total)
    assert result.shape == (points,)


def test_integrated(quick, points, blocks):
    result = quick(lambda: INTEGRATED.formula.evaluate(**VALUES | {"B_r": blocks}).bound)
    assert result.shape == (points,)


def test_integrated_apsp(quick, points, blocks):
    result = quick(lambda: APSP.evaluate(n=8192, L=512, C=1, T=8, B_r=blocks, B_a=1, P=480, Q=32).total)
    assert result.shape == (points,)


def test_mwp_cwp(quick, points):
    result = quick(lambda: MWP_CWP.formula.evaluate(**(EXAMPLE | {"N": np.linspace(1, 64, points)})).total)
    assert result[-1] == pytest.approx(sum(terms(N=64).values()), rel=1e-15)  # the same operations
    assert result.shape == (points,)


def test_zigzag(quick, blocks):
    quick(lambda: zigzag(GTX480, launch(1024), blocks))


def test_ranked_configurations(quick, side, points):
    sizes = threads = np.arange(1, side + 1)
    result = quick(lambda: ranked_apsp_configurations(GTX480, 8192, sizes, threads))
    assert len(result.feasible) + len(result.refused) == points


@pytest.mark.parametrize("name", ["merge-sort", "apsp-johnson-array", "suffix-array", "list-ranking-helman-jaja"])
def test_an_algorithm(quick, points, name):
    formula = find(name).time()
    result = quick(lambda: formula.evaluate(**values(formula, n=np.geomspace(2e4, 1e9, points))))
    assert result.total.shape == result.bound.shape == (points,)
