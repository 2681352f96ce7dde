"""What the thesis tells besides Table 6.2: phases, ratios and trees, at the sizes of the sample."""

import pytest

from simtmm.machine import load_machine
from simtmm.model.series import SIMULATED
from simtmm.validation.cases.gtx280_thesis import BY_TABLE, PHASES
from simtmm.validation.cases.papers import printed
from simtmm.validation.figures.programs import launches_ms, seconds
from simtmm.validation.figures.thesis import RANKING, TOUR, phases_of
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def tables(sampled):
    return {table.name: table for table in sampled("gtx280-thesis")}


def by_group(table):
    return {point.group: point for point in table.points}


def test_phases_and_later_iterations_are_the_total(tables):
    """By rehman.table4.1: what is printed of 1 M, and what is simulated."""
    phases = by_group(tables["gtx280-phases"])
    assert [*PHASES.values(), "later iterations", "total"] == list(phases)
    for value in (lambda point: point.measured, lambda point: point.said[SIMULATED]):
        *parts, total = (value(point) for point in phases.values())
        assert sum(parts) == pytest.approx(total, rel=1e-12)
    assert phases["total"].measured == 7.182


def test_the_total_is_met_because_local_ranking_is_most_of_it(tables):
    """By rehman.table4.1: the phase that was fitted is 61 % as printed, and 75 % simulated; the split is far off."""
    phases = by_group(tables["gtx280-phases"])
    assert phases["local ranking"].measured / phases["total"].measured == pytest.approx(0.613, abs=0.001)
    assert phases["local ranking"].said[SIMULATED] / phases["total"].said[SIMULATED] > 0.7
    assert phases["split"].said[SIMULATED] > 5 * phases["split"].measured
    assert phases["later iterations"].said[SIMULATED] < 0.25 * phases["later iterations"].measured


def test_ordered_lists_are_faster_and_less_so_than_the_text_says(tables):
    """By rehman.ordered_vs_random: 5 to 10 times. DEVIATIONS.md has what is simulated."""
    ratio = by_group(tables["gtx280-ratios"])["random over ordered"]
    assert 2 < ratio.said[SIMULATED] < 3 < ratio.measured


def test_neither_balance_nor_order_alone_makes_a_list_quick():
    """By rehman.ordered_vs_random, Fig 4.4: both are nearer to the random list than to the ordered one."""
    machine = load_machine("gtx280")
    orders = ("ordered", "shuffled-splitters", "equidistant", "random")
    ordered, disorderly, balanced, random = (
        seconds(machine, RANKING, {"n": 2**17, "order": order}) for order in orders
    )
    assert ordered < disorderly < balanced < random
    assert random - disorderly < disorderly - ordered


def test_versions_of_wyllies_algorithm_are_in_the_texts_order(tables):
    """By rehman.wyllie_trend: fewer loads and narrower nodes save time, if less than printed; Helman-JaJa more."""
    ratios = by_group(tables["gtx280-ratios"])
    for group in ("64 over 32 bits", "original over restricted", "best Wyllie over Helman-JaJa"):
        assert ratios[group].said[SIMULATED] > 1
    for group in ("64 over 32 bits", "original over restricted"):
        assert ratios[group].said[SIMULATED] < 0.75 * ratios[group].measured
    assert ratios["best Wyllie over Helman-JaJa"].said[SIMULATED] == pytest.approx(3.5, rel=0.1)


def test_the_time_of_a_tree_does_not_follow_from_the_thesiss_tables(tables):
    """By rehman.preorder16M: ranking the tour's 2 n arcs takes more than the whole is said to, by Table 6.2."""
    stated = printed("gtx280-preorder")
    assert 2 * printed("gtx280-local-ranking")["actual_ms"][-1] == pytest.approx(165.1, abs=0.05)
    assert stated["total_ms"] == 133
    (point,) = tables["gtx280-preorder"].points
    assert point.said[SIMULATED] > point.said[BY_TABLE] > point.measured


def test_ranking_takes_most_of_an_euler_tours_time():
    """By rehman.ett: 'list ranking dominates'. Simulated it is the longest phase and about half; docs/claims.md."""
    phases = phases_of(launches_ms(load_machine("gtx280"), TOUR, {"n": 4096, "computation": "subtree-size"}))
    assert max(phases, key=phases.get) == "ranking"
    assert phases["ranking"] > 0.4 * sum(phases.values())
