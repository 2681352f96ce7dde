"""The last-level cache behind the L2, section 4, tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.analysis.units import LAST_LEVEL, PARTITIONS, units
from simtmm.engine import ENGINES
from simtmm.errors import MachineError
from simtmm.stalls import REASONS

MEMORY, HIT, STORED = 100, 40, 30  # latencies of memory, of the last-level cache and of a store
SERVICE, SLICE = 10, 4  # of a partition and of a slice of the last-level cache, for a chunk

each_engine = pytest.mark.parametrize("engine", ENGINES)


def machine(last_level=None, **memory):
    """Each operation issues in a cycle; one partition, and a last-level cache of two lines."""
    cache = {"sets": 1, "ways": 2, "latency": HIT, "service": SLICE, **(last_level or {})}
    tables = {"latency": MEMORY, "chunk_words": 32, "service": SERVICE, "store_latency": STORED, **memory}
    return Machine.from_dict({
        "name": "m",
        "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 4},
        "memory": {**tables, "last_level": cache},
    })  # fmt: skip


def run(engine, on, *launches):
    """A warp a launch."""
    workload = Workload.from_dict({"launches": [{"blocks": [{"warps": [launch]}]} for launch in launches]})
    return simulate(on, workload, engine, stalls=True, timeline=True)


def reasons(result):
    return {name: int(ticks) for name, ticks in zip(REASONS, result.stalls.ticks.sum(axis=0), strict=True) if ticks}


@each_engine
def test_what_was_read_once_takes_no_partition_again(engine):
    result = run(engine, machine(), [["load", [0]], ["load", [0]]])
    assert result.ticks == 1 + MEMORY + 1 + HIT
    assert (result.last_level_hits, result.last_level_sectors, result.memory_sectors) == (1, 2, 1)
    assert reasons(result) == {"issuing": 2, "memory_latency": MEMORY, "last_level_latency": HIT}


@each_engine
def test_hits_queue_at_their_slice_alone(engine):
    result = run(engine, machine(), [["load", [0, 1]], ["load", [0, 1]]])
    first = 1 + SERVICE + MEMORY  # the slice lets the second one come at 5, and its partition takes it at 11
    assert result.ticks == first + 1 + SLICE + HIT
    assert reasons(result)["last_level_queue"] == SLICE + SLICE  # of the second chunk, there and on the way to memory
    assert reasons(result)["memory_queue"] == SERVICE - SLICE


@each_engine
def test_a_hit_on_a_line_in_flight_waits_for_it(engine):
    result = run(engine, machine(stores="posted"), [["async", [0]], ["load", [0]]])
    assert result.ticks == 1 + MEMORY
    assert (result.last_level_hits, result.memory_sectors) == (1, 1)


@each_engine
def test_a_store_ends_there_and_is_read_from_there(engine):
    result = run(engine, machine(), [["store", [0]], ["load", [0]]])
    assert result.ticks == 1 + STORED + 1 + HIT
    assert (result.last_level_hits, result.memory_sectors) == (1, 0)


@each_engine
def test_what_takes_a_written_lines_room_waits_until_the_partition_takes_that(engine):
    """Two stores fill the set at 1 and 5; the third evicts the first one's line, the fourth the second's, which the
    partition takes at 1 and at 11: all of an instruction's chunks from its tick on.
    """
    result = run(engine, machine(), [["store", [0, 1, 2, 3]]])
    assert result.ticks == max(1 + 3 * SLICE, 1 + SERVICE) + STORED
    ten = run(engine, machine(), [["store", list(range(10))]])
    assert ten.ticks == 1 + 7 * SERVICE + STORED  # eight of them are written, and the last waits for the last of these
    buffered = run(engine, machine(store_buffer=3), [["store", list(range(10))]])
    assert buffered.ticks == 1 + 4 * SERVICE + STORED


@each_engine
def test_stores_are_no_faster_than_memory(engine):
    count = 400
    result = run(engine, machine(stores="at-end"), [["store", [chunk]] for chunk in range(count)])
    assert result.ticks >= (count - 3) * SERVICE


@each_engine
def test_an_atomic_is_done_there(engine):
    result = run(engine, machine(atomic_service=3), [["atomic", [0]], ["atomic", [0, 0]]])
    assert result.ticks == 1 + MEMORY + 1 + 3 + HIT
    assert (result.last_level_hits, result.memory_sectors) == (2, 1)


@each_engine
def test_it_takes_what_the_l2_drops(engine):
    l2 = {"sets": 1, "ways": 1, "latency": 20, "writes": "back"}
    result = run(engine, machine(l2=l2), [["store", [0]], ["load", [1]], ["load", [0]]])
    # The load of 1 drops the written line of 0, which the slice takes behind it, and that of 0 finds it there
    assert result.ticks == 1 + STORED + 1 + MEMORY + 1 + HIT
    assert (result.l2_hits, result.last_level_hits, result.memory_sectors) == (0, 1, 1)


@each_engine
@pytest.mark.parametrize(("start", "hits"), [("cold", (0, 0)), ("warm", (2, 2)), ("kept", (0, 2))])
def test_it_begins_as_the_l2_does(engine, start, hits):
    """Two launches load two chunks, of which the L2 holds none by the time that they are wanted again."""
    l2 = {"sets": 1, "ways": 1, "latency": 20, "start": start}
    loads = [["load", [0]], ["load", [1]]]
    found = [run(engine, machine(l2=l2), *launches).last_level_hits for launches in ([loads], [loads, loads])]
    assert (found[0], found[1] - found[0]) == hits


@each_engine
def test_it_may_begin_warm_behind_a_cold_l2(engine):
    """The L2 has nothing of what the last-level cache has: what is loaded once hits there, and nowhere else."""
    l2 = {"sets": 4, "ways": 4, "latency": 20, "start": "cold"}
    result = run(engine, machine({"start": "warm"}, l2=l2), [["load", [0]], ["load", [1]], ["load", [1]]])
    assert (result.l2_hits, result.last_level_hits, result.memory_sectors) == (1, 2, 0)


@each_engine
def test_a_bandwidth_is_the_service_of_all_slices(engine):
    """Four slices of 128 bytes at 1 GHz: 128e9 bytes a second are one chunk a cycle, so a slice has four."""
    on = machine({"service": 0}, partitions=4)
    by_bandwidth = on.replace({"clock_hz": 1e9, "memory.last_level.bandwidth": 128e9})
    by_service = on.replace({"memory.last_level.service": 4})
    found = [run(engine, each, [["load", [0, 4, 8]], ["load", [0, 4, 8]]]) for each in (by_bandwidth, by_service)]
    assert found[0].ticks == found[1].ticks
    assert by_bandwidth.durations.last_level_service == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"memory.last_level.bandwidth": 1e9}, "needs clock_hz"),
        ({"memory.last_level.bandwidth": 1e9, "memory.last_level.service": 2, "clock_hz": 1e9}, "must be left out"),
    ],
)
def test_a_rate_has_one_key_and_a_clock(changes, words):
    with pytest.raises(MachineError, match=words):
        machine({"service": 0}).replace(changes)


@each_engine
def test_sectors_take_their_part_and_only_what_is_missing_is_read(engine):
    on = machine(sectors=4, fetch_sectors=2)
    result = run(engine, on, [["load", [0], 1, [[32]]], ["load", [0], 1, [[0, 32]]], ["load", [0], 1, [[0, 0, 32]]]])
    assert (result.last_level_hits, result.last_level_sectors, result.memory_sectors) == (1, 6, 4)
    part = run(engine, on, [["store", [0], 1, [[32, 5]]], ["load", [0], 1, [[32]]], ["load", [0], 1, [[0, 32]]]])
    assert (part.last_level_hits, part.memory_sectors) == (1, 2)  # the first load's run is there as a whole


@each_engine
def test_a_store_waits_for_nothing_that_came_from_there(engine):
    on = machine(return_interval=50, port_interval=1)
    cold = run(engine, on, [["load", [0]], ["store", [5]]])
    near = run(engine, on, [["load", [0]], ["pause", 1], ["load", [0]], ["store", [5]]])
    assert cold.ticks == 1 + MEMORY + 1 + 50 + STORED
    assert near.ticks == 1 + MEMORY + 1 + 1 + HIT + 1 + STORED


@each_engine
def test_how_busy_its_slices_are(engine):
    result = run(engine, machine(), [["load", [0, 1]], ["load", [0, 1]]])
    found = {unit.name: unit for unit in units(machine(), result)}
    assert found[LAST_LEVEL].busy == pytest.approx(4 * SLICE / result.ticks)
    assert found[PARTITIONS].busy == pytest.approx(2 * SERVICE / result.ticks)


def test_serial_transfers_have_none():
    with pytest.raises(MachineError, match="last_level: must be left out"):
        machine(transfers="serial", service=0)


def test_a_machine_without_one_keeps_its_digest():
    with_one = machine()
    assert with_one.replace({"memory.last_level": None}).digest() != with_one.digest()
    assert with_one.replace({"memory.last_level": "1KiB"}).memory.last_level.sets == 4
