"""What becomes of operations where a source changes, by hand; and that an unchanged place stays as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Workload
from simtmm.analysis.source_changes import changes
from simtmm.analysis.source_changes.operations import Operations, firsts, packed
from simtmm.testing import workloads
from simtmm.workload import ATOMIC, COMPUTE, LOAD, OF_CLASS, REDUCE, SHARED, STORE
from tests.examples import examples


def of(*blocks):
    """A workload of blocks, each of which is a list of warps."""
    return Operations(Workload.from_dict({"blocks": [{"warps": list(warps)} for warps in blocks]}))


def warps(workload):
    """Each warp's operations, as in JSON."""
    return [[list(operation) for operation in workload.warp(number)] for number in range(workload.warps)]


def are(operations, kind):
    return operations.workload.kind == kind


def test_a_warp_that_comes_to_the_elements_of_lines_one_after_another_takes_the_lines_in_turn():
    """Four threads walk along rows of their own, of four elements a line; side by side they would share a line.

    The last request is for other lines, of which one is left: lines that are left lie side by side.
    """
    walk = [["load", [0, 10, 20, 30]], ["compute", 1], ["load", [0, 10, 20, 30]], ["load", [0, 10, 20, 30]],
            ["load", [0, 10, 20, 30]], ["load", [1, 11, 21, 31]]]  # fmt: skip
    operations = of([walk])
    changed = changes.coalesced(operations, are(operations, LOAD), ideal=1, rows=1, window=4, passes=1)
    assert warps(changed) == [
        [["load", [0]], ["compute", 1], ["load", [2]], ["load", [3]], ["load", [4]], ["load", [1]]]
    ]


def test_elements_that_nobody_else_asks_for_are_left_out():
    """A stride as long as a line: of each line one element is used."""
    operations = of([[["load", [0, 1, 2, 3]], ["load", [4, 5, 6, 7]]]])
    changed = changes.coalesced(operations, are(operations, LOAD), ideal=1, rows=1, window=4, passes=1)
    assert warps(changed) == [[["load", [0]], ["load", [1]]]]


def test_the_warps_of_a_block_share_lines_that_all_of_them_come_to():
    """As the rows of a transposed tile do: each line is still stored, by one of them."""
    turned = [["store", [0, 10, 20, 30]]]
    operations = of([turned, turned], [turned])
    changed = changes.coalesced(operations, are(operations, STORE), ideal=2, rows=1, window=1, passes=1)
    assert warps(changed) == [[["store", [0, 10]]], [["store", [20, 30]]], [["store", [0, 10]]]]


def test_lines_that_are_left_lie_side_by_side_unless_something_else_is_in_them():
    strided = [["load", [4, 8, 12, 16]], ["load", [24, 28, 32, 36]]]
    operations = of([strided])
    changed = changes.coalesced(operations, are(operations, LOAD), ideal=1, rows=1, window=1, passes=1)
    assert warps(changed) == [[["load", [4]], ["load", [5]]]]
    operations = of([[*strided, ["store", [36]]]])
    changed = changes.coalesced(operations, are(operations, LOAD), ideal=1, rows=1, window=1, passes=1)
    assert warps(changed) == [[["load", [4]], ["load", [24]], ["store", [36]]]]


def test_another_field_of_the_same_structures_is_in_the_next_line():
    operations = of([[["load", [0, 1, 2, 3]]]])
    changed = changes.coalesced(operations, are(operations, LOAD), ideal=1, rows=1, window=4, passes=1, earlier=2)
    assert warps(changed) == [[["load", [2]]]]
    changed = changes.coalesced(operations, are(operations, LOAD), ideal=1, rows=1, window=4, passes=1, earlier=5)
    assert warps(changed) == [[["load", [1]]]]  # of four lines that there are


def test_a_block_loads_and_stores_its_own_data_once_and_works_on_them_in_shared_memory():
    rounds = [["load", [1]], ["store", [1]], ["load", [1]], ["store", [1]], ["load", [9]]]
    operations = of([rounds, [["load", [1]]]], [[["load", [1]]]])
    changed = changes.owned_by_blocks(operations, operations.listed > 0)
    assert warps(changed) == [
        [["load", [1]], ["store", [1]], ["shared", 1], ["shared", 1], ["load", [9]]],
        [["shared", 1]],
        [["load", [1]]],
    ]


