"""The execution on the CPU gives what the plain interpreter gives, instruction by instruction."""

import random

import pytest
from hypothesis import settings

from tests.cuda.cases import every_case
from tests.cuda.cases.executed import executed
from tests.cuda.cases.interpreted import interpreted
from tests.examples import DAILY

PARTS = 46  # kernels that all cases are dealt to
DAILY_PARTS = 4  # of which so many are compared each day; all with --hypothesis-profile=long
SEED = 7


@pytest.mark.parametrize("part", range(PARTS if settings().max_examples > DAILY else DAILY_PARTS))
def test_the_execution_agrees_with_the_interpreter(part):
    cases = list(every_case().values())
    random.Random(SEED).shuffle(cases)
    cases = cases[part::PARTS]
    differences = []
    for case, found in zip(cases, executed(cases), strict=True):
        differences += case.differences(interpreted(case), found)
    assert differences == []
