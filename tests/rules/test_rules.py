"""The rules of simtmm.rules: each keeps its promises, and those that a machine may name say what the engines say."""

import pytest
from hypothesis import given, settings

from simtmm import simulate
from simtmm.engine import ENGINES
from simtmm.errors import SimtmmError
from simtmm.rules import BUILT_IN, NUMBERED, SIMPLE, example_rule
from simtmm.testing import check_rule, machines, workloads
from simtmm.testing.cases import KINDS, cases
from simtmm.testing.promises import BUILT_IN_PROMISES, PROMISES
from tests.examples import DAILY, SHARING, examples, several

DRAWS, LONG_DRAWS = 90, 10**4  # of each rule, shared among its promises


def draws(promises):
    """Of each promise, as many as the profile wants."""
    return -(-(LONG_DRAWS if settings().max_examples > DAILY else DRAWS) // len(promises))


@pytest.mark.parametrize("name", PROMISES)
def test_a_rule_keeps_its_promises(name):
    check_rule(example_rule(name), PROMISES[name], draws=draws(PROMISES[name]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", BUILT_IN_PROMISES)
def test_the_rules_of_machines_keep_theirs_on_both_engines(name, engine):
    check_rule(name, BUILT_IN_PROMISES[name], draws=draws(BUILT_IN_PROMISES[name]), engine=engine)


def test_every_rule_promises_something():
    assert {name.partition("(")[0] for name in PROMISES} == {*SIMPLE, *NUMBERED}
    assert set(BUILT_IN_PROMISES) == set(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_rule_that_a_machine_may_name_gives_the_engines_result(name):
    @examples(40 // SHARING)
    @given(drawn=several(machines()), workload=workloads())
    def same(drawn, workload):
        for any_rule in drawn:
            on = any_rule.replace({"scheduling.scheduler": name})
            own = simulate(on, workload, scheduler=BUILT_IN[name], timeline=True)
            assert own == simulate(on, workload, "reference", timeline=True)

    same()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_case_can_be_drawn_and_ends(kind):
    @examples(20)
    @given(case=cases((kind,)))
    def ends(case):
        assert simulate(case.machine, case.workload, "reference").ticks >= 0

    ends()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fair", "rule 'fair': unknown; known: "),
        ("oldest(3)", "rule 'oldest(3)': takes no number: write oldest"),
        ("two_level(0)", "rule 'two_level(0)': write two_level(8), with whole numbers of at most 1000000, "),
        ("two_level(2, 3)", "rule 'two_level(2, 3)': write two_level(8), "),
        ("cache_conscious(1)", "rule 'cache_conscious(1)': write cache_conscious(2, 8), "),
    ],
)  # fmt: skip
def test_a_rule_that_is_none_is_named(text, said):
    with pytest.raises(SimtmmError) as caught:
        example_rule(text)
    assert str(caught.value).startswith(said)


def test_a_rules_name_is_how_it_is_written():
    for text in [*SIMPLE, "two_level(3)", "fewer_warps(1)", "cache_conscious(5, 0)"]:
        assert example_rule(text).__name__ == text
    assert example_rule("two_level").__name__ == "two_level(8)"
