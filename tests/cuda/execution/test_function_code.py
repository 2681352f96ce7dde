"""Where variables of a function lie: one behind another, each at a multiple of its alignment."""

import pytest

from simtmm.cuda.execution.translation.function_code import placed, stride_of
from simtmm.cuda.ptx.syntax import Variable


def variable(size, align, name="v"):
    return Variable(name, "local", "b8", align, size)


@pytest.mark.parametrize(
    ("size", "align", "stride"),
    [
        (1, 1, 4),
        (3, 1, 4),
        (4, 4, 4),
        (5, 1, 5),
        (6, 2, 6),
        (7, 2, 8),
        (8, 8, 8),
        (9, 8, 16),
        (12, 8, 16),
        (17, 16, 32),
    ],
)
def test_a_variable_of_each_lane_begins_where_it_may(size, align, stride):
    assert stride_of(variable(size, align)) == stride


def test_variables_lie_one_behind_another_with_as_little_between_as_they_allow():
    given = [variable(3, 1, "a"), variable(4, 4, "b"), variable(1, 1, "c"), variable(8, 8, "d"), variable(8, 8, "e")]
    assert placed(given) == ({"a": 0, "b": 4, "c": 8, "d": 16, "e": 24}, 32)
    assert placed([variable(2, 2, "a"), variable(5, 1, "b")]) == ({"a": 0, "b": 2}, 7)
    assert placed([]) == ({}, 0)
