"""Which block of a launch does many times the work of the others, of a workload that is held and of one that is not."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Workload, load_machine, simulate
from simtmm.analysis.source_changes.uneven import Uneven, pieces, places_of_block, uneven, work_of_blocks
from simtmm.analysis.verdict import verdict
from simtmm.analysis.what_if import try_out
from simtmm.engine import causes

# Of each operation what it counts: instructions and chunks; a pause is none.
COUNTED = [
    (["compute", 7], 7), (["compute", 5, "fp64"], 5), (["load", [1, 2, 3]], 3), (["load", [1, 2], 2], 2),
    (["async", [4]], 1), (["store", [1, 2]], 2), (["atomic", [5, 6]], 2), (["reduce", [5]], 1), (["shared", 4, 2], 4),
    (["barrier"], 1), (["join", 0], 1), (["pause", 90], 0),
]  # fmt: skip


def launches(*blocks_of):
    """A workload of blocks of one warp that computes so much."""
    return Workload.from_dict(
        {"launches": [{"blocks": [{"warps": [[["compute", each]]]} for each in of]} for of in blocks_of]}
    )


@pytest.mark.parametrize(("operation", "counted"), COUNTED)
def test_work_is_instructions_and_chunks(operation, counted):
    begins = [["async", [9]]] if operation[0] == "join" else []
    alone, beside = [*begins, operation], [["compute", 3]]
    workload = Workload.from_dict({"blocks": [{"warps": [beside]}, {"warps": [alone, beside]}, {"warps": [alone]}]})
    counted += len(begins)
    assert work_of_blocks(workload).tolist() == [3, counted + 3, counted]


@pytest.mark.parametrize(
    ("blocks_of", "found"),
    [
        ([[4, 4, 12]], Uneven(0, 2, 3.0)),  # three times
        ([[4, 4, 11]], None),
        ([[12, 4, 4, 4]], Uneven(0, 0, 3.0)),
        ([[2, 4, 9]], None),  # the median, not the least
        ([[12]], None),
        ([[1, 5]], None),  # in the middle of two
        ([[4, 4, 16], [1, 1, 5], [3, 3, 12]], Uneven(1, 2, 5.0)),
        ([[4, 4, 16], [1, 1, 4]], Uneven(0, 2, 4.0)),  # the first of equals
    ],
)
def test_the_launch_with_the_most_uneven_blocks(blocks_of, found):
    workload = launches(*blocks_of)
    assert uneven(workload) == found
    of_each = [uneven(workload, launch) for launch in range(len(blocks_of))]
    assert found in of_each
    assert all(each is None or each.launch == launch for launch, each in enumerate(of_each))


def test_blocks_without_work_count_as_one():
    nothing = {"warps": [[["pause", 5]]]}
    workload = Workload.from_dict({"blocks": [nothing, nothing, {"warps": [[["compute", 3]]]}]})
    assert uneven(workload) == Uneven(0, 2, 3.0)
    assert pieces(workload, 0) == {2: 3}


def test_of_a_workload_that_is_not_held_events_are_counted():
    runs = [
        SimpleNamespace(launch=1, block=np.array([2, 0]), events=np.array([30, 4])),
        SimpleNamespace(launch=0, block=np.array([0, 1]), events=np.array([9, 9])),
        SimpleNamespace(launch=1, block=np.array([1, 2]), events=np.array([5, 5])),  # another part of block 2
    ]
    workload = SimpleNamespace(
        blocks=5, launches=2, launch_blocks=np.array([0, 2, 5]), trace=SimpleNamespace(runs=lambda: iter(runs))
    )
    assert uneven(workload) == Uneven(1, 2, 7.0)
    assert uneven(workload, 0) is None
    assert places_of_block(workload, 0).tolist() == []


def test_a_long_block_goes_into_as_many_pieces_as_it_has_of_the_median_one_s_work():
    workload = launches([9] * 3, [4, 13, 4, 12, 11, 4, 4])
    assert pieces(workload, 0) == {}
    assert pieces(workload, 1) == {3 + 1: 3, 3 + 3: 3}
    assert pieces(launches([4, 4, 19]), 0) == {2: 4}  # whole ones
    assert uneven(launches([3, 3, 10])).words == "does 3.33 times the work of the median block"


def test_work_of_a_block_lies_at_its_places():
    warps = [[["compute", 5], ["load", [1, 2]]], [["compute", 1], ["pause", 8]]]
    workload = Workload.from_dict({"blocks": [{"warps": warps[:1]}, {"warps": warps}]})
    assert places_of_block(workload, 1).tolist() == []  # which nobody knows
    object.__setattr__(workload, "place", np.array([0, 1, 2, 0, 2, 4], np.int32))
    object.__setattr__(workload, "places", SimpleNamespace())
    assert places_of_block(workload, 0).tolist() == [5, 2]
    assert places_of_block(workload, 1).tolist() == [2, 0, 5 + 1, 0, 0]


def on(groups):
    """A machine of so many core groups, each with room for one block of a warp."""
    machine = load_machine("v100").replace({"cores.groups": groups})
    return machine.replace({"limits.blocks_per_group": 1})


TRIANGLE = [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("blocks", "groups", "found"),
    [
        (TRIANGLE, 8, Uneven(0, 7, 8 / 4.5)),  # all at once: half of the time is lost behind short ones
        (TRIANGLE, 9, Uneven(0, 7, 8 / 4.5)),
        (TRIANGLE, 12, None),  # a third of the groups has none, which is more than 2/3 of 7/16
        (TRIANGLE, 4, None),  # others come behind them
        ([4, 4, 4, 4, 4, 4, 4, 5], 8, None),  # not LONGER
        ([5, 5, 5, 6, 6, 6, 9], 7, Uneven(0, 6, 1.5)),
    ],
)
def test_where_all_blocks_begin_at_once_half_as_long_again_is_long(blocks, groups, found):
    assert uneven(launches(blocks), machine=on(groups)) == found


def test_a_launch_with_less_than_half_of_the_work_has_long_blocks_from_three_times_on():
    assert uneven(launches(TRIANGLE, [36]), machine=on(8)) == Uneven(0, 7, 8 / 4.5)
    assert uneven(launches(TRIANGLE, [37]), machine=on(8)) is None
    assert pieces(launches(TRIANGLE, [37]), 0, on(8)) == {}


def test_no_piece_of_blocks_that_begin_at_once_has_more_than_the_median_s_work():
    assert pieces(launches(TRIANGLE), 0, on(8)) == {6: 2, 7: 2}
    assert pieces(launches([4, 4, 4, 9]), 0, on(4)) == {3: 3}


def test_blocks_of_a_triangle_are_said_to_be_uneven_and_not_too_few():
    """As where a thread goes round a loop up to its own number: a block of the last is twice the mean."""
    workload = launches([1000 * each for each in range(1, 9)])
    machine = on(10)
    result = simulate(machine, workload, stalls=True)
    found = verdict(machine, result, workload, try_out(machine, workload, result))
    assert found.words.startswith("Uneven blocks bind: block 7 does 1.78 times the work of the median block")
    few = launches([8000] * 5)
    result = simulate(machine, few, stalls=True)
    assert verdict(machine, result, few, try_out(machine, few, result)).cause != causes.UNEVEN
