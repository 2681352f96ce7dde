"""Operations in another order, or fewer of them, by hand; and that what waits waits for the same accesses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Workload, load_machine, simulate
from simtmm.analysis.source_changes import regrouped
from simtmm.analysis.source_changes.operations import Operations
from simtmm.testing import workloads
from simtmm.workload import ASYNC, LOAD, SHARED
from tests.analysis.source_changes.test_changes import are, of, warps
from tests.examples import examples


def test_four_requests_in_a_row_become_one_that_lists_what_all_list():
    walk = [
        ["async", [0]],
        ["compute", 1],
        ["async", [0, 1]],
        ["async", [7]],
        ["async", [1]],
        ["async", [9]],
        ["join", 0],
    ]
    operations = of([walk])
    changed = regrouped.vectorized(operations, are(operations, ASYNC), 4)
    assert warps(changed) == [[["async", [0, 1, 7], 4], ["compute", 1], ["async", [9]], ["join", 0]]]


def test_of_a_chunk_that_warps_share_one_lists_it_where_each_accesses_four_times_as_much():
    """Four warps store a byte a thread to the same chunks; as words each stores to a chunk of its own."""
    operations = of([[["store", [chunk]] for chunk in range(4)]] * 4)
    everywhere = np.ones(16, bool)
    assert [operation[1] for (operation,) in warps(regrouped.vectorized(operations, everywhere, 4))] == [
        [0, 1, 2, 3]
    ] * 4
    shared = warps(regrouped.vectorized(operations, everywhere, 4, operations.block))
    assert [operation[1] for (operation,) in shared] == [[0], [1], [2], [3]]


def test_what_stays_in_registers_is_neither_loaded_nor_waited_for():
    walk = [["compute", 1], ["pause", 3], ["async", [0]], ["pause", 2], ["join", 0], ["compute", 2], ["pause", 5]]
    operations = of([walk])
    changed = regrouped.left_out(operations, are(operations, ASYNC))
    assert warps(changed) == [[["compute", 1], ["join", 0], ["compute", 2], ["pause", 5]]]


def test_of_long_computes_a_part_is_done_and_of_others_so_many():
    walk = [["compute", 100], *[["load", [0]], ["shared", 2]] * 4, ["compute", 1]]
    operations = of([walk, walk])
    changed = warps(regrouped.with_part(operations, np.ones(20, bool), 0.25))
    assert changed == [[["compute", 25], ["load", [0]], ["shared", 2], ["compute", 1]]] * 2
    assert warps(regrouped.with_part(operations, np.ones(20, bool), 1.0)) == warps(operations.workload)


def test_updates_of_shared_memory_take_one_pass_and_one_round_and_what_is_added_is_loaded_as_often():
    walk = [["load", [0]], *[["shared", 1], ["shared", 32]] * 4]
    operations = of([walk])
    assert warps(regrouped.updated_once(operations, np.ones(9, bool), 4)) == [
        [["load", [0]], ["shared", 1], ["shared", 1]]
    ]
    once = [["load", [0]], *[["shared", 1]] * 8]
    assert warps(regrouped.updated_once(operations, np.ones(9, bool), 1)) == [once]


def test_a_wait_for_the_second_of_two_that_are_one_now_is_a_wait_for_that_one():
    operations = of([[["async", [0]], ["async", [1]], ["async", [5]], ["join", 1], ["compute", 1], ["join", 0]]])
    chosen = are(operations, ASYNC)
    chosen[2] = False
    changed = regrouped.vectorized(operations, chosen, 2)
    assert warps(changed) == [[["async", [0, 1], 2], ["async", [5]], ["join", 1], ["compute", 1], ["join", 0]]]


def test_a_load_of_the_next_round_is_issued_behind_the_wait_for_this_ones():
    loop = [
        ["async", [0]],
        ["join", 0],
        ["compute", 9],
        ["async", [1]],
        ["join", 0],
        ["compute", 9],
        ["async", [2]],
        ["join", 0],
    ]
    operations = of([loop])
    changed = regrouped.loaded_ahead(operations, are(operations, ASYNC))
    assert warps(changed) == [
        [
            ["async", [0]],
            ["join", 0],
            ["async", [1]],
            ["compute", 9],
            ["join", 0],
            ["async", [2]],
            ["compute", 9],
            ["join", 0],
        ]
    ]


def test_a_load_whose_address_may_have_been_loaded_stays():
    """An index is loaded and waited for, and then what it points to."""
    gather = [
        ["async", [0]],
        ["join", 0],
        ["async", [10]],
        ["join", 0],
        ["async", [1]],
        ["join", 0],
        ["async", [11]],
        ["join", 0],
    ]
    operations = of([gather])
    chosen = are(operations, ASYNC) & np.array([False, False, True, False] * 2)
    assert warps(regrouped.loaded_ahead(operations, chosen)) == [gather]


def test_loading_ahead_hides_the_latency():
    loop = [op for number in range(8) for op in (["async", [number * 7]], ["join", 0], ["compute", 600])]
    machine = load_machine("gtx480")
    operations = of([loop])
    ahead = regrouped.loaded_ahead(operations, are(operations, ASYNC))
    before, after = (simulate(machine, each).cycles for each in (operations.workload, ahead))
    first = simulate(machine, of([loop[:3]]).workload).cycles  # a load and its round
    assert before > 7.5 * first
    rounds = simulate(machine, of([[["compute", 600]] * 8]).workload).cycles
    assert after < 1.05 * (rounds + first)  # all latencies but the first are hidden
    assert rounds + first < 0.7 * before


def test_an_operand_in_registers_is_no_access():
    operations = of([[["async", [0]], ["async", [5]], ["join", 1], ["compute", 2], ["join", 0]]])
    chosen = np.array([True, False, False, False, False])
    changed = regrouped.in_registers(operations, chosen)
    assert warps(changed) == [[["compute", 1], ["async", [5]], ["join", 1], ["compute", 2], ["join", 0]]]


def test_half_of_the_warps_do_what_half_of_the_lanes_of_all_did():
    warp = [["compute", 3], ["barrier"], ["shared", 1], ["compute", 5], ["barrier"], ["compute", 2]]
    operations = of([warp] * 4)
    chosen = are(operations, SHARED)
    busy, idle = warp, [["compute", 3], ["barrier"], ["barrier"], ["compute", 2]]
    assert warps(regrouped.compacted(operations, chosen, 0.5)) == [busy, busy, idle, idle]


def test_a_block_does_the_beginnings_of_several_and_one_end():
    def block(number):
        return [[["load", [number, warp]], ["barrier"], ["shared", 1], ["store", [100 + number]]] for warp in (0, 1)]

    changed = regrouped.coarsened(of(*map(block, range(5))), 2)
    assert changed.launch_blocks.tolist() == [0, 3]
    assert warps(changed) == [
        *([["load", [0, w]], ["load", [1, w]], ["barrier"], ["shared", 1], ["store", [100]]] for w in (0, 1)),
        *([["load", [2, w]], ["load", [3, w]], ["barrier"], ["shared", 1], ["store", [102]]] for w in (0, 1)),
        *([["load", [4, w]], ["barrier"], ["shared", 1], ["store", [104]]] for w in (0, 1)),
    ]


def test_a_warp_that_works_alone_goes_on_without_barriers_and_the_others_have_nothing_to_do():
    first = [["shared", 1], ["barrier"], ["shared", 1], ["barrier"], ["shared", 1], ["barrier"], ["compute", 1]]
    other = [["shared", 1], ["barrier"], ["compute", 4], ["barrier"], ["compute", 4], ["barrier"], ["compute", 1]]
    operations = of([first, other])
    assert regrouped.lonely_barriers(operations).tolist() == [False, False, False, True, False, True, False] * 2
    left = [["shared", 1], ["barrier"], ["shared", 1], ["shared", 1], ["compute", 1]]
    assert warps(regrouped.left_alone(operations)) == [
        left,
        [["shared", 1], ["barrier"], ["compute", 1]],
    ]


def test_a_barrier_behind_which_nobody_accesses_memory_orders_nothing():
    """The second one of three: the third orders what comes before and behind it."""
    first = [["shared", 1], ["barrier"], ["shared", 1], ["barrier"], ["compute", 1], ["barrier"], ["shared", 1]]
    other = [["compute", 1], ["barrier"], ["compute", 2], ["barrier"], ["compute", 3], ["barrier"], ["compute", 1]]
    operations = of([first, other])
    assert np.flatnonzero(regrouped.idle_barriers(operations)).tolist() == [3, 10]
    changed = warps(regrouped.without_idle_barriers(operations))
    assert changed[0] == [["shared", 1], ["barrier"], ["shared", 1], ["compute", 1], ["barrier"], ["shared", 1]]
    assert changed[1].count(["barrier"]) == 2
    last = of([[["shared", 1], ["barrier"], ["compute", 1]]] * 2)
    assert np.flatnonzero(regrouped.idle_barriers(last)).tolist() == [1, 4]


@pytest.mark.parametrize(
    "access",
    [["product", 4, 2], ["mbarrier", "init", 0, 1], ["copy", [0]], ["store_group"], ["remote", 1]],
    ids=lambda each: each[0],
)
def test_a_barrier_before_what_reads_or_fills_shared_memory_beside_the_warps_orders_it(access):
    work = [["shared", 1], ["barrier"], access, ["barrier"], ["compute", 1], ["barrier"], ["shared", 1]]
    operations = of([work, work])
    assert np.flatnonzero(regrouped.idle_barriers(operations)).tolist() == [3, 10]
    assert not regrouped.lonely_barriers(operations)[[1, 8]].any()


def test_barriers_of_a_cluster_order_what_other_blocks_do():
    block = [[["shared", 1], ["barrier"], ["compute", 1]], [["compute", 1], ["barrier"], ["compute", 1]]]
    alone = of(block, block)
    assert np.flatnonzero(regrouped.idle_barriers(alone)).tolist() == [1, 4, 7, 10]
    assert np.flatnonzero(regrouped.lonely_barriers(alone)).tolist() == [1, 4, 7, 10]
    together = Operations(alone.workload.with_clusters(np.array([2])))
    assert not regrouped.idle_barriers(together).any()
    assert not regrouped.lonely_barriers(together).any()


def test_rows_of_a_matrix_that_a_thread_walks_down_are_not_adjacent():
    along, near, far = (of([[["load", [int(step * k)]] for k in range(8)]]) for step in (0.125, 1, 100))
    assert regrouped.are_adjacent(along, are(along, LOAD), 4)
    for down in (near, far):  # near: of a matrix whose rows are a chunk each
        assert not regrouped.are_adjacent(down, are(down, LOAD), 4)


@given(workload=workloads(), seed=st.integers(0, 1000), times=st.integers(1, 4))
@examples(100)
def test_a_regrouped_workload_is_one_and_loses_no_chunk(workload, seed, times):
    operations = Operations(workload)
    chosen = np.random.default_rng(seed).random(workload.operations) < 0.5
    lists = operations.listed > 0
    for kind in np.unique(workload.kind[lists]):
        changed = regrouped.vectorized(operations, chosen & (workload.kind == kind), times)
        assert Workload.from_dict(changed.to_dict()) == Workload.from_dict(changed.to_dict())
        found = Operations(changed)
        for warp in range(workload.warps):
            assert set(changed.chunks[found.warp[found.of_chunk] == warp].tolist()) == set(
                workload.chunks[operations.warp[operations.of_chunk] == warp].tolist()
            )
    ahead = regrouped.loaded_ahead(operations, chosen)
    assert sorted(ahead.chunks.tolist()) == sorted(workload.chunks.tolist())
    assert sorted(ahead.kind.tolist()) == sorted(workload.kind.tolist())
    machine = load_machine("gtx480")
    for changed in (ahead, regrouped.left_alone(operations), regrouped.compacted(operations, chosen, 0.5)):
        assert np.diff(changed.warp_operations).sum() == changed.operations
        Workload.from_dict(changed.to_dict())
        assert simulate(machine, changed).cycles >= 0


@pytest.mark.parametrize("times", [1, 3])
@given(workload=workloads())
@examples(60)
def test_coarsened_blocks_load_what_all_loaded_before_their_barriers(workload, times):
    if len(np.unique(np.diff(workload.block_warps))) != 1:
        return
    operations = Operations(workload)
    changed = regrouped.coarsened(operations, times)
    before = ~regrouped.behind_first_barrier(operations)
    chunks = workload.chunks[before[operations.of_chunk]]
    assert np.all(np.isin(chunks, changed.chunks))
    if times == 1:
        assert changed.to_dict() == workload.to_dict()
