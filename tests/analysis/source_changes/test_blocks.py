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
    assert shaped(256, 136, registers=32) == {}


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


def made_of(on, threads, count, change, shared=0, registers=0, warp=None):
    """What becomes of a launch of so many blocks by a change of its shape; its words as well."""
    one = warp or [["load", [1]], ["compute", 1]]
    workload = Workload.from_dict({"blocks": [{"warps": [one] * -(-threads // 32)}] * count})
    launch = TraceLaunch(
        "k", (count, 1, 1), (threads, 1, 1), registers_per_thread=registers, shared_memory_bytes=shared
    )
    (found,) = (each for each in of_launch_shape(on, Excerpt(on, workload, ""), launch) if each.change == change)
    changed = found.make(Operations(workload), np.zeros(0, bool))
    return found, changed, np.diff(changed.block_warps).tolist(), changed.launch_limits.tolist()


def test_few_blocks_become_as_many_as_give_each_core_group_one():
    found, changed, of_blocks, _ = made_of(MACHINE, 64, 30, "spread", warp=[["compute", 9], ["load", [1]]] * 3)
    assert (found.weight, found.how) == (2.0, "bound")
    assert (changed.blocks, set(of_blocks)) == (90, {2})  # three times 30 for 68


def test_one_warp_that_does_not_wait_is_shared_out_among_all_lanes_in_blocks_of_usual_size():
    loop = [["async", [1]], ["async", [2]], ["compute", 900], ["join", 0]]
    found, changed, of_blocks, limits = made_of(MACHINE, 16, 1, "spread", warp=loop)
    assert (found.weight, found.how) == (2.0, "estimate")
    assert "one warp does all of it, on one of 68 core groups" in found.words
    assert of_blocks == [8] * 17  # two for the lanes of a warp, times 68, in blocks of 256 threads
    assert limits == [6]  # 48 warps of 32 threads hold 6 blocks of 256
    assert sum(each[1] for warp in warps(changed) for each in warp if each[0] == "compute") == 900
    assert "one thread does all of it" in made_of(MACHINE, 1, 1, "spread", warp=loop)[0].words
    assert sum(made_of(MACHINE, 12, 1, "spread", warp=loop)[2]) == 2 * 68  # in 32 lanes 12 threads fit twice
    assert sum(made_of(MACHINE, 20, 1, "spread", warp=loop)[2]) == 68
    assert made_of(MACHINE.replace({"limits.blocks_per_group": 2}), 16, 1, "spread", warp=loop)[3] == [2]
    few = MACHINE.replace({"limits.warps_per_group": 7})
    assert made_of(few, 16, 1, "spread", warp=loop)[3] == [1]  # one at the least
    chain = {"blocks": [{"warps": [[["async", [1]], ["join", 0], ["async", [2]], ["join", 0]]]}]}
    part = Excerpt(MACHINE, Workload.from_dict(chain), "")
    assert list(of_launch_shape(MACHINE, part, None)) == []


@pytest.mark.parametrize("waits", [["give_registers", 8], ["mbarrier", "init", 0, 1]], ids=lambda each: each[0])
def test_blocks_whose_warps_wait_for_one_another_elsewhere_than_at_barriers_are_not_cut(waits):
    launch = TraceLaunch("k", (1, 1, 1), (64, 1, 1), 8, 0)

    def changes(*before):
        warp = [*before, ["compute", 900]]
        own = Workload.from_dict({"blocks": [{"warps": [warp, warp]}]})
        return list(of_launch_shape(MACHINE, Excerpt(MACHINE, own, ""), launch))

    assert changes()
    assert changes(waits) == []


@pytest.mark.parametrize(
    ("threads", "count", "of_blocks"),
    [(64, 9, [8, 8, 2]), (48, 12, [10, 10, 4]), (16, 33, [8, 8, 1]), (16, 32, [8, 8]), (20, 24, [12, 12])],
)
def test_small_blocks_become_one_of_256_threads_and_full_warps_where_they_do_the_same(threads, count, of_blocks):
    """16 at a time; of 16 threads two are a warp, which all of 33 are not."""
    expected = {(16, 33): [16, 16, 1]}.get((threads, count), of_blocks)
    found, _, got, limits = made_of(MACHINE, threads, count, "larger blocks")
    assert (found.weight, found.how) == (1.5, "simulated")
    assert got == expected
    size = 256 // threads * threads
    assert limits == [48 // -(-size // 32)]
    assert f"launch blocks of {size} threads, say, instead of {threads}" in found.words


def test_many_short_blocks_are_to_do_the_work_of_four_each():
    on = MACHINE.replace({"scheduling.block_launch": 100})
    found, changed, _, _ = made_of(on, 256, 2 * 4 * 68, "coarsen")
    assert (found.weight, found.how, changed.blocks) == (1.0, "estimate", 2 * 68)
    assert "than 544: each takes time to begin" in found.words
    for fewer in (MACHINE.replace({"scheduling.block_launch": 0, "scheduling.warp_launch": 0}), on):
        count = 543 if fewer is on else 544
        workload = Workload.from_dict({"blocks": [{"warps": [[["load", [1]]]] * 8}] * count})
        launch = TraceLaunch("k", (count, 1, 1), (256, 1, 1), 0, 0)
        changes_of = {each.change for each in of_launch_shape(fewer, Excerpt(fewer, workload, ""), launch)}
        takes = fewer.durations.block_interval * count + fewer.durations.block_launch + fewer.durations.warp_launch
        assert ("coarsen" in changes_of) is (count == 544 and takes > 0)


def test_smaller_blocks_spread_more_evenly():
    """Of 68 groups."""
    found, _, of_blocks, limits = made_of(MACHINE, 512, 137, "smaller blocks")
    assert (found.weight, found.how, of_blocks, limits) == (1.0, "simulated", [4] * 4 * 137, [12])
    assert found.words.startswith("launch blocks of 128 threads instead of 512: 137 blocks are 2.01 for each of 68 ")
    assert "so that some have 3 to do" in found.words
    assert made_of(MACHINE, 128, 137, "smaller blocks")[2] == [2] * 2 * 137  # of 64 threads, no fewer
    assert made_of(MACHINE, 512, 137, "smaller blocks", warp=[["load", [1]], ["barrier"]])[0].how == "bound"
    for threads, count in ((512, 136), (512, 175), (512, 67), (64, 137), (512, 68 * 6 + 1)):
        with pytest.raises(ValueError, match="not enough values"):
            made_of(MACHINE, threads, count, "smaller blocks")


def test_smaller_blocks_and_those_that_take_less_have_the_room_that_is_told():
    found, changed, of_blocks, limits = made_of(MACHINE, 1024, 100, "smaller blocks")
    assert (found.weight, found.how, of_blocks, limits) == (1.5, "simulated", [16] * 200, [3])
    found, _, _, _ = made_of(MACHINE, 1024, 100, "smaller blocks", warp=[["load", [1]], ["barrier"]])
    assert found.how == "bound"
    found, changed, of_blocks, limits = made_of(MACHINE, 256, 100, "occupancy", registers=128)
    assert (found.weight, found.how, of_blocks, limits) == (1.2, "bound", [8] * 100, [4])
    assert warps(changed) == [[["load", [1]], ["compute", 1]]] * 800
