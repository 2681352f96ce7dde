"""A core group that is driven by hand."""

import pytest

from simtmm.errors import EngineError, SimtmmError
from simtmm.rules import Idle, barrier_aware, cache_conscious, greedy_then_oldest, loose_round_robin
from simtmm.testing import Bench, round_robin, work_conserving


def bench(rule=loose_round_robin, warps=3):
    made = Bench(rule)
    for _ in range(warps):
        made.make_ready(made.place())
    return made


def test_a_rule_grants_ready_warps_alone():
    group = bench()
    assert [group.ask() for _ in range(4)] == [0, 1, 2, None]
    group.make_ready(1)
    group.pass_time(3)
    assert group.ask() == 1
    assert [turn.tick for turn in group.grants.turns] == [0, 0, 0, 3]
    assert round_robin(group.grants) is None


def test_a_slot_is_taken_again_and_an_age_is_not():
    group = bench(warps=2)
    group.end(0)
    number = group.place(block=4)
    warp = group.warps[-1]
    assert (number, warp.number, warp.age, warp.slot, warp.block) == (2, 2, 2, 0, 4)


def test_what_a_warp_waits_for_is_seen():
    group = bench(barrier_aware, warps=0)
    for block in (0, 1, 1):
        group.make_ready(group.place(block))
    group.wait(1, "barrier")
    assert group.ask() == 2


def test_hits_and_misses_are_seen():
    group = bench(cache_conscious(1, 0), warps=2)
    group.wait(0, misses=1)
    group.wait(1)
    group.make_ready(1, "load")
    assert group.ask() is None
    assert work_conserving(group.grants) is not None
    group.wait(0, hits=1)
    assert group.ask() == 1


def test_what_was_granted_last_is_kept_after_its_end():
    group = bench(greedy_then_oldest)
    assert group.ask() == 0
    group.end(0)
    assert group.ask() == 1


@pytest.mark.parametrize("answer", [3, "warp", Bench])
def test_what_is_no_ready_warp_is_named(answer):
    def rule(ready, group):
        return answer

    with pytest.raises(EngineError, match=r"^scheduler rule: returned .* at tick 0: must be a ready warp, None"):
        bench(rule).ask()


def test_holding_back_is_no_mistake():
    assert bench(lambda ready, group: Idle(group.now + 1)).ask() is None


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda group: group.end(7), "warp 7: is not resident; resident are 0, 1, 2"),
        (lambda group: group.wait(0, "asleep"), "state 'asleep': must be one of start, issuing, "),
        (lambda group: group.wait(0, "ready"), "state 'ready': must be one of "),
        (lambda group: group.pass_time(0), "ticks = 0: must be at least 1"),
    ],
)
def test_a_step_that_can_not_be_is_named(step, said):
    with pytest.raises(SimtmmError, match=f"^{said}"):
        step(bench())
