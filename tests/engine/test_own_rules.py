"""Users' scheduling rules on the fast engine, where they are compiled: to the tick as on the reference engine."""

import inspect
import linecache
import random
import sys
from textwrap import dedent, indent

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Machine, Workload
from simtmm.engine import holding_back, simulate, why_not_compiled
from simtmm.engine.own_rule import compiled as compiled_rules
from simtmm.engine.own_rule.compiled import compiled
from simtmm.engine.own_rule.operands import NotCompiledError
from simtmm.errors import EngineError
from simtmm.rules import NUMBERED, SIMPLE, Idle
from simtmm.rules.guarded import guarded
from simtmm.testing import machines, workloads
from simtmm.trace.lower import lower
from tests.engine.own_rules import SeesAll, sees_all
from tests.engine.rule_texts import function_of, rule_texts
from tests.engine.test_streams import holding, long_traces, small_windows, streamed
from tests.examples import SHARING, examples, several
from tests.rules import wrong
from tests.rules.wrong import WRONG

__all__ = ["small_windows"]  # a fixture

SHIPPED = {**SIMPLE, **{name: make(*usual) for name, (make, usual) in NUMBERED.items()}}
IN_PYTHON_ONLY = {
    "FirstSeenFirst": "self.order is dict, no number of 64 bits: FirstSeenFirst",
    "WarpZeroTwice": "self.asked is count, no number of 64 bits: WarpZeroTwice",
    "lottery": "no such function is compiled: random.choice(ready)",
    "by_the_clock": "no such function is compiled: time.perf_counter_ns()",
    "by_what_was_asked_before": "`next` of a generator only: next(RUNS)",
    "shortest_job_first": "a rule sees no such thing of a warp: seen._ReadyWarp__warp",
    "longest_compute_first": "a rule sees no such thing of a warp: seen._ReadyWarp__warp",
    "asks_for_what_is_not_shown": "a rule sees no such thing of a warp: warp.amounts",
}
COMPILED = {**SHIPPED, **{name: rule for name, (rule, _) in WRONG.items() if name not in IN_PYTHON_ONLY}}


def machine(**changes):
    tables = {
        "name": "barrel",
        "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 16},
        "scheduling": {"switch": "every-instruction", "scheduler": "fifo"},
        "memory": {"latency": 60, "chunk_words": 8},
    }
    return Machine.from_dict(tables).replace(changes)


WORKLOAD = Workload.from_dict({"blocks": [{"warps": [[["compute", 2], ["load", [0]], ["compute", 1]]] * 4}]})


def outcome(on, workload, engine, rule):
    """All that a run gives, or the line in which it is refused."""
    begun = np.full(len(workload.block_warps) - 1, -1)
    try:
        result = simulate(on, workload, engine, scheduler=rule, timeline=True, stalls=True, begun=begun)
    except EngineError as error:
        return str(error)
    return result, begun.tolist()


def agree(on, workload, rule):
    assert outcome(on, workload, "fast", rule) == outcome(on, workload, "reference", rule)


@pytest.fixture
def few_holds(monkeypatch):
    monkeypatch.setattr(holding_back, "MOST_HOLDS", 300)


