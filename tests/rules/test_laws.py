"""Each law of scheduling rules, on turns written by hand: the least that breaks it, and what just keeps it."""

import re

import pytest

from simtmm.errors import OutputError, SimtmmError
from simtmm.rules import example_rule, loose_round_robin
from simtmm.testing import (
    BrokenPromiseError,
    admits_at_most,
    bounded_wait,
    check_rule,
    deterministic,
    fair_within,
    first_come,
    greedy_oldest,
    group_local,
    helps_barriers,
    holds_back_loads_only,
    law_named,
    least_progress_first,
    loads_of_few,
    no_foresight,
    no_starvation,
    oldest_first,
    one_turn_each,
    round_robin,
    stays_in_set,
    work_conserving,
)
from simtmm.testing.counter_example import save_picture, text_picture, turns_table
from simtmm.testing.grants import Grants, Seen, Turn
from simtmm.testing.laws import FAMILIES, LAWS
from simtmm.testing.laws.law import Breach
from simtmm.testing.promises import PROMISES
from tests.rules.score import caught
from tests.rules.wrong import WRONG


def warp(number, state="ready", **others):
    known = {"age": number, "slot": number, "ready_time": 0, "block": 0, "operation": "compute", "issued": 0}
    return Seen(number=number, state=state, **{**known, "hits": 0, "misses": 0, **others})


def turn(tick, warps, granted, last=None, group=0, port=0, until=None):
    """Warps: as `warp` makes them, or numbers of ready ones."""
    living = tuple(each if isinstance(each, Seen) else warp(each) for each in warps)
    ready = tuple(each.number for each in living if each.state == "ready")
    return Turn(group, port, tick, 1, living, ready, last, granted, until)


def grants(*turns):
    return Grants(turns)


def granted(order, ready):
    """A turn a tick, of warps that are ready all the time."""
    return grants(*(turn(tick, ready, number) for tick, number in enumerate(order)))


@pytest.mark.parametrize(("other", "keeps"), [(16, True), (17, False)])
def test_no_starvation_lets_one_other_warp_have_sixteen_turns(other, keeps):
    assert (no_starvation(granted([0] * other + [1], [0, 1])) is None) == keeps


def test_no_starvation_lets_each_of_the_others_have_as_many():
    assert no_starvation(granted([0, 2] * 16 + [1], [0, 1, 2])) is None
    breach = no_starvation(granted([0] * 33, [0, 1, 2]))
    assert (breach.turn, breach.since, breach.warps) == (32, 0, (1,))
    assert breach.what == "33 turns went to others while warp 1 was ready: at most 32 may"


@pytest.mark.parametrize(("turns", "keeps"), [(3, True), (2, False)])
def test_a_wait_is_bounded_by_turns_of_others(turns, keeps):
    assert (bounded_wait(turns)(granted([0, 2, 0, 1], [0, 1, 2])) is None) == keeps


def test_a_wait_begins_where_the_warp_is_ready_and_counts_no_turn_without_a_grant():
    early = turn(0, [0, warp(1, "pause")], 0)
    held = turn(1, [0, 1], None)
    assert bounded_wait(1)(grants(early, held, turn(2, [0, 1], 0), turn(3, [0, 1], 1))) is None
    assert bounded_wait(0)(grants(early, held, turn(2, [0, 1], 0))).since == 1


def test_turns_of_another_group_or_port_are_no_turns_of_others():
    for where in ({"group": 1}, {"port": 1}):
        turns = [turn(0, [0, 1], 0), *(turn(tick, [2], 2, **where) for tick in range(5)), turn(5, [0, 1], 1)]
        assert bounded_wait(1)(grants(*turns)) is None


def test_one_turn_each_looks_at_slots():
    assert one_turn_each(granted([0, 2, 1, 0], [0, 1, 2])) is None
    breach = one_turn_each(granted([0, 2, 0], [0, 1, 2]))
    assert breach.what == "warp 1 was ready, but slot 0 (warp 0) had a second turn"
    other = warp(4, slot=0)
    assert one_turn_each(grants(turn(0, [0, 1], 0), turn(1, [1, other], 4))).turn == 1


@pytest.mark.parametrize(("turns", "keeps"), [(3, True), (2, False)])
def test_fairness_is_the_largest_lead_within_any_stretch(turns, keeps):
    """Warp 0 is one behind, then two ahead: three turns more from the second turn on."""
    assert (fair_within(turns)(granted([1, 0, 0, 0], [0, 1])) is None) == keeps


