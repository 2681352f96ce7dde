"""Advice on launch configurations: the least of Eq (6.2) over those that fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtmm import load_machine
from simtmm.errors import MachineError, ModelError
from simtmm.model.applications.integrated_apsp import memory_operations, work
from simtmm.model.integrated import INTEGRATED, INTEGRATED_SUM
from simtmm.model.launch.occupancy import occupancy
from simtmm.model.launch.ranked_configurations import ranked_apsp_configurations, ranked_configurations
from simtmm.trace.schema import TraceLaunch

GTX480 = load_machine("gtx480")
FORMULAS = {"max": INTEGRATED.formula, "sum": INTEGRATED_SUM.formula}


def slowly(machine, configurations, combine):
    """Each configuration on its own, through the occupancy of a launch."""
    found = []
    for work_, memory, blocks, threads, registers, local in configurations:
        try:
            active = occupancy(machine, TraceLaunch("k", (1, 1, 1), (threads, 1, 1), registers, local)).active_blocks
        except MachineError:
            continue
        values = {"T1": work_, "M": memory, "L": 512, "T": active * threads / 32}
        total = FORMULAS[combine].evaluate(**values, B_r=blocks, B_a=active, P=480, Q=32).total
        found.append((float(total), threads, blocks))
    return sorted(found)


configurations = st.lists(
    st.tuples(
        st.integers(1, 10**9), st.integers(0, 10**9), st.integers(1, 500), st.integers(1, 1100), st.integers(0, 64),
        st.integers(0, 60000),
    ),
    min_size=1, max_size=12,
)  # fmt: skip


@settings(max_examples=50)
@given(configurations, st.sampled_from(["max", "sum"]))
def test_the_order_is_that_of_each_configuration_on_its_own(drawn, combine):
    columns = dict(zip(("T1", "M", "B_r", "T_r", "R_T", "Z_B"), np.array(drawn).T, strict=True))
    expected = slowly(GTX480, drawn, combine)
    if not expected:
        with pytest.raises(ModelError, match=rf"^configurations: machine .*: none of {len(drawn)} configurations fits"):
            ranked_configurations(GTX480, **columns, combine=combine)
        return
    ranked = ranked_configurations(GTX480, **columns, combine=combine)
    found = ranked.feasible
    assert list(zip(found.cycles, found.threads_per_block, found.blocks, strict=True)) == expected
    assert len(ranked.feasible) + len(ranked.refused) == len(drawn)


def test_each_refused_configuration_has_its_resource():
    ranked = ranked_configurations(
        GTX480, T1=1, M=0, B_r=15, T_r=[1056, 1024, 64, 64, 64], R_T=[1, 33, 20, 20, 20], Z_B=[0, 0, 49153, 0, 0],
        most_threads=[9999, 9999, 9999, 63, 64], S_D=[1, 2, 3, 4, 5],
    )  # fmt: skip
    assert ranked.refused.resource.tolist() == ["threads per block", "registers", "shared memory", "work"]
    assert ranked.refused.size.tolist() == [1, 2, 3, 4]
    assert ranked.feasible.size.tolist() == [5]


def test_the_best_of_a_grid_by_hand():
    # One block a group at T_r = 1024; in whole waves 15 blocks are best
    ranked = ranked_configurations(
        GTX480, T1=48000, M=0, B_r=np.array([14, 15, 16])[:, None], T_r=np.array([1024])[None, :], R_T=20
    )
    best = ranked.best
    assert (best["blocks"], best["threads_per_block"], best["active_blocks"]) == (15, 1024, 1)
    assert (best["f_sched"], best["cycles"], best["bound"]) == (1, 100, "compute")
    assert ranked.feasible.blocks.tolist() == [15, 14, 16]


def test_fewer_active_blocks_may_be_forced():
    same = {"T1": 48000, "M": 0, "B_r": 15, "T_r": 192, "R_T": 10}
    ranked = ranked_configurations(GTX480, **same, active_blocks=[np.inf, 4, 1])
    assert ranked.feasible.active_blocks.tolist() == [1, 4, 8]
    assert ranked.feasible.f_sched.tolist() == [1, 4, 8]
    with pytest.raises(ModelError, match=r"^configurations: B_a = 0: must be whole and at least 1"):
        ranked_configurations(GTX480, **same, active_blocks=0)


def test_the_maximum_and_the_sum_may_advise_differently():
    program = {"T1": [48000, 47000], "M": [0, 9000], "B_r": 15, "T_r": 1024, "S_D": [1, 2]}
    # 100 and 97.9 cycles of computing, 0 and 300 of memory
    assert ranked_configurations(GTX480, **program).best["size"] == 1
    hidden = program | {"M": [0, 1500]}  # 50 cycles of memory, hidden behind computing or not
    assert ranked_configurations(GTX480, **hidden).best["size"] == 2
    assert ranked_configurations(GTX480, **hidden, combine="sum").best["size"] == 1


def test_shortest_paths_are_advised_the_sizes_and_threads_that_hide_the_latency():
    result = ranked_apsp_configurations(GTX480, 8192, [8, 16, 32, 64, 128], range(32, 1025, 32), 20, C=1)
    found = result.feasible
    assert set(result.refused.resource) == {"shared memory", "work"}  # 3 * 128^2 words do not fit
    assert set(result.refused.size[result.refused.resource == "shared memory"]) == {128}
    hidden = found.threads_per_core * found.size >= 512  # Fig 6.3
    assert set(found.bound[hidden]) == {"compute"}
    assert set(found.bound[~hidden]) == {"memory"}
    assert found.threads_per_core[0] * found.size[0] >= 512
    best = result.best
    unscheduled = max(
        work(8192) / 480, memory_operations(8192, best["size"], 1) * 512 / (best["threads_per_core"] * 480)
    )
    assert best["cycles"] == pytest.approx(unscheduled * best["f_sched"], rel=1e-14)  # a handful of roundings


def test_shortest_paths_take_the_machines_chunk_if_not_told():
    as_printed = ranked_apsp_configurations(GTX480, 1024, [16], [64]).best
    assert as_printed == ranked_apsp_configurations(GTX480, 1024, [16], [64], C=32).best


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"B_r": 0}, "B_r = 0: must be whole and at least 1"),
        ({"T_r": 0}, "T_r = 0: must be whole and at least 1"),
        ({"combine": "mean"}, "combine = 'mean': must be 'max' or 'sum'"),
    ],
)
def test_values_outside_the_domain_are_refused(changes, words):
    with pytest.raises(ModelError, match=rf"^configurations: {words}"):
        ranked_configurations(GTX480, **{"T1": 1, "M": 1, "B_r": 1, "T_r": 32} | changes)


def test_values_of_a_term_outside_the_domain_are_refused():
    with pytest.raises(ModelError, match=r"^integrated: T1 = -1: must be at least 0"):
        ranked_configurations(GTX480, T1=-1, M=1, B_r=1, T_r=32)
