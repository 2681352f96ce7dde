"""The execution on the CPU gives what the plain interpreter gives, instruction by instruction."""

import functools

import pytest
from hypothesis import settings

from tests.cuda.cases import every_case
from tests.cuda.cases.executed import executed
from tests.cuda.cases.interpreted import interpreted
from tests.cuda.cases.kept import PARTS, differences, kept, part_of
from tests.examples import DAILY

DAILY_PARTS = 4  # of which so many are compared anew each day; all with --hypothesis-profile=long


@pytest.mark.parametrize("part", range(PARTS if settings().max_examples > DAILY else DAILY_PARTS))
def test_the_execution_agrees_with_the_interpreter(part):
    cases, found = part_of(part), []
    for case, arrays in zip(cases, executed(cases), strict=True):
        found += case.differences(interpreted(case), arrays)
    assert found == []


@pytest.mark.parametrize("part", range(PARTS))
def test_the_execution_still_gives_what_the_interpreter_agreed_with(part):
    assert list(differences(part_of(part), functools.partial(executed, quick=True))) == []


def test_the_digests_are_of_these_cases():
    assert kept().keys() == every_case().keys()
