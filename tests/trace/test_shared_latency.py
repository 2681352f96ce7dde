"""The latency of shared memory: where lowering pauses for it, and what hides it (docs/machine.md, section 9)."""

import pytest

from simtmm import Machine, simulate
from simtmm.errors import MachineError
from tests.trace.build import barrier, load, shared, store, trace, work
from tests.trace.test_compiled import fetch, lowered, site
from tests.trace.test_lower import machine
from tests.trace.test_stalls import stalled

LATENCY = 20
READS, USES = site(0, "shared_load", gives=(0,)), site(9, "store", needs=(0,))


def done(*between, sites=(), latency=LATENCY, **keys):
    """What a thread does that reads from shared memory, does the rest, and stores what it read."""
    (warp,) = lowered(
        [[shared(0, 0), *between, store(9, 0)]], [READS, *sites, USES], **{"banks.latency": latency, **keys}
    )
    return warp


def test_who_needs_the_value_at_once_waits_for_all_of_it():
    assert done() == [["shared", 1], ["pause", LATENCY], ["store", [0]]]


def test_without_a_latency_it_is_there_at_once():
    assert done(latency=0) == [["shared", 1], ["store", [0]]]


@pytest.mark.parametrize(("latency", "cycles"), [(0.4, 0), (0.5, 1), (22.5, 23), (29, 29)])
def test_the_latency_is_a_whole_number_of_cycles(latency, cycles):
    assert done(latency=latency) == [["shared", 1], *([["pause", cycles]] if cycles else []), ["store", [0]]]


@pytest.mark.parametrize(("instructions", "left"), [(1, 19), (19, 1), (20, 0), (400, 0)])
def test_instructions_hide_it(instructions, left):
    pause = [["pause", left]] if left else []
    assert done(work(1, instructions)) == [["shared", 1], ["compute", instructions], *pause, ["store", [0]]]


def test_the_users_own_work_does_not_hide_it():
    uses = site(9, "store", needs=(0,), work=[("fp32", 5)])
    (warp,) = lowered([[shared(0, 0), store(9, 0)]], [READS, uses], **{"banks.latency": LATENCY})
    assert warp == [["shared", 1], ["pause", LATENCY], ["compute", 5], ["store", [0]]]


def test_stalls_hide_it_and_join_it():
    assert done(work(1, 2), sites=[stalled(1, 3, "work")]) == [
        ["shared", 1], ["compute", 1], ["pause", 3], ["compute", 1], ["pause", 3 + (LATENCY - 8)], ["store", [0]]
    ]  # fmt: skip


def test_other_accesses_of_shared_memory_hide_it_by_their_passes():
    block = [[shared(0, 0), shared(1, 128 * lane), store(9, 0)] for lane in range(4)]
    (warp,) = lowered(
        block, [READS, USES, site(1, "shared_store", work=[("integer", 2)])], **{"banks.latency": LATENCY}
    )
    assert warp == [["shared", 1], ["compute", 2], ["shared", 4], ["pause", LATENCY - 6], ["store", [0]]]


def test_it_begins_behind_the_accesss_own_passes():
    block = [[shared(0, 128 * lane), store(9, 0)] for lane in range(4)]
    assert lowered(block, [READS, USES], **{"banks.latency": LATENCY}) == [
        [["shared", 4], ["pause", LATENCY], ["store", [0]]]
    ]


def test_asyncs_and_stores_are_an_instruction():
    assert done(fetch(1, 32), store(2, 64)) == [
        ["shared", 1], ["async", [1]], ["store", [2]], ["pause", LATENCY - 2], ["store", [0]]
    ]  # fmt: skip


@pytest.mark.parametrize("access", [load(1, 32), (1, "atomic", 32, 4)], ids=["load", "atomic"])
def test_what_is_waited_for_takes_longer(access):
    assert done(access)[2:] == [["store", [0]]]


def test_a_join_takes_longer():
    sites = [site(1, gives=(1,)), site(2, "store", needs=(1,))]
    assert done(fetch(1, 32), store(2, 64), sites=sites) == [
        ["shared", 1], ["async", [1]], ["join", 0], ["store", [2]], ["store", [0]]
    ]  # fmt: skip
    assert done((1, "join", 0, 0))[1:] == [["join", 0], ["store", [0]]]


def test_a_barrier_may_take_no_time():
    assert done(barrier(1)) == [["shared", 1], ["barrier"], ["pause", LATENCY], ["store", [0]]]


def test_who_waits_at_a_barrier_may_need_it():
    (warp,) = lowered([[shared(0, 0), barrier(1)]], [READS, site(1, "barrier", needs=(0,))], **{"banks.latency": 9})
    assert warp == [["shared", 1], ["pause", 9], ["barrier"]]


def test_a_value_is_waited_for_once_and_the_latest_load_counts():
    sites = [READS, site(1, "work", work=[("fp32", 1)], needs=(0,)), USES]
    twice = [shared(0, 0), shared(0, 4), work(1, 1), work(1, 1), store(9, 0)]
    (warp,) = lowered([twice], sites, **{"banks.latency": LATENCY})
    assert warp == [["shared", 1]] * 2 + [["pause", LATENCY], ["compute", 2], ["store", [0]]]


def test_warps_have_cycles_of_their_own():
    long = [shared(0, 0), work(1, 100), store(9, 0)]
    warps = lowered([long, [shared(0, 0), store(9, 0)]], [READS, USES], width=1, **{"banks.latency": LATENCY})
    assert warps == [[["shared", 1], ["compute", 100], ["store", [0]]], [["shared", 1], ["pause", 20], ["store", [0]]]]


def test_a_trace_that_does_not_say_who_needs_it_is_lowered_as_ever():
    block = [[shared(0, 0), work(1, 3), store(2, 0)]]
    assert lowered(block, (), **{"banks.latency": LATENCY}) == lowered(block, ())


@pytest.mark.parametrize("chased", [1, 2, 50])
def test_a_chain_takes_its_length_times_an_access(chased):
    """As a pointer chase in shared memory is measured: an instruction and the latency for each."""
    sites = [site(0, "shared_load", needs=(0,), gives=(0,)), USES]
    result = machine(**{"banks.latency": LATENCY, "memory.stores": "posted", "memory.latency": 1})
    from simtmm import lower

    of_chain = trace([[[shared(0, 0)] * chased + [store(9, 0)]]], sites=sites)
    assert simulate(result, lower(of_chain, result)).ticks == chased * (1 + LATENCY) + 1 + 1


@pytest.mark.parametrize("latency", [-1, 1e6 + 1, "long"])
def test_a_latency_that_nobody_counts_is_refused(latency):
    tables = {**machine().to_dict(), "banks": {"latency": latency}}
    with pytest.raises(MachineError, match=r"banks.latency = .*: must be a number of at least 0"):
        Machine.from_dict(tables)
