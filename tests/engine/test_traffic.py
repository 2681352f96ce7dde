"""Chunks over time, by hand, on both engines (docs/machine.md, section 7)."""

import numpy as np
import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.engine.fast.attribution import traffic as fast
from simtmm.engine.reference import traffic as reference
from simtmm.timeline import MOST_STRETCHES, TRAFFIC, Traffic

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def traffic(engine, *launches, **changes):
    """On one group of one port, an instruction a cycle; L = 20."""
    on = Machine.from_dict(
        {
            "name": "one",
            "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 8},
            "memory": {"latency": 20, "chunk_words": 8},
        }
    ).replace(changes)
    workload = Workload.from_dict({"launches": [{"blocks": [{"warps": [warp]}]} for warp in launches]})
    return simulate(on, workload, engine, timeline=True)


def passed(found, name):
    """{stretch: chunks}, without zeros."""
    column = found.traffic.of(name)
    return {int(stretch): int(column[stretch]) for stretch in np.flatnonzero(column)}


def test_a_chunk_counts_where_it_starts_at_each_level(engine):
    # It leaves its port at 1; the chunks start at 1 and 4 and have their partition at 1 and 6; hits start at 25 + 1.
    found = traffic(
        engine,
        [["load", [0, 1]], ["load", [0]], ["atomic", [7]]],
        **{"memory.port_interval": 3, "memory.service": 5, "memory.l1": {"sets": 1, "ways": 4, "latency": 3}},
    )
    assert found.traffic.stretch == 1
    assert passed(found, "loads") == {1: 1, 4: 1, 27: 1}
    assert passed(found, "l1_hits") == {27: 1}
    assert passed(found, "others") == {31: 1}
    assert passed(found, "memory") == {1: 1, 6: 1, 31: 1}
    assert passed(found, "l2_loads") == {}


def test_the_l2_counts_where_its_slice_takes_a_chunk_up(engine):
    l2 = {"sets": 1, "ways": 8, "latency": 9, "service": 4, "writes": "back"}
    found = traffic(engine, [["load", [0, 1]], ["load", [1]], ["store", [2]]], **{"memory.l2": l2})
    assert passed(found, "l2_loads") == {1: 1, 5: 1, 26: 1}
    assert passed(found, "l2_hits") == {26: 1}
    assert passed(found, "l2_stores") == {36: 1}
    assert passed(found, "memory") == {1: 1, 5: 1}


def test_launches_follow_one_another(engine):
    found = traffic(engine, [["load", [0]]], [["load", [0]]])
    assert passed(found, "loads") == {1: 1, 22: 1}


def test_stretches_become_longer_with_the_run(engine, monkeypatch):
    for module in (fast, reference):
        monkeypatch.setattr(module, "MOST_STRETCHES", 4)
    found = traffic(engine, [["load", [0]], ["compute", 3], ["load", [1]], ["load", [2]]])
    # They leave their ports at 1, 25 and 46: 4 stretches of 16 ticks
    assert found.traffic.stretch == 16
    assert passed(found, "loads") == {0: 1, 1: 1, 2: 1}
    assert passed(found, "memory") == {0: 1, 1: 1, 2: 1}


def test_a_stretch_is_the_least_power_of_two_with_which_they_hold_the_last_chunk(engine, monkeypatch):
    for module in (fast, reference):
        monkeypatch.setattr(module, "MOST_STRETCHES", 4)
    for waited in range(1, 40):  # a chunk leaves its port a tick behind the instruction that loads it
        found = traffic(engine, [["compute", waited], ["load", [0]]])
        tick = waited + 1
        length = next(2**power for power in range(10) if tick // 2**power < 4)
        assert found.traffic.stretch == length, waited
        assert passed(found, "loads") == {tick // length: 1}


def test_there_is_none_without_a_timeline(engine):
    workload = Workload.from_dict({"blocks": [{"warps": [[["load", [0]]]]}]})
    on = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 1, "warp_width": 1, "max_threads_per_core": 1},
            "memory": {"latency": 1, "chunk_words": 1},
        }
    )
    assert simulate(on, workload, engine, stalls=True).traffic is None


def test_stretches_are_put_together_for_a_picture(engine):
    chunks = np.zeros((MOST_STRETCHES, len(TRAFFIC)), np.int64)
    chunks[:5, 0] = 1, 2, 3, 4, 5
    within = Traffic(2, chunks).within(10, 3)
    assert (within.stretch, within.of("loads").tolist()) == (4, [3, 7, 5])
