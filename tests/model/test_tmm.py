"""TMM: T_P = max(T1 / P, Tinf, M L / (T P)); dissertation, Eq (3.1) to (3.3). Numbers are computed by hand."""

import subprocess
import sys
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import predict
from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.model.latency_hiding import hiding
from simtmm.trace.counts import Counts

P, L, W, Q, X = 16, 100, 8, 8, 4


def machine(**changes):
    result = Machine.from_dict(
        {
            "name": "sixteen",
            "clock_hz": 1e9,
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 100, "chunk_words": 8},
        }
    )
    return result.replace(changes) if changes else result


def counts(work, span, memory_operations, threads_per_core=2.0, warps_in_use=4.0):
    return Counts(work, span, memory_operations, memory_operations, threads_per_core, warps_in_use, ())


TERMS = [
    # T1, Tinf, M, T, terms
    (1600, 99, 31, 2, {"compute": 100, "span": 99, "memory": 31 * 100 / 32}, "compute"),
    (1600, 101, 32, 2, {"compute": 100, "span": 101, "memory": 100}, "span"),
    (1600, 99, 64, 2, {"compute": 100, "span": 99, "memory": 200}, "memory"),
    (1600, 99, 64, 4, {"compute": 100, "span": 99, "memory": 100}, "compute"),
    (1600, 99, 64, 1, {"compute": 100, "span": 99, "memory": 400}, "memory"),
    (1600, 99, 0, 2, {"compute": 100, "span": 99, "memory": 0}, "compute"),
    (0, 0, 0, 0, {"compute": 0, "span": 0, "memory": 0}, "compute"),
]


@pytest.mark.parametrize(("work", "span", "memory", "threads", "terms", "bound"), TERMS)
def test_the_largest_term_binds(work, span, memory, threads, terms, bound):
    prediction = predict("tmm", machine(), counts(work, span, memory, threads))
    assert prediction.terms == terms
    assert (prediction.cycles, prediction.bound) == (max(terms.values()), bound)


@pytest.mark.parametrize(
    ("work", "span", "memory", "warps", "terms", "bound"),
    [
        (1600, 99, 3, 4, {"compute": 100, "span": 99, "memory": 75}, "compute"),
        (1600, 101, 4, 4, {"compute": 100, "span": 101, "memory": 100}, "span"),
        (1600, 99, 8, 4, {"compute": 100, "span": 99, "memory": 200}, "memory"),
        (1600, 99, 0, 0, {"compute": 100, "span": 99, "memory": 0}, "compute"),
    ],
)
def test_the_form_with_warps_divides_by_resident_warps(work, span, memory, warps, terms, bound):
    prediction = predict("tmm-warps", machine(), counts(work, span, memory, warps_in_use=warps))
    assert prediction.terms == terms
    assert (prediction.cycles, prediction.bound) == (max(terms.values()), bound)


@pytest.mark.parametrize("model", ["tmm", "tmm-warps"])
def test_twice_the_latency_takes_twice_the_time_where_memory_binds(model):
    program = counts(1600, 99, 640)
    once, twice = predict(model, machine(), program), predict(model, machine(**{"memory.latency": 200}), program)
    assert once.bound == "memory"
    assert twice.cycles == 2 * once.cycles


@pytest.mark.parametrize("model", ["tmm", "tmm-warps"])
def test_latency_does_not_count_where_it_is_hidden(model):
    program = counts(1600, 99, 2)
    assert predict(model, machine(), program).cycles == predict("pram", machine(), program).cycles
    assert predict(model, machine(**{"memory.latency": 199}), program).cycles == 100


programs = st.builds(
    counts, st.integers(1, 10**9), st.integers(1, 10**6), st.integers(0, 10**9), st.floats(0.01, X), st.floats(1, 8)
)


@given(programs)
def test_no_program_is_faster_than_on_a_pram(program):
    assert predict("tmm", machine(), program).cycles >= predict("pram", machine(), program).cycles


@given(programs)
def test_the_symbols_satisfy_the_printed_equations(program):
    prediction = predict("tmm", machine(), program)
    s = prediction.symbols
    close = {"rel": 1e-14}  # each side is rounded a handful of times
    assert s["T_E"] == pytest.approx(max(s["T1"], s["M"] * s["L"] / s["T"]), **close)  # Eq (3.1)
    assert prediction.cycles == pytest.approx(max(s["T_E"] / s["P"], s["Tinf"]), **close)  # Eq (3.2)
    assert s["S_P"] == pytest.approx(s["T1"] / prediction.cycles, **close)  # Eq (3.3)


def test_the_speed_up_of_no_work_is_1():
    assert predict("tmm", machine(), counts(0, 0, 0, 0)).symbols["S_P"] == 1


