"""Blocks of another size, by hand; and that which blocks are larger or smaller follows from what fits."""

import numpy as np
import pytest

from simtmm import Workload, load_machine
from simtmm.analysis.source_changes import blocks, changes
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.launch_shape import of_launch_shape
from simtmm.analysis.source_changes.operations import Operations
from simtmm.trace.schema import TraceLaunch
from simtmm.workload import SHARED
from tests.analysis.source_changes.test_changes import are, of, warps

MACHINE = load_machine("rtx-3080")  # 68 groups of 48 warps and 16 blocks


def block(number):
    return [[["load", [number]], ["compute", 1]]]


def test_blocks_in_a_row_become_one_and_the_last_is_what_is_left():
    changed = blocks.merged(of(*map(block, range(5))), 2, 1, 3)
    assert changed.launch_blocks.tolist() == [0, 3]
    assert np.diff(changed.block_warps).tolist() == [2, 2, 1]
    assert changed.launch_limits.tolist() == [3]
    assert warps(changed) == [warp for number in range(5) for warp in block(number)]


def test_halves_of_warps_become_whole_ones_that_list_what_both_list():
    changed = blocks.merged(of(*map(block, range(4))), 4, 2, 0)
    assert warps(changed) == [[["load", [0, 1]], ["compute", 1]], [["load", [2, 3]], ["compute", 1]]]
    assert np.diff(changed.block_warps).tolist() == [2]


def test_warps_that_do_something_else_stay_apart():
    other = [[["compute", 1], ["load", [9]]]]
    changed = blocks.merged(of(block(0), other), 2, 2, 0)
    assert warps(changed) == [*block(0), *other]
    assert np.diff(changed.block_warps).tolist() == [2]


def test_a_block_becomes_two_with_half_of_its_warps():
    warp = [["compute", 2], ["barrier"]]
    changed = blocks.split(of([warp] * 4, [warp] * 4), 2, 6)
    assert np.diff(changed.block_warps).tolist() == [2] * 4
    assert changed.launch_blocks.tolist() == [0, 4]
    assert changed.launch_limits.tolist() == [6]


def shaped(threads, count, registers=0, shared=0, warp=None):
    """Which changes are tried of a launch of so many blocks, and the words of each."""
    width = -(-threads // 32)
    one = warp or [["load", [1]], ["compute", 1]]
    workload = Workload.from_dict({"blocks": [{"warps": [one] * width}] * count})
    launch = TraceLaunch(
        "k", (count, 1, 1), (threads, 1, 1), registers_per_thread=registers, shared_memory_bytes=shared
    )
    return {each.change: each.words for each in of_launch_shape(MACHINE, Excerpt(MACHINE, workload, ""), launch)}


def test_few_blocks_are_to_become_more():
    assert shaped(256, 34) == {
        "spread": "share out the work among more blocks: 34 blocks for 68 core groups leave the others idle"
    }
    assert shaped(256, 35) == {}
    assert "1 block for 68 core groups leaves" in shaped(256, 1)["spread"]
    assert "spread" not in shaped(32, 1)  # one warp may be one chain


def test_small_blocks_are_to_become_larger():
    assert shaped(16, 100)["larger blocks"].endswith("instead of 16: 16 of 32 lanes of a warp have a thread")
    assert shaped(64, 100)["larger blocks"] == "launch blocks of 256 threads, say, instead of 64"
    assert "larger blocks" not in shaped(65, 100)
    assert "larger blocks" not in shaped(64, 100, warp=[["compute", 1], ["barrier"]])


def test_blocks_of_which_more_would_fit_are_to_become_smaller_or_to_take_less():
    assert shaped(1024, 100)["smaller blocks"] == (
        "launch blocks of 512 threads instead of 1024: 48 warps fit on a core group at a time then, 32 do now"
    )
    few = shaped(256, 100, registers=128)  # of 65,536: two blocks
    assert few["occupancy"].startswith("let a thread have fewer registers")
    assert few["occupancy"].endswith("all but 2 blocks of 8 warps out of a core group, which has room for 4 otherwise")
    assert shaped(256, 100, shared=50000)["occupancy"] == (
        "let a block have less shared memory: it keeps all but 2 blocks of 8 warps out of a core group, which has room "
        "for 6 otherwise"
    )
    assert shaped(256, 100, registers=32) == {}


@pytest.mark.parametrize("times", [2, 5])
def test_what_is_computed_is_done_with_fewer_instructions_and_what_is_accessed_is_left(times):
    operations = of([[["compute", 10, "integer"], ["compute", 3, "special"], ["load", [1]], ["compute", 7]]])
    changed = changes.with_fewer_instructions(operations, np.ones(4, bool), times)
    assert warps(changed) == [[["compute", -(-10 // times), "integer"], ["load", [1]], ["compute", -(-7 // times)]]]


def test_doubles_become_floats_whose_results_are_there_soon():
    operations = of([[["compute", 10, "fp64"], ["pause", 40], ["compute", 1, "special"], ["pause", 2], ["load", [1]]]])
    changed = changes.in_floats(operations, np.ones(5, bool))
    assert warps(changed) == [[["compute", 10, "fp32"], ["pause", 4], ["pause", 2], ["load", [1]]]]
    assert warps(changes.in_floats(operations, np.zeros(5, bool))) == warps(operations.workload)


def test_what_was_in_local_memory_is_shared_memorys():
    operations = of([[["load", [1, 2]], ["store", [3]], ["compute", 1]]])
    changed = changes.in_shared_memory(operations, np.array([False, True, False]))
    assert warps(changed) == [[["load", [1, 2]], ["shared", 1], ["compute", 1]]]
    assert are(Operations(changed), SHARED).tolist() == [False, True, False]
