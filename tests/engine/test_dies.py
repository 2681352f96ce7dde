"""An L2 for each die, section 4, tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

MEMORY, HIT, STORED, SLICE, SERVICE = 100, 20, 30, 7, 10
LATER = ["pause", 500]  # by when all of the other warp's is done


def run(engine, *warps, dies=2, groups=2, **memory):
    """Blocks of a warp, one on each group in turn; each operation issues in a cycle."""
    l2 = {"sets": 8, "ways": 2, "latency": HIT, "service": SLICE, "writes": "back", "atomics": "here", "dies": dies}
    tables = {
        "name": "m",
        "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 4},
        "memory": {
            "latency": MEMORY, "chunk_words": 32, "service": SERVICE, "store_latency": STORED, **memory,
            "l2": {**l2, **memory.get("l2", {})},
        },
    }  # fmt: skip
    workload = Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in warps]})
    return simulate(Machine.from_dict(tables), workload, engine)


def test_what_one_die_has_another_reads_from_memory(engine):
    warps = [["load", [0]]], [LATER, ["load", [0]]]
    apart, together = run(engine, *warps), run(engine, *warps, dies=1)
    assert (apart.ticks, apart.l2_hits, apart.memory_sectors) == (500 + 1 + MEMORY, 0, 2)
    assert (together.ticks, together.l2_hits, together.memory_sectors) == (500 + 1 + HIT, 1, 1)


def test_groups_of_a_die_share_its_l2(engine):
    """Groups 0 and 2 are of one die, as blocks go to dies in turn."""
    result = run(engine, [["load", [0]]], [], [LATER, ["load", [0]]], groups=4)
    assert (result.l2_hits, result.memory_sectors) == (1, 1)


def test_slices_of_dies_are_apart(engine):
    """Both come at tick 1: to two slices, and one behind the other to the partition; to one slice of one die."""
    warps = [["load", [0]], ["load", [0]]], [["load", [1]], ["load", [1]]]
    assert run(engine, *warps).ticks == 1 + SERVICE + MEMORY + 1 + HIT
    quick = {"service": 0}
    assert run(engine, *warps, **quick).ticks == 1 + MEMORY + 1 + HIT
    assert run(engine, *warps, dies=1, **quick).ticks == 1 + SLICE + MEMORY + 1 + HIT


def test_each_die_has_its_part_of_the_sets(engine):
    """Eight sets of two ways: chunks 0, 4 and 8 fit one L2, and are of one set of each of two."""
    loads = [["load", [chunk]] for chunk in (0, 4, 8, 0)]
    assert run(engine, loads).l2_hits == 0
    assert run(engine, loads, dies=1).l2_hits == 1


def test_what_another_die_wrote_is_written_down_and_then_read(engine):
    """The partition takes the line, and the read behind it; the first die still has the line."""
    warps = [["store", [0]], ["pause", 900], ["load", [0]]], [LATER, ["load", [0]]]
    result = run(engine, *warps)
    assert result.memory_sectors == 1
    assert result.l2_hits == 1
    second = run(engine, [["store", [0]]], [LATER, ["load", [0]]])
    assert second.ticks == 500 + 1 + SERVICE + MEMORY


def test_a_store_takes_the_line_from_other_dies(engine):
    result = run(engine, [["load", [0]], ["pause", 900], ["load", [0]]], [LATER, ["store", [0]]])
    assert (result.l2_hits, result.memory_sectors) == (0, 2)
    assert result.ticks == 1 + MEMORY + 900 + 1 + SERVICE + MEMORY  # behind what the other die wrote


def test_an_atomic_takes_the_line_from_other_dies(engine):
    result = run(engine, [["atomic", [0]], ["pause", 900], ["atomic", [0]]], [LATER, ["atomic", [0]]])
    assert (result.l2_hits, result.memory_sectors) == (0, 3)


def test_a_last_level_cache_is_what_dies_meet_in(engine):
    last_level = {"sets": 4, "ways": 4, "latency": 40}
    result = run(engine, [["store", [0]]], [LATER, ["load", [0]]], last_level=last_level)
    assert (result.last_level_hits, result.memory_sectors) == (1, 0)
    assert result.ticks == 500 + 1 + 40


def test_a_warm_start_has_blocks_on_dies_in_turn(engine):
    """Each die has what its own block loads, and not what the other's does: the third is on the first die."""
    warps = [["load", [0]]], [["load", [1]]], [["load", [2]]]
    assert run(engine, *warps, l2={"start": "warm"}, service=0).ticks == 1 + SLICE + HIT
    blocks = [["load", [0]]], [LATER, ["store", [0]]]
    written = run(engine, *blocks, l2={"start": "warm"}, service=0)
    assert written.l2_hits == 0  # the store of the earlier run took the line from the first die
