"""Barriers that wait for no loads, and groups of copies: what sites say of them, lowered."""

import dataclasses

import pytest

from simtmm.trace.schema import MOST_GROUPS
from tests.trace.build import barrier, store, work
from tests.trace.test_compiled import fetch, lowered, site
from tests.trace.test_stalls import stalled

COPY = site(0, gives=(3,))


def sync(number, **said):
    return dataclasses.replace(site(number, "barrier", **said), sync=True)


def commit(number, *values, kind="work", **said):
    return dataclasses.replace(site(number, kind, **said), commits=values or (3,))


def wait(number, left, kind="work", **said):
    return dataclasses.replace(site(number, kind, **said), in_flight=left)


def copies(*numbers):
    return [["async", [number]] for number in numbers]


def test_a_barrier_whose_site_says_so_is_a_sync_and_what_is_needed_behind_it_is_waited_for_there():
    sites = [site(0, gives=(0,)), sync(1), site(2, "store", needs=(0,))]
    thread = [fetch(0, 0), barrier(1), store(2, 64)]
    assert lowered([thread], sites) == [[["async", [0]], ["sync"], ["join", 0], ["store", [2]]]]


def test_what_its_site_needs_is_waited_for_before_it():
    sites = [site(0, gives=(0,)), site(1, gives=(1,)), sync(2, needs=(0,), work=[("control", 1)])]
    thread = [fetch(0, 0), fetch(1, 32), barrier(2)]
    assert lowered([thread], sites) == [[*copies(0, 1), ["join", 1], ["compute", 1], ["sync"]]]


@pytest.mark.parametrize("other", [3, 9], ids=["one that does not say so", "one that nothing is known of"])
def test_threads_at_several_barriers_wait_for_loads_unless_all_sites_say_that_they_do_not(other):
    sites = [COPY, sync(1), sync(2), site(3, "barrier")]
    assert lowered([[barrier(1)], [barrier(2)]], sites) == [[["sync"]]]
    assert lowered([[fetch(0, 0), barrier(1)], [barrier(other)]], sites) == [[["async", [0]], ["barrier"]]]


BARRIERS = {"scheduling.barrier_latency": 20, "scheduling.barrier_interval": 2.1}


@pytest.mark.parametrize(("warps", "cycles"), [(1, 22), (2, 24), (4, 28), (32, 87)])
def test_warps_wait_behind_a_barrier_the_longer_the_more_of_them_the_block_has(warps, cycles):
    block = [[barrier(1), store(2, 0)]] * warps
    for one, what in ((sync(1), ["sync"]), (site(1, "barrier"), ["barrier"])):
        found = lowered(block, [one, site(2, "store")], width=1, **BARRIERS)
        assert found == [[what, ["pause", cycles], ["store", [0]]]] * warps


def test_a_barrier_at_the_end_is_waited_behind_too_and_a_pause_that_follows_joins():
    sites = [sync(1), stalled(2, 5, "store", work=[])]
    assert lowered([[barrier(1)]], sites, **BARRIERS) == [[["sync"], ["pause", 22]]]
    assert lowered([[barrier(1), store(2, 0)]], sites, **BARRIERS) == [[["sync"], ["pause", 27], ["store", [0]]]]


PIPELINE = [COPY, commit(1), wait(2, 1, work=[("control", 1)]), site(4, gives=(5,)), site(5, "store", needs=(3,))]


def test_all_groups_but_the_latest_are_waited_for():
    thread = [
        fetch(0, 0), work(1, 1), fetch(0, 32), work(1, 1), fetch(0, 64), fetch(0, 96), work(1, 1), work(2, 1),
    ]  # fmt: skip
    waits = [["join", 2], ["compute", 1]]  # the latest group has two copies
    assert lowered([thread], PIPELINE) == [[["async", [0]], ["compute", 1], ["async", [1]], ["compute", 1],
                                            ["async", [2]], ["async", [3]], ["compute", 1], *waits]]  # fmt: skip


def test_groups_without_copies_count():
    thread = [fetch(0, 0), work(1, 1), work(1, 1), work(2, 1)]
    sites = [COPY, commit(1), wait(2, 1)]
    assert lowered([thread], sites) == [[["async", [0]], ["compute", 2], ["join", 0], ["compute", 1]]]


def test_work_that_is_done_several_times_commits_as_often():
    sites = [COPY, commit(1), wait(2, 3)]
    for times, waits in ((3, []), (4, [["join", 0]]), (1 << 40, [["join", 0]])):
        (warp,) = lowered([[fetch(0, 0), work(1, times), work(2, 1)]], sites)
        assert [each for each in warp if each[0] == "join"] == waits


def test_copies_that_no_group_has_are_not_waited_for_nor_loads_that_came_later():
    thread = [fetch(0, 0), work(1, 1), fetch(0, 32), fetch(4, 64), work(1, 1), fetch(0, 96), work(2, 1), store(5, 0)]
    (warp,) = lowered([thread], PIPELINE)
    assert [each for each in warp if each[0] == "join"] == [["join", 3], ["join", 0]]


@pytest.mark.parametrize("turns", [1, 2, 3, 50])
def test_a_loop_waits_in_each_turn_for_the_group_that_was_begun_so_many_turns_before(turns):
    sites = [COPY, commit(1), wait(2, 2, "barrier")]
    thread = [fetch(0, 0), work(1, 1), fetch(0, 32), work(1, 1)]
    turn = [fetch(0, 64), work(1, 1), barrier(2)]
    (warp,) = lowered([thread + turn * turns], [*sites[:2], dataclasses.replace(sites[2], sync=True)])
    assert [each for each in warp if each[0] in ("join", "sync")] == [["join", 2], ["sync"]] * turns


def test_a_commit_comes_behind_the_wait_of_its_site_and_before_its_access():
    both = dataclasses.replace(commit(1, kind="async", gives=(3,)), in_flight=0)
    sites = [COPY, both, wait(2, 0)]
    thread = [fetch(0, 0), fetch(1, 32), work(2, 1)]
    # The first site's wait finds no group; its group has the first copy and not its own.
    assert lowered([thread], sites) == [[*copies(0, 1), ["join", 1], ["compute", 1]]]


def test_each_warp_has_groups_of_its_own():
    sites = [COPY, commit(1), wait(2, 0)]
    first, second = lowered([[fetch(0, 0), work(1, 1), work(2, 1)], [fetch(0, 32), work(2, 1)]], sites, width=1)
    assert first == [["async", [0]], ["compute", 1], ["join", 0], ["compute", 1]]
    assert second == [["async", [1]], ["compute", 1]]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"in_flight": -1}, f"site 1: in_flight = -1: must be a whole number from 0 to {MOST_GROUPS - 1}"),
        ({"in_flight": MOST_GROUPS}, f"site 1: in_flight = {MOST_GROUPS}: must be"),
        ({"in_flight": True}, "site 1: in_flight = True: must be"),
        ({"commits": (-1,)}, "site 1: commits = (-1,): must be whole numbers from 0 to 2^62 - 1"),
        ({"sync": True}, "site 1: sync = True: must be true or false, true of barriers alone"),
        ({"sync": 1, "kind": "barrier"}, "site 1: sync = 1: must be true or false"),
    ],
    ids=str,
)
def test_what_a_site_cannot_say_is_refused(said, message):
    with pytest.raises(ValueError, match=r"^site 1: ") as caught:
        dataclasses.replace(site(1, "work"), **said)
    assert str(caught.value).startswith(message)
