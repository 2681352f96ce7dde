"""Sectors of chunks, section 4, tick by tick in every engine: chunks are lines of 128 bytes, of 4 sectors of 32."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

CACHE = {"sets": 1, "ways": 2}
L1, L2 = {**CACHE, "latency": 10}, {**CACHE, "latency": 40}
BACK = {**L2, "writes": "back"}


def run(engine, *operations, machine=(), **memory):
    """A warp alone; each of its operations issues in a cycle, global memory takes 100 and a line of it 8."""
    tables = {
        "name": "m",
        "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
        "memory": {"latency": 100, "chunk_words": 32, "service": 8, "sectors": 4, "stores": "posted", **memory},
    }
    blocks = [{"warps": [list(operations)]}]
    return simulate(Machine.from_dict(tables), Workload.from_dict({"blocks": blocks}), engine, timeline=True)


def load(*sectors, chunk=0):
    """Of some bytes of each sector of a chunk, all of all if left out."""
    return ["load", [chunk], 1, [list(sectors)]]


def store(*sectors, chunk=0):
    return ["store", [chunk], 1, [list(sectors)]]


@pytest.mark.parametrize(
    ("sectors", "taken"), [((), 8), ((4,), 2), ((0, 0, 0, 1), 2), ((32, 32), 4), ((1, 1, 1), 6), ((32,) * 4, 8)]
)
def test_a_partition_is_taken_for_the_sectors_that_move(engine, sectors, taken):
    first = ["async", [0], 1, [list(sectors)]]
    result = run(engine, first, ["load", [1]])
    assert result.ticks == 1 + max(1, taken) + 100  # the second one leaves its port a cycle later
    assert result.memory_sectors == taken // 2 + 4


@pytest.mark.parametrize(
    ("together", "sectors", "moved"),
    [(1, (4,), 1), (2, (4,), 2), (2, (0, 4, 4), 4), (4, (0, 4), 4), (2, (0, 0, 1, 1), 2), (1, (0, 4, 4), 2)],
)
def test_memory_is_read_by_aligned_runs_of_sectors(engine, together, sectors, moved):
    result = run(engine, ["async", [0], 1, [list(sectors)]], ["load", [1]], fetch_sectors=together)
    assert result.memory_sectors == moved + 4
    assert result.ticks == 1 + 2 * moved + 100


def test_a_sector_that_a_line_lacks_is_a_miss_and_the_line_stays(engine):
    loads = [load(4), load(0, 4), load(32, 32), load(0, 0, 4)]
    result = run(engine, *loads, l1=L1)
    assert result.ticks == (1 + 100) + (1 + 100) + (1 + 10) + (1 + 100)
    assert (result.l1_hits, result.memory_sectors) == (1, 3)


def test_of_a_load_that_finds_some_sectors_only_the_others_are_read(engine):
    result = run(engine, load(4), load(), l1=L1, service=40)
    assert result.memory_sectors == 1 + 3
    assert result.ticks == 101 + 101


def test_the_l2_keeps_all_of_a_run_and_the_l1_what_was_asked(engine):
    result = run(engine, load(4), load(0, 4), load(0, 0, 4), l1=L1, l2=L2, fetch_sectors=2)
    assert result.ticks == 101 + (1 + 40) + 101
    assert (result.l1_hits, result.l2_hits, result.l2_sectors, result.memory_sectors) == (0, 1, 3, 4)


def test_a_hit_waits_for_its_own_sectors_alone(engine):
    """The second sector is on its way from 51 to 151; the first one was there at 101."""
    operations = [["async", [0], 1, [[4]]], ["pause", 49], ["async", [0], 1, [[0, 4]]], ["pause", 60], load(4)]
    result = run(engine, *operations, l1=L1, service=0)
    # 1 + 49 + 1 + 60 are over at 111, the load leaves its port at 112 and hits
    assert result.timeline.of_warp(0)[-2:] == [("memory", 112, 122), ("memory", 122, 151)]


@pytest.mark.parametrize(
    ("keys", "taken"), [({}, 8), ({"request_service": 0}, 2), ({"request_service": 3}, 3), ({"request_service": 1}, 2)]
)
def test_a_load_takes_its_slice_for_its_sectors_and_for_a_request_at_least(engine, keys, taken):
    result = run(engine, ["async", [0], 1, [[4]]], ["load", [1]], l2={**L2, "service": 8, **keys}, service=0)
    assert result.ticks == 1 + taken + 100


@pytest.mark.parametrize(
    ("sectors", "keys", "taken"),
    [
        ((), {}, 12),
        ((32,), {}, 8),
        ((32,), {"store_request_service": 0}, 3),
        ((4, 4), {"store_request_service": 5}, 6),
        ((4, 0, 0, 4), {"store_request_service": 7}, 7),
    ],
)
def test_so_does_a_store(engine, sectors, keys, taken):
    l2 = {**BACK, "service": 8, "store_service": 12, **keys}
    result = run(engine, store(*sectors), store(chunk=1), l2=l2, service=0)
    assert result.ticks == 1 + taken + 100


def test_what_was_stored_as_a_whole_is_there(engine):
    result = run(engine, store(32, 16), load(4), load(0, 4), l2=BACK)
    # the store of 1 is there at 101; the first load hits and waits for it, the second lacks the rest of its sector
    assert result.ticks == 101 + 101
    assert (result.l2_hits, result.memory_sectors) == (1, 1)


@pytest.mark.parametrize(
    ("parts", "hits"), [([16, 16], 1), ([4] * 8, 1), ([4] * 7, 0), ([16, 8], 0), ([16, 16, 16], 1)]
)
def test_a_sector_is_whole_once_as_many_bytes_as_it_has_were_stored(engine, parts, hits):
    result = run(engine, *(store(0, part) for part in parts), ["pause", 200], load(0, 1), l2=BACK)
    assert (result.l2_hits, result.memory_sectors) == (hits, 1 - hits)


def test_what_is_read_of_a_partial_sector_makes_it_whole(engine):
    result = run(engine, store(4), load(1), load(1), l2=BACK)
    assert (result.l2_hits, result.memory_sectors) == (1, 1)


@pytest.mark.parametrize(
    ("sectors", "keys", "taken"),
    [
        ((), {}, 8),
        ((32,), {}, 2),
        ((4,), {}, 2),  # masked
        ((32, 32), {"partial_writes": "read"}, 4),
        ((4, 32), {"partial_writes": "read"}, 2 + 4),
        ((4, 32), {"partial_writes": "read", "fetch_sectors": 2}, 4 + 4),
        ((4, 0, 4), {"partial_writes": "read", "fetch_sectors": 2}, 8 + 4),
        ((32, 0, 0, 4), {"partial_writes": "read", "fetch_sectors": 4}, 8 + 4),
    ],
)
def test_what_of_a_line_was_written_is_written_back(engine, sectors, keys, taken):
    """A load of a third line takes the room of the first, at 3, and its partition comes behind that one's writing."""
    l2 = {**BACK, "victims": "posted"}
    operations = [store(*sectors), store(chunk=1), ["async", [2]], ["load", [3], 1, [[]]]]
    plain = run(engine, *operations, l2={**l2, "ways": 4}, **keys)
    result = run(engine, *operations, l2=l2, **keys)
    # the line of 1, which is whole, goes for that of 3
    assert plain.ticks == 4 + 7 + 100
    assert result.ticks == plain.ticks + taken
    assert result.memory_sectors == plain.memory_sectors == 8  # what is written back is counted nowhere


