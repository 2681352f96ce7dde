"""Registers that warps of a block give back, and others take (docs/machine.md, section 3)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import EngineError, WorkloadError
from simtmm.stalls import Reason

pytestmark = pytest.mark.parametrize("engine", ENGINES)

CYCLE = 2  # ticks
ONE = ["compute", 1]


def machine(ports=1, groups=1):
    return Machine.from_dict(
        {
            "name": "m",
            "ticks_per_cycle": CYCLE,
            "cores": {
                "groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 8,
                "issue_ports": ports,
            },
            "memory": {"latency": 20, "chunk_words": 32},
        }
    )  # fmt: skip


def found(engine, *blocks, ports=1, groups=1, timeline=False):
    """What blocks come to, each a list of warps."""
    workload = Workload.from_dict({"blocks": [{"warps": [list(warp) for warp in block]} for block in blocks]})
    return simulate(machine(ports, groups), workload, engine, stalls=True, timeline=timeline)


def waited(result):
    return int(result.stalls.ticks.sum(axis=0)[Reason.REGISTERS])


def ends(result):
    """The tick at which each warp is done."""
    timeline = result.timeline
    return [int(timeline.end[timeline.warp == warp].max()) for warp in range(int(timeline.warp.max()) + 1)]


def give(count, after):
    return [["pause", after], ["give_registers", count], ["pause", 50]]


def take(count, *after):
    return [*after, ["take_registers", count], ["pause", 7]]


def test_a_warp_waits_until_another_gives_as_many_and_a_cycle_longer(engine):
    result = found(engine, [give(8, 10), take(8)], timeline=True)
    assert ends(result) == [60 * CYCLE, (10 + 1 + 7) * CYCLE]
    assert waited(result) == 11 * CYCLE


def test_what_is_there_is_taken_without_a_wait(engine):
    result = found(engine, [give(8, 10), take(5, ["pause", 20])], timeline=True)
    assert ends(result)[1] == 27 * CYCLE
    assert waited(result) == 0


def test_too_few_let_nobody_go_on_until_there_are_more(engine):
    result = found(engine, [give(7, 10), give(1, 15), take(8)], timeline=True)
    assert ends(result)[2] == (15 + 1 + 7) * CYCLE


def test_the_oldest_that_fits_takes_them(engine):
    """Of twelve the first lacks thirteen, the second takes eight, the third lacks eight, the last takes four."""
    result = found(engine, [give(12, 10), take(13), take(8), take(8), take(4), give(99, 30)], timeline=True)
    early, late = (10 + 1 + 7) * CYCLE, (30 + 1 + 7) * CYCLE
    assert ends(result)[1:5] == [late, early, late, early]


def test_one_that_comes_later_takes_what_is_too_few_for_another(engine):
    result = found(engine, [give(8, 10), take(9), take(8, ["pause", 20]), give(9, 40)], timeline=True)
    assert ends(result)[1:3] == [(40 + 1 + 7) * CYCLE, 27 * CYCLE]


def test_warps_of_one_tick_give_and_take_in_the_order_of_their_age(engine):
    older, younger = [["pause", 10], ["give_registers", 8]], take(8, ["pause", 10])
    assert waited(found(engine, [older, younger])) == 0
    assert waited(found(engine, [younger, older])) == CYCLE


def test_each_port_has_a_pool_and_so_has_each_block(engine):
    """On two ports the warps of slots 0 and 2 share a pool, and those of 1 and 3."""
    result = found(engine, [give(8, 10), give(8, 20), take(8), take(8)], ports=2, timeline=True)
    assert ends(result)[2:] == [(10 + 1 + 7) * CYCLE, (20 + 1 + 7) * CYCLE]
    with pytest.raises(EngineError, match=r"^1 warps wait forever at mbarriers, for registers, or for warps that do: "):
        found(engine, [give(8, 10), take(8)], ports=2)
    with pytest.raises(EngineError, match="1 warps wait forever"):
        found(engine, [give(8, 10)], [take(8)])


def test_a_block_begins_with_empty_pools(engine):
    """The second block has the places of the first one, whose registers are gone."""
    one = Workload.from_dict(
        {"launches": [{"blocks": [{"warps": [give(8, 1)]}, {"warps": [take(8)]}], "blocks_per_group": 1}]}
    )
    with pytest.raises(EngineError, match="1 warps wait forever"):
        simulate(machine(), one, engine)


@pytest.mark.parametrize("word", ["give_registers", "take_registers"])
@pytest.mark.parametrize("count", [0, 256, "8"])
def test_registers_are_whole_numbers(engine, word, count):
    with pytest.raises(WorkloadError, match=rf"{word} {count!r}: must be (a whole number of at least 1|at most 255)"):
        found(engine, [[[word, count]]])
