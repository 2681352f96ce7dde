"""Stalls of sites: where lowering puts pauses, what merges, what is refused; and what they leave as it was."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import count, lower, simulate
from simtmm.engine import ENGINES
from simtmm.errors import WorkloadError
from simtmm.trace.digest import OldDigest
from simtmm.trace.warps.holding import MOST_TURNS
from tests.examples import examples
from tests.trace.build import barrier, load, shared, store, trace, work
from tests.trace.test_compiled import SAXPY, constant, fetch, local, lowered, site
from tests.trace.test_lower import SEGMENTS, machine, threads


def stalled(number, stall, kind="async", **said):
    return dataclasses.replace(site(number, kind, **said), stall=stall)


def as_even_as_can_be(times, turns):
    """How often work is done in each of its turns, the fewer times first."""
    return [times // turns + (turn >= turns - times % turns) for turn in range(turns)]


# Where pauses stand


def test_an_event_waits_then_works_then_pauses_then_accesses():
    sites = [stalled(0, 7, gives=(0,)), stalled(1, 3, "store", work=[("fp32", 2)], needs=(0,))]
    assert lowered([[fetch(0, 0), store(1, 32)]] * 4, sites) == [
        [["pause", 7], ["async", [0]], ["join", 0], ["compute", 2], ["pause", 3], ["store", [1]]]
    ]


@pytest.mark.parametrize(
    ("event", "operation"),
    [
        (load(0, 0), ["load", [0]]), (fetch(0, 0), ["async", [0]]), (store(0, 0), ["store", [0]]),
        ((0, "atomic", 0, 4), ["atomic", [0]]), (shared(0, 0), ["shared", 1]), ((0, "join", 2, 0), ["join", 2]),
        (barrier(0), ["barrier"]), (constant(0, 0), ["compute", 1]),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_whatever_an_event_is_its_pause_stands_before_it(event, operation):
    assert lowered([[event]], [stalled(0, 5, event[1])]) == [[["pause", 5], operation]]


def test_an_access_to_local_memory_stands_behind_its_pause():
    (warp,) = lowered([[local(0, 0)]], [stalled(0, 5, "local_load")], local=4)
    assert [operation[0] for operation in warp] == ["pause", "load"]


def test_work_pauses_as_often_as_it_is_done():
    sites = [stalled(0, 4, "work", work=[("fp32", 2)])]
    assert lowered([[work(0, 3)], [work(0, 5)]], sites) == [[["compute", 2], ["pause", 4]] * 5]


def test_work_of_a_site_that_says_no_more_than_its_stall_is_its_number_of_operations():
    assert lowered([[work(0, 3)]], [stalled(0, 4, "work")]) == [[["compute", 1], ["pause", 4]] * 3]


def test_work_done_very_often_takes_32_turns_with_its_stall():
    sites = [stalled(0, 4, "work", work=[("fp32", 2)])]
    (warp,) = lowered([[work(0, 1_000)]], sites)
    times = as_even_as_can_be(1_000, 32)
    assert sum(times) == 1_000
    assert set(times) == {31, 32}
    assert warp == [operation for n in times for operation in (["compute", 2 * n], ["pause", 4 * n])]


def test_work_that_is_not_done_does_not_pause():
    assert lowered([[work(0, 0)]], [stalled(0, 4, "work", work=[("fp32", 2)])]) == [[]]


def test_work_and_pauses_that_alternate_keep_their_order():
    sites = [stalled(0, 4, "work", work=[("fp32", 2)])]
    assert lowered([[work(0, 1), work(0, 1)]], sites) == [[["compute", 2], ["pause", 4]] * 2]


def test_pauses_with_nothing_between_them_are_one():
    sites = [stalled(0, 4, "work", work=[("fp32", 2)]), stalled(1, 3, "load")]
    assert lowered([[work(0, 1), load(1, 0)]], sites) == [[["compute", 2], ["pause", 7], ["load", [0]]]]


def test_a_join_keeps_pauses_apart():
    sites = [site(0, gives=(0,)), stalled(1, 2, "work"), stalled(2, 3, "store", needs=(0,))]
    thread = [fetch(0, 0), work(1, 1), store(2, 32)]
    done = [["async", [0]], ["compute", 1], ["pause", 2], ["join", 0], ["pause", 3], ["store", [1]]]
    assert lowered([thread], sites) == [done]


def test_pauses_of_two_warps_are_two():
    assert lowered([[load(0, 0)]] * 2, [stalled(0, 3, "load")], width=1) == [[["pause", 3], ["load", [0]]]] * 2
    sites = [stalled(0, 3, "work")]
    assert lowered([[work(0, 1)]] * 2, sites, width=1) == [[["compute", 1], ["pause", 3]]] * 2


def test_barriers_at_several_sites_wait_out_the_stall_of_each_once():
    sites = [stalled(1, 2, "barrier", work=[("integer", 2)]), stalled(2, 4, "barrier", work=[("integer", 5)])]
    block = [[barrier(1)], [barrier(2)], [barrier(1)], [barrier(2)]]
    assert lowered(block, sites) == [[["compute", 7], ["pause", 6], ["barrier"]]]


def test_there_is_room_for_a_join_work_and_a_pause_before_every_event():
    sites = [stalled(0, 1, work=[("fp32", 1)], needs=(0,), gives=(0,))]
    each = [["join", 0], ["compute", 1], ["pause", 1], ["async", [0]]]
    assert lowered([[fetch(0, 0)] * 50], sites) == [[*each[1:], *each * 49]]


def test_half_warps_are_served_behind_their_pause():
    block = [[load(0, 4 * lane)] for lane in range(32)]
    assert lowered(block, [stalled(0, 6, "load")], **SEGMENTS) == [[["pause", 6], ["load", [0, 0]]]]


# What is refused


SEVENTH = (2**63 - 1) // 7  # seven of them are the largest number of 64 bits


def test_pauses_that_64_bits_hold_are_lowered():
    (warp,) = lowered([[work(0, SEVENTH)]], [stalled(0, 7, "work")])
    assert sum(amount for name, amount in warp if name == "pause") == 2**63 - 1


def test_pauses_beyond_64_bits_are_refused():
    with pytest.raises(WorkloadError) as caught:
        lowered([[work(0, SEVENTH + 1)]], [stalled(0, 7, "work")])
    assert str(caught.value) == (
        "hand: launch 0 of f, block 0: a warp's work or stall without anything in between: must be below 2^63"
    )


# What stalls leave as it was


def without_pauses(warp):
    """A warp's operations, pauses taken out and computes that then meet made one."""
    found = []
    for operation in warp:
        if operation[0] == "compute" and found and found[-1][0] == "compute":
            found[-1] = ["compute", found[-1][1] + operation[1]]
        elif operation[0] != "pause":
            found.append(operation)
    return found


