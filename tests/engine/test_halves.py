"""Two halves of an L2, section 4, tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.engine.reference.memory.cache import home_of
from simtmm.errors import MachineError
from simtmm.machine.part import part_of
from simtmm.stalls import Reason

pytestmark = pytest.mark.parametrize("engine", ENGINES)

MEMORY, HIT, STORED, SERVICE, FAR, WAY = 100, 20, 30, 10, 15, 4
ZEROS, ONES = [0, 1, 3, 7], [2, 4, 5, 6]  # chunks by the half that is their home
LATER = ["pause", 500]  # by when all of the other warp's is done
LAST = ["pause", 900]


def machine(groups=2, **memory):
    """Each operation issues in a cycle; slices take no time."""
    l2 = {
        "sets": 16, "ways": 2, "latency": HIT, "writes": "back", "atomics": "here",
        "halves": 2, "far_latency": FAR, "far_service": WAY,
    }  # fmt: skip
    return Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 4},
            "memory": {
                "latency": MEMORY, "chunk_words": 32, "service": SERVICE, "store_latency": STORED, **memory,
                "l2": {**l2, **memory.get("l2", {})},
            },
        }
    )  # fmt: skip


def run(engine, *warps, launches=1, stalls=False, **changes):
    """Blocks of a warp, one on each group in turn: the first is of half 0, the second of half 1."""
    blocks = [{"warps": [list(warp)]} for warp in warps]
    workload = Workload.from_dict({"launches": launches * [{"blocks": blocks}]})
    return simulate(machine(**changes), workload, engine, stalls=stalls)


def test_a_chunks_home_is_the_highest_bit_of_its_hash(engine):
    assert [home_of(chunk) for chunk in (*ZEROS, *ONES)] == 4 * [0] + 4 * [1]
    assert home_of(0) == 0  # the hash of 0 is 0
    assert home_of(1) == 0x5692161D100B05E5 >> 63


def test_what_the_groups_half_is_the_home_of_is_as_near_as_without_halves(engine):
    near = run(engine, [["load", [0]], LATER, ["load", [0]]])
    assert (near.ticks, near.l2_hits) == (1 + MEMORY + 500 + 1 + HIT, 1)


def test_what_the_other_half_has_is_a_hit_that_takes_longer(engine):
    result = run(engine, [["load", [0]]], [LATER, ["load", [0]]])
    assert (result.ticks, result.l2_hits, result.memory_sectors) == (500 + 1 + HIT + FAR, 1, 1)


def test_a_hit_in_the_other_half_leaves_a_copy(engine):
    result = run(engine, [["load", [0]]], [LATER, ["load", [0]], ["load", [0]]])
    assert (result.ticks, result.l2_hits) == (500 + 1 + HIT + FAR + 1 + HIT, 2)


def test_what_neither_half_has_is_read_from_memory_into_both(engine):
    """Memory's latency is a mean over both halves: nothing is added."""
    far = run(engine, [LATER, ["load", [0]]], [["load", [0]], LAST, ["load", [0]]])
    assert far.memory_sectors == 1
    assert far.l2_hits == 2
    assert far.ticks == 1 + MEMORY + 900 + 1 + HIT
    assert run(engine, [], [["load", [0]]]).ticks == 1 + MEMORY
    assert run(engine, [LATER, ["load", [0]]], [["load", [0]]]).ticks == 500 + 1 + HIT


def test_a_copy_that_is_on_its_way_is_waited_for(engine):
    """The second warp's chunk comes with the first one's, 10 cycles later than from where that is there."""
    result = run(engine, [], [["load", [0]]], [], [["pause", 70], ["load", [0]]], groups=2)
    assert result.ticks == 1 + MEMORY
    assert result.l2_hits == 1


def test_chunks_come_from_the_other_half_one_behind_the_other(engine):
    loads = [["load", ZEROS[:3]]], [LATER, ["load", ZEROS[:3]]]
    assert run(engine, *loads, service=0).ticks == 500 + 1 + 2 * WAY + HIT + FAR
    assert run(engine, *loads, service=0, l2={"far_service": 0}).ticks == 500 + 1 + HIT + FAR


