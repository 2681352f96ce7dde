"""Lowering: threads to warps in lockstep, addresses to chunks."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Machine, count, load_machine, load_trace, lower, simulate
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.errors import TraceError, WorkloadError
from simtmm.native import Loop, as_python
from simtmm.trace.coalescing import transactions
from simtmm.trace.lower import fit
from simtmm.trace.schema import Batch
from tests.examples import examples
from tests.trace.build import barrier, load, shared, store, trace, work


def machine(width=4, chunk_words=8, word_bytes=4, **changes):
    tables = {
        "name": "m",
        "cores": {"groups": 2, "cores_per_group": 4, "warp_width": width, "max_threads_per_core": 64},
        "memory": {"latency": 100, "chunk_words": chunk_words, "word_bytes": word_bytes},
    }
    return Machine.from_dict(tables).replace(changes)


def lowered(threads, **keys):
    """The warps of a block of these threads, each a list of operations."""
    (launch,) = lower(trace([threads]), machine(**keys)).to_dict()["launches"]
    (block,) = launch["blocks"]
    return block["warps"]


def test_threads_of_a_warp_that_touch_one_chunk_make_one_transfer():
    assert lowered([[load(0, 512 + 4 * lane)] for lane in range(4)]) == [[["load", [16]]]]


def test_chunks_stand_in_the_order_of_their_first_thread_without_duplicates():
    addresses = [96, 0, 100, 32]
    assert lowered([[load(0, address)] for address in addresses]) == [[["load", [3, 0, 1]]]]


def test_an_access_across_a_boundary_touches_both_chunks():
    assert lowered([[load(0, 30, 4)]]) == [[["load", [0, 1]]]]
    assert lowered([[load(0, 28, 4)]]) == [[["load", [0]]]]
    assert lowered([[load(0, 0, 16)]], chunk_words=1) == [[["load", [0, 1, 2, 3]]]]


@pytest.mark.parametrize(
    ("chunk_words", "word_bytes", "chunks"), [(1, 4, [0, 1, 2, 3]), (2, 4, [0, 1]), (1, 8, [0, 1])]
)
def test_the_same_trace_serves_every_c(chunk_words, word_bytes, chunks):
    threads = [[load(0, 4 * lane)] for lane in range(4)]
    assert lowered(threads, chunk_words=chunk_words, word_bytes=word_bytes) == [[["load", chunks]]]


@pytest.mark.parametrize(("width", "warps"), [(1, 6), (4, 2), (64, 1)])
def test_the_same_trace_serves_every_w(width, warps):
    threads = [[load(0, 32 * lane)] for lane in range(6)]
    found = lowered(threads, width=width)
    assert len(found) == warps
    assert [chunk for warp in found for _, chunks in warp for chunk in chunks] == list(range(6))


def test_the_lowest_site_goes_first_so_that_threads_meet_behind_a_branch():
    taken = [work(0, 1), load(1, 0), load(2, 64)]
    not_taken = [work(0, 1), load(2, 96)]
    assert lowered([taken, not_taken]) == [[["compute", 1], ["load", [0]], ["load", [2, 3]]]]


def test_threads_that_loop_longer_are_waited_for_behind_the_loop():
    def thread(rounds, after):
        return [load(1, 0)] * rounds + [load(5, after)]

    assert lowered([thread(1, 32), thread(3, 64)]) == [[["load", [0]]] * 3 + [["load", [1, 2]]]]


def test_work_at_one_site_takes_as_long_as_the_thread_with_most():
    assert lowered([[work(0, 3)], [work(0, 5)]]) == [[["compute", 5]]]


def test_work_at_several_sites_is_one_after_another_and_neighbours_merge():
    assert lowered([[work(0, 3), work(2, 1)], [work(1, 5)]]) == [[["compute", 9]]]


LARGEST_VALUE = 2**62 - 1  # of a trace


def test_work_of_no_operations_is_nothing():
    assert lowered([[load(0, 0), work(1, 0), load(2, 32), work(3, 0)]]) == [[["load", [0]], ["load", [1]]]]
    assert lowered([[work(0, 0)], [work(0, 2)]]) == [[["compute", 2]]]


def test_work_that_merges_to_what_64_bits_hold_is_lowered():
    thread = [work(0, LARGEST_VALUE), work(1, LARGEST_VALUE), work(2, 1)]
    assert lowered([thread]) == [[["compute", 2**63 - 1]]]


def test_work_that_merges_to_more_is_refused_by_launch_and_block():
    thread = [work(0, LARGEST_VALUE), work(1, LARGEST_VALUE), work(2, 2)]
    program = trace([[[work(0, 1)]]], [[[work(0, 1)]], [[]], [[], thread]])
    with pytest.raises(WorkloadError, match=r"^hand: launch 1 of f, block 2: .* must be below 2\^63$"):
        lower(program, machine())


@pytest.mark.parametrize(
    "event", [work(0, 2**62), load(0, 2**63), (0, "join", 2**64 - 1, 0), shared(0, 0, array=2**30)]
)
def test_a_value_that_no_file_may_hold_is_refused_in_memory_too(event):
    with pytest.raises(TraceError, match=r"^hand: launch 0 of f, block 1: value \d+: .* must be below 2\^62$"):
        lower(trace([[[work(0, 1)]], [[event]]]), machine())


def test_a_launch_of_more_blocks_than_a_trace_can_number_is_refused():
    with pytest.raises(TraceError, match=r"^hand: launch 0 of f: \d+ blocks: must be below 2\^31$"):
        lower(trace([[[work(0, 1)]]], blocks=2**70), machine())


def test_a_barrier_is_reached_when_all_living_threads_of_the_warp_are_at_one():
    slow = [load(7, 0), barrier(1), load(9, 32)]
    fast = [barrier(1), load(9, 64)]
    gone = [load(7, 96)]
    assert lowered([fast, slow, gone]) == [[["load", [0, 3]], ["barrier"], ["load", [2, 1]]]]


def test_threads_may_wait_at_different_barriers_of_the_source():
    assert lowered([[barrier(3), load(9, 0)], [barrier(5), load(9, 32)]]) == [[["barrier"], ["load", [0, 1]]]]


def test_stores_asyncs_and_joins_keep_their_kind():
    thread = [(0, "async", 0, 4), (1, "async", 32, 4), (2, "join", 1, 0), (3, "join", 0, 0), store(4, 64)]
    assert lowered([thread]) == [[["async", [0]], ["async", [1]], ["join", 1], ["join", 0], ["store", [2]]]]


def test_a_join_leaves_out_as_many_as_the_thread_that_leaves_out_fewest():
    asyncs = [(0, "async", 0, 4), (1, "async", 32, 4)]
    assert lowered([[*asyncs, (2, "join", 1, 0)], [*asyncs, (2, "join", 0, 0)]])[0][-1] == ["join", 0]


def test_an_atomic_lists_a_chunk_for_each_update():
    assert lowered([[(0, "atomic", 0, 4)] for _ in range(4)]) == [[["atomic", [0, 0, 0, 0]]]]


# memory.coalescing = "half-warp-segments"

SEGMENTS = {"width": 32, "chunk_words": 32, "memory.coalescing": "half-warp-segments"}


def chunks_by_segments(addresses, size=4, **keys):
    ((operation,),) = lowered([[load(0, address, size)] for address in addresses], **{**SEGMENTS, **keys})
    assert operation[0] == "load"
    return operation[1]


def test_each_half_warp_lists_a_chunk_for_each_of_its_transactions():
    assert chunks_by_segments(range(0, 128, 4)) == [0, 0]
    assert chunks_by_segments(range(64, 192, 4)) == [0, 1]
    assert chunks_by_segments([128 * lane for lane in range(32)]) == list(range(32))
    assert chunks_by_segments([0] * 5) == [0]
    assert chunks_by_segments([126, 126], size=4) == [0, 1]


def test_segments_are_those_of_the_accesss_size_and_lie_in_chunks_of_any_multiple_of_128_bytes():
    assert chunks_by_segments([0, 32], size=1) == [0, 0]
    assert chunks_by_segments([0, 128, 256, 384], chunk_words=64) == [0, 0, 1, 1]


def test_half_warps_are_counted_from_the_first_thread_of_a_warp():
    addresses = [4 * (lane % 8) for lane in range(48)]
    (first, second) = lowered([[load(0, address)] for address in addresses], **{**SEGMENTS, "width": 24})
    assert first == second == [["load", [0, 0]]]


def test_threads_that_are_elsewhere_take_no_part_in_a_half_warps_transactions():
    threads = [[load(0, 0)] if lane % 2 else [load(1, 256), work(2, 1)] for lane in range(32)]
    assert lowered(threads, **SEGMENTS) == [[["load", [0, 0]], ["load", [2, 2]], ["compute", 1]]]


def test_asyncs_and_stores_coalesce_alike_and_atomics_list_a_chunk_for_each_update():
    thread = [(0, "async", 0, 4), (1, "join", 0, 0), (2, "atomic", 128, 4), store(3, 256), barrier(4)]
    operations = [["async", [0]], ["join", 0], ["atomic", [1] * 3], ["store", [2]], ["barrier"]]
    assert lowered([thread] * 3, **SEGMENTS) == [operations]


def test_warps_and_blocks_keep_their_operations_apart_under_segments():
    blocks = [[[load(0, 128 * block + 4 * lane), load(1, 0)] for lane in range(40)] for block in range(3)]
    result = lower(trace(blocks, blocks[:1]), machine(**SEGMENTS)).to_dict()["launches"]
    found = [block["warps"] for launch in result for block in launch["blocks"]]
    whole = [[["load", [block, block]], ["load", [0, 0]]] for block in (0, 1, 2, 0)]
    rest = [[["load", [block + 1]], ["load", [0]]] for block in (0, 1, 2, 0)]
    assert found == [[first, second] for first, second in zip(whole, rest, strict=True)]


def test_a_trace_without_memory_accesses_lowers_by_segments_too():
    assert lowered([[work(0, 3)], []], **SEGMENTS) == [[["compute", 3]]]
    assert lowered([[], []], **SEGMENTS) == [[]]


@given(addresses=st.lists(st.integers(0, 500).map(lambda word: 4 * word), min_size=1, max_size=32))
@examples(50)
def test_both_rules_touch_the_same_chunks(addresses):
    (chunks,) = lowered([[load(0, address)] for address in addresses], width=32, chunk_words=32)[0][0][1:]
    by_segments = chunks_by_segments(addresses)
    assert set(by_segments) == set(chunks)
    assert len(by_segments) >= len(chunks)
    halves = [addresses[:16], addresses[16:]]
    assert by_segments == [address // 128 for half in halves for address, _ in transactions(half)]


def test_both_engines_run_transactions_that_list_a_chunk_twice():
    result = machine(**{**SEGMENTS, "memory.service": 3, "memory.l1": {"sets": 1, "ways": 2, "latency": 5}})
    workload = lower(trace([[[load(0, 4 * lane), load(1, 4 * lane)] for lane in range(32)]]), result)
    results = [simulate(result, workload, engine=engine) for engine in ("reference", "fast")]
    assert results[0] == results[1]
    assert (results[0].transactions, results[0].l1_hits) == (4, 3)


def degree(offsets, kind="shared_load", size=4, **keys):
    ((operation,),) = lowered([[shared(0, offset, size, kind)] for offset in offsets], **{"width": 32, **keys})
    assert operation[0] == "shared"
    return operation[1]


@pytest.mark.parametrize(
    ("stride", "expected"), [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1), (31, 1)]
)
def test_the_conflict_degree_is_the_most_words_of_one_bank(stride, expected):
    assert degree([4 * stride * lane for lane in range(32)]) == expected


def test_threads_that_read_one_word_do_not_conflict_but_updates_of_it_do():
    assert degree([0] * 32) == 1
    assert degree([0] * 32, kind="shared_store") == 1
    assert degree([0] * 32, kind="shared_atomic") == 32


def test_an_access_of_two_words_takes_two_banks():
    assert degree([8 * lane for lane in range(16)], size=8) == 1
    assert degree([8 * lane for lane in range(32)], size=8) == 2


def test_banks_are_a_key_of_the_machine():
    offsets = [4 * lane for lane in range(32)]
    assert degree(offsets, **{"banks.count": 16}) == 2
    assert degree(offsets, **{"banks.count": 16, "banks.lanes": 16}) == 1
    assert degree([4 * 16 * lane for lane in range(32)], **{"banks.count": 16, "banks.lanes": 16}) == 16
    assert degree([8 * lane for lane in range(32)], **{"banks.word_bytes": 8}) == 1


@pytest.mark.parametrize(
    ("threads", "expected"),
    [
        (8, 8),  # one pass, in which eight words of a bank conflict
        (16, 16),
        (20, 10),  # passes of 16 and of 4 words of a bank, where two would do without conflicts
        (32, 16),
    ],
)
def test_the_degree_of_a_warp_that_is_not_full_is_over_the_passes_that_its_own_threads_take(threads, expected):
    assert degree([4 * 16 * lane for lane in range(threads)], **{"banks.count": 16, "banks.lanes": 16}) == expected


def test_the_last_warp_of_a_block_takes_fewer_passes_than_a_full_one():
    threads = [[shared(0, 4 * 16 * lane)] for lane in range(48)]
    full, half = lowered(threads, width=32, **{"banks.count": 16, "banks.lanes": 16})
    assert (full, half) == ([["shared", 16]], [["shared", 16]])


def test_blocks_without_events_are_blocks_of_idle_warps():
    only_the_second = trace([[[], [], []], [[work(0, 1)], [], []]], [[[work(0, 2)]]], blocks=4)
    workload = lower(only_the_second, machine(width=2)).to_dict()["launches"]
    assert [block["warps"] for block in workload[0]["blocks"]] == [[[], []], [[["compute", 1]], []], [[], []], [[], []]]
    assert [block["warps"] for block in workload[1]["blocks"]] == [[[["compute", 2]]], [[]], [[]], [[]]]


def test_each_launch_carries_its_occupancy():
    limited = machine(**{"resources.registers": 1000, "limits.blocks_per_group": 8})
    threads = [[work(0, 1)]] * 20
    assert lower(trace([threads], registers=10), limited).launch_limits.tolist() == [5]
    assert lower(trace([threads], registers=1), limited).launch_limits.tolist() == [8]


def test_a_block_that_no_group_has_room_for_is_refused_by_launch_and_resource():
    limited = machine(**{"resources.shared_memory": 1000})
    with pytest.raises(WorkloadError, match=r"launch 0 of f: .*2000 bytes of shared memory .* has 1000 bytes"):
        lower(trace([[[work(0, 1)]]], shared_memory=2000), limited)


threads = st.lists(
    st.lists(
        st.one_of(
            st.builds(load, st.integers(0, 9), st.integers(0, 500), st.sampled_from([1, 4, 8, 16])),
            st.builds(work, st.integers(10, 12), st.integers(1, 9)),
            st.builds(shared, st.integers(13, 14), st.integers(0, 60).map(lambda word: 4 * word)),
        ),
        max_size=8,
    ),
    min_size=1,
    max_size=9,
)


def chunks_of(thread, chunk_bytes):
    for _, kind, value, size in thread:
        if kind == "load":
            yield set(range(value // chunk_bytes, (value + size - 1) // chunk_bytes + 1))


@given(threads=threads, width=st.sampled_from([1, 2, 4, 32]), chunk_words=st.sampled_from([1, 3, 8]))
@examples(100)
def test_no_access_and_no_work_is_lost(threads, width, chunk_words):
    warps = lowered(threads, width=width, chunk_words=chunk_words)
    for number, warp in enumerate(warps):
        own = threads[number * width : (number + 1) * width]
        touched = [set(chunks) for name, chunks in (op for op in warp if op[0] == "load")]
        for thread in own:
            following = iter(touched)
            # A thread's accesses are among the warp's, in its own order.
            assert all(any(chunks <= found for found in following) for chunks in chunks_of(thread, 4 * chunk_words))
        loads = [chunks for name, chunks in (op for op in warp if op[0] == "load")]
        assert all(len(chunks) == len(set(chunks)) for chunks in loads)
        computed = sum(op[1] for op in warp if op[0] == "compute")
        each = [sum(value for _, kind, value, _ in thread if kind == "work") for thread in own]
        assert max(each) <= computed <= sum(each)
        accesses = [sum(kind == "shared_load" for _, kind, _, _ in thread) for thread in own]
        assert max(accesses) <= sum(op[0] == "shared" for op in warp) <= sum(accesses)


@given(threads=threads)
@examples(50)
def test_a_warp_of_one_thread_does_what_the_thread_does(threads):
    for thread, warp in zip(threads, lowered(threads, width=1), strict=True):
        done = [op for op in warp if op[0] != "compute"]
        asked = [event for event in thread if event[1] != "work"]
        assert len(done) == len(asked)
        for (name, what), (_, kind, value, size) in zip(done, asked, strict=True):
            if kind == "load":
                assert what == list(range(value // 32, (value + size - 1) // 32 + 1))
            else:
                assert (name, what) == ("shared", 1)


def test_batches_of_any_cut_lower_alike():
    blocks = [[[load(0, 32 * block), work(1, block + 1)]] * 3 for block in range(7)]
    whole = trace(blocks)
    events = np.concatenate([batch.events for batch in whole.batches()])
    counts = [len(batch.events) for batch in whole.batches()]
    one = Batch(events, np.zeros(7, np.int32), np.arange(7, dtype=np.int32), np.cumsum(counts))
    merged = type(whole)(whole.info, [one])
    assert lower(merged, machine()) == lower(whole, machine())


def test_a_workload_of_a_roomier_machine_is_fitted_to_one_of_the_same_lowering():
    recorded = load_trace(shipped_trace(DEFAULT_TRACE))
    gtx, limited = load_machine("gtx480"), {"limits": {}, "resources": {}, "cores.max_threads_per_core": 1024}
    workload = lower(recorded, gtx.replace(limited))
    fitted, own = fit(workload, recorded.info, gtx), lower(recorded, gtx)
    assert (fitted.digest(), fitted.origin) == (own.digest(), own.origin)
    assert fitted.launch_limits.tolist() == own.launch_limits.tolist() != workload.launch_limits.tolist()
    with pytest.raises(WorkloadError, match="does not fit"):
        fit(workload, recorded.info, gtx.replace({"resources.threads_per_block": 8}))


@pytest.mark.parametrize(
    ("threads", "changes", "hint"),
    [
        (40, {"resources.threads_per_block": 39}, "2 blocks of at most 36 threads"),  # warps of 4: 9 of them
        (40, {"resources.threads_per_block": 36}, "2 blocks of at most 36 threads"),
        (40, {"resources.threads_per_block": 35}, "2 blocks of at most 32 threads"),
        (40, {"resources.threads_per_block": 19}, "3 blocks of at most 16 threads"),
        (41, {"resources.threads_per_block": 40}, "2 blocks of at most 40 threads"),
        (40, {"resources.threads_per_block": 4}, "10 blocks of at most 4 threads"),
        (40, {"resources.threads_per_block": 3}, None),  # no warp fits
    ],
)
def test_a_block_that_does_not_fit_is_told_the_largest_that_does(threads, changes, hint):
    recorded = trace([[[work(0, 1)]] * threads])
    with pytest.raises(WorkloadError, match="does not fit") as told:
        lower(recorded, machine(**changes))
    _, _, found = str(told.value).partition("; ")
    assert found == (f"{hint} instead of each block would fit: launch and trace it that way" if hint else "")
    if hint:  # and it does
        lower(trace([[[work(0, 1)]] * int(hint.split()[-2])]), machine(**changes))


@pytest.mark.parametrize(
    ("addresses", "each", "by_word"),
    [
        ([0, 4, 8, 12], [0, 0, 0, 0], [0]),  # neighbouring words: one after another, or at once
        ([4, 4, 4, 4], [0, 0, 0, 0], [0, 0, 0, 0]),  # one word: one after another
        ([0, 128, 0, 132], [0, 1, 0, 1], [0, 1, 0]),
        ([0, 4, 4, 0], [0, 0, 0, 0], [0, 0]),
        ([128, 0, 0, 128, 128, 4], [1, 0, 0, 1, 1, 0], [1, 0, 0, 1, 1]),
    ],
)
def test_updates_of_other_words_are_served_together_by_word(addresses, each, by_word):
    threads = [[(0, "atomic", address, 4)] for address in addresses]
    machine_of = {"width": 6, "chunk_words": 32}
    assert lowered(threads, **machine_of) == [[["atomic", each]]]
    assert lowered(threads, **machine_of, **{"memory.atomics": "by-word"}) == [[["atomic", by_word]]]


@pytest.mark.parametrize("launched", [256, 257, 1000])
@pytest.mark.parametrize("width", [4, 32])
@pytest.mark.parametrize("limit", [32, 36, 96, 100, 224, 255])  # threads
@pytest.mark.parametrize("by", ["resources.threads_per_block", "cores.max_threads_per_core", "resources.registers"])
def test_a_block_that_does_not_fit_is_told_the_largest_that_does_and_how_many_of_it(launched, width, limit, by):
    amount = {"cores.max_threads_per_core": limit / 4, "resources.registers": 3 * limit}.get(by, limit)
    on = machine(width, **{by: amount})
    largest = limit // width * width
    with pytest.raises(WorkloadError) as told:
        lower(trace([[[work(0, 1)]] * launched], registers=3), on)
    times = -(-launched // largest)
    assert f"; {times} blocks of at most {largest} threads instead of each block would fit: " in str(told.value)


def test_a_block_of_which_no_part_would_fit_is_told_of_none():
    """Of its shared memory, cutting it into smaller ones takes nothing away."""
    on = machine(**{"resources.shared_memory": 100})
    with pytest.raises(WorkloadError, match=r"100 bytes \(resources\.shared_memory\)$"):
        lower(trace([[[work(0, 1)]] * 8], shared_memory=101), on)


def drawn_block(chance, threads):
    """Threads that go through the same sites, but for those that leave some out, with values in steps or in none."""
    block = [[] for _ in range(threads)]
    for site in range(8):
        make = chance.choice([load, load, store, work, shared, lambda *of: (of[0], "atomic", of[1], 4)])
        first, by, away = 4 * chance.randrange(64), 4 * chance.randrange(9), chance.choice([0, 0, 3])
        is_even = chance.random() < 0.5
        for thread, events in enumerate(block):
            if not (away and thread % away == 1):
                value = first + by * thread if is_even else 4 * chance.randrange(64)
                events.append(make(site, value + (make is work)))
    return block


@pytest.fixture
def loops_as_python(monkeypatch):
    """A switch: loops are Python from then on, and NumPy refuses what machine code would do beside an array."""

    def switch():
        def run(self, *arguments):
            called.add(self.function.__name__)
            return as_python(self.function)(*arguments) or 0

        monkeypatch.setattr(Loop, "__call__", run)
        return called

    called = set()
    return switch


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("half_warps", [False, True])
def test_as_python_a_trace_is_saved_read_counted_and_lowered_alike_and_no_index_is_outside_of_its_array(
    loops_as_python, tmp_path, seed, half_warps
):
    chance = random.Random(seed)
    launches = [[drawn_block(chance, 16)] * 2 + [drawn_block(chance, 13)] for _ in range(2)]
    changes = {"memory.coalescing": "half-warp-segments"} if half_warps else {}
    on = machine(width=8, chunk_words=32, **changes)

    def through(name):
        made = trace(*launches)
        made.save(tmp_path / name)
        back = load_trace(tmp_path / name)
        return back.to_table(), count(back, on), lower(back, on), made.info.digest

    compiled = through("compiled.parquet")
    called = loops_as_python()
    assert through("python.parquet") == compiled
    assert {"walk_blocks", "count_runs", "encode", "decode", "complete_all", "check_blocks"} <= called