stalls = st.dictionaries(st.integers(0, 15), st.integers(1, 9), max_size=9)
said = st.dictionaries(st.integers(0, 14), st.tuples(st.integers(0, 3), st.booleans()), max_size=9)


@given(threads=threads, width=st.sampled_from([1, 2, 4, 32]), stalls=stalls, said=said, segments=st.booleans())
@examples(80)
def test_but_for_pauses_lowering_is_what_it_is_without_stalls(threads, width, stalls, said, segments):
    plain = {
        number: site(number, work=[("fp32", work)] if work else (), needs=(0,), gives=(0,) if gives else ())
        for number, (work, gives) in said.items()
    }
    stalling = {
        number: dataclasses.replace(plain.get(number, site(number)), stall=cycles) for number, cycles in stalls.items()
    }
    rules = {**SEGMENTS, "width": width} if segments else {"width": width}
    found = lowered(threads, list((plain | stalling).values()), **rules)
    assert [without_pauses(warp) for warp in found] == lowered(threads, list(plain.values()), **rules)


@given(threads=threads, stalls=stalls, instructions=st.integers(0, 3))
@examples(80)
def test_a_warp_of_one_thread_pauses_before_each_access_and_behind_each_work(threads, stalls, instructions):
    does = [("fp32", instructions)] if instructions else ()
    sites = [site(number, work=does) for number in range(15)]
    sites = [dataclasses.replace(each, stall=stalls.get(each.site, 0)) for each in sites]
    for thread, warp in zip(threads, lowered(threads, sites, width=1), strict=True):
        steps = []  # what the warp does, an instruction or a cycle at a time, and a mark for an access
        for number, kind, value, _ in thread:
            times = value if kind == "work" else 1
            each = instructions if kind != "work" or instructions else 1
            for n in as_even_as_can_be(times, min(times, MOST_TURNS)):
                steps += ["compute"] * (n * each) + ["pause"] * (n * stalls.get(number, 0))
            steps += [] if kind == "work" else ["access"]
        done = []
        for name, what in warp:
            done += [name] * what if name in ("compute", "pause") else ["access"]
        assert done == steps


@given(threads=threads, stalls=stalls)
@examples(40)
def test_a_stall_is_no_work_and_no_operation(threads, stalls):
    sites = [stalled(number, stall) for number, stall in stalls.items()]
    assert count(trace([threads], sites=sites), machine()) == count(trace([threads]), machine())


# Threads that part, meet, wait and use local memory and constants, at sites that say something of all but stalls.
PROGRAM = [
    [
        fetch(0, 128 * lane), *([fetch(1, 64), work(3, lane)] if lane % 3 else [local(7, 4 * (lane % 2), 8)]),
        barrier(4 + lane % 2), constant(6, 4 * lane), store(2, 32 * lane), shared(8, 64 * lane),
    ]
    for lane in range(40)
]  # fmt: skip
SAYS = [*SAXPY, site(4, "barrier", work=[("integer", 2)], needs=(1,)), site(5, "barrier", work=[("control", 3)])]


@pytest.mark.parametrize(
    ("keys", "digest"),
    [({"width": 4}, "d512043480c696be"), ({"width": 32}, "0f535e6f09bbc6f7"), (SEGMENTS, "9842480656e22153")],
    ids=["4", "32", "segments"],
)
def test_a_trace_without_stalls_is_lowered_as_before_there_were_any(keys, digest):
    program = trace([PROGRAM] * 2, sites=SAYS, local=16)
    digest_then = OldDigest(2)
    for batch in program.batches():
        digest_then.add(batch)
    info = program.info
    assert digest_then.finish(info.launches, info.arrays, info.sites) == "13c4ef7a0b05156d4b87f3f723670dc3"
    assert lower(program, machine(**keys)).digest() == digest


# Simulated


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lone_thread_takes_its_stalls_longer(engine):
    """Stalls of 3 and 5 around a load that takes 100; each instruction takes a cycle."""
    program = [load(0, 0), work(1, 2)]
    plain, stalling = (
        [site(0, "load", work=[("integer", 2)]), site(1, "work", work=[("fp32", 4)])],
        [stalled(0, 3, "load", work=[("integer", 2)]), stalled(1, 5, "work", work=[("fp32", 4)])],
    )
    ticks = [
        simulate(machine(), lower(trace([[program]], sites=sites), machine()), engine).ticks
        for sites in (plain, stalling)
    ]
    assert ticks == [2 + 1 + 100 + 8, 2 + 3 + 1 + 100 + 8 + 2 * 5]