@pytest.mark.parametrize("model", ["tmm", "tmm-warps"])
def test_memory_operations_without_threads_are_refused_by_name(model):
    with pytest.raises(ModelError, match=r"^tmm(-warps)?: (T|N_W) = 0: must be above 0 \((threads|warps) in use on"):
        predict(model, machine(), counts(1600, 99, 10, threads_per_core=0.0, warps_in_use=0.0))


# How many threads hide the latency


def test_the_needed_threads_by_hand():
    result = hiding(machine(), counts(1600, 10, 64))  # 64 * 100 / (100 * 16)
    assert result.needed == 4
    assert result.needed_warps == 32  # 64 * 100 / N_W = 100: 64 warps of 8 on 16 cores
    assert result.in_use == 2
    assert result.largest_latency == 50  # 64 * 50 / (2 * 16) = 100


def test_the_longest_path_hides_latency_too():
    result = hiding(machine(), counts(1600, 400, 64))
    assert (result.needed, result.needed_warps, result.largest_latency) == (1, 8, 200)


powers_of_two = st.integers(0, 20).map(lambda exponent: 2**exponent)


@given(powers_of_two, powers_of_two, powers_of_two, st.integers(0, 12).map(lambda exponent: 2**exponent))
def test_at_the_needed_threads_the_memory_term_is_exactly_the_rest(work, span, memory, latency):
    result = machine(**{"memory.latency": latency})
    hidden = hiding(result, counts(work, span, memory))
    at_needed = counts(work, span, memory, threads_per_core=hidden.needed, warps_in_use=hidden.needed_warps * P / W)
    rest = max(work / P, span)
    assert predict("tmm", result, at_needed).terms["memory"] == rest
    assert predict("tmm-warps", result, at_needed).terms["memory"] == rest


@given(programs, st.floats(1, 10**5))
def test_at_the_needed_threads_the_memory_term_is_the_rest_but_for_rounding(program, latency):
    result = machine(**{"memory.latency": latency})
    hidden = hiding(result, program)
    if not program.memory_operations:
        assert (hidden.needed, hidden.needed_warps, hidden.largest_latency) == (0, 0, inf)
        return
    at_needed = counts(
        program.work, program.span, program.memory_operations, hidden.needed, hidden.needed_warps * P / W
    )
    rest = pytest.approx(max(program.work / P, program.span), rel=1e-14)  # a handful of roundings
    assert predict("tmm", result, at_needed).terms["memory"] == rest
    assert predict("tmm-warps", result, at_needed).terms["memory"] == rest


@given(programs)
def test_memory_binds_exactly_where_fewer_threads_are_in_use_than_needed(program):
    hidden = hiding(machine(), program)
    if abs(hidden.needed - hidden.in_use) > 1e-9 * hidden.needed:  # apart from ties, which rounding decides
        assert (predict("tmm", machine(), program).bound == "memory") == (hidden.in_use < hidden.needed)


@given(programs)
def test_at_the_largest_latency_the_threads_in_use_are_the_needed_ones(program):
    hidden = hiding(machine(), program)
    if 1 <= hidden.largest_latency < inf:
        at_largest = hiding(machine(**{"memory.latency": hidden.largest_latency}), program)
        assert at_largest.needed == pytest.approx(hidden.in_use, rel=1e-14)  # a handful of roundings


@pytest.mark.parametrize("work", [0, 1600])
def test_without_memory_operations_no_threads_are_needed(work):
    result = hiding(machine(), counts(work, 0, 0, 0.0, 0.0))
    assert (result.needed, result.needed_warps, result.largest_latency) == (0, 0, inf)


def test_the_limits_are_what_the_machine_holds_and_what_parallelism_feeds():
    result = hiding(machine(), counts(1600, 25, 64))
    assert result.limits == {"threads per core": 4, "parallelism": 4}  # 1600 / (25 * 16)
    assert hiding(machine(), counts(0, 0, 0)).limits["parallelism"] == inf


def test_shared_memory_limits_threads_where_threads_use_some():
    result = machine(**{"resources.shared_memory": 1024})
    limits = hiding(result, counts(1600, 25, 64), shared_memory_per_thread=64).limits
    assert limits["shared memory"] == 2  # 1024 / (8 * 64)
    assert "shared memory" not in hiding(result, counts(1600, 25, 64)).limits
    assert "shared memory" not in hiding(machine(), counts(1600, 25, 64), shared_memory_per_thread=64).limits


@pytest.mark.parametrize(("shared_memory_per_thread", "limit"), [(64, 2), (16, 4)])
def test_the_limit_of_the_machine_is_the_least_and_leaves_parallelism_out(shared_memory_per_thread, limit):
    result = machine(**{"resources.shared_memory": 1024})
    assert hiding(result, counts(16, 16, 64), shared_memory_per_thread).limit == limit


def test_models_load_no_simulation_no_compiler_and_no_gpu():
    program = (
        "import sys, simtmm.model, simtmm.model.pram, simtmm.model.tmm, simtmm.model.launch.occupancy;"
        "print([name for name in ('simpy', 'numba', 'cupy', 'simtmm.engine') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
