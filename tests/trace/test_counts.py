"""Counts: work, span, memory operations, threads in use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Machine, count, lower, simulate
from simtmm.errors import TraceError
from simtmm.testing import machines
from simtmm.trace.counts import LaunchCounts
from tests.examples import examples
from tests.trace.build import barrier, load, shared, store, trace, work


def machine(**changes):
    tables = {
        "name": "m",
        "cores": {"groups": 2, "cores_per_group": 4, "warp_width": 4, "max_threads_per_core": 4},
        "memory": {"latency": 100, "chunk_words": 8},
    }
    return Machine.from_dict(tables).replace(changes)


def fetch(site, address=0):
    return site, "async", address, 4


def join(site, but):
    return site, "join", but, 0


def test_work_counts_operations_and_every_access_once():
    thread = [work(0, 5), load(1, 0), store(2, 0), shared(3, 0), (4, "atomic", 0, 4), (5, "async", 0, 4)]
    controls = [(6, "join", 0, 0), barrier(7)]
    assert count(trace([[thread + controls]]), machine()).work == 5 + 5


def test_span_is_the_longest_thread_where_no_barrier_orders_them():
    assert count(trace([[[work(0, 5)], [work(0, 9)]], [[work(0, 2)], []]]), machine()).span == 9


def test_span_adds_the_longest_thread_from_barrier_to_barrier():
    first = [work(0, 5), barrier(1), work(2, 1)]
    second = [work(0, 2), barrier(1), work(2, 7), barrier(3), work(4, 1)]
    assert count(trace([[first, second]]), machine()).span == 5 + 7 + 1


def test_span_is_of_the_longest_block_and_launches_follow_one_another():
    long, short = [[work(0, 9)]], [[work(0, 4)]]
    assert count(trace([short, long], [short]), machine()).span == 9 + 4


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("amounts", [range(1, 9), [4, 9, 2, 2, 7, 1, 3, 5]], ids=["in steps", "without order"])
def test_span_is_of_the_longest_thread_whichever_of_its_work_differs(place, amounts):
    """Threads that do the same are counted by one of them: each work decides whether they do."""
    block = [[work(site, amount if site == place else 3) for site in range(3)] for amount in amounts]
    assert count(trace([block]), machine()).span == max(amounts) + 2 * 3


HALF = [work(0, 2**62 - 1)]  # the most that an event may hold


@pytest.mark.parametrize(
    "launches",
    [[[[HALF, HALF, [work(0, 1)]]]], [[[HALF], [HALF], [[work(0, 1)]]]], [[[HALF]], [[HALF]], [[[work(0, 1)]]]]],
    ids=["threads", "blocks", "launches"],
)
def test_work_is_counted_up_to_what_64_bits_hold(launches):
    assert count(trace(*launches), machine()).work == 2**63 - 1


@pytest.mark.parametrize(
    ("launches", "place"),
    [
        ([[[HALF, HALF, [work(0, 2)]]]], "launch 0 of f, block 0"),
        ([[[HALF], [HALF], [[]], [[work(0, 2)]]]], "launch 0 of f, block 3"),
        ([[[HALF]], [[HALF]], [[[]], [[work(0, 2)]]]], "launch 2 of f, block 1"),
    ],
    ids=["threads", "blocks", "launches"],
)
def test_more_work_is_refused_where_it_goes_over(launches, place):
    with pytest.raises(TraceError, match=rf"^hand: {place}: .* must be below 2\^63$"):
        count(trace(*launches), machine())


def test_memory_operations_are_chunks_after_coalescing_atomics_one_for_each_update():
    coalesced = [[load(0, 4 * lane)] for lane in range(4)]
    scattered = [[load(0, 32 * lane)] for lane in range(4)]
    updates = [[(0, "atomic", 0, 4)] for _ in range(4)]
    for threads, chunks in ((coalesced, 1), (scattered, 4), (updates, 4)):
        counts = count(trace([threads]), machine())
        assert (counts.memory_operations, counts.memory_instructions) == (chunks, 1)


def test_of_the_memory_operations_stores_and_updates_are_reported():
    threads = [[load(0, 32 * lane), store(1, 64 * lane), (2, "atomic", 0, 4), fetch(3)] for lane in range(4)]
    (launch,) = count(trace([threads]), machine()).launches
    assert (launch.store_operations, launch.atomic_operations) == (4, 4)
    assert launch.memory_operations == 4 + 4 + 4 + 1


def test_memory_operations_are_those_that_an_engine_moves():
    program = trace([[[load(0, 40 * lane), store(1, 4 * lane)] for lane in range(10)]] * 3)
    counts = count(program, machine())
    assert counts.memory_operations == simulate(machine(), lower(program, machine())).transactions


@pytest.mark.parametrize(("blocks", "in_use"), [(1, 1), (3, 3), (4, 4), (9, 4)])
def test_threads_per_core_are_those_resident_at_once(blocks, in_use):
    # 8 threads a block, 16 a group: two blocks in each of two groups, on 8 cores in all.
    counts = count(trace([[[work(0, 1)]] * 8] * blocks), machine())
    assert counts.threads_per_core == in_use * 8 / 8
    assert counts.warps_in_use == in_use * 2


def test_occupancy_lowers_the_threads_in_use():
    program = trace([[[load(0, 0)]] * 8] * 9, shared_memory=600)
    limited = machine(**{"resources.shared_memory": 1000})
    (launch,) = count(program, limited).launches
    assert isinstance(launch, LaunchCounts)
    assert (launch.active_blocks, launch.blocks_in_use, launch.threads_per_core) == (1, 2, 2.0)


def test_threads_per_core_over_launches_keep_the_sum_of_memory_times():
    few, many = [[load(0, 0)]] * 4, [[load(0, 0)]] * 16
    counts = count(trace([few], [many, many]), machine())
    each = [launch.memory_operations / launch.threads_per_core for launch in counts.launches]
    assert counts.memory_operations / counts.threads_per_core == pytest.approx(sum(each))


def test_a_trace_without_events_counts_nothing():
    counts = count(trace([[[], []]]), machine())
    assert (counts.work, counts.span, counts.memory_operations) == (0, 0, 0)
    assert counts.threads_per_core == 2 / 8


def test_waits_are_those_of_the_warp_that_waits_most_launch_by_launch():
    loads, updates = [load(0, 0), load(1, 0)], [(0, "atomic", 0, 4)]
    joined = [(0, "async", 0, 4), (1, "async", 32, 4), (2, "join", 0, 0), store(3, 0)]
    program = trace([[loads + updates], [loads]], [[joined]])
    assert count(program, machine(**{"memory.stores": "posted"})).waits == 3 + 1
    assert count(program, machine(**{"memory.stores": "blocking"})).waits == 3 + 2


@pytest.mark.parametrize(
    ("thread", "waits"),
    [
        ([fetch(0), join(1, 0), fetch(2), join(3, 0)], 2),
        ([fetch(0), fetch(1), work(2, 3), join(3, 0)], 1),
        ([fetch(0), join(1, 1), fetch(2), join(3, 1), fetch(4), join(5, 1)], 2),  # two in flight at once
        ([fetch(0), join(1, 5)], 1),  # the end of the list
        ([fetch(0), barrier(1), load(2, 0)], 2),
        ([fetch(0), load(1, 0), join(2, 0)], 1),
    ],
    ids=["one by one", "together", "two at once", "end", "barrier", "behind a load"],
)
def test_asyncs_are_waited_for_where_something_waits_for_them(thread, waits):
    assert count(trace([[thread]]), machine()).waits == waits


@pytest.mark.parametrize(("latency", "waits"), [(None, 3), (100, 3), (101, 3), (99, 1)])
def test_a_store_is_a_wait_where_it_takes_the_latency(latency, waits):
    program = trace([[[load(0, 0), store(1, 0), store(2, 0)]]])
    assert count(program, machine(**{"memory.store_latency": latency})).waits == waits


def test_a_run_without_caches_takes_the_latency_for_each_wait():
    program = trace([[[load(0, 32 * i) for i in range(5)], [load(0, 0)]]], [[[work(0, 9), load(1, 0)]]])
    counts = count(program, machine())
    assert counts.waits == 5 + 1
    assert simulate(machine(), lower(program, machine())).cycles >= counts.waits * machine().memory.latency


events = st.one_of(
    st.builds(work, st.integers(0, 5), st.integers(0, 9)),
    st.builds(load, st.integers(0, 5), st.integers(0, 999)),
    st.builds(store, st.integers(0, 5), st.integers(0, 999)),
    st.builds(fetch, st.integers(0, 5), st.integers(0, 999)),
    st.builds(join, st.integers(0, 5), st.integers(0, 3)),
)


@given(made=machines(), block=st.lists(st.lists(events, max_size=12), min_size=1, max_size=6))
@examples(100)
def test_no_run_without_caches_takes_less_than_its_waits(made, block):
    bare = made.replace({"memory.l1": None, "memory.l2": None})
    program = trace([block])
    ticks = simulate(bare, lower(program, bare), "reference").ticks
    assert ticks >= count(program, bare).waits * bare.ticks(bare.memory.latency)


# Of a launch, for the models that take it apart


def launch_counts(*launches, **changes):
    return count(trace(*launches), machine(**changes)).launches


def test_instructions_are_those_that_take_a_port_and_conflicts_repeat():
    threads = [[work(0, 5), load(1, 0), shared(2, 4 * 32 * lane), barrier(3), store(4, 0)] for lane in range(4)]
    (launch,) = launch_counts([threads, threads])
    assert launch.instructions == 2 * (5 + 1 + 4 + 1)  # four threads, one bank
    result = machine()
    assert (
        launch.instructions * result.issue_cycles
        == simulate(result, lower(trace([threads, threads]), result)).port_busy
    )


@pytest.mark.parametrize(
    ("addresses", "size", "uncoalesced", "chunks"),
    [
        ([0, 4, 8, 12], 4, 0, 0),
        ([20, 24, 28, 32], 4, 1, 2),  # misaligned: two chunks of 32 bytes where one would do
        ([0, 16, 32, 48], 16, 0, 0),  # 64 bytes take two chunks anyway
        ([0, 32, 64, 96], 4, 1, 4),
    ],
    ids=["neighbours", "misaligned", "wide", "scattered"],
)
def test_uncoalesced_instructions_list_more_chunks_than_neighbours_would(addresses, size, uncoalesced, chunks):
    (launch,) = launch_counts([[[load(0, address, size)] for address in addresses]])
    assert (launch.uncoalesced_instructions, launch.uncoalesced_operations) == (uncoalesced, chunks)
    assert launch.memory_instructions == 1


def test_under_segments_a_transaction_for_each_half_warp_is_coalesced():
    rule = {"cores.warp_width": 32, "memory.chunk_words": 32, "memory.coalescing": "half-warp-segments"}
    rule |= {"cores.max_threads_per_core": 32}
    coalesced = [[load(0, 4 * lane)] for lane in range(32)]
    scattered = [[load(0, 256 * (lane // 16) + 128 * (lane % 2))] for lane in range(32)]
    for threads, expected in ((coalesced, (0, 0)), (scattered, (1, 4))):
        (launch,) = launch_counts([threads], **rule)
        assert (launch.uncoalesced_instructions, launch.uncoalesced_operations) == expected


def test_barriers_are_those_of_the_block_with_most_and_accesses_those_of_the_thread_with_most():
    calm = [[load(0, 0), barrier(1)], [work(0, 1), barrier(1)]]
    busy = [[load(0, 0), barrier(1), store(2, 0), barrier(3)], [(0, "atomic", 0, 8), barrier(1), barrier(3)]]
    first, second = launch_counts([calm, busy], [calm])
    assert (first.barriers, first.accesses, first.thread_accesses) == (2, 4, 2)
    assert (second.barriers, second.accesses, second.thread_accesses) == (1, 1, 1)


def test_bytes_are_those_that_threads_ask_for_and_atomics_both_read_and_write():
    thread = [load(0, 0, 4), (1, "async", 0, 16), store(2, 0, 8), (3, "atomic", 0, 2), shared(4, 0, 4)]
    (launch,) = launch_counts([[thread, thread]])
    assert (launch.bytes_read, launch.bytes_written) == (2 * (4 + 16 + 2), 2 * (8 + 2))


def test_launches_without_events_count_nothing():
    first, second = launch_counts([[[], []]], [[[load(0, 0)]]])
    assert (first.instructions, first.barriers, first.accesses, first.thread_accesses, first.bytes_read) == (0,) * 5
    assert (second.instructions, second.accesses, second.bytes_read) == (1, 1, 4)