def test_fairness_says_nothing_of_a_warp_that_waits_for_something_else():
    away = [turn(tick, [0, warp(1, "memory")], 0) for tick in range(2, 5)]
    turns = [turn(0, [0, 1], 0), turn(1, [0, 1], 0), *away, turn(5, [0, 1], 0), turn(6, [0, 1], 0)]
    assert fair_within(2)(grants(*turns)) is None
    in_pipeline = [turn(tick, [0, warp(1, "pipeline")], 0) for tick in range(2, 5)]
    assert fair_within(2)(grants(*turns[:2], *in_pipeline)).warps == (0, 1)


def test_the_oldest_and_the_first_to_come_are_told_apart():
    warps = [warp(0, ready_time=5), warp(1, ready_time=3), warp(2, ready_time=3)]
    assert [law(grants(turn(9, warps, 0))) is None for law in (oldest_first, first_come)] == [True, False]
    assert [law(grants(turn(9, warps, 1))) is None for law in (oldest_first, first_come)] == [False, True]
    assert first_come(grants(turn(9, warps, 2))).what == "warp 2 was granted instead of warp 1: it became ready first"


def test_greedy_oldest_wants_the_same_warp_and_not_its_slot():
    assert greedy_oldest(grants(turn(1, [0, 1], 1, last=warp(1)))) is None
    assert greedy_oldest(grants(turn(1, [0, 1], 0, last=warp(1)))).turn == 0
    gone = warp(7, slot=1)
    assert greedy_oldest(grants(turn(1, [0, 1], 0, last=gone))) is None
    assert greedy_oldest(grants(turn(1, [0, 1], 1, last=gone))) is not None


def test_round_robin_goes_on_behind_the_last_slot():
    last = warp(1)
    assert [round_robin(grants(turn(1, [0, 1, 2], number, last))) is None for number in range(3)] == [0, 0, 1]
    assert [round_robin(grants(turn(1, [0, 1], number, last))) is None for number in range(2)] == [1, 0]


def test_a_set_is_left_only_where_none_of_its_warps_is_ready():
    law, last = stays_in_set(2), warp(2)
    assert [law(grants(turn(1, [0, 3, 4], number, last))) is None for number in (0, 3, 4)] == [False, True, False]
    assert law(grants(turn(1, [0, 4], 0, last))) is None


def test_least_progress_may_be_any_of_equals():
    warps = [warp(0, issued=2), warp(1, issued=1), warp(2, issued=1)]
    assert [least_progress_first(grants(turn(1, warps, number))) is None for number in range(3)] == [0, 1, 1]


def test_barriers_are_helped_where_most_wait():
    warps = [warp(0), warp(1, block=1), warp(2, "barrier", block=1), warp(3, "barrier", block=2)]
    assert [helps_barriers(grants(turn(1, warps, number))) is None for number in (0, 1)] == [False, True]


def test_work_is_conserved_where_each_turn_has_a_grant():
    assert work_conserving(granted([0, 1], [0, 1])) is None
    assert work_conserving(granted([0, None], [0, 1])).what == "no warp was granted, although 0, 1 were ready"


def test_loads_alone_are_held_back():
    load = warp(0, operation="load")
    assert holds_back_loads_only(grants(turn(0, [load], None))) is None
    assert holds_back_loads_only(grants(turn(0, [load, warp(1)], None))).warps == (1,)


def test_a_first_turn_needs_room_among_the_active():
    active, waiting = warp(0, "memory", issued=3), warp(1, "barrier", issued=3)
    law = admits_at_most(1)
    assert law(grants(turn(0, [waiting, 2], 2))) is None
    assert law(grants(turn(0, [active, 2], 2))).warps == (2, 0)
    assert law(grants(turn(0, [active, warp(2, issued=1)], 2))) is None


@pytest.mark.parametrize(("misses", "operation", "keeps"), [(3, "load", 1), (4, "load", 0), (4, "compute", 1)])
def test_loads_are_of_few_where_misses_exceed_hits_and_slack(misses, operation, keeps):
    warps = [warp(0, "barrier"), warp(1, "memory", hits=1, misses=misses), warp(2, operation=operation)]
    assert (loads_of_few(1, 2)(grants(turn(0, warps, 2))) is None) == keeps
    assert loads_of_few(2, 2)(grants(turn(0, warps, 2))) is None


