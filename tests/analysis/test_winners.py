"""Which program wins where, and where that changes, by hand."""

import pytest

from simtmm.analysis.comparison.winners import contest, winners
from simtmm.report.compare import describe_comparison
from simtmm.study.winners import exchanges
from tests.study.cases import case, comparison

# By simulation one is faster up to 200 and the other from 400 on; by the model they are equal at 100, then the other
TIMES = {100: ((10, 5), (40, 5)), 200: ((50, 20), (60, 10)), 400: ((200, 60), (100, 20))}


@pytest.fixture(scope="module")
def made():
    cases = [
        case(n, simulated, {"tmm": (model, "memory")}, program=program)
        for n, times in TIMES.items()
        for program, (simulated, model) in zip(("one", "other"), times, strict=True)
    ]
    return comparison(*cases, series=("simulated", "tmm"))


def test_the_fastest_wins_and_equals_tie(made):
    found = {(one.at["n"], one.series): one for one in winners(made)}
    assert {key: one.best for key, one in found.items() if key[1] == "simulated"} == {
        (100, "simulated"): ("one",), (200, "simulated"): ("one",), (400, "simulated"): ("other",),
    }  # fmt: skip
    assert found[100, "simulated"].lead == 4
    assert (found[100, "tmm"].best, found[100, "tmm"].lead) == (("one", "other"), None)


def test_a_crossover_lies_between_two_neighbours(made):
    told = {(one.series, one.between): (one.before, one.after) for one in exchanges(winners(made))}
    assert told == {
        ("simulated", (200, 400)): (("one",), ("other",)),
        ("tmm", (100, 200)): (("one", "other"), ("other",)),
    }
    assert len(contest(made)["winners"]) == 6


def test_one_program_wins_nothing():
    alone = comparison(case(1, 10), case(2, 20), series=("simulated",))
    assert contest(alone) == {"winners": [], "crossovers": []}
    assert not any("Fastest program" in str(getattr(part, "title", "")) for part in describe_comparison(alone))
