"""PRAM: T_P = max(T1 / P, Tinf); dissertation, section 3.2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import predict
from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.trace.counts import Counts

P = 16


def machine(**memory):
    return Machine.from_dict(
        {
            "name": "sixteen",
            "clock_hz": 1e9,
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 100, "chunk_words": 8, **memory},
        }
    )


def counts(work, span, memory_operations=0, threads_per_core=1.0, warps_in_use=1.0):
    return Counts(work, span, memory_operations, memory_operations, threads_per_core, warps_in_use, ())


@pytest.mark.parametrize(
    ("work", "span", "cycles", "bound"),
    [(1600, 99, 100, "compute"), (1600, 101, 101, "span"), (1, 0, 1 / 16, "compute"), (0, 0, 0, "compute")],
)
def test_the_larger_of_work_over_cores_and_span_binds(work, span, cycles, bound):
    prediction = predict("pram", machine(), counts(work, span))
    assert (prediction.cycles, prediction.bound) == (cycles, bound)
    assert prediction.terms == {"compute": work / P, "span": span}


def test_memory_takes_no_time():
    assert predict("pram", machine(), counts(1600, 10, 10**9)).cycles == 100
    assert predict("pram", machine(latency=10**6), counts(1600, 10, 10**9)).cycles == 100


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_the_speed_up_is_the_least_of_the_cores_and_the_parallelism(work, span):
    prediction = predict("pram", machine(), counts(work, span))
    assert prediction.symbols["S_P"] == pytest.approx(min(P, work / span), rel=1e-15)  # two divisions, rounded


def test_seconds_are_cycles_over_the_clock():
    assert predict("pram", machine(), counts(1600, 10)).seconds == 100e-9
    assert predict("pram", machine().replace({"clock_hz": None}), counts(1600, 10)).seconds is None


def test_what_went_in_is_reported():
    prediction = predict("pram", machine(), counts(1600, 10))
    assert prediction.symbols == {"T1": 1600, "Tinf": 10, "P": 16, "S_P": 16}
    assert "section 3.2" in prediction.source


def test_an_unknown_model_is_refused_with_the_nearest():
    with pytest.raises(ModelError, match=r"^model 'tmn': unknown; did you mean 'tmm'\?$"):
        predict("tmn", machine(), counts(1, 1))
