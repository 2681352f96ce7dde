"""Counts as formulas, speedup, and what linear speedup asks of a machine."""

import json
from math import inf

import pytest

from simtmm import load_machine
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.model.algorithms.algorithm import Algorithm, Form
from simtmm.model.algorithms.speedup import linear_speedup, speedup_of
from simtmm.model.algorithms.times import predict_algorithm
from simtmm.model.equations.formula import Symbol

GTX_480 = load_machine("gtx480")  # P 480, Q 32, L 512, C 32, X 48, Z 12288 words
CRAY_XMT = load_machine("cray-xmt")  # no shared memory
SIZES = {"n": 1e5, "N": 1e5, "m": 1e5, "k": 20.0, "Q_s": 1000.0, "n_sub": 100.0}


def speedup_of_algorithm(name, machine=GTX_480, threads=None, variant=None, **parameters):
    algorithm = find(name)
    given = parameters or {symbol.name: SIZES[symbol.name] for symbol in algorithm.symbols if symbol.name in SIZES}
    tmm = predict_algorithm(algorithm, machine, given, threads, variant)["tmm"]
    return speedup_of(algorithm, machine, tmm, variant, set(given)), tmm


def test_counts_are_formulas_as_people_write_them():
    found, _ = speedup_of_algorithm("merge-sort")
    assert found.counts == {"T1": "n lg(Z) lg(n / Z)", "Tinf": "lg(n) lg(n / Z)", "M": "n lg(n / Z) / C"}
    assert speedup_of_algorithm("apsp-dynamic-programming", n=64)[0].counts["M"] == "n^3 lg(n) / (C sqrt(Z))"
    assert speedup_of_algorithm("apsp-dynamic-programming", n=64, S_D=8)[0].counts["M"] == "n^3 lg(n) / (C S_D)"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_tmm_core_the_speedup_of_every_algorithm_is_its_work_over_its_time(name):
    parameters = {"m": 1e4} | {key: SIZES[key] for key in ("n", "k", "Q_s", "n_sub")} if name == "bloom-filter" else {}
    found, tmm = speedup_of_algorithm(name, **parameters)
    assert found.speedup == pytest.approx(tmm.symbols["T1"] / tmm.cycles, rel=1e-14)  # a rounding or two
    assert found.bounds["compute"] == pytest.approx(480, rel=1e-14)


def test_tmm_core_by_hand():
    """List ranking of 2^20 nodes, T = 48: M = T1, and L / T = 512 / 48."""
    found, _ = speedup_of_algorithm("list-ranking", n=2**20)
    assert found.effective_work == 2**20 * 20 * 512 / 48  # Eq (3.1)
    assert found.bounds == {"compute": 480, "span": 2**20, "memory": pytest.approx(480 * 48 / 512, rel=1e-14)}
    hidden = found.hiding
    assert (hidden.in_use, hidden.needed, hidden.largest_latency) == (48, 512, 48)
    assert hidden.limits == {"threads per core": 48, "shared memory": 12288 / 32, "parallelism": 2**20 / 480}


def test_a_chain_of_dependent_transfers_bounds_the_speedup():
    found, tmm = speedup_of_algorithm("fft", variant="mended", N=1024)
    assert found.speedup == found.bounds["chain"] == tmm.symbols["T1"] / (10 * 512)


@pytest.mark.parametrize(
    ("name", "latencies"),
    [  # Table 4.1: by X and by Z / Q
        ("apsp-dynamic-programming", (12288**0.5 * 32 * 48, 12288**1.5 * 32 / 32)),
        ("apsp-johnson-heap", (48, 12288 / 32)),
        ("apsp-bellman-ford", (32 * 48, 32 * 12288 / 32)),
    ],
)
def test_tmm_table4_1_what_linear_speedup_asks_on_a_gtx_480(name, latencies):
    found, _ = speedup_of_algorithm(name)
    assert [each.limit for each in found.requirements] == ["threads per core", "shared memory"]
    assert [each.latency for each in found.requirements] == [pytest.approx(latency, rel=1e-14) for latency in latencies]
    assert [each.met for each in found.requirements] == [latency >= 512 for latency in latencies]


@pytest.mark.parametrize(("m", "formula", "latency"), [(1e3, "C X", 32 * 48), (2e5, "X n^2 / m", 48 * 1000**2 / 2e5)])
def test_tmm_table4_1_of_johnson_the_row_whose_condition_holds_is_reported(m, formula, latency):
    """n^2 / m is at least C = 32, or not."""
    found, _ = speedup_of_algorithm("apsp-johnson-array", n=1000, m=m)
    assert (found.requirements[0].formula, found.requirements[0].latency) == (
        formula,
        pytest.approx(latency, rel=1e-14),
    )
    assert len(found.requirements) == 2


def test_without_shared_memory_it_asks_for_nothing():
    found, _ = speedup_of_algorithm("suffix-tree", CRAY_XMT)
    assert [each.formula for each in found.requirements] == ["X"]
    assert "shared memory" not in found.hiding.limits


def test_each_equation_that_is_asked_for_brings_its_symbols():
    """One that stands in the work, the memory or the shared memory alone."""
    symbols = [Symbol(name, name, name, minimum=1) for name in ("w", "u", "v")]
    form = Form(
        work=lambda w: w, span=lambda w: w, memory=lambda u: u, threads=lambda w: w, shared_memory=lambda v: v,
        source="made up",
    )  # fmt: skip
    by_threads, by_memory = linear_speedup(Algorithm("made-up", "made up", tuple(symbols), {"printed": form}))
    assert (str(by_threads.latency), str(by_memory.latency)) == ("X*w/u", "Z*w/(Q*u*v)")


def test_without_work_nothing_is_gained():
    found, _ = speedup_of_algorithm("list-ranking", n=1)
    assert (found.speedup, found.effective_work, found.hiding.largest_latency) == (1, 0, inf)


def test_all_of_it_is_json():
    document = speedup_of_algorithm("merge-sort")[0].to_dict()
    assert json.loads(json.dumps(document)) == document
    assert set(document) == {"counts", "effective_work", "speedup", "bounds", "asked"}
    assert set(document["asked"][0]) == {"limit", "formula", "latency", "where", "met"}
