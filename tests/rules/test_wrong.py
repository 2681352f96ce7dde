"""Each wrong rule is caught by each promise that it breaks. `python -m tests.rules.score` looks at five seeds, and says
how long it takes.
"""

import pytest
from hypothesis import settings

from tests.examples import DAILY
from tests.rules.score import caught
from tests.rules.wrong import WRONG

DRAWS = 100  # what check_rule draws where nobody says otherwise


def seeds():
    return range(1, 6) if settings().max_examples > DAILY else [1]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_caught(name):
    rule, promises = WRONG[name]
    for seed in seeds():
        assert [promise for promise, _ in caught(rule, promises, seed, DRAWS)] == list(promises)


def test_there_are_more_than_twenty():
    assert len(WRONG) > 20
