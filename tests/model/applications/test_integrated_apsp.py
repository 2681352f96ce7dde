"""All-pairs shortest paths in the integrated framework; dissertation, Eq (6.5) to (6.10), Fig 4.6 and 6.2 to 6.4."""

# ruff: noqa: N803, N806 - the letters of the equations

import numpy as np
import pytest
import sympy

from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.model.applications.integrated_apsp import (
    APSP,
    APSP_BY_SIZE,
    APSP_FITTED,
    APSP_SUM,
    memory_operations,
    requested_blocks,
    shared_memory,
    threads_that_hide_latency,
    work,
)
from simtmm.model.departure import departures
from simtmm.model.launch.occupancy import occupancies
from simtmm.model.launch.scheduling import scheduling_factor
from tests.model.ma_chapters import ITEMS, published

GTX480 = {"P": 480, "Q": 32}
CLOSE = 1e-14  # a handful of roundings


def test_work_and_memory_operations_by_hand():
    assert work(8) == 8**3 * 3
    assert memory_operations(8, 4, 2) == 8**3 * 3 / 8


def test_the_formulas_by_hand():
    values = {"n": 64, "L": 512, "C": 1, "T": 4, "B_r": 20, "B_a": 1, **GTX480}
    waves = 30 / 20 / 480
    compute, memory = 64**3 * 6 * waves, 64**2 * 6 * 512 * 20**0.5 / 4 * waves
    evaluated = APSP.evaluate(**values)
    assert evaluated.terms["compute"] == pytest.approx(compute, rel=CLOSE)
    assert evaluated.terms["memory"] == pytest.approx(memory, rel=CLOSE)
    assert evaluated.total == pytest.approx(max(compute, memory), rel=CLOSE)
    assert APSP_SUM.evaluate(**values).total == pytest.approx(compute + memory, rel=CLOSE)


def test_the_form_in_blocks_is_that_in_sub_blocks():
    n, L, C, T, B_r, B_a, P, Q = sympy.symbols("n L C T B_r B_a P Q", positive=True)
    rest = {"L": L, "C": C, "T": T, "B_r": B_r, "B_a": B_a, "P": P, "Q": Q}
    by_size = APSP_BY_SIZE.terms(n=n, S_D=n / sympy.sqrt(B_r), **rest)  # section 6.2: S_D = n / sqrt(B_r)
    by_blocks = APSP.terms(n=n, **rest)
    for term, expression in by_blocks.items():
        assert sympy.simplify(expression - by_size[term]) == 0


def test_the_form_in_sub_blocks_has_the_work_and_memory_operations_of_the_algorithm():
    result = APSP_BY_SIZE.evaluate(n=1024, S_D=32, L=512, C=32, T=8, B_r=1024, B_a=4, **GTX480).terms
    waves = scheduling_factor(1024, 4, 480, 32) / 480
    assert result["compute"] == pytest.approx(work(1024) * waves, rel=CLOSE)
    assert result["memory"] == pytest.approx(memory_operations(1024, 32, 32) * 512 / 8 * waves, rel=CLOSE)


@published("ma.fig6.4")
def test_the_knees_follow_with_one_word_a_transfer_and_not_with_a_chunks(item):
    assert threads_that_hide_latency(item["L"], item["S_D"], 1).tolist() == item["knees_T"]
    assert threads_that_hide_latency(item["L"], item["S_D"], 32).max() == 1  # never a matter of threads


@published("ma.fig6.4")
def test_time_grows_with_the_root_of_blocks_or_is_flat(item):
    size = np.array(item["S_D"])
    blocks = requested_blocks(item["n"], size)
    assert blocks.tolist() == [16384, 65536, 262144]

    def times(T):
        # f_sched differs by less than a thousandth; it is taken out
        evaluated = APSP.evaluate(n=item["n"], L=item["L"], C=1, T=T, B_r=blocks, B_a=1, **GTX480)
        return evaluated.total / scheduling_factor(blocks, 1, 480, 32), evaluated.bound

    for T in (1, 2, 4):
        slow, bound = times(T)
        assert bound.tolist() == ["memory"] * 3
        assert slow / slow[0] == pytest.approx([1, 2, 4], rel=CLOSE)  # sqrt(B_r) doubles
    flat, _ = times(item["flat_T"][1])
    assert flat == pytest.approx(flat[0], rel=CLOSE)  # T = 32 hides the latency for every size
    tending, bound = times(item["flat_T"][0])
    assert tending / flat == pytest.approx([1, 1, 2], rel=CLOSE)  # T = 16 for S_D of 32 at least


