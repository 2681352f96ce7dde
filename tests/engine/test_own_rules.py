"""Users' scheduling rules on the fast engine, where they are compiled: to the tick as on the reference engine."""

import inspect
import linecache
import random
import sys

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