@pytest.mark.usefixtures("few_holds")
@examples(100 // SHARING)
@given(drawn=several(machines()), workload=workloads(), rule=st.sampled_from([SeesAll, sees_all]))
def test_a_rule_sees_the_same_at_the_same_ticks_on_both_engines(drawn, workload, rule):
    """What is seen decides what is answered, so one number that differs anywhere leads to another run."""
    for on in drawn:
        agree(on, workload, rule)


@pytest.mark.usefixtures("few_holds")
@examples(100 // SHARING)
@given(drawn=several(machines()), workload=workloads(), name=st.sampled_from(sorted(COMPILED)))
def test_shipped_rules_and_wrong_ones_give_the_same_on_both_engines(drawn, workload, name):
    for on in drawn:
        agree(on, workload, COMPILED[name])


@examples(8)
@given(text=rule_texts(), on=machines(), workload=workloads())
def test_a_drawn_rule_does_as_machine_code_what_python_does(text, on, workload):
    rule = function_of(text)
    compiled(rule)
    found = outcome(on, workload, "fast", rule)
    if isinstance(found, str) and "run it on 'reference'" in found:  # it raises there, or has larger numbers
        return
    assert found == outcome(on, workload, "reference", rule)


@pytest.mark.usefixtures("few_holds", "small_windows")
def test_a_rule_sees_of_a_stream_what_it_sees_of_what_is_held():
    @examples(20)
    @given(on=machines(), trace=long_traces, rule=st.sampled_from([SeesAll, sees_all]))
    def agrees(on, trace, rule):
        own = holding(on, trace)
        ends = []
        for workload in (streamed(trace, own), lower(trace, own)):
            try:
                ends.append(simulate(own, workload, "fast", scheduler=rule, timeline=True))
            except EngineError as error:
                ends.append(str(error))
        assert ends[0] == ends[1]

    agrees()


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_rule_is_compiled(name):
    result = simulate(machine(), WORKLOAD, scheduler=SHIPPED[name])
    assert (result.engine, result.engine_reason) == ("fast", "")


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_compiled_says_where_and_why(name):
    reason = why_not_compiled(WRONG[name][0])
    if name not in IN_PYTHON_ONLY:
        assert not reason
        return
    where, _, why = reason.rpartition("line ")
    assert (why.partition(": ")[2] if where else reason) == IN_PYTHON_ONLY[name]
    if where:
        line = int(why.partition(":")[0])
        assert where == "wrong.py, "
        assert IN_PYTHON_ONLY[name].rpartition(": ")[2] in linecache.getline(wrong.__file__, line)


def by_tuples(ready, group):
    best = ready[0]
    for warp in ready:
        if (warp.issued // 2, warp.number % 2, warp.slot) < (best.issued // 2, best.number % 2, best.slot):
            best = warp
    return best


def by_their_items(ready, group):
    best = ready[0]
    for warp in ready:
        one, other = warp.issued // 2, best.issued // 2
        odd, others = warp.number % 2, best.number % 2
        if one < other or (one == other and (odd < others or (odd == others and warp.slot < best.slot))):
            best = warp
    return best


def test_tuples_are_compared_item_by_item():
    warps = [[["compute", 1 + number % 3], ["load", [number]], ["compute", 2]] * 3 for number in range(9)]
    long = Workload.from_dict({"blocks": [{"warps": warps}]})
    found = [outcome(machine(), long, "fast", rule) for rule in (by_tuples, by_their_items)]
    assert why_not_compiled(by_tuples) == why_not_compiled(by_their_items) == ""
    assert found[0] == found[1] == outcome(machine(), long, "reference", by_tuples)


def half(ready, group):
    return ready[int(0.5 * len(ready))]


def test_what_is_not_compiled_runs_on_the_reference_engine_which_the_result_says():
    result = simulate(machine(), WORKLOAD, scheduler=half)
    line = inspect.getsourcelines(half)[1] + 1
    assert result.engine == "reference"
    assert result.engine_reason == (
        f"rule half is not compiled: test_own_rules.py, line {line}: only numbers of 64 bits, truths, texts and None "
        "are compiled: 0.5"
    )
    assert result.to_dict()["engine_reason"] == result.engine_reason
    assert "engine_reason" not in simulate(machine(), WORKLOAD, "reference", scheduler=half).to_dict()


def test_the_fast_engine_refuses_a_rule_that_it_does_not_compile():
    with pytest.raises(EngineError, match=r"^engine 'fast': rule half is not compiled: test_own_rules.py, line \d+: "):
        simulate(machine(), WORKLOAD, "fast", scheduler=half)


def widest(ready, group):
    large = 10**18 * (group.now + 1)
    return ready[large * large % len(ready)]


def behind_the_last(ready, group):
    return ready[len(ready)] if group.now > 3 else ready[0]


def divided(ready, group):
    return ready[0 * (1 // (group.now - 2))]


def slot_of_nobody(ready, group):
    return min(ready, key=lambda warp: warp.slot - group.granted_last.slot)


def nobodys_turn(ready, group):
    return next(warp for warp in ready if warp.slot > 99)


def round_and_round(ready, group):
    turns = 0
    while turns < 30_000_000 and group.now == 2:
        turns += 1
    return ready[0]


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        (behind_the_last, IndexError), (divided, ZeroDivisionError), (slot_of_nobody, AttributeError),
        (nobodys_turn, RuntimeError),
    ],
)  # fmt: skip
def test_what_python_raises_is_what_it_raises(rule, error):
    with pytest.raises(error):
        simulate(machine(), WORKLOAD, scheduler=rule)
    line = inspect.getsourcelines(rule)[1] + 1
    with pytest.raises(EngineError, match=rf"^engine 'fast': scheduler {rule.__name__}: line {line}: .*'reference'$"):
        simulate(machine(), WORKLOAD, "fast", scheduler=rule)


def test_larger_numbers_than_64_bits_are_pythons():
    result = simulate(machine(), WORKLOAD, scheduler=widest)
    assert result == simulate(machine(), WORKLOAD, "reference", scheduler=widest)
    assert "needs more than 64 bits" in result.engine_reason


def test_a_loop_that_does_not_end_is_left():
    with pytest.raises(EngineError, match="too many turns"):
        simulate(machine(), WORKLOAD, "fast", scheduler=round_and_round)


def test_a_file_that_has_changed_is_not_taken_for_what_runs(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def rule(ready, group):\n    return ready[0]\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    path.write_text("def rule(ready, group):\n    return ready[-1]  # another\n")
    assert why_not_compiled(space["rule"]) == "line 1: its file has another text than what runs: rule"


@pytest.fixture
def translated(monkeypatch):
    """The codes that are translated, nothing having been before."""
    codes, translate = [], compiled_rules._translated

    def noted(function, *rest):
        codes.append(function.__code__)
        return translate(function, *rest)

    monkeypatch.setattr(compiled_rules, "_TRANSLATIONS", {})
    monkeypatch.setattr(compiled_rules, "_translated", noted)
    return codes


def test_a_rule_is_translated_once(translated):
    for _ in range(3):
        assert not why_not_compiled(SeesAll)
        assert not why_not_compiled(sees_all)
    assert translated == [SeesAll.__call__.__code__, sees_all.__code__]


def nth(n):
    def helper(ready):
        return ready[n % len(ready)]

    return lambda ready, group: helper(ready)


def test_rules_of_one_text_are_translated_for_what_their_names_stand_for(translated):
    """Another number is another rule; an equal one with functions made anew is the same."""
    rules = [nth(0), nth(-1), nth(0), nth(0)]
    begun = [simulate(machine(), WORKLOAD, "fast", scheduler=rule, timeline=True).timeline for rule in rules]
    assert len(translated) == 3
    assert begun[0] != begun[1]
    assert begun[0] == begun[2] == begun[3]
    for rule in rules:
        agree(machine(), WORKLOAD, rule)


CHOSEN = 0


def by_module(ready, group):
    return ready[CHOSEN]


def test_a_name_of_the_module_that_has_changed_is_seen(translated, monkeypatch):
    before = simulate(machine(), WORKLOAD, "fast", scheduler=by_module, timeline=True).timeline
    for value, times in ((-1, 2), (False, 3)):
        monkeypatch.setattr(sys.modules[__name__], "CHOSEN", value)
        assert simulate(machine(), WORKLOAD, "fast", scheduler=by_module, timeline=True).timeline != before or not value
        assert len(translated) == times
    monkeypatch.setattr(sys.modules[__name__], "CHOSEN", 0.5)
    assert "is float" in why_not_compiled(by_module)


def class_with(n):
    class Counts:
        step = n

        def __init__(self):
            self.turn = 0

        def chosen(self, ready):
            return ready[self.turn % len(ready)]

        def __call__(self, ready, group):
            self.turn += self.step
            return self.chosen(ready)

    return Counts


def test_classes_of_one_text_are_told_apart_by_their_values(translated):
    rules = [class_with(1), class_with(1), class_with(2)]
    for rule in rules:
        agree(machine(), WORKLOAD, rule)
    assert len(translated) == 2


def test_a_few_translations_are_kept(translated, monkeypatch):
    monkeypatch.setattr(compiled_rules, "MOST_KEPT", 2)
    for rule in (by_module, sees_all, SeesAll, by_module):
        assert not why_not_compiled(rule)
    assert len(translated) == 4
    assert len(compiled_rules._TRANSLATIONS) == 2


def test_rules_on_one_line_are_told_apart():
    first, last = (lambda ready, group: ready[0], lambda ready, group: ready[-1])
    for rule in (first, last):
        agree(machine(), WORKLOAD, rule)
    begun = [simulate(machine(), WORKLOAD, "fast", scheduler=rule, timeline=True).timeline for rule in (first, last)]
    assert [timeline.of_warp(3)[0] for timeline in begun] == [("ready", 0, 3), ("issuing", 0, 1)]


class Turns:
    """Counts, with a method and a truth."""

    STEP = 3

    def __init__(self):
        self.count = 0
        self.odd = False

    def advance(self, by):
        self.count = (self.count + by) % 7
        self.odd = not self.odd
        return self.count

    def __call__(self, ready, group):
        at = self.advance(self.STEP)
        return ready[at % len(ready)] if self.odd else ready[-1]


def lists_change(ready, group):
    """Names of lists that are assigned to while others stand for what they were."""
    first, second = ready[:1], ready[1:]
    first, second = second, first
    before = first
    first = [warp for warp in group.warps if warp.slot > 1]
    found = 0
    for warp in first:
        first = second
        found += warp.slot + len(first)
    for warp in before:
        found += 10 * warp.slot
    return ready[found % len(ready)]


def test_a_list_stays_what_it_was_where_its_name_becomes_another():
    assert not why_not_compiled(lists_change)
    agree(machine(), WORKLOAD, lists_change)


class Refuses:
    """An object at the first launch, and none at the second."""

    made = 0

    def __init__(self):
        Refuses.made += 1
        if Refuses.made % 2 == 0:
            raise ValueError("no more")
        self.count = 0

    def __call__(self, ready, group):
        return ready[0]


def test_a_class_that_cannot_be_made_is_left_to_python():
    launches = Workload.from_dict({"launches": [{"blocks": [{"warps": [[["compute", 3]]] * 3}]}] * 2})
    with pytest.raises(ValueError, match="no more"):
        simulate(machine(), launches, scheduler=Refuses)


def test_a_class_of_numbers_is_compiled_and_begins_anew_with_each_launch():
    launches = Workload.from_dict({"launches": [{"blocks": [{"warps": [[["compute", 3]]] * 3}]}] * 2})
    agree(machine(), launches, Turns)
    assert not why_not_compiled(Turns)


def test_an_object_is_not_compiled_since_it_would_keep_what_it_remembers():
    assert why_not_compiled(Turns()) == "neither a function nor a class of rules: Turns"


def by_global(ready, group):
    global SEEN
    SEEN = group.now
    return ready[0]


def by_dict(ready, group):
    return ready[{"a": 0}["a"]]


def maybe_unset(ready, group):
    if len(ready) > 2:
        which = 1
    return ready[which % len(ready)]


@pytest.mark.parametrize(
    ("rule", "why"),
    [(by_global, "no Global is compiled"), (by_dict, "no Dict is compiled"), (maybe_unset, "may have no value here")],
)
def test_other_python_is_refused(rule, why):
    with pytest.raises(NotCompiledError, match=why):
        compiled(rule)


def test_rules_of_a_users_file_are_compiled_behind_their_guard():
    assert not why_not_compiled(guarded(SHIPPED["oldest"], "rule oldest"))
    assert not why_not_compiled(guarded(Turns, "rule Turns"))
    reason = simulate(machine(), WORKLOAD, scheduler=guarded(half, "rule half")).engine_reason
    assert reason.startswith("rule half is not compiled: test_own_rules.py, line ")


def test_numbers_of_a_closure_are_those_of_the_rule():
    ticks = [simulate(machine(), WORKLOAD, "fast", scheduler=NUMBERED["fewer_warps"][0](most)).ticks for most in (1, 4)]
    assert ticks[0] > ticks[1]


def test_a_rule_that_waits_waits_as_long_on_both_engines():
    def rule(ready, group):
        return Idle(10) if group.now < 10 else ready[0]

    result = simulate(machine(), WORKLOAD, "fast", scheduler=rule, timeline=True)
    assert result.timeline.of_warp(0)[0] == ("ready", 0, 10)
    agree(machine(), WORKLOAD, rule)


def test_its_own_grants_are_no_reason_to_ask_a_rule_again():
    """Two ports, the second held back until tick 2, and at tick 1 for as long as nothing happens."""

    class Rule:
        def __init__(self):
            self.asked = 0

        def __call__(self, ready, group):
            self.asked += 1
            if self.asked == 2:
                return Idle(group.now + 2)
            if self.asked == 4:
                return None
            return ready[4] if self.asked == 1 else ready[3] if self.asked == 3 else ready[0]

    warps = [[["compute", 20]]] * 3 + [[["reduce", [0, 1]], ["compute", 4]], [["load", [0]], ["compute", 3]]]
    on = machine(**{"cores.issue_ports": 2, "scheduling.switch": "on-stall"})
    workload = Workload.from_dict({"blocks": [{"warps": warps}]})
    agree(on, workload, Rule)
    timeline = simulate(on, workload, "fast", scheduler=Rule, timeline=True).timeline
    assert timeline.of_warp(0) == [("ready", 0, 6), ("issuing", 6, 26)]


def test_luck_is_not_compiled():
    assert "random.choice" in why_not_compiled(lambda ready, group: random.choice(ready))


def test_a_comprehension_may_have_several_conditions_each_of_which_counts():
    def rule(ready, group):
        chosen = [each for each in ready if each.number > 0 if each.issued < 2 if each.number != 2]
        return chosen[-1] if chosen else ready[0]

    compiled(rule)
    agree(machine(), WORKLOAD, rule)
    found, _ = outcome(machine(), WORKLOAD, "fast", rule)
    assert [found.timeline.of_warp(warp)[0][2] for warp in (3, 1)] == sorted(
        found.timeline.of_warp(warp)[0][2] for warp in range(4)
    )[:2]


VALUES = {
    "constants as conditions": (
        "1 if 3 else 2", "1 if 0 else 2", "1 if -1 else 2", "1 if True else 2", "1 if None else 2", "1 if () else 2",
        "1 if (0,) else 2", "not 0", "not 7", "not None", "not ()", "not (0,)", "0 or 7", "0 and 7", "3 and 7",
        "3 or 7", "True and now", "False or now", "None or now", "(None and now) is None", "1 if now or 0 else 2",
    ),
    "what is seen as conditions": (
        "1 if now else 2", "1 if now - now else 2", "1 if ready else 2", "1 if ready[:0] else 2",
        "1 if ready[0] else 2", "1 if group.granted_last else 2", "not group.granted_last",
        "1 if ready[0].state else 2", "1 if ready[0].operation else 2", "not ready[0].operation", "now or 5",
        "(now - now) or 5", "now and 5", "(now - now) and 5", "now > 40 and len(ready) > 1",
        "now > 40 or len(ready) > 1", "not (now > 40)", "bool(now)", "bool(now - now)", "bool(ready[0])",
        "int(now > 40)", "int(now)",
    ),
    "arithmetic": (
        "+now", "-now", "~now", "~3", "+3", "-(-3)", "now & 6", "now | 9", "now ^ 5", "6 & 3", "6 | 3", "6 ^ 3",
        "2 ** 10", "3 << 4", "2 ** 0", "1 << 0", "2 ** 62 // 2 ** 40", "-7 // 2", "-7 % 3", "7 // -2", "7 % -3",
        "now // -3", "now % -5", "-now // 4", "-now % 4", "now // (now + 1)", "7 % (now + 1)", "-7 // -(now + 1)",
        "True + True", "now - True", "(now > 40) + (now > 20)", "3 - 8", "5 * -6", "abs(now - 40)", "abs(-3)",
        "abs(3 - now)",
    ),
    "comparisons": (
        "1 < 2 < now", "2 < 1 < now", "1 < 2 < 3", "1 < 2 > 3", "1 <= 1 == 1", "0 < now < 90 < 91", "now < 50 < 40",
        "now == now", "now != now", "40 < now <= 70", "now >= 40", "3 == 3", "3 != 3", "3 > 3", "3 >= 3", "3 < 3",
        "True == 1", "(now > 40) == (now > 20)", "(now > 40) == 1", "now > 40 != 0",
    ),
    "nothing, warps and words": (
        "None is None", "None is not None", "None == 3", "None != 3", "None == now", "None != now", "ready[0] is None",
        "ready[0] is not None", "None == ready[0]", "group.granted_last != None", "group.granted_last is None",
        "ready[0] == ready[-1]", "ready[0] != ready[-1]", "ready[0] is ready[-1]", "ready[0] is not ready[-1]",
        "ready[0].state == 'never'", "ready[0].state != 'never'", "'ready' == ready[0].state",
        "ready[0].state == 'ready'", "group.warps[-1].state == ready[-1].state",
        "group.warps[0].operation != group.warps[-1].operation",
        "group.warps[0].operation == group.warps[-1].operation", "'load' == ready[-1].operation",
        "ready[0].operation == ''", "ready[0].operation == 'nothing'",
    ),
    "tuples": (
        "(1, now) < (1, 50)", "(1, 2) < (1, 3)", "(2, 2) < (1, 3)", "(1, 3) <= (1, 3)", "(now, 1) == (now, 1)",
        "(now, 1) == (now, 2)", "(1,) != (2,)", "(now,) > (40,)", "(1, now, 2) >= (1, now, 3)", "(now, 2) != (40, 2)",
        "3 in (1, 3, now)", "now in (1, 2, 40)", "3 in (1, 2)", "3 not in (now, 3)", "3 in (now, 3)", "now in (now, 3)",
        "3 in ()", "3 not in ()", "now in (3, now + 1, 4)", "ready[0].operation in ('shared', 'load')",
        "ready[0].operation not in ('shared', 'compute')", "((1, 2) if now % 2 else (3, 4))[1]",
        "((1, now) if now % 2 else (3, 4))[-1]", "len((1, 2, now))", "(1, 2, 3)[-3]", "(now, 2)[0]", "(7, 8)[True]",
        "((1, now > 3) if now % 2 else (False, 4))[0]",
    ),
    "lists": (
        "len(ready)", "len(ready[1:])", "len(ready[:-1])", "len(ready[5:3])", "len(ready[-99:99])",
        "len(group.warps[1:3])", "(group.warps[-2] if len(group.warps) > 1 else ready[0]).number",
        "ready[len(ready) > 1].number", "len(list(ready))", "len(tuple(ready)[:2])",
        "[w.number for w in group.warps].count(2)", "2 in [w.number for w in group.warps]",
        "9 in [w.number for w in group.warps]", "sum(w.number for w in group.warps)", "sum((w.age for w in ready), 5)",
        "sum([w.number for w in ready if w.number > 1])", "any(w.number > 2 for w in ready)",
        "any([w.age for w in ready])", "all(w.number > 2 for w in ready)", "all([w.number for w in ready])",
        "any(w.number > 99 for w in ready)", "all(w.number < 99 for w in ready)", "next(w.number for w in ready)",
        "next((w.age for w in ready if w.age > 99), 7)", "next((w.number for w in ready if w.number > 0), 9)",
        "[now, 4, 7][1]", "sorted([now, 4, 50])[1]",
    ),
    "extremes": (
        "min(3, now)", "max(3, now)", "min(now, 70, 50)", "max(now, 30, 50)", "min([now, 40, 60])",
        "max([now, 40, 60])", "min(ready, key=lambda w: -w.number).number", "max(ready, key=lambda w: w.number).number",
        "max(group.warps, key=lambda w: (w.number % 2, -w.number)).number",
        "min(group.warps, key=lambda w: (w.number % 2, -w.number)).number",
        "min([w.age for w in ready[:0]], default=4)", "max([w.age for w in ready if w.age > 99], default=now)",
        "max([w.age for w in ready], default=99)", "sorted(group.warps, key=lambda w: -w.number)[0].number",
        "sorted(group.warps, reverse=True, key=lambda w: w.slot)[len(ready) - 1].slot",
        "sorted(group.warps, key=lambda w: w.number % 2, reverse=False)[len(group.warps) // 2].number",
        "sorted([3, now, 1], reverse=True)[0]",
        "sorted(group.warps, key=lambda w: (w.number % 2, w.number > 1))[len(group.warps) - 1].number",
        "(min(ready[:0], key=lambda w: w.age, default=None) or ready[0]).number",
    ),
    "values of either kind": (
        "3 if now > 40 else True", "False if now > 40 else 3", "(ready[0] if now > 40 else ready[-1]).number",
        "(group.granted_last or ready[0]).number", "(group.granted_last and ready[0]) is None", "(now > 40 and 3) + 1",
        "(now > 40 or 3) + 1", "1 if (None if now > 40 else ready[0]) else 2",
        "(ready if now > 40 else group.warps)[-1].number", "len(ready if now > 40 else ready[1:])",
        "('load' if True else 'store') == ready[0].operation",
    ),
}  # fmt: skip
BODIES = {
    "branches": """
        if 3:
            total += 1
        else:
            total += 2
        if None:
            total += 4
        elif now % 2:
            total += 8
        else:
            total += 16
        if now > 40:
            pass
        else:
            total += 32
    """,
    "assignments": """
        one: int = now
        other: int
        two, three = now % 3, now % 4
        two, three = three, two + 1
        four = five = now + 2
        four -= 1
        five *= 2
        total += one + 3 * two + 5 * three + 7 * four + 11 * five
        total //= 2
        total %= 1009
        "a text that says something"
        first = ready[0]
        total += first.number
        first = ready[-1]
        total += 3 * first.number
    """,
    "loops": """
        at = 0
        while at < now % 7:
            at += 1
            if at == 2:
                continue
            if at == 5:
                break
            total += at
        for warp in group.warps:
            if warp.number % 2:
                continue
            total += 3 * warp.number + 1
            if warp.number > 5:
                break
        for number in range(2, now % 9):
            total += number
        for number in range(9, -3, -4):
            total += 5 * number
        for number in range(now % 3):
            for other in [4, 7, now]:
                total += number * other
    """,
    "functions that return early": """
        def of(number, more):
            if number > 40:
                return more
            for each in range(3):
                if each + number > 20:
                    return each + 100
            return number

        def either(number):
            if number % 2:
                return 3
            else:
                return 4

        def or_none(warps):
            for each in warps:
                if each.number > 1:
                    return each
            return None

        def nothing(number):
            number + 1

        def said_at_the_end(number):
            number += 2
            return number

        def says_nothing(number):
            if number > 3:
                return

        double = lambda number: 2 * number
        found = or_none(ready)
        total += of(now, 7) + 3 * of(more=now, number=3) + 5 * either(now) + 7 * said_at_the_end(now)
        total += double(either(2))
        total += found.number if found else 9
        total += 1 if nothing(3) is None else 2
        total += 4 if says_nothing(now) is None else 8
        total += 16 if nothing(now) else 32
    """,
}


def run_by(statements):
    """A rule that these statements compute a number for, which decides what is granted, and when."""
    head = "    def __init__(self):\n        self.total = 1\n"
    begin = "        total, now = self.total, group.now\n"
    end = """
        self.total = total
        if total % 5 == 0:
            return Idle(now + 1 + total % 9)
        return ready[total % len(ready)]
"""
    return function_of(f"class rule:\n{head}    def __call__(self, ready, group):\n{begin}{statements}{end}")


@pytest.mark.parametrize("about", VALUES)
def test_what_an_expression_gives_as_machine_code_is_what_python_gives(about):
    terms = [f"{2 * place + 1} * ({each})" for place, each in enumerate(VALUES[about])]
    rule = run_by("\n".join(f"        total = (total * 31 + {term}) % 1000003" for term in terms))
    assert why_not_compiled(rule) == ""
    agree(machine(), WORKLOAD, rule)


@pytest.mark.parametrize("about", BODIES)
def test_what_statements_do_as_machine_code_is_what_they_do_in_python(about):
    rule = run_by(f"{indent(dedent(BODIES[about]), 8 * ' ')}\n        total %= 1000003")
    assert why_not_compiled(rule) == ""
    agree(machine(), WORKLOAD, rule)
