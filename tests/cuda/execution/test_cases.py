"""The execution on the CPU gives what the plain interpreter gives, instruction by instruction."""

import random
import re

import pytest
from hypothesis import settings

from tests.cuda.cases import every_case
from tests.cuda.cases.executed import executed, refusal
from tests.cuda.cases.interpreted import interpreted
from tests.examples import DAILY

PARTS = 46  # kernels that all cases are dealt to
DAILY_PARTS = 4  # of which so many are compared each day; all with --hypothesis-profile=long
SEED = 7

# Cases that the execution refuses, until it knows their instructions: matrices, fp8, video, atomics of vectors.
UNKNOWN = re.compile(
    r"mma|ldmatrix|stmatrix|movmatrix|v\w+[24]\.|lop3\.(and|or)|cvt.*e[45]m[23]|redux.*f32|atom\.global\.add\.(noftz\.)?v"
)


@pytest.mark.parametrize("part", range(PARTS if settings().max_examples > DAILY else DAILY_PARTS))
def test_the_execution_agrees_with_the_interpreter(part):
    known = [case for name, case in sorted(every_case().items()) if not UNKNOWN.match(name)]
    random.Random(SEED).shuffle(known)
    cases = known[part::PARTS]
    differences = []
    for case, found in zip(cases, executed(cases), strict=True):
        differences += case.differences(interpreted(case), found)
    assert differences == []


def test_what_is_not_known_is_refused_in_one_line():
    for name, case in every_case().items():
        if UNKNOWN.match(name):
            line = refusal(case)
            assert line is not None, name
            assert line.startswith("PTX line ")
            assert "\n" not in line