@pytest.mark.parametrize("law", [deterministic, no_foresight, group_local])
def test_the_same_answer_is_due_as_long_as_the_same_was_seen(law):
    first = grants(turn(0, [0, 1], 0), turn(1, [0, 1], 1))
    assert law(first, first) is None
    assert law(first, grants(turn(0, [0, 1], 0), turn(1, [0, 1], 0))).turn == 1
    seen_otherwise = grants(turn(0, [0, 1], 0), turn(2, [0, 1], 0))
    assert law(first, seen_otherwise) is None
    held = [grants(turn(0, [0], None, until=until)) for until in (4, 5)]
    assert law(*held).what.startswith("in group 0 the rule returned Idle(4), but Idle(5) when ")


def test_only_group_zero_is_compared_where_other_groups_differ():
    runs = [grants(turn(0, [0, 1], number, group=1)) for number in (0, 1)]
    assert group_local(*runs) is None
    assert deterministic(*runs) is not None


def test_a_law_keeps_what_happens_without_turns():
    for law in [*LAWS.values(), *(make(*[2] * len(of)) for make, of in FAMILIES.values())]:
        runs = 2 if law.pair else 1
        assert law(*[grants()] * runs) is None


def test_each_law_states_a_formula_in_its_docstring_and_is_found_by_its_name():
    for law in [*LAWS.values(), *(make(*[2] * len(of)) for make, of in FAMILIES.values())]:
        assert law.formula
        assert law.formula in " ".join(law.__doc__.split())
        assert law.summary.endswith((".", ":"))
        assert repr(law_named(law.name)) == law.name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fair", "promise 'fair': unknown; "),
        ("no_starvation(3)", "promise 'no_starvation(3)': takes no number: write no_starvation"),
        ("bounded_wait", r"promise 'bounded_wait': write bounded_wait(turns) with whole numbers of at most 1000000"),
        ("bounded_wait(1, 2)", "promise 'bounded_wait(1, 2)': write bounded_wait(turns) "),
        ("bounded_wait(-1)", "promise 'bounded_wait(-1)': unknown; "),
        ("loads_of_few(1)", "promise 'loads_of_few(1)': write loads_of_few(few, slack) "),
        ("stays_in_set(0)", "promise 'stays_in_set(0)': a set has at least one slot"),
        ("bounded_wait(9999999)", "promise 'bounded_wait(9999999)': write bounded_wait(turns) "),
    ],
)
def test_a_promise_that_is_none_is_named(text, said):
    with pytest.raises(SimtmmError) as caught:
        law_named(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("number", [-1, 1.5, True, "2"])
def test_a_law_takes_whole_numbers(number):
    with pytest.raises(SimtmmError, match=r"^bounded_wait: .*: must be a whole number of at least 0$"):
        bounded_wait(number)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"promises": []}, "promises: must have at least one"),
        ({"promises": [bounded_wait]}, "promises: .*: must be a law or its name; a family needs its number"),
        ({"draws": 0}, "draws = 0: must be a whole number from 1 to 1000000"),
        ({"seed": -1}, "seed = -1: must be a whole number of at least 0"),
        ({"rule": 7}, "rule 7: must be a function of the ready warps and the core group"),
        ({"rule": "fair"}, "rule 'fair': unknown"),
        ({"rule": "fifo", "engine": "slow"}, "engine 'slow': unknown"),
        ({"engine": "fast"}, "engine 'fast': promises of your own rules are tested in Python"),
    ],
)
def test_what_check_rule_does_not_take_is_named(arguments, said):
    given = {"rule": loose_round_robin, "promises": [no_starvation], **arguments}
    with pytest.raises(SimtmmError, match=f"^{said}"):
        check_rule(**given)


def test_the_table_says_who_was_ready_and_who_was_granted():
    seen = granted([0, 0, None], [0, 1])
    assert turns_table(seen, work_conserving(seen)) == (
        "tick  ready  granted\n   0  0 1    0\n   1  0 1    0\n   2  0 1    nobody   <- here"
    )


