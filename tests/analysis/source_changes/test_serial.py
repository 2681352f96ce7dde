"""Work of one thread, constants, quotients and many blocks: what becomes of operations, by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.analysis.source_changes import changes, regrouped, serial
from simtmm.analysis.source_changes.cooperation import _stores_of_several_warps
from simtmm.analysis.source_changes.loads import passes_of_any
from simtmm.analysis.source_changes.operations import Operations
from simtmm.analysis.source_changes.serial import shared_by_threads
from simtmm.workload import COMPUTE, OF_CLASS, SHARED
from tests.analysis.source_changes.test_changes import of, warps


def placed(operations, places):
    """Operations with places, by number."""
    return Operations(replace(operations.workload, place=np.array(places, np.int32)))


def test_a_loop_of_one_thread_is_shared_by_its_block_wherever_its_copies_stand():
    """Eight rounds, two of which a compiler wrote one behind the other; a block of four threads does two each."""
    rounds = [["compute", 2, "integer"], ["load", [1]], ["compute", 2, "integer"], ["load", [2]]] * 4
    operations = placed(of([[*rounds, ["compute", 9]], [["compute", 1]]]), [0, 0, 1, 1] * 4 + [2, 2])
    chosen = np.isin(operations.workload.place, [0, 1])
    changed = shared_by_threads(operations, chosen, 4, np.array([0, 0, 2]))
    first, second = warps(changed)
    assert [each for each in first if each[0] == "load"] == [["load", [1, 2]]] * 2  # of four rounds side by side
    assert first.count(["compute", 2, "integer"]) == 2
    assert first[-1] == ["compute", 9]
    assert second == [["compute", 1]]


def test_constants_of_several_words_are_reads_of_shared_memory_with_the_passes_of_as_many_words():
    operations = of([[["compute", 3], ["compute", 1], ["compute", 5, "integer"], ["compute", 7]]])
    chosen = np.array([True, True, True, False])
    passes = np.array([1, 1, 1, 2])
    changed = regrouped.from_constants(operations, chosen, passes)
    assert warps(changed) == [[["shared", 2], ["shared", 1], ["compute", 5, "integer"], ["compute", 7]]]


@pytest.mark.parametrize(("words", "banks", "passes"), [(1, 32, 1), (2, 32, 1), (32, 32, 4), (3, 1, 3), (32, 1, 32)])
def test_words_in_any_banks_take_as_many_passes_as_most_draws_of_them(words, banks, passes):
    assert passes_of_any(words, banks) == passes
    draws = np.random.default_rng(1).integers(0, banks, (2000, words))
    most = np.array([np.bincount(draw, minlength=banks).max() for draw in draws])
    assert abs(float(np.median(most)) - passes) <= 1


def test_a_quotient_without_its_digits_takes_a_reciprocal_and_a_product():
    operations = of([[["compute", 2, "special"], ["compute", 5, "fp32"], ["compute", 1, "fp32"], ["compute", 1]]])
    changed = changes.in_fast_divisions(operations, np.ones(4, bool))
    assert warps(changed) == [[["compute", 1, "special"], ["compute", 2, "fp32"], ["compute", 1, "fp32"]]]


def test_what_is_computed_beside_accesses_is_left_as_it_is():
    operations = of([[["compute", 6, "integer"], ["shared", 4], ["compute", 6, "integer"], ["load", [1, 2]]]])
    every = np.ones(4, bool)
    assert warps(changes.without_conflicts(operations, every))[0][:2] == [["compute", 6, "integer"], ["shared", 1]]
    assert warps(changes.in_shared_memory(operations, every))[0] == [
        ["compute", 6, "integer"], ["shared", 4], ["compute", 6, "integer"], ["shared", 1]
    ]  # fmt: skip
    assert warps(regrouped.in_registers(operations, every))[0][0] == ["compute", 6, "integer"]


def test_without_barriers_each_warp_does_its_part_of_what_branches_do():
    branches = [["compute", 8, "fp32"], ["compute", 8, "fp32"], ["compute", 4]]
    operations = of([branches, branches])
    chosen = operations.workload.kind == OF_CLASS
    assert (
        warps(regrouped.compacted(operations, chosen, 0.5))
        == [[["compute", 4, "fp32"], ["compute", 4, "fp32"], ["compute", 4]]] * 2
    )


def test_blocks_without_barriers_become_one_that_does_their_work_one_after_another():
    one = [[["load", [1]], ["compute", 2]], [["load", [2]]]]
    other = [[["load", [3]], ["compute", 2]], [["load", [4]]]]
    changed = regrouped.coarsened(of(one, other), 2)
    assert changed.blocks == 1
    assert warps(changed) == [
        [["load", [1]], ["compute", 2], ["load", [3]], ["compute", 2]], [["load", [2]], ["load", [4]]]
    ]  # fmt: skip
    assert (changed.kind == COMPUTE).sum() == 2
    assert not (changed.kind == SHARED).any()


@pytest.mark.parametrize(
    ("stored", "have_own"),
    [
        ([([1], [2]), ([3], [4])], True),
        ([([1], []), ([2], [])], False),  # a block's one result
        ([([1], [2]), ([1], [2])], False),  # of all blocks together
        ([([1, 2], [2]), ([1], [3])], True),  # together, and a result of a warp beside one of another
        ([([], []), ([], [])], False),
    ],
)
def test_blocks_of_which_several_warps_store_alone_have_results_of_threads(stored, have_own):
    blocks = [[[["load", [9]], *(["store", [chunk]] for chunk in warp)] for warp in block] for block in stored]
    assert _stores_of_several_warps(of(*blocks)) is have_own


def test_places_of_one_warp_are_counted_as_pairs_of_place_and_warp_are():
    rng = np.random.default_rng(3)
    for _ in range(300):
        warp = np.sort(rng.integers(0, 8, rng.integers(0, 60)))
        place, block = rng.integers(0, 5, len(warp)).astype(np.int32), warp // rng.integers(1, 5)
        asked = rng.random(5) < 0.7
        pairs = [{*zip(place.tolist(), number.tolist(), strict=True)} for number in (warp, block)]
        warps, blocks = (np.bincount([at for at, _ in found], minlength=5) for found in pairs)
        of_warps = SimpleNamespace(workload=SimpleNamespace(place=place), warp=warp, block=block)
        alone = serial._are_of_one_warp(of_warps, asked)
        assert alone.tolist() == (asked & (warps > 0) & (warps == blocks)).tolist()
