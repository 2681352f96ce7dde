"""A user's own policy of replacement, in the caches of the reference engine."""

import re

import pytest
from hypothesis import given

import simtmm
from simtmm import Machine, Workload
from simtmm.engine import simulate
from simtmm.errors import EngineError, SimtmmError
from simtmm.replacement import POLICIES, CacheSet, first_in_first_out, least_recently_used, two_queues
from simtmm.testing import machines, workloads
from tests.engine.test_equal import agreeing
from tests.examples import several

TABLES = {
    "name": "cached",
    "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 16},
    "memory": {"latency": 60, "chunk_words": 8, "l1": {"sets": 1, "ways": 3, "latency": 5}},
}
SEQUENCE = [0, 1, 2, 0, 3, 0, 4, 1, 5, 0, 2, 6, 0, 1, 0, 7, 2, 0]


def machine(level="l1", ways=3):
    memory = {key: value for key, value in TABLES["memory"].items() if key != "l1"}
    return Machine.from_dict({**TABLES, "memory": {**memory, level: {"sets": 1, "ways": ways, "latency": 5}}})


def loads(chunks):
    return Workload.from_dict({"blocks": [{"warps": [[["load", [chunk]] for chunk in chunks]]}]})


def lru(on):
    """The machine, where its L2 drops the line used longest ago."""
    random = on.memory.l2 is not None and on.memory.l2.replacement == "random"
    return on.replace({"memory.l2.replacement": "lru"}) if random else on


def test_the_machines_own_policy_as_a_function_changes_nothing():
    compared = []

    @agreeing(120)
    @given(drawn=several(machines()), workload=workloads())
    def agree(drawn, workload):
        for on in map(lru, drawn):
            if on.memory.l1 is None and on.memory.l2 is None:
                continue
            compared.append(on)
            asked = {"timeline": True, "stalls": True}
            own = simulate(on, workload, replacement=least_recently_used, **asked)
            assert own == simulate(on, workload, "reference", **asked)

    agree()
    assert len(compared) > 40


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("level", ["l1", "l2"])
@pytest.mark.parametrize("ways", [1, 3, 4])
def test_hits_are_those_of_a_set_alone(name, level, ways):
    alone = CacheSet(POLICIES[name], ways)
    hits = sum(alone.access(chunk) for chunk in SEQUENCE)
    result = simulate(machine(level, ways), loads(SEQUENCE), replacement=POLICIES[name])
    assert (result.l1_hits if level == "l1" else result.l2_hits) == hits
    assert result.engine == "reference"


def test_policies_differ():
    results = {
        name: simulate(machine(), loads(SEQUENCE), replacement=policy).cycles for name, policy in POLICIES.items()
    }
    assert len(set(results.values())) > 1


def test_a_policy_may_be_for_one_of_the_caches():
    memory = {**TABLES["memory"], "l2": {"sets": 1, "ways": 3, "latency": 20}}
    on = Machine.from_dict({**TABLES, "memory": memory})
    asked = []

    def noted(lines, chunk):
        asked.append(chunk)
        return least_recently_used(lines, chunk)

    both = simulate(on, loads(SEQUENCE), replacement={"l1": first_in_first_out, "l2": noted})
    assert both.l1_hits == simulate(machine(), loads(SEQUENCE), replacement=first_in_first_out).l1_hits
    assert asked


def test_a_class_is_made_anew_for_each_set():
    made = []

    class Counting:
        def __init__(self):
            made.append(self)

        def __call__(self, lines, chunk):
            return lines[0]

    on = machine().replace({"memory.l1.sets": 2})
    simulate(on, loads([0, 1, 2, 3]), replacement=Counting)
    assert len(made) == 2


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda lines, chunk: None, "returned None at access 3: must be a line of the set"),
        (lambda lines, chunk: lines[9], "failed at access 3: "),
        (7, "replacement = 7: must be a function"),
        ({"l3": two_queues}, "replacement of 'l3': cached has l1"),
        ({"l2": two_queues}, "replacement of 'l2': cached has l1"),
        ({"l1": 3}, "replacement = 3: must be a function"),
    ],
)
def test_what_is_no_policy_is_refused_in_a_line(policy, message):
    with pytest.raises(SimtmmError, match=re.escape(message)) as refused:
        simulate(machine(), loads([0, 1, 2, 3]), replacement=policy)
    assert "\n" not in str(refused.value)


def test_a_policy_is_for_the_reference_engine_and_for_caches():
    with pytest.raises(EngineError, match="engine 'fast': has the built-in policies only"):
        simulate(machine(), loads([0]), "fast", replacement=two_queues)
    bare = Machine.from_dict({**TABLES, "memory": {"latency": 60, "chunk_words": 8}})
    with pytest.raises(EngineError, match="cached has no cache"):
        simulate(bare, loads([0]), replacement=two_queues)


def test_python_takes_one_by_the_api():
    assert simtmm.simulate(machine(), loads(SEQUENCE), replacement=two_queues).l1_hits == 6
