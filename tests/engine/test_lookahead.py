"""No group is felt by another one sooner than section 6 says: drawn machines, and the tick at which it is."""

import json
from math import inf
from random import Random

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.engine.lookahead import lookahead_of
from simtmm.testing import space
from simtmm.testing.draw import RandomDraw
from simtmm.timeline import WarpState
from tests.examples import examples

DRAWN = examples(600).max_examples


def first_differences(one, other, groups):
    """For each group, from which tick on it does something else, placing apart."""
    first = [inf] * groups
    rows = [
        {
            (group, warp, slot, state, begin): end
            for group, warp, slot, state, begin, end in zip(
                *(run.timeline.columns()[name].tolist() for name in ("group", "warp", "slot", "state", "begin", "end")),
                strict=True,
            )
            if state != WarpState.START
        }
        for run in (one, other)
    ]
    for key in rows[0].keys() | rows[1].keys():
        ends = [of_run.get(key, key[-1]) for of_run in rows]
        if ends[0] != ends[1]:
            first[key[0]] = min(first[key[0]], *ends)
    return first


def one_launch(draw):
    """A launch with some work, and one of its warps that has an operation more in a second one."""
    launch = json.loads(json.dumps(space.launch(draw)))  # what is drawn twice is one object no more
    found = [warp for block in launch["blocks"] for warp in block["warps"] if warp]
    if not found:
        return None
    warp = draw.one_of(found)
    place, before = draw.whole(0, len(warp) - 1), Workload.from_dict({"launches": [launch]})
    warp.insert(place, draw.one_of((["pause", 40], ["compute", 3])))  # the timeline shows where it begins to matter
    return before, Workload.from_dict({"launches": [launch]})


def test_no_group_is_felt_sooner():
    felt = 0
    seed = Random(45)
    for _ in range(DRAWN):
        draw = RandomDraw(seed.randrange(1 << 40))
        machine, workloads = space.machine(draw), one_launch(draw)
        if workloads is None or machine.cores.groups == 1:
            continue
        one, other = (simulate(machine, workload, timeline=True) for workload in workloads)
        first = sorted(first_differences(one, other, machine.cores.groups))
        if first[1] < inf:
            felt += 1
            assert first[1] >= first[0] + lookahead_of(machine).ticks, (machine, workloads)
    assert felt > DRAWN // 20  # or nothing has been compared


def made(groups=2, scheduling=(), **memory):
    """A machine whose groups are a port, with latencies of 100 (memory), 20 (L2) and 7 (L1)."""
    tables = {
        "name": "m",
        "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 4},
        "scheduling": dict(scheduling),
        "memory": {
            "latency": 100,
            "chunk_words": 32,
            "l2": {"sets": 8, "ways": 2, "latency": 20, "service": 5},
            **memory,
        },
        "limits": {"blocks_per_group": 1},
    }
    return Machine.from_dict(tables)


def felt_at(engine, machine, ways, *others):
    """From which tick on group 0 and another one are not as they were, where block 0 goes one way or the other.

    ways: both of its only warp. others: of each other block, its only warp.
    """
    workloads = [Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in (way, *others)]}) for way in ways]
    runs = [simulate(machine, workload, engine, timeline=True) for workload in workloads]
    first = first_differences(*runs, machine.cores.groups)
    return first[0], min(first[1:])


@pytest.mark.parametrize("engine", ENGINES)
def test_an_access_is_felt_by_what_another_group_has_to_wait_for(engine):
    """Both come to the slice at one tick, group 0's first: the other one's hit would be there 20 later."""
    machine = made()
    warm = ["load", [0]], ["pause", 200]
    access = ["load", [0]]
    ways = [[*warm, ["compute", 2], access], [*warm, ["compute", 2], ["pause", 9], access]]
    first, later = felt_at(engine, machine, ways, [*warm, ["compute", 2], access])
    assert lookahead_of(machine).memory == later - (first + 1) == 20  # the access's own instruction takes a tick


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_that_share_an_l1_are_felt_as_soon_as_it_answers(engine):
    machine = made(shared_l1={"groups": 2, "sets": 8, "ways": 2, "latency": 12, "service": 5})
    warm = ["load", [0]], ["pause", 200]
    ways = [[*warm, ["compute", 2], ["load", [0]]], [*warm, ["compute", 2], ["pause", 9], ["load", [0]]]]
    first, later = felt_at(engine, machine, ways, [["compute", 1], ["pause", 4], *warm, ["load", [0]]])
    assert lookahead_of(machine).memory == 12 <= later - (first + 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_store_is_felt_as_soon_as_it_may_end(engine):
    machine = made(store_latency=3, l2=None, service=5)
    ways = [["compute", 1], ["store", [0]]], [["compute", 1], ["pause", 30], ["store", [0]]]
    first, later = felt_at(engine, machine, ways, [["compute", 1], ["store", [0]]])
    assert lookahead_of(machine).memory == later - (first + 1) == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_store_waits_for_is_felt_by_what_the_l1_has(engine):
    """Whether group 1's first load hits the L2 decides when its store leaves its port, and so when its hit does."""
    l1 = {"sets": 8, "ways": 2, "latency": 7}
    machine = made(l1=l1, return_delay=50, stores="posted", latency=400)
    ways = [["compute", 500], ["load", [0]]], [["compute", 500], ["pause", 30], ["load", [0]]]
    other = [["load", [9]], ["compute", 99], ["async", [0]], ["store", [5]], ["load", [9]]]
    first, later = felt_at(engine, machine, ways, other)
    assert lookahead_of(machine).memory == 7
    assert later == first + 1 + 2 + 7  # the load of group 0, the store and the load of group 1 take a tick each


def test_stores_that_nobody_waits_for_are_not_felt():
    assert lookahead_of(made(store_latency=3, stores="posted")).memory == 20


@pytest.mark.parametrize("engine", ENGINES)
def test_a_block_that_ends_is_felt_when_the_next_one_begins(engine):
    machine = made(scheduling={"block_launch": 40, "warp_launch": 2})
    ways = [["compute", 3]], [["compute", 3], ["pause", 5]]
    first, later = felt_at(engine, machine, ways, [["compute", 3]], [["compute", 8]])
    assert (first, later - first) == (45, lookahead_of(machine).placing)  # the third block goes to group 1 instead
    assert lookahead_of(machine).placing == 42


@pytest.mark.parametrize("engine", ENGINES)
def test_a_grid_barrier_is_felt_when_it_opens(engine):
    machine = made(scheduling={"grid_barrier": 30})
    ways = [["compute", 9], ["grid_barrier"]], [["compute", 9], ["pause", 5], ["grid_barrier"]]
    first, later = felt_at(engine, machine, ways, [["compute", 1], ["grid_barrier"], ["compute", 1]])
    assert (first, later - first) == (9, lookahead_of(machine).grid_barrier)