def test_each_half_has_a_way_into_it(engine):
    """Both groups ask for two chunks of the other half at once, and wait for one of their own."""
    before = [["load", [*ZEROS[:2]]], LATER, ["load", ONES[:2]]], [["load", ONES[:2]], LATER, ["load", ZEROS[:2]]]
    assert run(engine, *before, service=0).ticks == 1 + MEMORY + 500 + 1 + WAY + HIT + FAR


def test_a_part_of_a_chunk_takes_the_way_for_a_part_of_the_time(engine):
    """One sector of four takes a cycle of four, a whole chunk all of them."""
    first = [["load", ZEROS[:2], 1, [[32, 32, 32, 32]] * 2]]
    for sectors, taken in (([32, 0, 0, 0], 1), ([32, 32, 32, 0], 3), ([32, 32, 32, 32], 4)):
        second = [LATER, ["load", ZEROS[:2], 1, [sectors] * 2]]
        result = run(engine, first, second, service=0, sectors=4)
        assert result.ticks == 500 + 1 + taken + HIT + FAR, sectors


def test_only_what_is_lacking_comes_from_the_other_half(engine):
    """The second load finds a sector of its two in its own half, and waits for the other."""
    first = [["load", [0], 1, [[32, 32, 0, 0]]]]
    second = [LATER, ["load", [0], 1, [[32, 0, 0, 0]]], ["load", [0], 1, [[32, 32, 0, 0]]]]
    result = run(engine, first, second, sectors=4)
    assert (result.ticks, result.memory_sectors) == (500 + 2 * (1 + HIT + FAR), 2)


def test_each_half_has_half_of_the_sets(engine):
    """Chunks 0, 4 and 16 want one of four sets, which has two ways; of eight sets 4 wants another."""
    loads = [["load", [chunk]] for chunk in (ZEROS[0], ONES[1], 16 + 0)]
    again = [*loads, ["load", [ZEROS[0]]]]
    assert run(engine, again, l2={"sets": 8}).l2_hits == 0
    assert run(engine, again, l2={"sets": 16}).l2_hits == 1


def test_a_copy_takes_the_place_of_the_line_used_longest_ago(engine):
    """One set of two ways a half: a copy of 2 and the line of 1 leave nothing of 0 there; nor does its home."""
    loads = [["load", [chunk]] for chunk in (0, 2, 1, 0)]
    assert run(engine, loads, l2={"sets": 2}).l2_hits == 0
    used = [["load", [chunk]] for chunk in (0, 2, 0, 1, 0)]
    assert run(engine, used, l2={"sets": 2}).l2_hits == 2


def test_a_copy_that_drops_a_written_line_waits_for_it(engine):
    """Chunks 0 and 1 are written in half 0, which then takes a copy of 2."""
    warps = [["store", [0, 1]], LATER, ["load", [2]]], [["load", [2]]]
    posted = run(engine, *warps, l2={"sets": 2})
    assert posted.ticks == 1 + STORED + 500 + 1 + HIT + FAR
    queued = run(engine, *warps, l2={"sets": 2, "victims": "waited"}, service=50, turnaround=60)
    assert queued.ticks == 1 + STORED + 500 + 1 + 60  # the partition turns round before it writes


def test_a_store_ends_in_the_home_and_takes_the_way_there(engine):
    stores = [LATER, ["load", ZEROS[:2]]], [["store", ZEROS[:2]]]
    result = run(engine, *stores)
    assert (result.ticks, result.l2_hits, result.memory_sectors) == (500 + 1 + HIT, 2, 0)
    assert run(engine, [], [["store", ZEROS[:3]]]).ticks == 1 + 2 * WAY + STORED
    assert run(engine, [], [["store", ONES[:3]]]).ticks == 1 + STORED


def test_a_store_drops_the_copy(engine):
    """The second group reads the chunk, the first one writes it, and the second finds that in the other half."""
    warps = [["pause", 300], ["store", [0]]], [["load", [0]], LATER, ["load", [0]]]
    result = run(engine, *warps)
    assert (result.ticks, result.l2_hits) == (1 + MEMORY + 500 + 1 + HIT + FAR, 1)
    without = run(engine, [], warps[1])
    assert without.ticks == 1 + MEMORY + 500 + 1 + HIT


