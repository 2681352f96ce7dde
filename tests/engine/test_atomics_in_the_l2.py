"""Atomics that are done in the L2, and reduces, section 4, tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.stalls import Stalls
from simtmm.timeline import TRAFFIC

pytestmark = pytest.mark.parametrize("engine", ENGINES)

L2 = {"sets": 1, "ways": 2, "latency": 40, "atomics": "here"}
WARM = {**L2, "start": "warm"}


def run(engine, operations, warps=1, groups=1, scheduling=None, stalls=False, timeline=False, **memory):
    """A launch of warps, a block each, that all do the same; a warp issues an operation a cycle."""
    tables = {
        "name": "m",
        "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
        "scheduling": scheduling or {},
        "memory": {"latency": 100, "chunk_words": 32, **memory},
    }
    workload = Workload.from_dict({"blocks": [{"warps": [operations]}] * warps})
    return simulate(Machine.from_dict(tables), workload, engine, stalls=stalls, timeline=timeline)


def reasons(*arguments, **keys):
    """What is not 0."""
    found = run(*arguments, stalls=True, **keys).stalls
    assert isinstance(found, Stalls)
    return {name: ticks for name, ticks in found.reasons.items() if ticks}


# One word, adjacent words, words apart


@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize("port_interval", [0, 5])
def test_warps_that_update_one_word_take_its_slice_for_each_update(engine, warps, port_interval):
    result = run(
        engine, [["atomic", [7] * 32]], warps, groups=warps, l2=WARM, atomic_service=3, port_interval=port_interval
    )
    assert result.ticks == 1 + (32 * warps - 1) * 3 + 40
    assert result.l2_hits == 32 * warps


def test_words_of_a_chunk_are_one_update_of_the_slice(engine):
    # As by-word lowers them: a chunk for 32 words.
    assert run(engine, [["atomic", [7]]], 4, groups=4, l2=WARM, atomic_service=3).ticks == 1 + 3 * 3 + 40


def test_chunks_apart_pass_the_port_and_take_a_slice_each(engine):
    apart = [["atomic", [0, 1, 2, 3]]]
    l2 = {**WARM, "ways": 4}
    assert run(engine, apart, l2=l2, atomic_service=3, partitions=4).ticks == 1 + 40
    assert run(engine, apart, l2=l2, atomic_service=3, partitions=2).ticks == 1 + 3 + 40
    assert run(engine, apart, l2=l2, atomic_service=3, partitions=4, port_interval=5).ticks == 1 + 3 * 5 + 40


def test_what_an_atomic_lists_again_starts_with_the_entry_before_it(engine):
    # 0 at 1, 1 at 6, then 0 and 1 again without the port, then 2 at 11.
    result = run(engine, [["atomic", [0, 1, 0, 1, 2]]], l2={**WARM, "ways": 4}, port_interval=5)
    assert result.ticks == 1 + 2 * 5 + 40
    assert run(engine, [["atomic", [0, 0]]], l2={"sets": 1, "ways": 4, "latency": 40}, port_interval=5).ticks == 106
    assert run(engine, [["load", [0, 0]]], l2=WARM, port_interval=5).ticks == 1 + 5 + 40


# Hits and misses


@pytest.mark.parametrize(("given", "ticks"), [({}, 41), ({"atomic_latency": 55}, 56), ({"atomic_latency": 1.0}, 2)])
def test_an_atomic_in_the_l2_has_a_latency_of_its_own(engine, given, ticks):
    assert run(engine, [["atomic", [0]]], l2={**WARM, **given}).ticks == ticks


def test_an_atomic_that_misses_reads_its_partition_and_stays(engine):
    keys = {"l2": L2, "service": 60, "atomic_service": 9}
    assert run(engine, [["atomic", [0]]], **keys).ticks == 1 + 100
    assert run(engine, [["atomic", [0, 1]]], **keys).ticks == 1 + 60 + 100
    found = run(engine, [["atomic", [0]], ["load", [0]], ["atomic", [0]]], **keys)
    assert (found.ticks, found.l2_hits) == (1 + 100 + 1 + 40 + 1 + 40, 2)


def test_atomics_wait_for_a_line_on_its_way(engine):
    assert run(engine, [["async", [0]], ["atomic", [0]]], l2=L2).ticks == 1 + 100
    assert run(engine, [["reduce", [0]], ["load", [0]]], l2=L2).ticks == 1 + 100


def test_an_atomic_turns_no_partition_round(engine):
    assert run(engine, [["atomic", [0]]], l2=L2, turnaround=9).ticks == 1 + 100
    assert run(engine, [["atomic", [0]]], l2={**L2, "atomics": "through"}, turnaround=9).ticks == 1 + 9 + 100


@pytest.mark.parametrize("writes", ["through", "back"])
@pytest.mark.parametrize(
    ("first", "written"),
    [
        ([["load", [0]], ["load", [1]]], 0),
        ([["atomic", [0]], ["load", [1]]], 1),
        ([["reduce", [0]], ["atomic", [1]]], 2),
        ([["load", [0]], ["atomic", [0, 0]], ["load", [1]]], 1),
    ],
)
def test_a_line_that_was_updated_is_written_where_it_falls_out(engine, writes, first, written):
    operations = [*first, ["compute", 1000], ["async", [2]], ["async", [3]], ["async", [4]], ["join"]]
    keys = {"service": 60, "l2": {**L2, "writes": writes}}
    begin = run(engine, [*first, ["compute", 1000]], **keys).ticks
    assert run(engine, operations, **keys).ticks == begin + 1 + (2 + written) * 60 + 100


def test_a_warm_l2_holds_what_was_updated_and_has_it_to_write(engine):
    def ticks(start):
        l2 = {**L2, "ways": 1, "start": start}
        return run(engine, [["async", [1]], ["async", [2]], ["join"], ["reduce", [0]]], service=60, l2=l2).ticks

    assert ticks("warm") == ticks("cold") + 60


def test_an_atomic_takes_its_line_out_of_an_l1_where_stores_do(engine):
    l1 = {"sets": 1, "ways": 2, "latency": 10}
    operations = [["load", [0]], ["atomic", [0]], ["load", [0]]]
    assert run(engine, operations, l1=l1, l2=L2).ticks == 3 + 100 + 40 + 10
    assert run(engine, operations, l1=l1, l2=L2, l1_after_store="drop").ticks == 3 + 100 + 40 + 40


def test_chunks_of_an_atomic_follow_one_another_where_transfers_are_serial(engine):
    assert run(engine, [["atomic", [0, 0, 1]]], transfers="serial", l2=L2).ticks == 1 + 100 + 40 + 100


# Slices


def test_an_atomic_holds_up_what_comes_to_its_slice_behind_it(engine):
    # The atomics have the slice from 1 to 28; the load of a hit comes at 2.
    behind = [["reduce", [0, 0, 0]], ["load", [1]]]
    warm = {"l2": WARM, "atomic_service": 9}
    assert run(engine, behind, **warm).ticks == 1 + 27 + 40
    assert run(engine, behind, partitions=2, **warm).ticks == 1 + 18 + 40  # the load is there at 42


def test_loads_take_a_slice_for_its_service_and_atomics_for_theirs(engine):
    l2 = {**WARM, "service": 5}
    assert run(engine, [["async", [0, 1]], ["atomic", [1]]], l2=l2, atomic_service=9).ticks == 1 + 10 + 40
    assert run(engine, [["reduce", [0, 1]], ["load", [1]]], l2=l2, atomic_service=9).ticks == 1 + 18 + 40


# Reduces


@pytest.mark.parametrize("here", [{}, {"l2": L2}])
def test_nobody_waits_for_a_reduce_but_the_end(engine, here):
    for operations in ([["compute", 50]], [["join"], ["compute", 50]], [["barrier"], ["compute", 50]]):
        assert run(engine, [["reduce", [0]], *operations], **here).ticks == 1 + 100
    assert run(engine, [["reduce", [0]], ["compute", 300]], **here).ticks == 301
    long = run(engine, [["reduce", [0]], ["compute", 100_000], ["reduce", [0]]], **here)
    assert long.ticks == 100_002 + (40 if here else 100)


def test_a_reduce_is_an_atomic_to_everybody_else(engine):
    through = {"service": 5, "atomic_service": 9, "turnaround": 7}
    for first in ("atomic", "reduce"):
        # Turned round until 8, updated until 17 and 26; turned round again until 33.
        alone = run(engine, [[first, [0, 0]]], **through).ticks
        assert alone == 1 + 7 + 9 + 100
    assert run(engine, [["reduce", [0, 0]], ["load", [1]]], **through).ticks == 1 + 7 + 18 + 7 + 100


def test_a_warp_goes_on_behind_a_reduce_as_behind_a_posted_store(engine):
    scheduling = {"switch": "every-instruction", "pipeline_depth": 4}
    operations = [["reduce", [0]], ["compute", 1], ["load", [1]]]
    assert run(engine, operations, scheduling=scheduling).ticks == 4 + 4 + 1 + 100
    posted = [["store", [0]], *operations[1:]]
    assert run(engine, posted, scheduling=scheduling, stores="posted").ticks == 4 + 4 + 1 + 100


def test_a_group_lacks_translations_for_a_reduce_too(engine):
    assert run(engine, [["reduce", [0]]], first_access=30).ticks == 1 + 100 + 30


# Where ticks go


def test_who_waits_at_a_slice_for_atomics_waits_for_atomics(engine):
    keys = {"l2": {**WARM, "ways": 4, "service": 2}, "atomic_service": 9}
    assert reasons(engine, [["atomic", [0, 0]]], **keys) == {"issuing": 1, "atomics_queue": 9, "l2_latency": 40}
    # Behind the reduce, which has the slice from 1 to 10, the loads come at 2; the second waits for the first as well.
    behind = reasons(engine, [["reduce", [0]], ["load", [1]]], **keys)
    assert behind == {"issuing": 2, "atomics_queue": 8, "l2_latency": 40}
    last = reasons(engine, [["reduce", [0]], ["load", [1, 2]]], **keys)
    assert last == {"issuing": 2, "l2_queue": 10, "l2_latency": 40}
    store = reasons(engine, [["reduce", [0]], ["store", [1]]], **(keys | {"l2": {**keys["l2"], "writes": "back"}}))
    assert store == {"issuing": 2, "atomics_queue": 8, "l2_latency": 100}


def test_an_atomic_that_misses_waits_for_memory(engine):
    found = reasons(engine, [["atomic", [0, 1]]], l2=L2, service=30, atomic_service=9)
    assert found == {"issuing": 1, "atomics_queue": 9, "memory_queue": 21, "memory_latency": 100}


def test_atomics_in_the_l2_count_as_what_looks_into_it(engine):
    result = run(engine, [["load", [0]], ["atomic", [0, 0, 1]]], l2=L2, timeline=True, stalls=True)
    assert result.traffic is not None
    found = dict(zip(TRAFFIC, result.traffic.chunks.sum(axis=0).tolist(), strict=True))
    assert found == {
        "loads": 1, "others": 3, "l1_hits": 0, "l2_loads": 4, "l2_stores": 0, "l2_hits": 2, "memory": 2,
        "l2_sectors": 4, "memory_sectors": 2,
        **dict.fromkeys(("last_level_loads", "last_level_stores", "last_level_hits", "last_level_sectors"), 0),
        **dict.fromkeys(("shared_l1_loads", "shared_l1_hits", "shared_l1_sectors"), 0),
    }  # fmt: skip
    assert isinstance(result.stalls, Stalls)
    (row,) = (row for row in result.stalls.rows() if row["kind"] == "atomic")
    chunk = 128
    assert (row["l2_bytes"], row["memory_bytes"], row["l2_hit_rate"]) == (3 * chunk, chunk, 2 / 3)
