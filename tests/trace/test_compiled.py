"""Traces of compiled programs: what sites say of work and values, local memory and constants, lowered and counted."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import count, lower
from simtmm.errors import TraceError, WorkloadError
from simtmm.machine.addresses import LOCAL_BASE
from simtmm.trace.schema import TraceSite
from tests.examples import examples
from tests.trace.build import barrier, load, shared, store, trace, work
from tests.trace.test_lower import SEGMENTS, machine, threads


def site(number, kind="async", work=(), needs=(), gives=()):
    return TraceSite(number, kind, "k.cu", number, "", work=tuple(work), needs=needs, gives=gives)


def fetch(number, address, size=4):
    return number, "async", address, size


def local(number, offset, size=4, kind="local_load"):
    return number, kind, offset, size


def constant(number, address, size=4):
    return number, "constant_load", address, size


def lowered(threads, sites, local=0, **keys):
    """The warps of a block of these threads, each a list of operations."""
    (launch,) = lower(trace([threads], sites=sites, local=local), machine(**keys)).to_dict()["launches"]
    (block,) = launch["blocks"]
    return block["warps"]


# Work and values


SAXPY = [
    site(0, "async", work=[("integer", 5), ("control", 1)], gives=(0,)),
    site(1, "async", work=[("integer", 1)], gives=(1,)),
    site(2, "store", work=[("fp32", 1)], needs=(0, 1)),
    site(3, "work", work=[("control", 1)]),
]


def test_an_event_waits_then_works_then_accesses():
    thread = [fetch(0, 0), fetch(1, 32), store(2, 32), work(3, 1)]
    assert lowered([thread] * 4, SAXPY) == [
        [
            ["compute", 6], ["async", [0]], ["compute", 1], ["async", [1]],
            ["join", 0], ["compute", 1], ["store", [1]], ["compute", 1],
        ]
    ]  # fmt: skip


def test_a_join_leaves_out_what_came_behind_the_last_that_is_needed():
    sites = [*(site(number, gives=(number,)) for number in range(3)), site(3, "work", work=[("fp32", 1)], needs=(1,))]
    loads = [fetch(number, 32 * number) for number in range(3)]
    asyncs = [["async", [number]] for number in range(3)]
    assert lowered([[*loads, work(3, 1)]], sites) == [[*asyncs, ["join", 1], ["compute", 1]]]


def test_what_has_been_waited_for_is_not_waited_for_again():
    sites = [
        site(0, gives=(0,)), site(1, gives=(1,)),
        site(2, "store", needs=(1,)), site(3, "store", needs=(0,)), site(4, "store", needs=(0, 1)),
    ]  # fmt: skip
    thread = [fetch(0, 0), fetch(1, 32), store(2, 64), store(3, 96), store(4, 128)]
    asyncs, stores = [["async", [0]], ["async", [1]]], [["store", [2]], ["store", [3]], ["store", [4]]]
    assert lowered([thread], sites) == [[*asyncs, ["join", 0], *stores]]


@pytest.mark.parametrize("wait", [("join", 0), ("barrier",)], ids=str)
def test_joins_and_barriers_of_the_program_wait_too(wait):
    thread = [fetch(0, 0), (5, wait[0], 0, 0), store(2, 64)]
    assert lowered([thread], SAXPY) == [[["compute", 6], ["async", [0]], list(wait), ["compute", 1], ["store", [2]]]]


def test_a_join_of_the_program_that_leaves_out_the_needed_one_does_not_count():
    thread = [fetch(0, 0), (5, "join", 1, 0), store(2, 64)]
    done = [["compute", 6], ["async", [0]], ["join", 1], ["join", 0], ["compute", 1], ["store", [2]]]
    assert lowered([thread], SAXPY) == [done]


def test_each_warp_waits_for_its_own_values():
    thread = [fetch(0, 0), store(2, 64)]
    first, second = lowered([thread, [store(2, 64)]], SAXPY, width=1)
    assert first == [["compute", 6], ["async", [0]], ["join", 0], ["compute", 1], ["store", [2]]]
    assert second == [["compute", 1], ["store", [2]]]


def test_a_value_that_any_lane_of_the_warp_loads_is_waited_for_by_all():
    threads = [[fetch(0, 0), store(2, 64)], [store(2, 64)]]
    assert lowered(threads, SAXPY) == [[["compute", 6], ["async", [0]], ["join", 0], ["compute", 1], ["store", [2]]]]


def test_a_value_loaded_anew_in_a_loop_is_waited_for_in_every_round():
    sites = [site(0, gives=(7,)), site(1, "work", work=[("fp32", 2)], needs=(7,))]
    thread = [fetch(0, 0), work(1, 1), fetch(0, 32), work(1, 1)]
    first, second = ([["async", [turn]], ["join", 0], ["compute", 2]] for turn in range(2))
    assert lowered([thread], sites) == [[*first, *second]]


def test_loads_that_are_waited_for_anyway_give_nothing_to_wait_for():
    sites = [site(0, "load", gives=(0,)), site(1, "shared_load", gives=(1,)), site(2, "store", needs=(0, 1))]
    threads = [[load(0, 0), shared(1, 0), store(2, 32)]]
    assert lowered(threads, sites) == [[["load", [0]], ["shared", 1], ["store", [1]]]]


def test_work_is_done_as_often_as_its_event_says_and_once_where_lanes_meet():
    sites = [site(0, "work", work=[("fp32", 2), ("special", 1)]), site(1, "load", work=[("integer", 4)])]
    threads = [[work(0, 3), load(1, 0)], [work(0, 5), load(1, 32)]]
    assert lowered(threads, sites) == [[["compute", 5 * 3 + 4], ["load", [0, 1]]]]


def test_work_of_a_site_that_says_nothing_is_its_number_of_operations():
    assert lowered([[work(9, 3), work(0, 1)]], [site(0, "work", work=[("fp32", 2)])]) == [[["compute", 5]]]


def test_a_barrier_comes_behind_what_its_site_needs_and_does():
    sites = [site(0, gives=(0,)), site(1, "barrier", work=[("integer", 2)], needs=(0,))]
    thread = [fetch(0, 0), barrier(1)]
    assert lowered([thread] * 2, sites) == [[["async", [0]], ["join", 0], ["compute", 2], ["barrier"]]]


def test_barriers_at_several_sites_do_the_work_of_each_once():
    sites = [site(1, "barrier", work=[("integer", 2)]), site(2, "barrier", work=[("integer", 5)])]
    threads = [[barrier(1)], [barrier(2)], [barrier(1)], [barrier(2)]]
    assert lowered(threads, sites) == [[["compute", 7], ["barrier"]]]


def test_blocks_in_several_stretches_know_nothing_of_each_other():
    """What the tables keep of values is of a warp, also across the batches of a trace."""
    one = trace([[[fetch(0, 0)]], [[store(2, 64)]]], sites=SAXPY)
    first, second = lower(one, machine()).to_dict()["launches"][0]["blocks"]
    assert first["warps"] == [[["compute", 6], ["async", [0]]]]
    assert second["warps"] == [[["compute", 1], ["store", [2]]]]


def test_work_beyond_64_bits_is_refused():
    most = work(0, 2**62 - 1)
    with pytest.raises(WorkloadError, match=r"^hand: launch 0 of f, block 0: .* must be below 2\^63$"):
        lowered([[most]], [site(0, "work", work=[("fp32", 3)])])
    with pytest.raises(TraceError, match=r"^hand: launch 0 of f, block 0: .* must be below 2\^63$"):
        count(trace([[[most], [most]]], sites=[site(0, "work", work=[("fp32", 2)])]), machine())


# Local memory


def at(word, lane, width, warp=0, region=512):
    return LOCAL_BASE + warp * region + 4 * (word * width + lane)


@pytest.mark.parametrize(("size", "words"), [(1, 1), (4, 1), (8, 2), (16, 4)])
def test_the_words_of_neighbouring_threads_lie_side_by_side(size, words):
    threads = [[local(0, 16, size)] for _ in range(4)]
    chunks = [at(4 + word, 0, 4) // 16 for word in range(words)]
    assert lowered(threads, [], local=64, chunk_words=4) == [[["load", chunks]]]


def test_threads_at_different_offsets_touch_different_chunks():
    threads = [[local(0, 4 * (lane % 2), kind="local_store")] for lane in range(4)]
    assert lowered(threads, [], local=8, chunk_words=4) == [[["store", [at(0, 0, 4) // 16, at(1, 0, 4) // 16]]]]


def test_each_warp_of_each_block_has_a_region_of_its_own():
    block = [[local(0, 0)] for _ in range(6)]
    program = trace([block, block], [block], local=200)  # 200 bytes of 4 threads take 1024
    result = lower(program, machine(chunk_words=4)).to_dict()["launches"]
    found = [warp[0][1] for launch in result for block in launch["blocks"] for warp in block["warps"]]
    base = LOCAL_BASE // 16
    assert found == [[base], [base + 64], [base + 128], [base + 192], [base], [base + 64]]


def test_a_local_load_whose_value_is_reported_is_waited_for_where_it_is_needed():
    sites = [site(0, "local_load", gives=(0,)), site(1, "store", needs=(0,))]
    chunk = LOCAL_BASE // 32
    assert lowered([[local(0, 0), load(2, 0), store(1, 32)]], sites, local=4) == [
        [["async", [chunk]], ["load", [0]], ["join", 0], ["store", [1]]]
    ]


def test_a_local_access_that_is_not_aligned_touches_the_words_that_it_lies_in():
    assert lowered([[local(0, 3, 2)]], [], local=8, chunk_words=4) == [
        [["load", [at(0, 0, 4) // 16, at(1, 0, 4) // 16]]]
    ]


@pytest.mark.parametrize("keys", [{}, SEGMENTS], ids=["chunks", "segments"])
@pytest.mark.parametrize("offset", [61, 64, 2**63])
def test_a_local_access_beyond_the_threads_memory_is_refused(offset, keys):
    with pytest.raises(TraceError) as caught:
        lowered([[local(0, offset)]], [], local=64, **keys)
    assert str(caught.value) == (
        f"hand: launch 0 of f, block 0: local memory at byte {offset}: must be within local_bytes_per_thread = 64"
    )


def test_half_warps_are_served_word_by_word_of_local_memory():
    threads = [[local(0, 0, 8), load(1, 4 * lane)] for lane in range(32)]
    first = LOCAL_BASE // 128
    assert lowered(threads, [], local=8, **SEGMENTS) == [[["load", [first, first + 1] * 2], ["load", [0, 0]]]]


def test_local_memory_that_addresses_do_not_reach_is_refused():
    with pytest.raises(TraceError, match=r"local_bytes_per_thread = 2147483647: all threads' together must be at most"):
        # 256 threads, and 2^31 bytes each with what they are rounded up to: 2^22 such blocks would just do.
        lower(trace([[[local(0, 0)]] * 256], blocks=2**22 + 1, local=2**31 - 1), machine())


# Constants


def test_a_constant_takes_an_instruction_for_each_word_that_the_warp_reads():
    threads = [[constant(0, 4 * (lane // 2))] for lane in range(4)]
    assert lowered(threads, []) == [[["compute", 2]]]
    assert lowered([[constant(0, 8)] for _ in range(4)], []) == [[["compute", 1]]]
    assert lowered([[constant(0, 8, 16)] for _ in range(4)], []) == [[["compute", 4]]]


def test_constants_merge_with_the_work_around_them():
    sites = [site(0, "constant_load", work=[("integer", 2)], gives=(0,)), site(1, "store", needs=(0,))]
    assert lowered([[constant(0, 0), work(2, 3), store(1, 0)]], sites) == [[["compute", 6], ["store", [0]]]]


# Counts


def test_counts_hold_work_by_class_and_accesses_once():
    thread = [fetch(0, 0), fetch(1, 32), store(2, 32), work(3, 4), work(8, 2)]
    counts = count(trace([[thread] * 3], sites=SAXPY), machine())
    assert counts.work_by_class == {"fp32": 3, "integer": 18, "control": 3 + 12}
    assert counts.work == 3 * (6 + 1 + 1 + 1 + 1 + 1 + 4 + 2)
    assert counts.span == counts.work // 3
    assert counts.to_dict()["work_by_class"] == counts.work_by_class


def test_work_of_a_barrier_belongs_before_it():
    sites = [site(1, "barrier", work=[("integer", 5)])]
    counts = count(trace([[[barrier(1), work(2, 1)], [work(0, 9), barrier(1), work(2, 1)]]], sites=sites), machine())
    assert (counts.work, counts.span) == (5 + 1 + 9 + 5 + 1, 9 + 5 + 1)


def test_local_accesses_and_constants_are_operations_but_no_accesses_to_arrays():
    thread = [local(0, 0), local(1, 0, kind="local_store"), constant(2, 0), load(3, 0)]
    (launch,) = count(trace([[thread]], local=4), machine()).launches
    assert (launch.work, launch.accesses, launch.bytes_read, launch.bytes_written) == (4, 1, 4, 0)
    assert (launch.memory_operations, launch.memory_instructions) == (3, 3)


def test_a_program_whose_classes_nobody_knows_has_no_work_by_class():
    assert count(trace([[[work(0, 5), load(1, 0)]]]), machine()).work_by_class == {}


# What says nothing changes nothing


@given(
    threads=threads, width=st.sampled_from([1, 2, 4, 32]),
    values=st.lists(st.tuples(st.integers(0, 14), st.integers(0, 2**40)), max_size=9),
    segments=st.booleans(),
)  # fmt: skip
@examples(60)
def test_values_that_are_there_at_once_change_nothing(threads, width, values, segments):
    """Loads that are waited for give values that others need: nothing is in flight."""
    sites = [site(number, gives=(value,), needs=(value,)) for number, value in dict(values).items()]
    rules = {**SEGMENTS, "width": width} if segments else {"width": width}
    plain, message = trace([threads, threads]), trace([threads, threads], sites=sites)
    assert lower(message, machine(**rules)) == lower(plain, machine(**rules))
    assert count(message, machine(**rules)) == count(plain, machine(**rules))


@given(threads=threads)
@examples(40)
def test_work_of_one_instruction_is_an_operation(threads):
    sites = [site(number, "work", work=[("fp32", 1)]) for number in (10, 11, 12)]
    plain, message = trace([threads]), trace([threads], sites=sites)
    assert lower(message, machine()) == lower(plain, machine())
    assert dataclasses.replace(count(message, machine()), work_by_class={}) == count(plain, machine())
