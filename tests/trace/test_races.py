"""Races in traces written by hand: which two accesses of one word are one."""

import dataclasses

import numpy as np
import pytest

from simtmm.errors import TraceError
from simtmm.trace.io import Trace
from simtmm.trace.races import RaceFinder, find_races
from simtmm.trace.schema import Batch, Kind, TraceArray, TraceSite
from tests.trace.build import barrier, load, shared, store, trace, work

BASE = 512
KINDS = ("load", "store", "atomic", "async", "barrier", "shared_array", "shared_load", "shared_store", "shared_atomic")
LOAD, STORE, ATOMIC, ASYNC, BARRIER, ARRAY, SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC = range(len(KINDS))
SITES = tuple(TraceSite(site, kind, "kernel.cu", 10 + site, f"line of {kind};") for site, kind in enumerate(KINDS))
ARRAYS = (TraceArray("a", BASE, 400, "<i4", (100,)), TraceArray("b", 1024, 800, "<f8", (100,)))


def program(*launches):
    result = trace(*launches)
    return Trace(dataclasses.replace(result.info, sites=SITES, arrays=ARRAYS), list(result.batches()))


def found(*launches):
    """The races as (scope, sites, count)."""
    races = find_races(program(*launches))
    return sorted((race.scope, race.first.site, race.second.site, race.count) for race in races)


def access(what, index=0, size=4):
    return {LOAD: load, STORE: store}.get(what, lambda *_: (what, KINDS[what], BASE + 4 * index, size))(
        what, BASE + 4 * index, size
    )


def in_shared(what, offset=0, size=4):
    return shared(what, offset, size, KINDS[what], ARRAY)


# --- threads of a block -----------------------------------------------------------------------------------------------

WRITES = {STORE, ATOMIC}


@pytest.mark.parametrize("one", [LOAD, ASYNC, STORE, ATOMIC])
@pytest.mark.parametrize("other", [LOAD, ASYNC, STORE, ATOMIC])
def test_two_threads_of_a_block_race_where_one_writes_but_two_atomics_do_not(one, other):
    races = bool({one, other} & WRITES) and not one == other == ATOMIC
    assert bool(found([[[access(one)], [access(other)]]])) == races


@pytest.mark.parametrize("one", [SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC])
@pytest.mark.parametrize("other", [SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC])
def test_shared_memory_is_raced_for_likewise(one, other):
    races = {one, other} - {SHARED_LOAD} and not one == other == SHARED_ATOMIC
    expected = [("block", min(one, other), max(one, other), 1)] if races else []
    assert found([[[in_shared(one)], [in_shared(other)]]]) == expected


def test_a_thread_does_not_race_with_itself():
    assert found([[[access(STORE), access(LOAD), access(STORE), access(ATOMIC)], [access(LOAD, 1)]]]) == []


def test_neighbouring_words_are_not_raced_for():
    assert found([[[access(STORE, thread)] for thread in range(9)]]) == []


def test_a_barrier_between_two_accesses_orders_them():
    assert found([[[access(STORE), barrier(BARRIER)], [barrier(BARRIER), access(LOAD)]]]) == []
    assert found([[[barrier(BARRIER), access(STORE)], [barrier(BARRIER), access(LOAD)]]]) == [("block", 0, 1, 1)]


def test_the_same_stretch_is_counted_from_the_blocks_start_by_barriers_passed():
    first = [barrier(BARRIER), barrier(BARRIER), access(STORE)]
    assert found([[first, [barrier(BARRIER), access(LOAD), barrier(BARRIER)]]]) == []
    assert found([[first, [barrier(BARRIER), barrier(BARRIER), access(LOAD)]]]) == [("block", 0, 1, 1)]


def test_barriers_of_one_block_are_none_of_the_next():
    one = [[barrier(BARRIER), access(STORE)], [barrier(BARRIER)]]
    assert found([one, [[work(0, 1)], [barrier(BARRIER), access(LOAD, 1)]]]) == []


def test_each_racing_access_counts_once_for_each_thing_it_races_with():
    threads = [[access(STORE)], [access(LOAD)], [access(LOAD)], [access(STORE)]]
    # Two loads with the first store; the last store with that store, and with the first load.
    assert found([threads]) == [("block", 0, 1, 3), ("block", 1, 1, 1)]


