"""A user's own scheduling rule, on the reference engine."""

import re
from pathlib import Path

import pytest
from hypothesis import given

import simtmm
from simtmm import Machine, Workload, simulate
from simtmm.engine import holding_back
from simtmm.errors import EngineError
from simtmm.rules import Idle
from simtmm.testing import machines, workloads
from tests.examples import SHARING, examples, several

PAGE = (Path(__file__).parents[2] / "docs" / "schedulers.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def machine(scheduler="round-robin", **changes):
    tables = {
        "name": "barrel",
        "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 16},
        "scheduling": {"switch": "every-instruction", "scheduler": scheduler},
        "memory": {"latency": 60, "chunk_words": 8},
    }
    return Machine.from_dict(tables).replace(changes)


def warps(number, operations):
    return Workload.from_dict({"blocks": [{"warps": [operations] * number}]})


def example(index, **names):
    """What an example of the page defines and computes."""
    scope = {"simtmm": simtmm, **names}
    exec(EXAMPLES[index], scope)
    return scope


def grants(on, workload, rule):
    """The slots that a rule grants, in order."""
    slots = []

    def watched(ready, group):
        chosen = rule(ready, group)
        slots.append(chosen.slot)
        return chosen

    simulate(on, workload, scheduler=watched)
    return slots


def test_the_pages_first_example_grants_the_youngest():
    on, workload = machine(), warps(3, [["compute", 2]])
    rule = example(0, machine=on, workload=workload)["youngest"]
    assert grants(on, workload, rule) == [2, 2, 1, 1, 0, 0]


def test_the_two_level_rule_stays_in_a_set_while_one_of_its_warps_is_ready():
    on, workload = machine(), warps(4, [["compute", 2], ["load", [0]], ["compute", 1]])
    rule = example(1, machine=on, workload=workload)["two_level"](2)
    in_turn = [0, 1, 0, 1, 0, 1]  # two computes and the load of the first set, then those of the second
    assert grants(on, workload, rule)[:12] == in_turn + [2 + slot for slot in in_turn]


def test_the_two_level_rule_hides_what_round_robin_leaves_open():
    """Eight warps work 40 cycles between loads of 60: in step they all wait at once, in two sets they take turns."""
    workload = warps(8, [["compute", 9], ["load", [0]]] * 6)
    two_level = example(1, machine=machine(), workload=workload)["result"]
    rule = example(1, machine=machine(), workload=workload)["two_level"](4)
    in_sets = simulate(machine(), workload, scheduler=rule)
    built_in = {name: simulate(machine(name), workload).ticks for name in simtmm.engine.reference.SCHEDULERS}
    assert two_level.issued == in_sets.issued == 8 * 6 * 10
    assert in_sets.ticks < built_in["round-robin"]
    assert two_level.ticks == built_in["round-robin"]  # one set of eight is round-robin


def test_the_two_level_rule_keeps_every_law_but_round_robins():
    """The page's own test, with its own rule."""
    scope = example(1, machine=machine(), workload=warps(1, [["compute", 1]]))
    exec(EXAMPLES[2], scope)
    examples(40)(scope["test_two_levels"])()


def test_the_pages_timeline_reads_as_it_says():
    scope = example(3, machine=machine(), workload=warps(8, [["compute", 9], ["load", [0]]]))
    assert scope["timeline"].of_warp(0)[:2] == [("issuing", 0, 1), ("ready", 1, 8)]


@examples(50 // SHARING)
@given(drawn=several(machines()), workload=workloads())
def test_a_rule_that_says_what_a_built_in_says_gives_the_same_result(drawn, workload):
    for any_rule in drawn:
        on = any_rule.replace({"scheduling.scheduler": "oldest"})
        own = simulate(on, workload, scheduler=lambda ready, group: min(ready, key=lambda warp: warp.age))
        assert own == simulate(on, workload, "reference")


@examples(50 // SHARING)
@given(drawn=several(machines()), workload=workloads())
def test_a_rule_sees_only_ready_warps_of_its_group_in_the_order_they_became_ready(drawn, workload):
    def rule(ready, group):
        assert 0 <= group.number < on.cores.groups
        assert [warp.ready_time for warp in ready] == sorted(warp.ready_time for warp in ready)
        assert all(warp.ready_time <= group.now for warp in ready)
        assert len({warp.slot for warp in ready}) == len({warp.number for warp in ready}) == len(ready) > 0
        return ready[-1]

    for on in drawn:
        result = simulate(on, workload, scheduler=rule)
        assert result.issued == simulate(on, workload, "reference").issued


@pytest.mark.parametrize("wrong", [0, "warp", False])
def test_a_rule_that_gives_no_ready_warp_is_named(wrong):
    def my_rule(ready, group):
        return wrong

    with pytest.raises(EngineError, match=f"^scheduler my_rule: gave {wrong!r} at tick 0: must be a ready warp"):
        simulate(machine(), warps(2, [["compute", 1]]), scheduler=my_rule)


def test_a_rule_that_holds_back_is_asked_again_at_its_tick_and_when_something_happens():
    asked = []

    def rule(ready, group):
        asked.append((group.now, [warp.number for warp in ready]))
        return Idle(10) if group.now < 10 else ready[0]

    lists = [[["compute", 1]], [["pause", 4], ["compute", 1]]]
    result = simulate(machine(), Workload.from_dict({"blocks": [{"warps": lists}]}), scheduler=rule, timeline=True)
    assert asked == [(0, [0]), (4, [0, 1]), (10, [0, 1]), (11, [1])]
    assert result.timeline.of_warp(0) == [("ready", 0, 10), ("issuing", 10, 11)]
    assert result.ticks == 12


def test_a_rule_that_grants_nobody_is_asked_when_a_warp_that_is_not_ready_does_something_else():
    """The pause ends at a barrier, the last warp's at the end: nobody becomes ready by either."""
    asked = []

    def rule(ready, group):
        asked.append((group.now, [warp.state for warp in group.warps]))
        return ready[0] if len(group.warps) == 2 else None

    lists = [[["compute", 1], ["barrier"]], [["pause", 3], ["barrier"]], [["pause", 5]]]
    simulate(machine(), Workload.from_dict({"blocks": [{"warps": lists}]}), scheduler=rule)
    assert asked == [(0, ["ready", "pause", "pause"]), (3, ["ready", "barrier", "pause"]), (5, ["ready", "barrier"])]


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_rule_that_holds_back_for_ever_is_named(engine):
    def never(ready, group):
        return None

    expected = r"^scheduler never: holds back for ever in group 0 from tick 0 on: 2 warps are ready and nothing else "
    with pytest.raises(EngineError, match=expected):
        simulate(machine(), warps(2, [["compute", 1]]), engine, scheduler=never)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_rule_that_asks_to_be_asked_for_ever_is_named(monkeypatch, engine):
    def later(ready, group):
        return Idle(group.now + 1)

    monkeypatch.setattr(holding_back, "MOST_HOLDS", 50)
    with pytest.raises(EngineError, match=r"^scheduler later: held back 50 times in a row in group 0, until tick 50$"):
        simulate(machine(), warps(2, [["compute", 1]]), engine, scheduler=later)


@pytest.mark.parametrize("engine", ["fast", "reference", None])
@pytest.mark.parametrize("until", [0, -1, 1.5, True, "7", 2**63])
def test_an_idle_that_ends_at_no_later_tick_is_named(until, engine):
    if engine == "fast" and until not in {0, -1}:
        pytest.skip("not compiled")

    def rule(ready, group):
        return Idle(until)

    with pytest.raises(EngineError, match=r"^scheduler rule: gave Idle\(until=.*\) at tick 0: must be a later tick, "):
        simulate(machine(), warps(2, [["compute", 1]]), engine, scheduler=rule)


def test_with_ports_of_their_own_a_rule_holds_back_for_one_port_and_not_for_the_others():
    def odd_first(ready, group):
        waits = group.now < 3 and all(warp.slot % 2 == 0 for warp in ready)
        return Idle(3) if waits else ready[0]

    two = machine(**{"cores.issue_ports": 2, "scheduling.ports": "own"})
    result = simulate(two, warps(2, [["compute", 2]]), scheduler=odd_first, timeline=True)
    assert result.timeline.of_warp(0)[:2] == [("ready", 0, 3), ("issuing", 3, 4)]
    assert result.timeline.of_warp(1)[0] == ("issuing", 0, 1)


def test_a_rule_sees_what_each_warp_has_done_and_waits_for():
    seen = {}

    def rule(ready, group):
        for warp in group.warps:
            seen[group.now, warp.number] = (
                warp.block, warp.state, warp.operation, warp.issued, warp.hits, warp.misses
            )  # fmt: skip
        return ready[0]

    on = machine(**{"memory.l1": {"sets": 1, "ways": 1, "latency": 3}})
    lists = [[["load", [0]], ["load", [0]], ["compute", 1]], [["compute", 1], ["barrier"]]]
    simulate(on, Workload.from_dict({"blocks": [{"warps": [each]} for each in lists]}), scheduler=rule)
    assert seen[0, 0] == (0, "ready", "load", 0, 0, 0)
    assert seen[1, 0] == (0, "memory", "", 1, 0, 1)
    assert seen[1, 1] == (1, "ready", "compute", 0, 0, 0)
    assert seen[65, 0] == (0, "ready", "compute", 2, 1, 1)


def test_a_rule_sees_nothing_else():
    def peeking(ready, group):
        return min(ready, key=lambda warp: len(warp.kinds))

    with pytest.raises(AttributeError, match=r"^a rule sees no 'kinds' of a ReadyWarp: it sees number, age, slot, "):
        simulate(machine(), warps(2, [["compute", 1]]), scheduler=peeking)


@pytest.mark.parametrize("engine", ["reference", None])
def test_a_class_of_rules_makes_a_new_one_for_each_launch(engine):
    """What it counts is there behind its launch, also where it is compiled."""
    made = []

    class Counting:
        def __init__(self):
            self.asked = 0
            made.append(self)

        def __call__(self, ready, group):
            self.asked += 1
            return ready[0]

    launch = {"blocks": [{"warps": [[["compute", 3]]]}]}
    launches = Workload.from_dict({"launches": [launch, launch]})
    assert simulate(machine(), launches, engine, scheduler=Counting).engine == (engine or "fast")
    assert [rule.asked for rule in made] == [3, 3]


def test_of_equals_the_oldest_comes_first():
    """At tick 3 warp 1 leaves its port and is ready again, and only then does warp 0 wake."""
    asked = []

    def rule(ready, group):
        asked.append((group.now, [warp.age for warp in ready]))
        return ready[-1]

    lists = [[["pause", 3], ["compute", 1]], [["compute", 3], ["join", 1], ["compute", 1]]]
    workload, on = Workload.from_dict({"blocks": [{"warps": lists}]}), machine(**{"scheduling.switch": "on-stall"})
    simulate(on, workload, "reference", scheduler=rule)
    assert asked == [(0, [1]), (3, [0, 1]), (4, [0])]
