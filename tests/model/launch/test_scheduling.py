"""f_sched = ceil(B_r / (B_a P / Q)) (B_a P / Q) / B_r and the zigzag; dissertation, Eq (5.13), Fig 5.2 and 5.12."""

# ruff: noqa: N806 - the letters of the equations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from simtmm import load_machine
from simtmm.errors import MachineError, ModelError
from simtmm.machine import Machine
from simtmm.model.launch.scheduling import scheduled_launches, scheduling_factor, zigzag
from simtmm.trace.counts import Counts, LaunchCounts
from simtmm.trace.schema import TraceLaunch
from tests.model.ma_chapters import published

GTX480 = load_machine("gtx480")


def launch(threads, registers=20, shared_memory=8192):
    return TraceLaunch("kernel", (1, 1, 1), (threads, 1, 1), registers, shared_memory)


@published("ma.eq5.13")
def test_the_factor_is_the_documents(item):
    result = scheduling_factor(item["B_r"], item["B_a"], 32 * item["groups"], 32)
    assert result == pytest.approx(np.array(item["f_sched"]), abs=5e-5)  # printed to four places


@given(st.integers(1, 10**6), st.integers(1, 64), st.integers(1, 200), st.integers(1, 192))
def test_the_factor_is_that_of_whole_waves(blocks, active, groups, cores):
    at_once = active * groups
    waves = -(-blocks // at_once)
    # Two products of whole numbers that are exact and one division, rounded
    assert scheduling_factor(blocks, active, groups * cores, cores) == pytest.approx(
        waves * at_once / blocks, rel=1e-15
    )


def test_cores_that_no_group_divides_do_not_tip_the_ceiling():
    assert scheduling_factor(117, 27, 13, 3) == 1  # in doubles 27 * (13 / 3) is a little less than 117


def test_the_factor_is_a_formula_too():
    B_r, B_a, P, Q = letters = sympy.symbols("B_r B_a P Q", positive=True)
    result = scheduling_factor(*letters)
    assert result == sympy.ceiling(B_r * Q / (B_a * P)) * B_a * P / (Q * B_r)
    assert result.subs({B_r: 16, B_a: 1, P: 480, Q: 32}) == sympy.Rational(15, 8)


@pytest.mark.parametrize(("letter", "value"), [("B_r", 0), ("B_r", 1.5), ("B_a", 0), ("P", 0), ("Q", -1)])
def test_a_value_outside_the_domain_is_refused_by_name(letter, value):
    with pytest.raises(ModelError, match=rf"^f_sched: {letter} = {value:.12g}: must be whole and at least 1 \("):
        scheduling_factor(**{"B_r": 1, "B_a": 1, "P": 1, "Q": 1, letter: value})


# The sweep over requested blocks


@published("ma.zigzag480")
def test_the_peaks_are_the_documents(item):
    first, last = item["B_r_range"]
    for threads in item["threads_per_block"]:
        curve = zigzag(GTX480, launch(threads), range(first, last + 1))
        assert curve.local_maxima.tolist() == item["B_opt"]
        assert curve.active_blocks == 1


@published("ma.zigzag480")
def test_throughput_drops_behind_each_peak_as_the_equation_says(item):
    curve = zigzag(GTX480, launch(1024), range(1, 92))
    throughput = dict(zip(curve.blocks.tolist(), curve.relative_throughput, strict=True))
    drops = [throughput[peak + 1] / throughput[peak] for peak in item["B_opt"]]
    assert drops == pytest.approx(item["drops"], abs=5e-4)  # three places


@published("ma.zigzagC1060")
def test_the_period_of_a_tesla_c1060(item):
    tesla = Machine.from_dict(
        {
            "name": "C1060",
            "cores": {
                "groups": item["groups"],
                "cores_per_group": item["cores_per_group"],
                "warp_width": 32,
                "max_threads_per_core": item["T_maxMP"] / item["cores_per_group"],
            },
            "memory": {"latency": 500, "chunk_words": 32},
            "limits": {"blocks_per_group": item["blocks_per_group"]},
            "resources": {
                "registers": item["R"],
                "shared_memory": item["Z_bytes"],
                "threads_per_block": item["T_maxB"],
            },
        }
    )
    with pytest.raises(MachineError, match="at most 512 threads a block"):
        zigzag(tesla, launch(item["T_r_printed"]))
    # The period needs one active block: one that takes more than half of shared memory, as a vector of 16 KB does
    assert zigzag(tesla, launch(item["T_maxB"], 8, item["Z_bytes"] // 2 + 1)).period == item["period"]
    assert zigzag(tesla, launch(item["T_maxB"], 8, item["Z_bytes"] // 2)).period == 2 * item["period"]


@given(st.integers(1, 400), st.integers(1, 400), st.sampled_from([32, 96, 192, 512, 1024]))
def test_the_local_maxima_are_the_multiples_of_what_runs_at_once(first, number, threads):
    curve = zigzag(GTX480, launch(threads, 10, 0), range(first, first + number))
    multiples = [blocks for blocks in range(first, first + number) if blocks % curve.period == 0]
    assert curve.local_maxima.tolist() == multiples


def test_times_are_relative_to_the_best_of_the_sweep():
    curve = zigzag(GTX480, launch(1024), [16, 20, 24])
    assert curve.f_sched.tolist() == [30 / 16, 1.5, 1.25]
    assert curve.relative_time.tolist() == [1.5, 1.2, 1]
    assert curve.relative_throughput.tolist() == [1 / 1.5, 1 / 1.2, 1]
    assert curve.to_dict()["blocks"] == [16, 20, 24]


@published("ma.fig6.1")
def test_the_influence_of_blocks_shrinks_as_they_grow_and_is_least_at_whole_waves(item):
    first = zigzag(GTX480, launch(1024), range(1, item["groups"] + 1))
    later = zigzag(GTX480, launch(1024), range(1000 * item["groups"], 1001 * item["groups"]))
    assert np.ptp(first.f_sched) == 14
    assert np.ptp(later.f_sched) < 1e-3  # one wave of a thousand
    large = scheduling_factor(item["large_B_r"], item["large_B_a"], 480, 32)
    assert large == pytest.approx(item["f_sched_large"], abs=5e-6)  # five places


@pytest.mark.parametrize(("blocks", "words"), [(0, "at least 1"), ([], "at least one count"), (2**31, "at most")])
def test_counts_that_are_no_grids_are_refused(blocks, words):
    with pytest.raises(ModelError, match=words):
        zigzag(GTX480, launch(1024), blocks)


# What the models take of each launch


def counted(*of):
    """Counts of launches of (work, memory operations, blocks, active blocks, threads of a block)."""
    result = tuple(
        LaunchCounts(
            kernel="kernel", work=work, span=1, memory_operations=memory, memory_instructions=memory,
            threads=blocks * threads, blocks=blocks, active_blocks=active, blocks_in_use=min(blocks, active * 15),
            warps_in_use=1, threads_per_core=min(blocks, active * 15) * threads / 480,
        )
        for work, memory, blocks, active, threads in of
    )  # fmt: skip
    total, memory = sum(launch.work for launch in result), sum(launch.memory_operations for launch in result)
    waiting = sum(launch.memory_operations / launch.threads_per_core for launch in result)
    return Counts(
        work=total, span=1, memory_operations=memory, memory_instructions=memory, warps_in_use=1.0, launches=result,
        threads_per_core=memory / waiting if memory else 4.0,
    )  # fmt: skip


def test_threads_are_those_of_a_group_that_holds_all_its_active_blocks():
    launches = scheduled_launches(GTX480, counted((100, 10, 1, 6, 256), (200, 20, 90, 6, 256)))
    assert launches.T.tolist() == [48, 48]  # 6 * 256 / 32, however few blocks there are
    assert (launches.T1.tolist(), launches.M.tolist(), launches.B_r.tolist()) == ([100, 200], [10, 20], [1, 90])


def test_blocks_may_be_forced_below_the_occupancy_and_not_above():
    program = counted((100, 10, 90, 6, 256), (100, 10, 90, 1, 256))
    launches = scheduled_launches(GTX480, program, active_blocks=2)
    assert (launches.B_a.tolist(), launches.T.tolist()) == ([2, 1], [16, 8])
    with pytest.raises(ModelError, match=r"^active_blocks: B_a = 0: must be whole and at least 1"):
        scheduled_launches(GTX480, program, active_blocks=0)


def test_counts_without_launches_fill_the_machine():
    launches = scheduled_launches(GTX480, counted())
    assert scheduling_factor(launches.B_r, launches.B_a, 480, 32).tolist() == [1]
    assert launches.T.tolist() == [4]