def test_accesses_of_different_widths_race_where_they_overlap():
    wide = (STORE, "store", BASE, 16)
    assert found([[[wide], [access(LOAD, 3)]]]) == [("block", 0, 1, 1)]
    assert found([[[wide], [access(LOAD, 4)]]]) == []
    byte = (LOAD, "load", BASE + 15, 1)
    assert found([[[wide], [byte]]]) == [("block", 0, 1, 1)]
    assert found([[[access(STORE, 2)], [byte]]]) == []


def test_a_wide_access_that_races_for_each_of_its_words_is_one():
    wide = (STORE, "store", BASE, 16)
    assert found([[[wide, access(LOAD, 9)], [wide]]]) == [("block", 1, 1, 1)]


# --- blocks of a launch -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", [LOAD, ASYNC, STORE, ATOMIC])
@pytest.mark.parametrize("other", [LOAD, ASYNC, STORE, ATOMIC])
def test_two_blocks_race_where_one_stores(one, other):
    blocks = [[[access(one)]], [[access(other)]]]
    expected = [("launch", min(one, other), max(one, other), 1)] if STORE in (one, other) else []
    assert found(blocks) == expected


def test_a_barrier_does_not_order_blocks():
    assert found([[[access(STORE), barrier(BARRIER)]], [[barrier(BARRIER), access(LOAD)]]]) == [("launch", 0, 1, 1)]


def test_launches_come_one_after_another():
    assert found([[[access(STORE)]]], [[[access(LOAD)]], [[access(LOAD)]]]) == []


def test_shared_memory_is_each_blocks_own():
    assert found([[[in_shared(SHARED_STORE)]], [[in_shared(SHARED_STORE)]]]) == []


def test_smaller_words_later_in_a_launch_split_what_was_remembered():
    blocks = [[[(STORE, "store", 1024, 8)]], [[(LOAD, "load", 1028, 4)]], [[(LOAD, "load", 1032, 4)]]]
    assert found(blocks) == [("launch", 0, 1, 1)]


# --- what a finding says ----------------------------------------------------------------------------------------------


def test_a_finding_names_kernel_sites_blocks_threads_array_and_index():
    blocks = [[[work(0, 1)], [(STORE, "store", 1024 + 8 * 7, 8)]], [], [[], [], [(LOAD, "load", 1024 + 8 * 7, 8)]]]
    (race,) = find_races(program([], blocks))
    assert (race.kernel, race.scope, race.launch, race.array, race.index) == ("f", "launch", 1, "b", 7)
    assert not race.shared
    assert dataclasses.astuple(race.first) == (LOAD, "kernel.cu", 10, "line of load;", "load", 2, 2)
    assert dataclasses.astuple(race.second) == (STORE, "kernel.cu", 11, "line of store;", "store", 0, 1)
    assert (race.count, race.benign) == (1, None)
    assert race.line() == (
        "f: within a launch: load and store of b[7]: kernel.cu:10 `line of load;` with kernel.cu:11 `line of store;`: "
        "launch 1, block 2 thread 2, block 0 thread 1; 1 time"
    )


def test_an_array_in_shared_memory_is_named_by_its_declaration_and_the_offset():
    (race,) = find_races(program([[[in_shared(SHARED_STORE, 12)], [in_shared(SHARED_LOAD, 12)]]]))
    assert (race.array, race.shared, race.index) == ("line of shared_array", True, 12)
    assert "load and store of byte 12 of `line of shared_array`: " in race.line()
    assert "block 0, threads 1 and 0; 1 time" in race.line()


def test_the_most_frequent_come_first_and_only_so_many_are_shown():
    threads = [[access(STORE), access(ATOMIC, 1)], [access(LOAD), access(STORE, 1)], [access(LOAD), access(ASYNC, 9)]]
    races = find_races(program([threads]))
    assert [race.count for race in races] == [2, 1]
    assert races.lines(1)[0] == "races: 2 pairs of sites"
    assert races.lines(1)[2:] == ["... and 1 more"]
    document = races.to_dict(1)
    assert (document["pairs"], document["harmful"], document["accesses"], len(document["found"])) == (2, 2, 3, 1)


def test_no_race_says_so():
    races = find_races(program([[[access(LOAD)], [access(LOAD)]]]))
    assert not races
    assert races.lines() == ["races: none found"]


# --- benign -----------------------------------------------------------------------------------------------------------


