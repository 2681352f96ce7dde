"""Docstrings of public functions describe their arguments (tests/docstrings.py says what that is)."""

import ast
from textwrap import dedent

import pytest

from tests.docstrings import counted, lines, shared_names, undescribed, without_unit


@pytest.fixture(scope="module")
def found():
    return counted()


def test_each_argument_of_a_public_function_is_described(found):
    undescribed_ones, total = found
    assert total > 1_800
    assert lines(undescribed_ones) == ""


def lacking(source):
    function = ast.parse(dedent(source)).body[0]
    return undescribed(function, ast.get_docstring(function) or "")


def test_each_time_size_and_rate_of_a_public_function_has_a_unit():
    assert lines(counted(without_unit)[0]) == ""


def unitless(source):
    function = ast.parse(dedent(source)).body[0]
    return without_unit(function, ast.get_docstring(function) or "")


@pytest.mark.parametrize("said", ["of a launch [s]", "in ticks", "of a launch, in GB/s", "of a copy, bytes"])
def test_a_number_has_its_unit_in_its_own_description(said):
    assert unitless(f'def f(time: float, launches: int): """Do.\n\n    time: {said}. launches: all."""') == []
    assert unitless(f'def f(time: float, other: int): """Do.\n\n    time: of it. other: {said}."""') == ["time"]


def test_the_unit_of_a_result_is_in_the_docstring_or_the_name():
    assert unitless('def latency() -> float: """Of a load."""') == ["return"]
    assert unitless('def latency() -> float: """Of a load [cycles]."""') == []
    assert unitless('def seconds() -> float: """Of a load."""') == []
    assert unitless('def reached(mark: int) -> float: """When a mark is reached."""') == ["return"]
    assert unitless('def is_late(time: bool) -> bool: """When it is late."""') == []


def test_an_argument_is_described_by_its_name_before_a_colon():
    assert (
        lacking('''
        def f(first, last, other):
            """Something of `other`.

            first, last: blocks.
            """
    ''')
        == []
    )
    assert lacking('''
        def f(first, last):
            """Something of the first, last and all."""
    ''') == ["first", "last"]


def test_an_array_needs_its_shape():
    assert lacking('''
        def f(ends: Integers, begins: npt.NDArray[np.int64]):
            """Something.

            ends: int64[blocks], of each its last event.
            begins: of each its first event.
            """
    ''') == ["begins"]


def test_what_is_called_as_its_class_is_described_there():
    assert lacking('def f(machine: Machine, launches: Sequence[TraceLaunch], count: int): "Something."') == ["count"]


def test_names_that_another_room_imports_are_public_where_they_come_from():
    trees = {
        "simtmm.a": ast.parse("from simtmm.a.inner import shared, own"),
        "simtmm.a.inner": ast.parse("def shared(): ...\ndef own(): ..."),
        "simtmm.b": ast.parse("from simtmm.a import shared"),
    }
    assert shared_names(trees) == {("simtmm.a", "shared"), ("simtmm.a.inner", "shared")}
