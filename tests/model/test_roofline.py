"""Roofline: max(T1 / P, B / beta). Numbers are computed by hand."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import load_trace, lower, simulate
from simtmm.errors import ModelError
from simtmm.machine import Machine, load_machine, machine_files
from simtmm.model.roofline import ROOFLINE, bandwidth, roofline
from simtmm.trace.counts import Counts, count
from tests.trace.build import load, trace, work

CACHES = ("memory.l1", "memory.shared_l1", "memory.l2", "memory.last_level")


def machine(**changes):
    tables = {
        "name": "sixteen",
        "clock_hz": 1e9,
        "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
        "memory": {"latency": 100, "chunk_words": 8, "partitions": 4, "service": 2},  # 4 * 32 / 2 = 64 bytes a cycle
    }
    return Machine.from_dict(tables).replace(changes)


def counts(work, memory_operations):
    return Counts(work, 0, memory_operations, memory_operations, 1.0, 1.0, ())


@pytest.mark.parametrize(
    ("operations", "chunks", "terms", "bound"),
    [
        (1600, 199, {"compute": 100, "memory": 99.5}, "compute"),
        (1600, 201, {"compute": 100, "memory": 100.5}, "memory"),
        (1600, 0, {"compute": 100, "memory": 0}, "compute"),
        (0, 2, {"compute": 0, "memory": 1}, "memory"),
        (0, 0, {"compute": 0, "memory": 0}, "compute"),
    ],
)
def test_the_larger_of_work_and_bytes_binds(operations, chunks, terms, bound):
    prediction = roofline(machine(), counts(operations, chunks))
    assert prediction.terms == terms
    assert (prediction.cycles, prediction.bound) == (max(terms.values()), bound)


def test_the_symbols_are_reported():
    prediction = roofline(machine(), counts(1600, 100))
    assert prediction.symbols == {"T1": 1600, "P": 16, "B": 3200, "beta": 64, "I": 0.5, "I_ridge": 0.25}
    assert prediction.seconds == 100 / 1e9
    assert "I" not in roofline(machine(), counts(1600, 0)).symbols


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_memory_binds_exactly_below_the_ridge(operations, chunks):
    prediction = roofline(machine(), counts(operations, chunks))
    intensity, ridge = prediction.symbols["I"], prediction.symbols["I_ridge"]
    if abs(intensity / ridge - 1) > 1e-12:  # apart from ties, which rounding decides
        assert (prediction.bound == "memory") == (intensity < ridge)
    rate = prediction.symbols["T1"] / prediction.cycles
    # attainable rate = min(P, beta I) as printed; each side is rounded a few times
    assert rate == pytest.approx(min(prediction.symbols["P"], prediction.symbols["beta"] * intensity), rel=1e-14)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 64),
        ({"memory.partitions": 2}, 32),
        ({"memory.chunk_words": 16}, 128),
        ({"memory.port_interval": 4}, 16),  # two groups, 32 bytes each 4 cycles
        ({"memory.port_interval": 4, "memory.ports": 2}, 32),  # each port a chunk each 4 cycles
        ({"memory.port_interval": 4, "memory.ports": 5}, 64),
        ({"memory.port_interval": 0.5}, 64),
        ({"memory.port_interval": 4, "memory.ports": 2, "cores.groups": 3}, 48),
        ({"memory.service": 0, "memory.port_interval": 4}, 16),
        ({"peak_bandwidth": 1e9}, 64),  # the simulated machine does not know it
        ({"memory.service": 0, "peak_bandwidth": 5e9}, 5),
        ({"memory.service": 0, "peak_bandwidth": 5e9, "clock_hz": None}, inf),
        ({"memory.service": 0}, inf),
    ],
)
def test_the_bandwidth_is_what_limits_the_simulation_else_the_data_sheets(changes, expected):
    assert bandwidth(machine(**changes)) == expected


def test_without_a_limit_on_bandwidth_bytes_take_no_time():
    prediction = roofline(machine(**{"memory.service": 0}), counts(16, 10**9))
    assert prediction.terms == {"compute": 1, "memory": 0}
    assert prediction.symbols["I_ridge"] == 0


@pytest.mark.parametrize("name", ["gtx280", "gtx480"])
def test_partitions_and_service_give_the_bandwidth_of_the_data_sheet(name):
    result = load_machine(name)
    assert bandwidth(result) * result.clock_hz == pytest.approx(
        result.peak_bandwidth, rel=1e-3
    )  # service has three digits


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    threads = [[load(0, 4096 * lane), work(1, 5), load(2, 128 * lane)] for lane in range(64)]
    path = tmp_path_factory.mktemp("program") / "t.parquet"
    trace([threads] * 200).save(path)  # a file has it encoded, once for all machines
    return load_trace(path)


@pytest.mark.parametrize("name", machine_files())
def test_no_simulation_without_caches_is_faster_than_its_roofline(name, program):
    """Issue of a warp instruction takes W / Q cycles, and each transfer its service, whatever overlaps.

    The roofline's bytes are those of whole chunks, so they move whole here.
    """
    whole = {"memory.sectors": 1, "memory.fetch_sectors": 1}
    changed = load_machine(name).replace({**dict.fromkeys(CACHES), **whole})
    predicted = roofline(changed, count(program, changed))
    assert simulate(changed, lower(program, changed)).cycles >= predicted.cycles


@pytest.mark.parametrize(
    ("symbol", "value"), [("T1", -1), ("P", 0), ("P", 1.5), ("B", -1), ("beta", 0), ("beta", np.nan)]
)
def test_a_value_outside_its_domain_is_refused_by_name(symbol, value):
    with pytest.raises(ModelError, match=rf"^roofline: {symbol} = {value}: must be "):
        ROOFLINE.formula.evaluate(**{"T1": 1, "P": 1, "B": 1, "beta": 1, symbol: value})


def test_the_formula_is_reported_for_papers_and_evaluated_over_arrays():
    assert ROOFLINE.formula.latex == "T_P = \\max\\left(\\frac{T_1}{P}, \\frac{B}{\\beta}\\right)"
    beta = np.array([0.5, 1.0, 2.0, np.inf])
    evaluated = ROOFLINE.formula.evaluate(T1=8, P=8, B=1.5, beta=beta)
    assert evaluated.total.tolist() == [3, 1.5, 1, 1]
    assert evaluated.bound.tolist() == ["memory", "memory", "compute", "compute"]
