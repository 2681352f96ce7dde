"""Closed forms of the translations that a group lacks at the beginning of a launch (section 4)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

FIRST, LATENCY = 300, 100


def ticks(engine, blocks, groups=1, first=FIRST, launches=1, **memory):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
            "memory": {"latency": LATENCY, "chunk_words": 32, "first_access": first, **memory},
        }
    )
    launch = {"blocks": [{"warps": [warp]} for warp in blocks]}
    return simulate(machine, Workload.from_dict({"launches": [launch] * launches}), engine).ticks


@pytest.mark.parametrize("loads", [1, 2, 7])
def test_a_chain_of_loads_waits_once(engine, loads):
    assert ticks(engine, [[["load", [0]]] * loads]) == loads * (1 + LATENCY) + FIRST


@pytest.mark.parametrize("launches", [1, 3])
def test_each_launch_waits(engine, launches):
    assert ticks(engine, [[["load", [0]]]], launches=launches) == launches * (1 + LATENCY + FIRST)


@pytest.mark.parametrize("launches", [1, 3])
def test_a_run_waits_once_where_translations_outlive_launches(engine, launches):
    found = ticks(engine, [[["load", [0]]]], launches=launches, translations="run")
    assert found == launches * (1 + LATENCY) + FIRST


def test_each_group_waits_for_itself(engine):
    late = [["compute", 200], ["load", [0]]]
    assert ticks(engine, [[["load", [0]]], late], groups=2) == 201 + LATENCY + FIRST
    assert ticks(engine, [[["load", [0]]], late], groups=1) == 1 + FIRST + LATENCY  # at 202 it waits for 99 of them


@pytest.mark.parametrize("after", [1, 150, 299, 300, 301, 1000])
def test_an_access_waits_for_what_is_left_of_it(engine, after):
    """The async leaves at 1, the load `after` cycles behind it."""
    warp = [["async", [0]], *([["compute", after - 1]] if after > 1 else []), ["load", [1]]]
    assert ticks(engine, [warp]) == 1 + after + LATENCY + max(0, FIRST - after)


@pytest.mark.parametrize("kind", ["load", "atomic", "async"])
def test_whatever_comes_first_waits(engine, kind):
    assert ticks(engine, [[[kind, [0]]]]) == 1 + LATENCY + FIRST


@pytest.mark.parametrize("stores", ["blocking", "posted"])
def test_stores_take_no_part_in_it(engine, stores):
    assert ticks(engine, [[["store", [0]]]], stores=stores) == 1 + LATENCY
    first = LATENCY if stores == "blocking" else 0
    assert ticks(engine, [[["store", [0]], ["load", [0]]]], stores=stores) == 1 + first + 1 + LATENCY + FIRST


def test_lines_are_filled_as_without_it(engine):
    """The second load finds the first one's line, filled long before that one finished."""
    l1 = {"sets": 1, "ways": 1, "latency": 10}
    assert ticks(engine, [[["load", [0]], ["load", [0]]]], l1=l1) == 1 + LATENCY + FIRST + 1 + 10


def test_serial_transfers_wait_once_for_an_instruction(engine):
    assert ticks(engine, [[["load", [0, 1, 2]]]], transfers="serial") == 1 + 3 * LATENCY + FIRST


def test_without_it_nothing_waits(engine):
    assert ticks(engine, [[["load", [0]]] * 2], first=0) == 2 * (1 + LATENCY)