def test_a_long_table_leaves_out_its_middle():
    seen = granted([0] * 60, [0, 1, 2])
    lines = turns_table(seen, no_starvation(seen)).splitlines()
    assert len(lines) == 1 + 24 + 1
    assert lines[7].split() == ["...", "9", "turns"]
    assert lines[-1] == "  32  0 1 2    0   <- here"


def test_the_picture_has_a_row_for_each_warp_and_a_letter_for_each_turn():
    seen = grants(turn(0, [0, 1, warp(2, "memory")], 0), turn(1, [0, 1], 0), turn(2, [0, 1], 0))
    lines = text_picture(seen, bounded_wait(2)(seen)).splitlines()
    assert lines[1:4] == ["  warp 0  GGG", "> warp 1  rrr", "  warp 2  m"]


def test_the_saved_picture_has_a_rectangle_for_each_turn_of_each_warp(tmp_path):
    seen = granted([0] * 3, [0, 1])
    save_picture(tmp_path / "starved.svg", "rule <x> & co", seen, bounded_wait(2)(seen))
    text = (tmp_path / "starved.svg").read_text()
    assert text.count("<title>warp 0, tick ") == text.count("<title>warp 1, tick ") == 3
    assert "rule &lt;x&gt; &amp; co" in text
    with pytest.raises(OutputError, match=r"must end in \.svg$"):
        save_picture(tmp_path / "starved.png", "", seen, bounded_wait(2)(seen))


def test_a_picture_has_the_latest_turns_that_there_is_room_for(tmp_path):
    """96 of them; the breach is the last one that is drawn, however many come behind it."""
    found = granted([0] * 120 + [1], [0, 1])
    breach = Breach("warp 1 waits", 110, 0, (1,))
    first, *rows = text_picture(found, breach).splitlines()[:-1]
    assert first.split() == ["tick", "15", "tick", "110"]
    assert [row.split()[-1] for row in rows] == ["G" * 96, "r" * 96]
    save_picture(tmp_path / "p.svg", "a title", found, breach)
    svg = (tmp_path / "p.svg").read_text()
    assert "turns from tick 15 to 110<" in svg
    assert re.findall(r"<title>warp 0, tick (\d+): G</title>", svg) == [str(tick) for tick in range(15, 111)]
    assert svg.count("<title>warp 1, ") == 96


def test_a_counter_example_has_all_that_it_takes_to_see_it():
    def youngest(ready, group):
        return max(ready, key=lambda each: each.age)

    with pytest.raises(BrokenPromiseError) as caught:
        check_rule(youngest, [bounded_wait(3)], seed=3)
    found, text = caught.value.found, str(caught.value)
    assert found.breach.turn == 3
    assert text.startswith("rule youngest breaks bounded_wait(3): 4 turns went to others while warp 0 was ready: ")
    for part in ("Formula: |{t in W(i): g(t) != i}| <= turns", "   3  0 1    1   <- here", "> warp 0  rrrr"):
        assert part in text
    assert "machine: 1 core group, 1 port, every-instruction, " in text
    assert 'workload: {"blocks": [{"warps": ' in text


@pytest.mark.parametrize("name", PROMISES)
def test_a_few_draws_accuse_no_right_rule(name):
    """Few, as this is of the fast suite: tests/rules/test_rules.py draws more."""
    check_rule(example_rule(name), PROMISES[name], draws=4)


@pytest.mark.parametrize("name", ["ping_pong", "round_robin_from_the_last", "every_other_cycle", "lottery"])
def test_some_wrong_rules_are_caught(name):
    """Some, likewise: tests/rules/test_wrong.py has all."""
    rule, promises = WRONG[name]
    assert [promise for promise, _ in caught(rule, promises, seed=1, draws=50)] == list(promises)


@pytest.mark.parametrize("answer", [None, 3, "warp"])
def test_what_no_rule_may_do_is_told_whatever_is_promised(answer):
    def rule(ready, group):
        return answer

    with pytest.raises(BrokenPromiseError, match=r"^rule rule breaks every rule's contract: scheduler rule: "):
        check_rule(rule, [deterministic])


def test_a_rule_that_raises_is_told_with_what_it_raised():
    def rule(ready, group):
        return ready[5]

    expected = r"^rule rule breaks every rule's contract: it raised IndexError: tuple index out of range"
    with pytest.raises(BrokenPromiseError, match=expected):
        check_rule(rule, [deterministic])
