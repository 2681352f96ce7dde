"""Clusters of blocks are placed as a whole, in one neighbourhood of core groups (docs/machine.md, section 6)."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from simtmm.engine import simulate
from simtmm.errors import WorkloadError
from simtmm.machine import Machine
from simtmm.placement import breadth_first
from simtmm.result import Result
from simtmm.workload import Workload

ENGINES = ("reference", "fast")


def machine(groups: int, cluster_groups: int | None = None, blocks: int = 1, warps: int = 8) -> Machine:
    """A machine whose groups hold so many blocks."""
    return Machine.from_dict(
        {
            "name": "few",
            "cores": {
                "groups": groups,
                "cores_per_group": 1,
                "warp_width": 1,
                "max_threads_per_core": warps,
                "cluster_groups": cluster_groups,
            },
            "memory": {"latency": 3, "chunk_words": 32},
            "limits": {"blocks_per_group": blocks},
        }
    )


def launch(lengths: list[int], cluster: int, **more: Any) -> Workload:
    """A launch of blocks of one warp that computes for so many cycles."""
    blocks = [{"warps": [[["compute", length]]]} for length in lengths]
    return Workload.from_dict({"launches": [{"blocks": blocks, "cluster": cluster, **more}]})


def placed(result: Result) -> list[tuple[int, int]]:
    """Of each warp, the tick at which it was placed, and its group."""
    timeline = result.timeline
    assert timeline is not None
    first = np.unique(timeline.warp, return_index=True)[1]
    return [(int(timeline.begin[row]), int(timeline.group[row])) for row in first]


@pytest.mark.parametrize(
    ("groups", "least", "sizes"),
    [
        (132, 16, [16, 16, 16, 18, 16, 16, 16, 18]),
        (114, 16, [16, 16, 16, 16, 16, 16, 18]),
        (8, 16, [8]),
        (5, 1, [2, 3]),
        (1, 1, [1]),
        (4, None, []),
    ],
)
def test_neighbourhoods_are_pairs_of_groups_shared_out_evenly(groups: int, least: int | None, sizes: list[int]):
    assert [end - begin for begin, end in pairwise(machine(groups, least).neighbourhoods)] == sizes


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cluster_waits_until_all_its_blocks_have_room(engine: str):
    lengths = [9, 5, 7, 4]  # two clusters on a neighbourhood of three groups
    apart = simulate(machine(3), launch(lengths, 2), engine, timeline=True)
    together = simulate(machine(3, 3), launch(lengths, 2), engine, timeline=True)
    assert placed(apart) == [(0, 0), (0, 1), (0, 2), (5, 1)]
    assert placed(together) == [(0, 0), (0, 1), (5, 1), (5, 2)]
    assert (apart.ticks, together.ticks) == (9, 12)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cluster_lies_in_one_neighbourhood_and_in_the_one_with_fewest_blocks(engine: str):
    lengths = [9, 3, 3, 5, 2, 2]
    one_by_one = simulate(machine(4), launch(lengths, 2), engine, timeline=True)
    result = simulate(machine(4, 2), launch(lengths, 2), engine, timeline=True)
    assert placed(one_by_one)[4:] == [(3, 1), (3, 2)]
    # At 3 each neighbourhood has a free group, and the cluster needs two of one.
    assert placed(result) == [(0, 0), (0, 1), (0, 2), (0, 3), (5, 2), (5, 3)]


@pytest.mark.parametrize("engine", ENGINES)
def test_of_neighbourhoods_with_room_the_emptiest_takes_a_cluster(engine: str):
    result = simulate(machine(4, 2, blocks=2), launch([9] * 6, 1), engine, timeline=True)
    assert [group for _, group in placed(result)] == [0, 1, 2, 3, 0, 1]
    result = simulate(machine(4, 2, blocks=2), launch([9] * 7, 3), engine, timeline=True)
    assert [group for _, group in placed(result)] == [0, 1, 0, 2, 3, 2, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_last_cluster_may_have_fewer_blocks(engine: str):
    result = simulate(machine(2, 2), launch([5, 5, 3], 2), engine, timeline=True)
    assert placed(result) == [(0, 0), (0, 1), (5, 0)]


@pytest.mark.parametrize("engine", ENGINES)
def test_launches_with_the_same_operations_and_other_clusters_are_apart(engine: str):
    blocks = [{"warps": [[["compute", length]]]} for length in (9, 5, 7, 4)]
    both = Workload.from_dict({"launches": [{"blocks": blocks}, {"blocks": blocks, "cluster": 2}, {"blocks": blocks}]})
    assert simulate(machine(3, 3), both, engine).launch_ticks == (9, 12, 9)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cluster_that_fits_no_empty_neighbourhood_is_refused(engine: str):
    with pytest.raises(WorkloadError) as caught:
        simulate(machine(4, 2), launch([1] * 6, 3), engine)
    assert str(caught.value) == (
        "workload: launch 0, blocks 0 to 2: a cluster of 3 blocks fits no 2 core groups of few, in which clusters are "
        "placed (cores.cluster_groups = 2): launch smaller clusters, or blocks of which more fit a group"
    )
    assert simulate(machine(4, 4), launch([1] * 6, 3), engine).ticks == 2
    assert simulate(machine(4, 2, blocks=2), launch([1] * 6, 3), engine).ticks == 2
    with pytest.raises(WorkloadError, match="a cluster of 3 blocks"):
        simulate(machine(4, 2, blocks=2), launch([1] * 6, 3, blocks_per_group=1), engine)


def test_a_rule_of_ones_own_places_blocks_one_by_one():
    lengths = [9, 5, 7, 4]
    own = simulate(machine(3, 3), launch(lengths, 2), placement=breadth_first, timeline=True)
    assert placed(own) == [(0, 0), (0, 1), (0, 2), (5, 1)]


def test_clusters_of_blocks_with_different_warps_try_each_block_by_itself():
    sizes = [3, 3, 2, 3]
    blocks = [{"warps": [[["compute", 4]]] * size} for size in sizes]
    workload = Workload.from_dict({"launches": [{"blocks": blocks, "cluster": 2}]})
    on = machine(2, 2, blocks=4, warps=5)
    for engine in ENGINES:
        result = simulate(on, workload, engine, timeline=True)
        # Two warps fit beside three, and then three fit nowhere.
        assert [begin for begin, _ in placed(result)] == [0] * 6 + [12] * 5