@published("ma.fit6.10")
def test_the_printed_line_is_no_proportion(item):
    def line(x):
        return APSP_FITTED.evaluate(a1=item["a1"], a0=item["a0"], B_r=x**2, T=1).total

    knee = line(item["knee_x"])
    assert knee == pytest.approx(item["knee_s"], abs=0.05)  # 69.2 s, to a tenth
    assert item["a0"] / knee == pytest.approx(item["intercept_over_knee"], abs=0.005)
    # Eq (6.9) doubles as x doubles; the line does not come near it
    assert line(2 * item["knee_x"]) / knee < 1.25


@published("ma.anomaly")
def test_the_printed_prediction_of_the_anomaly_does_not_follow_and_the_anomaly_does(item):
    fitted = {letter: ITEMS["ma.fit6.10"][letter] for letter in ("a1", "a0")}
    result = float(APSP_FITTED.evaluate(**fitted, B_r=item["B_r"], T=item["T"]).total)
    assert result == pytest.approx(item["predicted_s"], abs=0.05)  # to a tenth; 115.148
    assert abs(result - item["predicted_s_printed"]) > 10
    found = departures([item["measured_s"], item["measured_s_forced"]], result, 2)
    assert found.departs.tolist() == [True, False]
    assert found.ratio == pytest.approx(np.array([3.51, 0.938]), abs=5e-3)
    # The scheduling factor, the only place of B_a at equal T, can't be the cause
    assert scheduling_factor(item["B_r"], item["B_a"], 480, 32) < 1.001


@published("ma.anomaly")
def test_the_anomalys_launch_follows_from_its_sub_blocks(item):
    assert requested_blocks(item["n"], item["S_D"]) == item["B_r"]
    assert 48 * 1024 // shared_memory(item["S_D"], 4) == item["B_a"]
    # T counts the threads of all active blocks: one warp to a block
    assert item["T"] * 32 / item["B_a"] == 32


@published("tmm.fig4.6")
def test_shared_memory_decides_where_the_curves_stop(item):
    for size, kilobytes in zip(item["S_D"], item["Z_kb"], strict=True):
        assert shared_memory(size, item["word_bytes"]) == kilobytes * 1024
    one_block = [item["threads_of_one_block"] / cores for cores in (32, 192)]
    assert one_block == pytest.approx(item["stops_at_T"], abs=0.05)  # 1.3 to a tenth


@published("ma.hw_680")
def test_a_gtx_680_holds_too_few_threads_to_hide_the_latency(item):
    machine = Machine.from_dict(
        {
            "name": "GTX 680",
            "cores": {
                "groups": item["groups"], "cores_per_group": item["cores_per_group"], "warp_width": 32,
                "max_threads_per_core": item["T_maxMP"] / item["cores_per_group"],
            },
            "memory": {"latency": 512, "chunk_words": 32},
            "resources": {"shared_memory": item["Z_kb"] * 1024, "threads_per_block": 1024},
        }
    )  # fmt: skip
    threads = np.arange(32, 1025, 32)
    for size in (16, 32, 64):
        held = occupancies(machine, threads, 0, shared_memory(size, 4)).active_blocks
        most = (held * threads / item["cores_per_group"]).max()
        assert most <= item["T_maxMP"] / item["cores_per_group"]
        # with a GTX 480's latency, as no other is printed
        assert most < threads_that_hide_latency(512, size, 1)


def test_sub_blocks_that_do_not_divide_the_matrix_are_rounded_up():
    assert requested_blocks(100, 32) == 16


@pytest.mark.parametrize(("letter", "value"), [("n", 0), ("n", 2.5), ("B_r", 0)])
def test_a_value_outside_the_domain_is_refused_by_name(letter, value):
    values = {"n": 64, "L": 512, "C": 1, "T": 4, "B_r": 20, "B_a": 1, **GTX480, letter: value}
    with pytest.raises(ModelError, match=rf"^integrated-apsp: {letter} = {value}: must be whole and at least 1 \("):
        APSP.evaluate(**values)