def test_the_half_that_writes_far_keeps_no_copy_of_it(engine):
    warps = [], [["load", [0]], ["store", [0]], LATER, ["load", [0]]]
    assert run(engine, *warps).ticks == 1 + MEMORY + 1 + STORED + 500 + 1 + HIT + FAR


def test_an_atomic_ends_in_the_home_and_drops_the_copy(engine):
    """Its latency is a mean over both halves; what two chunks wait for is the way."""
    far = [["load", [0, 1]], ["atomic", [0, 1]], LATER, ["load", [0]]]
    ticks = 1 + WAY + MEMORY + 1 + WAY + HIT + 500 + 1 + HIT + FAR
    assert run(engine, [], far, service=0).ticks == ticks
    both = run(engine, [LAST, ["load", [0]]], far, service=0)
    assert (both.ticks, both.l2_hits) == (900 + 1 + HIT, 4)


def test_a_store_that_joins_another_does_not_take_the_way(engine):
    """The second store waits for the slice, so the third joins it; the fourth comes behind two on the way, or three."""
    stores = [], [["store", [chunk]] for chunk in (0, 1, 1, 3)]
    l2 = {"store_service": 40, "far_service": 200}
    assert run(engine, *stores, l2={**l2, "waiting_stores": 2}, stores="at-end").ticks == 1 + 2 * 200 + STORED
    assert run(engine, *stores, l2=l2, stores="at-end").ticks == 1 + 3 * 200 + STORED


def test_blocks_of_an_earlier_run_were_of_halves_in_turn(engine):
    """Each half has what its own block loads: both find their chunks near, and a third's in the other half."""
    warps = [["load", [0]]], [["load", [1]]]
    assert run(engine, *warps, l2={"start": "warm"}).ticks == 1 + HIT
    swapped = run(engine, [["load", [2]]], [["load", [4]], LATER, ["load", [2]]], l2={"start": "warm"})
    assert swapped.ticks == 1 + HIT + 500 + 1 + HIT


def test_a_later_launch_finds_copies(engine):
    result = run(engine, [], [["load", [0]]], launches=2, l2={"start": "kept"})
    assert list(result.launch_ticks) == [1 + MEMORY, 1 + HIT]
    warps = [["load", [0]]], [LATER, ["load", [0]]]
    again = run(engine, *warps, launches=3, l2={"start": "kept"})
    assert list(again.launch_ticks) == [500 + 1 + HIT + FAR, 500 + 1 + HIT, 500 + 1 + HIT]


def test_waiting_for_the_way_is_waiting_for_the_l2(engine):
    loads = [["load", ZEROS[:3]]], [LATER, ["load", ZEROS[:3]]]
    changes = {}, {"far_service": 0}, {"far_service": 0, "far_latency": 0}
    queued, far, near = (run(engine, *loads, service=0, l2=l2, stalls=True).stalls.launches[0] for l2 in changes)
    assert (queued[Reason.L2_QUEUE], far[Reason.L2_QUEUE], near[Reason.L2_QUEUE]) == (2 * WAY, 0, 0)
    assert (far[Reason.L2_LATENCY], near[Reason.L2_LATENCY]) == (HIT + FAR, HIT)


@pytest.mark.parametrize(
    ("l2", "words"),
    [
        ({"halves": 3}, "memory.l2.halves = 3: must be 1 or 2"),
        ({"copies": 2}, "memory.l2.copies = 2: must be 1 with memory.l2.halves = 2"),
        ({"dies": 2}, "memory.l2.dies = 2: must be 1 with memory.l2.halves = 2"),
    ],
)
def test_halves_stand_alone(engine, l2, words):
    with pytest.raises(MachineError, match=f"^machine: {words}$"):
        machine(l2=l2)


def test_without_halves_there_is_no_other_one(engine):
    warps = [["load", [0]]], [LATER, ["load", [0]]]
    assert run(engine, *warps, l2={"halves": 1}).ticks == 500 + 1 + HIT


def test_a_part_of_a_machine_has_its_share_of_the_way(engine):
    whole = machine(groups=8)
    quarter = part_of(whole, 2)
    assert quarter.memory.l2.far_service == 4 * WAY
    assert part_of(whole.replace({"memory.l2.far_service": 0}), 2).memory.l2.far_service == 0
