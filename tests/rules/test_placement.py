"""Placement rules: their promises, wrong ones that are caught, and that the engine places blocks by them."""

import random
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings

from simtmm import Machine, Workload, simulate
from simtmm.engine import simulate as engine_simulate
from simtmm.errors import EngineError, SimtmmError
from simtmm.placement import (
    PLACEMENTS,
    GroupState,
    PendingBlock,
    Placer,
    breadth_first,
    depth_first,
    fewest_warps,
    in_clusters,
    taking_turns,
)
from simtmm.testing import BrokenPromiseError, check_placement, machines, workloads
from simtmm.testing.placement_bench import Shape, Work, launched
from simtmm.testing.placement_laws import PLACEMENT_LAWS, PLACEMENT_PROMISES, balanced_within, together
from tests.examples import DAILY, examples

LONG_DRAWS = 10**4  # of each rule, shared among its promises
RIGHT = {name: in_clusters(2, 2) if name == "in_clusters" else rule for name, rule in PLACEMENTS.items()}


def fitting(groups, block):
    return [group for group in groups if group.fits(block)]


def always_the_first(groups, block):
    return groups[0]


def one_too_many(groups, block):
    return next((group for group in groups if group.blocks <= group.most_blocks), None)


def blind_to_warps(groups, block):
    return next((group for group in groups if group.blocks < group.most_blocks), None)


def fullest(groups, block):
    return max(fitting(groups, block), key=lambda group: group.blocks, default=None)


def last_of_equals(groups, block):
    return min(fitting(groups, block), key=lambda group: (group.blocks, -group.number), default=None)


def never_group_1(groups, block):
    return breadth_first([group for group in groups if group.number != 1 or len(groups) < 2], block)


def only_empty_groups(groups, block):
    return next((group for group in groups if not group.blocks and group.fits(block)), None)


def never(groups, block):
    return None


def no_large_blocks(groups, block):
    return None if block.warps > 3 else breadth_first(groups, block)


def by_number(groups, block):
    group = groups[block.number % len(groups)]
    return group if group.fits(block) else None


def lottery(groups, block):
    return random.choice(fitting(groups, block) or [None])


ASKED = count()


def remembers_earlier_launches(groups, block):
    there = fitting(groups, block)
    return there[next(ASKED) % len(there)] if there else None


class TurnsWithoutTheFull:
    """Round-robin that takes a turn for each question, whoever is given it."""

    def __init__(self):
        self.turn = -1

    def __call__(self, groups, block):
        self.turn += 1
        return min(fitting(groups, block), key=lambda group: (group.number - self.turn) % len(groups), default=None)


def a_group_of_its_own(groups, block):
    return GroupState(0, 0, 0, 1, 1)