def benign(*threads):
    """Whether each race of a block is benign; each thread a list of (site, whether a store changed nothing)."""
    result = program([[[access(what) for what, _ in thread] for thread in threads]])
    finder = RaceFinder(SITES, ARRAYS)
    (batch,) = result.batches()
    finder.add(batch, result.info.launches, np.array([silent for thread in threads for _, silent in thread]))
    return {(race.first.site, race.second.site): race.benign for race in finder.found()}


def test_stores_of_the_same_are_benign():
    assert benign([(STORE, False)], [(STORE, True)], [(STORE, True)]) == {(STORE, STORE): True}


def test_stores_of_something_else_are_not():
    assert benign([(STORE, False)], [(STORE, True)], [(STORE, False)]) == {(STORE, STORE): False}


def test_a_load_beside_stores_of_what_was_there_is_benign():
    assert benign([(STORE, True)], [(LOAD, False)], [(STORE, True)]) == {(LOAD, STORE): True, (STORE, STORE): True}


def test_a_load_beside_a_store_that_changes_something_is_not():
    assert benign([(LOAD, False)], [(STORE, False)]) == {(LOAD, STORE): False}
    assert benign([(STORE, False)], [(LOAD, False)]) == {(LOAD, STORE): False}


def test_an_atomic_update_beside_a_store_is_not():
    assert benign([(ATOMIC, False)], [(STORE, True)]) == {(STORE, ATOMIC): False}


# --- batches ----------------------------------------------------------------------------------------------------------


def test_batches_change_nothing():
    blocks = [[[access(STORE, block)], [access(LOAD, block + 1)]] for block in range(6)]
    whole = program(blocks, blocks)
    batches = list(whole.batches())
    assert len(batches) == 12
    joined = Batch(
        np.concatenate([batch.events for batch in batches]),
        np.concatenate([batch.launch for batch in batches]),
        np.concatenate([batch.block for batch in batches]),
        np.arange(2, 26, 2),
    )
    assert find_races(Trace(whole.info, [joined])) == find_races(whole)
    assert found(blocks, blocks) == [("launch", 0, 1, 10)]


# --- against every pair -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_words_raced_for_are_those_of_every_pair_compared(seed):
    random = np.random.default_rng(seed)
    kinds = [LOAD, STORE, ATOMIC, SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC, BARRIER]

    def event():
        what = int(random.choice(kinds))
        if what == BARRIER:
            return barrier(BARRIER)
        return in_shared(what, 4 * int(random.integers(5))) if what > ARRAY else access(what, int(random.integers(5)))

    blocks = [[[event() for _ in range(random.integers(6))] for _ in range(4)] for _ in range(4)]
    expected = set()
    everything = []
    for block, threads in enumerate(blocks):
        for thread, events in enumerate(threads):
            stretch = 0
            for site, kind, value, _ in events:
                if kind == "barrier":
                    stretch += 1
                else:
                    everything.append((block, thread, stretch, site, value))
    for block, thread, stretch, site, value in everything:
        for other_block, other_thread, other_stretch, other_site, other_value in everything:
            if value != other_value or (site > ARRAY and block != other_block):
                continue
            both = {site, other_site}
            if block == other_block:
                writes = both & {STORE, ATOMIC, SHARED_STORE, SHARED_ATOMIC}
                atomics = both <= {ATOMIC, SHARED_ATOMIC}
                if thread != other_thread and stretch == other_stretch and writes and not atomics:
                    expected.add(("block", min(both), max(both)))
            elif STORE in both:
                expected.add(("launch", min(both), max(both)))
    assert expected
    assert {(scope, one, other) for scope, one, other, _ in found(blocks)} == expected


# --- refused ----------------------------------------------------------------------------------------------------------


def test_a_trace_without_arrays_or_sites_is_refused():
    result = trace([[[store(0, BASE)]]])
    with pytest.raises(TraceError, match="outside its arrays"):
        find_races(result)
    with pytest.raises(TraceError, match="sites that it does not list"):
        find_races(Trace(dataclasses.replace(result.info, arrays=ARRAYS), list(result.batches())))


def test_every_kind_that_accesses_memory_is_looked_at():
    accesses = {kind for kind in Kind if Kind.LOAD <= kind <= Kind.SHARED_ATOMIC}
    assert {Kind[name.upper()] for name in KINDS} - accesses == {Kind.BARRIER, Kind.SHARED_ARRAY}
    assert len(accesses) == 7