@pytest.mark.parametrize(("partial", "taken"), [("masked", 2), ("read", 2 + 2)])
def test_a_store_that_passes_the_l2_likewise(engine, partial, taken):
    result = run(engine, store(0, 4), ["load", [1]], partial_writes=partial)
    assert result.ticks == 1 + taken + 100
    assert result.memory_sectors == 1 + 4


def test_the_way_from_the_l1_is_taken_for_the_sectors_that_come(engine):
    loads = [["async", [0], 1, [[4]]], ["load", [1]]]
    pipe = {"fill_interval": 20}
    assert run(engine, *loads, l1=L1, pipe=pipe, service=0).ticks == 1 + 5 + 100
    assert run(engine, *loads, l1=L1, pipe=pipe, service=0, sectors=1).ticks == 1 + 20 + 100


def test_the_fetch_port_is_taken_for_the_sectors_that_are_lacking(engine):
    loads = [["async", [0], 1, [[4]]], ["load", [1]]]
    assert run(engine, *loads, fetch_interval=20, fetch_sectors=4, service=0).ticks == 1 + 5 + 100


def test_a_store_to_local_memory_writes_all_of_its_chunk(engine):
    local = (1 << 61) // 128
    result = run(engine, store(4, chunk=local), load(0, 4, chunk=local), l1={**L1, "local_writes": "back"})
    assert (result.l1_hits, result.memory_sectors) == (1, 0)


def test_an_atomic_in_the_l2_makes_its_sectors_whole(engine):
    atomic = ["atomic", [0], 1, [[0, 4]]]
    result = run(engine, atomic, atomic, load(0, 32), load(1), l2={**L2, "atomics": "here"})
    assert (result.l2_hits, result.memory_sectors) == (2, 2)


def test_a_launch_that_begins_warm_has_what_an_earlier_one_left_by_sectors(engine):
    operations = [load(4), store(0, 0, 32), store(0, 0, 0, 4)]
    result = run(engine, *operations, l2={**BACK, "start": "warm"}, fetch_sectors=2)
    assert (result.l2_hits, result.memory_sectors) == (1, 0)
    launches = [{"blocks": [{"warps": [[each]]}]} for each in (load(4), load(0, 4), load(0, 0, 4))]
    machine = {
        "name": "m",
        "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
        "memory": {"latency": 100, "chunk_words": 32, "sectors": 4, "fetch_sectors": 2, "l2": {**L2, "start": "kept"}},
    }
    kept = simulate(Machine.from_dict(machine), Workload.from_dict({"launches": launches}), engine)
    assert kept.launch_ticks == (101, 41, 101)


def test_what_passes_over_time_is_counted_by_sectors_too(engine):
    result = run(engine, load(4), load(0, 4), store(4, 4), l1=L1, l2=BACK, fetch_sectors=2)
    assert result.traffic.of("l2_sectors").sum() == result.l2_sectors == 4
    assert result.traffic.of("memory_sectors").sum() == result.memory_sectors == 2


@pytest.mark.parametrize("word", ["load", "store"])
def test_a_machine_whose_chunks_have_no_sectors_does_not_look_at_them(engine, word):
    operation = [word, [0, 1], 1, [[4], [0, 4]]]
    assert run(engine, operation, sectors=1).ticks == run(engine, [word, [0, 1]], sectors=1).ticks
