"""The L2's own rules and the port's lines, section 4, tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

L2 = {"sets": 1, "ways": 2, "latency": 40}


def run(engine, operations, warps=1, groups=1, **memory):
    """A launch of warps, a block each, that all do the same; a warp issues an operation a cycle."""
    tables = {
        "name": "m",
        "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
        "memory": {"latency": 100, "chunk_words": 32, "stores": "posted", **memory},
    }
    blocks = [{"warps": [operations]}] * warps
    return simulate(Machine.from_dict(tables), Workload.from_dict({"blocks": blocks}), engine)


# The port


@pytest.mark.parametrize(
    ("chunks", "passings"),
    [
        ([0, 1, 2, 3], 1),  # a line
        ([3, 4], 2),  # neighbours of two lines
        ([0, 4, 1], 3),  # those of a line, but not one behind another
        ([0, 0], 1),
    ],
)
def test_the_sectors_of_a_line_pass_the_port_together(engine, chunks, passings):
    result = run(engine, [["load", chunks]], port_chunks=4, port_interval=5)
    assert result.ticks == 1 + 5 * (passings - 1) + 100
    assert result.transactions == len(chunks)


def test_the_next_instruction_passes_the_port_anew(engine):
    assert run(engine, [["async", [0, 1]], ["async", [2]]], port_chunks=4, port_interval=5).ticks == 1 + 5 + 100


def test_without_lines_each_chunk_passes_the_port(engine):
    assert run(engine, [["load", [0, 0, 1]]], port_interval=5).ticks == 1 + 2 * 5 + 100


# Slices


def test_a_slice_takes_up_one_chunk_after_another(engine):
    # Four groups hit the same chunk at 1 + 100 + 1: the last begins 3 services later.
    result = run(engine, [["load", [0]], ["load", [0]]], warps=4, groups=4, l2={**L2, "service": 7}, service=0)
    assert result.l2_hits == 7
    first = 1 + 100
    # The three that hit while the line is filled end with it, so all four go on together.
    assert result.ticks == first + 1 + 3 * 7 + 40


def test_slices_are_as_many_as_partitions(engine):
    loads = [["load", [0, 1]]]
    assert run(engine, loads, l2={**L2, "service": 7}, partitions=2).ticks == 1 + 100
    assert run(engine, loads, l2={**L2, "service": 7}, partitions=1).ticks == 1 + 7 + 100


def test_a_miss_waits_for_slice_and_partition_at_once(engine):
    assert run(engine, [["load", [0, 1]]], l2={**L2, "service": 7}, service=9).ticks == 1 + 9 + 100
    assert run(engine, [["load", [0, 1]]], l2={**L2, "service": 9}, service=7).ticks == 1 + 9 + 100


def test_a_store_that_goes_through_takes_no_slice(engine):
    assert run(engine, [["store", [0]], ["store", [0]]], l2={**L2, "service": 7}).ticks == 2 + 100


# Writing back


@pytest.mark.parametrize(("writes", "hits"), [("through", 0), ("back", 1)])
def test_a_store_stays_in_the_l2(engine, writes, hits):
    result = run(engine, [["store", [0]], ["compute", 200], ["load", [0]]], l2={**L2, "writes": writes})
    assert result.l2_hits == hits
    assert result.ticks == 202 + (40 if hits else 100)


def test_a_load_waits_until_the_store_is_in_the_l2(engine):
    operations = [["store", [0]], ["load", [0]]]
    assert run(engine, operations, l2={**L2, "writes": "back"}).ticks == 1 + 100
    assert run(engine, operations, l2={**L2, "writes": "back"}, store_latency=30).ticks == 2 + 40


def test_stores_that_stay_take_slices_and_no_partition(engine):
    stores = [["store", [0, 1]]]
    assert run(engine, stores, service=50, l2={**L2, "writes": "back"}).ticks == 1 + 100
    assert run(engine, stores, service=50, l2={**L2, "service": 7, "writes": "back"}).ticks == 1 + 7 + 100


def test_updates_do_not_stay(engine):
    result = run(engine, [["atomic", [0]], ["load", [0]]], l2={**L2, "writes": "back"})
    assert (result.l2_hits, result.ticks) == (0, 2 + 200)


@pytest.mark.parametrize(
    ("first", "written"),
    [
        ([["load", [0]], ["load", [1]]], 0),
        ([["store", [0]], ["load", [1]]], 1),  # 0 falls out when 2 comes, and 3 throws 1 out
        ([["store", [0]], ["store", [1]]], 2),
        ([["load", [0]], ["store", [0]], ["load", [1]]], 1),
        ([["store", [0]], ["load", [0]], ["load", [1]]], 1),  # a load does not make it clean
    ],
)
def test_a_written_line_that_falls_out_takes_its_partition(engine, first, written):
    # A pause, so that all is at rest: then 2 and 3 throw out 0 and 1, and the load of 4 waits for what is before it.
    operations = [*first, ["compute", 1000], ["async", [2]], ["async", [3]], ["async", [4]], ["join"]]
    machine = {"service": 60, "l2": {**L2, "writes": "back"}, "store_latency": 20}
    begin = run(engine, [*first, ["compute", 1000]], **machine).ticks
    assert run(engine, operations, **machine).ticks == begin + 1 + (2 + written) * 60 + 100


def test_a_line_is_written_back_once(engine):
    # 0 falls out and comes back as it was read; then it falls out again, and no partition hears of it.
    machine = {"service": 60, "l2": {**L2, "ways": 1, "writes": "back"}, "store_latency": 20}
    back = [["store", [0]], ["compute", 1000], ["load", [1]], ["compute", 1000], ["load", [0]], ["compute", 1000]]
    begin = run(engine, back, **machine).ticks
    assert run(engine, [*back, ["async", [2]], ["async", [3]], ["join"]], **machine).ticks == begin + 1 + 60 + 100


def test_writing_back_turns_a_partition_round(engine):
    machine = {"service": 60, "turnaround": 9, "l2": {**L2, "ways": 1, "writes": "back"}, "store_latency": 20}
    begin = run(engine, [["store", [0]], ["compute", 1000]], **machine).ticks
    two = [["store", [0]], ["compute", 1000], ["async", [1]], ["async", [2]], ["join"]]
    # 1 is read, 0 is written, 2 is read.
    assert run(engine, two, **machine).ticks == begin + 1 + 60 + 9 + 60 + 9 + 100


def test_what_lies_in_the_l2_at_the_end_is_not_written(engine):
    assert run(engine, [["store", [0]]], service=500, store_latency=20, l2={**L2, "writes": "back"}).ticks == 1 + 20


# Stores and their slices


def test_a_store_takes_its_slice_for_as_long_as_is_said_of_stores(engine):
    l2 = {**L2, "service": 7, "store_service": 3, "writes": "back"}
    assert run(engine, [["store", [0, 1]]], l2=l2).ticks == 1 + 3 + 100
    assert run(engine, [["load", [0, 1]]], l2=l2).ticks == 1 + 7 + 100
    assert run(engine, [["store", [0]], ["load", [1]]], l2=l2, store_latency=20).ticks == 2 + 2 + 100  # until 1 + 3


def test_stores_alone_may_take_slices(engine):
    l2 = {**L2, "store_service": 3, "writes": "back"}
    assert run(engine, [["store", [0, 1, 2]]], l2=l2).ticks == 1 + 2 * 3 + 100


# Room


@pytest.mark.parametrize(("victims", "waits"), [("posted", 0), ("waited", 60)])
def test_a_store_waits_for_the_room_of_a_written_line(engine, victims, waits):
    """The lines of 0 and 1 are written one after another where 2 and 3 come."""
    machine = {"service": 60, "store_latency": 20, "l2": {**L2, "writes": "back", "victims": victims}}
    stores = [["store", [0, 1]], ["compute", 1000]]
    assert run(engine, [*stores, ["store", [2, 3]]], **machine).ticks == 1002 + waits + 20


@pytest.mark.parametrize(("buffer", "waits"), [(0, 120), (1, 60), (2, 0), (9, 0)])
def test_partitions_take_in_lines_before_they_write_them(engine, buffer, waits):
    l2 = {"sets": 1, "ways": 3, "latency": 40, "writes": "back", "victims": "waited"}
    machine = {"service": 60, "store_latency": 20, "store_buffer": buffer, "l2": l2}
    stores = [["store", [0, 1, 2]], ["compute", 1000]]
    assert run(engine, [*stores, ["store", [3, 4, 5]]], **machine).ticks == 1002 + waits + 20


@pytest.mark.parametrize(("victims", "finish"), [("posted", 60 + 100), ("waited", 60 + 60 + 60)])
def test_a_load_waits_for_the_room_of_a_written_line(engine, victims, finish):
    """Reads of 2 and 3, then the writes of 0 and 1, take the partition from 0, 120, 60 and 180 on."""
    machine = {"service": 60, "store_latency": 20, "l2": {**L2, "writes": "back", "victims": victims}}
    stores = [["store", [0, 1]], ["compute", 1000]]
    # 2 is read, 0 written, 3 read, 1 written: the room of 3 is there when 1 is begun with
    assert run(engine, [*stores, ["load", [2, 3]]], **machine).ticks == 1002 + max(finish, 120 + 100)


def test_a_load_waits_no_longer_for_room_than_until_its_line_is_written(engine):
    """A line is read at 0 and the other written from 500 on, long after the chunk has come."""
    machine = {"service": 500, "store_latency": 20, "l2": {**L2, "ways": 1, "writes": "back", "victims": "waited"}}
    assert run(engine, [["store", [0]], ["compute", 1000], ["load", [1]]], **machine).ticks == 1002 + 500


def test_a_stream_of_stores_is_no_faster_than_memory(engine):
    """Of 40 chunks 38 have to be written before the last one has room."""
    machine = {"service": 50, "store_latency": 20, "l2": {**L2, "writes": "back", "victims": "waited"}}
    stores = [["store", [chunk]] for chunk in range(40)]
    assert run(engine, stores, **machine).ticks == 3 + 37 * 50 + 20


# Which line falls out


def mix(x):
    """The finaliser of SplitMix64, written from the algorithm."""
    mask = 2**64 - 1
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def test_any_line_of_a_full_set_falls_out_as_the_hash_decides(engine):
    """Chunks are loaded one after another, then again those that stayed."""
    ways, latency, hit = 4, 100, 40
    operations, lines, tick, hits = [], [], 0, 0
    for chunk in [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6]:
        operations.append(["load", [chunk]])
        tick += 1
        if chunk in lines:
            lines.remove(chunk)
            hits += 1
            lines.insert(0, chunk)
            tick += hit
            continue
        if len(lines) == ways:
            del lines[mix(chunk + tick) % ways]
        lines.insert(0, chunk)
        tick += latency
    result = run(engine, operations, l2={"sets": 1, "ways": ways, "latency": hit, "replacement": "random"})
    assert 0 < hits < 7
    assert (result.l2_hits, result.ticks) == (hits, tick)


def test_a_warm_l2_is_gone_through_with_the_hash_of_chunks_alone(engine):
    lines = []
    for chunk in range(12):
        if len(lines) == 4:
            del lines[mix(chunk) % 4]
        lines.insert(0, chunk)
    l2 = {"sets": 1, "ways": 4, "latency": 40, "replacement": "random", "start": "warm"}
    # All are listed at one tick; of the first six, those hit that the earlier run has left, until one is thrown out.
    held, hits = list(lines), 0
    for chunk in range(12):
        if chunk in held:
            held.remove(chunk)
            hits += 1
        else:
            del held[mix(chunk + 1) % 4]
        held.insert(0, chunk)
    assert run(engine, [["load", list(range(12))]], l2=l2).l2_hits == hits


@pytest.mark.parametrize(("copies", "chunks", "hits"), [(1, 4, 4), (2, 2, 2), (2, 3, 0), (3, 2, 2), (3, 4, 0)])
def test_copies_leave_less_room(engine, copies, chunks, hits):
    """Two sets of two lines have room for four chunks, and where each is kept more often for two."""
    l2 = {"sets": 2, "ways": 2, "latency": 40, "copies": copies}
    assert run(engine, [["load", [chunk]] for chunk in range(chunks)] * 2, l2=l2).l2_hits == hits


def test_sets_by_a_hash(engine):
    """Chunks as far apart as there are sets share one set of `modulo`, and spread by a hash."""
    chunks = list(range(0, 64, 4))
    l2 = {"sets": 4, "ways": 6, "latency": 40}
    held: dict[int, list[int]] = {}
    hits = 0
    for chunk in chunks * 2:
        lines = held.setdefault(mix(chunk) % 4, [])
        hits += chunk in lines
        held[mix(chunk) % 4] = [chunk, *(line for line in lines if line != chunk)][:6]
    warps = [["load", chunks], ["load", chunks]]
    assert run(engine, warps, l2=l2).l2_hits == 0
    assert run(engine, warps, l2={**l2, "index": "hash"}).l2_hits == hits > 0


@pytest.mark.parametrize("index", ["modulo", "hash"])
def test_what_is_stored_and_found_warm_lies_in_its_set(engine, index):
    l2 = {"sets": 4, "ways": 1, "latency": 40, "index": index, "writes": "back"}
    assert run(engine, [["store", [7]], ["load", [7]]], l2=l2).l2_hits == 1
    assert run(engine, [["load", [7, 9]]], l2={**l2, "start": "warm"}).l2_hits == 1 + (mix(7) % 4 != mix(9) % 4)


# Warm


@pytest.mark.parametrize(("start", "hits"), [("cold", 0), ("warm", 2)])
def test_a_warm_l2_holds_what_the_launch_reads(engine, start, hits):
    result = run(engine, [["load", [0]], ["async", [1]]], l2={**L2, "start": start})
    assert result.l2_hits == hits
    assert result.ticks == (2 + 40 + 40 if hits else 2 + 200)


def test_a_warm_l2_holds_what_was_used_last(engine):
    # Of 2 ways, an earlier run leaves 1 and 2, so 0 misses and throws out 1, and so on: a stream never hits.
    assert run(engine, [["load", [0, 1, 2]]], l2={**L2, "start": "warm"}).l2_hits == 0
    assert run(engine, [["load", [0, 1, 0]]], l2={**L2, "start": "warm"}).l2_hits == 3


@pytest.mark.parametrize(("writes", "hits"), [("through", 1), ("back", 0)])
def test_a_warm_l2_holds_stores_where_they_stay(engine, writes, hits):
    # An earlier run ends with the store of 1, which throws 0 out of the only line, or goes by.
    l2 = {**L2, "ways": 1, "writes": writes, "start": "warm"}
    assert run(engine, [["load", [0]], ["store", [1]]], l2=l2).l2_hits == hits


def test_a_warm_l2_has_lines_to_write(engine):
    # An earlier run ends with the store of 0, which falls out when 1 comes; a cold L2 has nothing to write then.
    def ticks(start):
        l2 = {**L2, "ways": 1, "writes": "back", "start": start}
        loads = [["async", [1]], ["async", [2]], ["join"]]
        return run(engine, [*loads, ["store", [0]]], service=60, store_latency=20, l2=l2).ticks

    assert ticks("warm") == ticks("cold") + 60


def test_each_launch_is_warm_by_itself(engine):
    tables = {
        "name": "m",
        "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
        "memory": {"latency": 100, "chunk_words": 32, "l2": {**L2, "start": "warm"}},
    }
    launches = [{"blocks": [{"warps": [[["load", [chunk]]]]}]} for chunk in (0, 1)]
    result = simulate(Machine.from_dict(tables), Workload.from_dict({"launches": launches}), engine)
    assert (result.l2_hits, result.launch_ticks) == (2, (1 + 40, 1 + 40))


def of_launches(engine, *launches, **l2):
    tables = {
        "name": "m",
        "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
        "memory": {"latency": 100, "chunk_words": 32, "stores": "posted", "store_latency": 20, "service": 60},
    }
    tables["memory"]["l2"] = {**L2, "start": "kept", **l2}
    return simulate(
        Machine.from_dict(tables),
        Workload.from_dict({"launches": [{"blocks": [{"warps": [each]}]} for each in launches]}),
        engine,
    )


def test_a_launch_finds_what_the_one_before_left(engine):
    result = of_launches(engine, [["load", [0]]], [["load", [0]]], [["load", [1]]], [["load", [0]]], [["load", [2]]])
    assert result.launch_ticks == (1 + 100, 1 + 40, 1 + 100, 1 + 40, 1 + 100)
    assert result.l2_hits == 2


def test_a_line_that_is_kept_is_there_at_once(engine):
    """It was on its way for 100 cycles when the launch before began with it."""
    assert of_launches(engine, [["async", [0]]], [["load", [0]]]).launch_ticks == (1 + 100, 1 + 40)


def test_a_line_that_is_kept_stays_written(engine):
    """The partition is taken by the write of 0 where 2 comes, and 3 waits for that."""
    others = [["load", [1]]], [["async", [2]], ["async", [3]], ["join"]]
    written = of_launches(engine, [["store", [0]]], *others, writes="back")
    assert written.launch_ticks == (1 + 20, 1 + 100, 2 + 60 + 60 - 1 + 100)
    assert of_launches(engine, [["load", [0]]], *others, writes="back").launch_ticks[2] == 1 + 60 + 100


# Sectors