@pytest.mark.parametrize(
    ("requests", "lines", "ideal", "listed"),
    [(4, 6, 2, [1, 2, 1, 2]), (4, 5, 2, [1, 1, 1, 2]), (3, 7, 3, [2, 2, 3]), (3, 3, 2, [1, 1, 1]), (2, 9, 2, [2, 2])],
)
def test_lines_are_dealt_to_requests_as_evenly_as_they_can_be_and_none_twice(requests, lines, ideal, listed):
    operations = of([[["load", list(range(lines))]] * requests])
    changed = changes.coalesced(operations, are(operations, LOAD), ideal=ideal, rows=1, window=requests, passes=1)
    (warp,) = warps(changed)
    assert [len(operation[1]) for operation in warp] == listed
    assert [line for operation in warp for line in operation[1]] == list(range(sum(listed)))


def test_a_warp_in_two_rows_of_a_block_is_in_two_lines_at_least():
    operations = of([[["load", [0, 10, 20, 30]]] * 4])
    changed = changes.coalesced(operations, are(operations, LOAD), ideal=2, rows=2, window=4, passes=2)
    assert warps(changed) == [
        [["load", [0, 10], 2], ["load", [10, 20], 2], ["load", [20, 30], 2], ["load", [30, 0], 2]]
    ]


def test_other_warps_and_other_places_stay_as_they_are():
    operations = of([[["load", [0, 1]], ["store", [8, 9]]], [["load", [0, 1]]]])
    chosen = are(operations, LOAD) & (operations.warp == 0)
    changed = changes.coalesced(operations, chosen, ideal=1, rows=1, window=2, passes=1)
    assert warps(changed) == [[["load", [0]], ["store", [8, 9]]], [["load", [0, 1]]]]


def test_bank_conflicts_alone_are_taken_away():
    operations = of([[["shared", 32], ["shared", 6, 2], ["shared", 1], ["compute", 3]]])
    changed = changes.without_conflicts(operations, are(operations, SHARED))
    assert warps(changed) == [[["shared", 1], ["shared", 2, 2], ["shared", 1], ["compute", 3]]]


def test_a_warp_updates_a_word_once():
    operations = of([[["atomic", [5, 5, 7, 5]], ["load", [5, 5]]]])
    changed = changes.combined_in_warps(operations, are(operations, ATOMIC))
    assert warps(changed) == [[["atomic", [5, 7]], ["load", [5, 5]]]]


def test_a_block_updates_a_word_in_global_memory_once_and_else_its_own_copy():
    turns = [["atomic", [5, 5]], ["atomic", [5, 5, 5, 7]], ["atomic", [7, 5]]]
    operations = of([turns, [["atomic", [5]]]], [[["atomic", [5]]]])
    changed = changes.combined_in_blocks(operations, are(operations, ATOMIC))
    assert warps(changed) == [[["atomic", [5]], ["atomic", [7]], ["shared", 1]], [["shared", 1]], [["atomic", [5]]]]


def test_a_copy_in_shared_memory_has_the_conflicts_of_its_words():
    operations = of([[["atomic", [5]], ["atomic", [5, 5, 5]]]])
    assert warps(changes.combined_in_blocks(operations, are(operations, ATOMIC)))[0][1] == ["shared", 3]


def test_a_block_loads_a_line_once():
    operations = of([[["load", [0, 1]], ["load", [1, 2]]], [["load", [0, 2]]]], [[["load", [0]]]])
    changed = changes.shared_by_blocks(operations, are(operations, LOAD))
    assert warps(changed) == [[["load", [0, 1]], ["load", [2]]], [["shared", 1]], [["load", [0]]]]


def test_a_value_that_is_used_twice_is_read_half_as_often():
    read = ["shared", 2]
    operations = of([[read, ["compute", 1], read, read, read], [read]])
    changed = changes.kept_in_registers(operations, are(operations, SHARED), 2)
    assert warps(changed) == [[read, ["compute", 1], read], [read]]