def divides_by_zero(groups, block):
    return groups[block.number // 0]


WRONG = [
    (always_the_first, "places_all"),
    (one_too_many, "places_all"),
    (blind_to_warps, "work_conserving"),
    (fullest, balanced_within(1)),
    (fullest, "fewest_blocks_first"),
    (depth_first, balanced_within(1)),
    (depth_first, balanced_within(2)),
    (fewest_warps, balanced_within(1)),
    (taking_turns, balanced_within(1)),
    (last_of_equals, "fewest_blocks_first"),
    (never_group_1, "work_conserving"),
    (never_group_1, "lowest_group_first"),
    (only_empty_groups, "work_conserving"),
    (never, "places_all"),
    (no_large_blocks, "places_all"),
    (by_number, "work_conserving"),
    (in_clusters(2, 2), "work_conserving"),
    (breadth_first, together(2, 2)),
    (breadth_first, "fewest_warps_first"),
    (breadth_first, "takes_turns"),
    (TurnsWithoutTheFull, "takes_turns"),
    (lottery, "same_places"),
    (remembers_earlier_launches, "same_places"),
    (a_group_of_its_own, "places_all"),
    (divides_by_zero, "places_all"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_a_rule_keeps_its_promises(name):
    laws = PLACEMENT_PROMISES[name]
    check_placement(RIGHT[name], laws, draws=LONG_DRAWS // len(laws) if settings().max_examples > DAILY else 100)


@pytest.mark.parametrize(("rule", "promise"), WRONG, ids=lambda each: getattr(each, "__name__", str(each)))
def test_a_wrong_rule_is_caught(rule, promise):
    for seed in range(5 if settings().max_examples > DAILY else 1):
        with pytest.raises(BrokenPromiseError) as caught:
            check_placement(rule, [promise], seed=seed)
        assert f"placement {rule.__name__} breaks" in str(caught.value)


class Peeking:
    """A rule that has looked at all blocks of the launch beforehand."""

    work = ()

    def __call__(self, groups, block):
        there = fitting(groups, block)
        return there[len(Peeking.work) % len(there)] if there else None


def test_a_rule_that_knows_the_future_is_caught(monkeypatch):
    from simtmm.testing import placement_checking

    def told(rule, shape, work):
        Peeking.work = work
        return launched(rule, shape, work)

    monkeypatch.setattr(placement_checking, "launched", told)
    with pytest.raises(BrokenPromiseError, match="no_future"):
        check_placement(Peeking, ["no_future"])


def test_a_counter_example_is_a_table_of_questions():
    with pytest.raises(BrokenPromiseError) as caught:
        check_placement(depth_first, [balanced_within(1)])
    assert str(caught.value).splitlines() == [
        "placement depth_first breaks balanced_within(1): group 0 has 2 blocks then, and group 1, which had room, 0",
        "2 core groups of 2 blocks and 4 warps each",
        "tick  block  warps  blocks of groups",
        "   0      0      1  0 0               group 0",
        "   0      1      1  1 0               group 0   <- here",
    ]


def test_blocks_are_placed_at_the_ticks_at_which_others_end():
    done = launched(breadth_first, Shape(2, 1, 4), [Work(1, 3), Work(1, 5), Work(2, 1), Work(4, 2)])
    assert [(turn.tick, turn.block.number, turn.chosen) for turn in done.turns] == [
        (0, 0, 0), (0, 1, 1), (0, 2, None), (3, 2, 0), (3, 3, None), (4, 3, 0),
    ]  # fmt: skip
    assert done.unplaced == 0


def test_a_cluster_waits_for_room_in_its_neighbourhood():
    work = [Work(4, 9), Work(1, 1), Work(4, 2), Work(4, 2)]
    done = launched(in_clusters(2, 1), Shape(2, 1, 4), work)
    homes = [turn.chosen for turn in done.turns if turn.chosen is not None]
    assert homes[0] == homes[1]
    assert homes[2] == homes[3]
    assert any(turn.chosen is None and turn.fitting for turn in done.turns)


@pytest.mark.parametrize(
    ("resident", "homes"),
    [
        ([0, 3, 1, 1], (2, 3)),
        ([3, 0, 2, 2], (1, 0)),
        ([2, 1, 1, 2], (1, 0)),
        ([1, 1, 3, 0], (0, 1)),
        ([4, 4, 1, 3], (2, 3)),
    ],
)
def test_a_cluster_goes_to_the_neighbourhood_with_fewest_blocks_and_there_to_the_group_with_fewest(resident, homes):
    """Of equal neighbourhoods the first; a group that is full has no room, but its blocks count."""
    rule, now = in_clusters(2, 2)(), [GroupState(number, each, each, 4, 8) for number, each in enumerate(resident)]
    for block, home in enumerate(homes):
        chosen = rule(now, PendingBlock(block + 6, 1))
        assert chosen is not None
        assert chosen.number == home
        now[home] = replace(chosen, blocks=4)


def machine_of(groups, blocks):
    return Machine.from_dict(
        {"name": "m", "cores": {"groups": groups, "cores_per_group": 4, "warp_width": 4, "max_threads_per_core": 8},
         "memory": {"latency": 10, "chunk_words": 4}, "limits": {"blocks_per_group": blocks}}
    )  # fmt: skip


def workload_of(blocks):
    return Workload.from_dict({"blocks": [{"warps": [[["compute", length]]]} for length in blocks]})


@given(machines(), workloads())
@examples(60)
def test_breadth_first_is_what_machines_do(machine, workload):
    """A rule that says what section 6 says gives the same result, to the tick, and the same beginnings of blocks."""
    workload = replace(workload, clusters=workload.clusters[:0])  # whose blocks machines place together
    begun = [np.full(workload.blocks, -1, dtype=np.int64) for _ in range(2)]
    own = engine_simulate(machine, workload, "reference", begun=begun[0])
    by_rule = engine_simulate(machine, workload, placement=breadth_first, begun=begun[1])
    assert own == by_rule
    assert begun[0].tolist() == begun[1].tolist()


def test_the_engine_places_blocks_by_a_rule():
    machine, workload = machine_of(2, 2), workload_of([10] * 4)
    begun = np.zeros(4, dtype=np.int64)
    wide = engine_simulate(machine, workload, placement=breadth_first, begun=begun)
    deep = simulate(machine, workload_of([10] * 2), placement=depth_first)
    spread = simulate(machine, workload_of([10] * 2))
    assert begun.tolist() == [0] * 4
    assert wide.ticks == deep.ticks  # two blocks share a group's port either way
    assert spread.ticks < deep.ticks  # here each has a group


def test_a_rule_runs_on_the_reference_engine_only():
    machine, workload = machine_of(2, 2), workload_of([10])
    assert simulate(machine, workload, placement=depth_first).engine == "reference"
    with pytest.raises(EngineError, match="engine 'fast': places blocks as machines do"):
        simulate(machine, workload, "fast", placement=depth_first)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (never, "placement never: holds back for ever at block 0: none is resident"),
        (always_the_first, "placement always_the_first: gave group 0 at block 1, which has no room: it holds 1"),
        (a_group_of_its_own, "placement a_group_of_its_own: gave GroupState"),
        (divides_by_zero, "placement divides_by_zero: raised at block 0"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_refused_by_the_engine(rule, said):
    with pytest.raises(SimtmmError) as caught:
        simulate(machine_of(2, 1), workload_of([5, 5, 5]), placement=rule)
    assert str(caught.value).startswith(said)


def test_a_rule_with_state_is_made_anew_for_each_launch():
    groups = [GroupState(number, 0, 0, 1, 4) for number in range(3)]
    placers = Placer(taking_turns), Placer(taking_turns)
    assert [placers[0].ask(groups, PendingBlock(number, 1)).number for number in range(4)] == [0, 1, 2, 0]
    assert placers[1].ask(groups, PendingBlock(0, 1)).number == 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: check_placement(depth_first, []), "promises: must have at least one of places_all, "),
        (lambda: check_placement(depth_first, [balanced_within]), "promises: <function balanced_within"),
        (
            lambda: check_placement(depth_first, ["places_all"], seed=-1),
            "seed = -1: must be a whole number",
        ),
        (lambda: check_placement(depth_first, ["balanced"]), "promise 'balanced': unknown"),
        (lambda: check_placement(depth_first, ["places_all"], draws=0), "draws = 0: must be a whole number from 1 to"),
        (lambda: balanced_within(0), "balanced_within(0): must be a whole number of at least 1"),
        (lambda: in_clusters(2, 0), "in_clusters: groups = 0: must be a whole number of at least 1"),
    ],
)
def test_what_is_no_promise_is_refused(call, said):
    with pytest.raises(SimtmmError) as caught:
        call()
    assert str(caught.value).startswith(said)


def test_every_law_says_a_formula_and_is_promised_by_a_rule():
    promised = {law.name for laws in PLACEMENT_PROMISES.values() for law in laws}
    assert set(PLACEMENT_LAWS) <= promised
    assert all("Formula: " in law.__doc__ for law in PLACEMENT_LAWS.values())