def test_a_long_block_becomes_several_with_as_many_warps():
    short = [[["compute", 1]], [["load", [1]]]]
    long = [[["load", [2, 3]], ["compute", 2], ["load", [4]], ["compute", 3]], [["compute", 4], ["store", [5]]]]
    changed = changes.evened_out(of(short, long, short), {1: 2})
    assert changed.launch_blocks.tolist() == [0, 4]
    assert np.diff(changed.block_warps).tolist() == [2, 2, 2, 2]
    assert warps(changed) == [
        *short,
        [["load", [2, 3]], ["compute", 2]], [["compute", 4]],
        [["load", [4]], ["compute", 3]], [["store", [5]]],
        *short,
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20))
@examples(100)
def test_the_first_of_each_kind_is_found(pairs):
    keys = np.array(pairs, np.int64).reshape(-1, 2)
    found = firsts(keys[:, 0], keys[:, 1]).tolist()
    assert found == [pair not in pairs[:number] for number, pair in enumerate(pairs)]


@given(st.sampled_from([3, 2**40, 2**61]), st.data())
@examples(100)
def test_numbers_of_keys_are_in_their_order_however_large_keys_are(largest, data):
    key = st.integers(-largest, largest) | st.integers(0, 2)
    rows = data.draw(st.lists(st.tuples(key, key, key), max_size=20))
    numbers = packed(*np.array(rows, np.int64).reshape(-1, 3).T)
    assert sorted(range(len(rows)), key=lambda row: (numbers[row], row)) == sorted(
        range(len(rows)), key=lambda row: (rows[row], row)
    )
    assert len(set(numbers.tolist())) == len(set(rows))


@given(workload=workloads(), seed=st.integers(0, 1000))
@examples(100)
def test_a_changed_workload_is_one_and_what_was_not_chosen_is_as_it_was(workload, seed):
    operations = Operations(workload)
    chosen = np.random.default_rng(seed).random(workload.operations) < 0.5
    lists = operations.listed > 0
    updates = are(operations, ATOMIC) | are(operations, REDUCE)
    for change in (
        lambda: changes.coalesced(operations, chosen & lists, 2, 1, 3, 1),
        lambda: changes.combined_in_warps(operations, chosen & updates),
        lambda: changes.combined_in_blocks(operations, chosen & updates),
        lambda: changes.shared_by_blocks(operations, chosen & are(operations, LOAD)),
        lambda: changes.without_conflicts(operations, chosen & are(operations, SHARED)),
    ):
        changed = change()
        before, after = (Workload.from_dict(each.to_dict()).to_dict() for each in (workload, changed))
        assert Workload.from_dict(after) == Workload.from_dict(changed.to_dict())  # a whole workload, in JSON as well
        flat = [[one for warp in warps(Workload.from_dict(tables)) for one in warp] for tables in (before, after)]
        assert len(flat[0]) == len(flat[1]) == workload.operations
        assert [one for one, c in zip(flat[0], chosen, strict=True) if not c] == [
            one for one, c in zip(flat[1], chosen, strict=True) if not c
        ]


def all_of(workload):
    """How often each kind of operation is there; of what computes, for how many instructions in all."""
    computes = (workload.kind == COMPUTE) | (workload.kind >= OF_CLASS)
    weights = np.where(computes, workload.amount, 1)
    return np.bincount(workload.kind, weights, minlength=64).tolist()


def test_a_warp_with_fewer_operations_than_pieces_is_cut_within_its_computes():
    changed = changes.evened_out(of([[["compute", 7], ["load", [1]]]]), {0: 3})
    assert warps(changed) == [[["compute", 3]], [["compute", 2]], [["compute", 2], ["load", [1]]]]


@pytest.mark.parametrize("pieces", [1, 3])
@given(workload=workloads())
@examples(60)
def test_what_is_shared_out_is_all_there(pieces, workload):
    changed = changes.evened_out(Operations(workload), dict.fromkeys(range(workload.blocks), pieces))
    assert changed.blocks == pieces * workload.blocks
    assert all_of(changed) == all_of(workload)
    assert sorted(changed.chunks.tolist()) == sorted(workload.chunks.tolist())
    Workload.from_dict(changed.to_dict())
