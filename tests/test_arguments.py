"""No call gives a parameter what another of its parameters is called, but those that are known to be right."""

import ast
from pathlib import Path

import pytest

from tests.arguments import RIGHT, exchanged, package

ROOT = Path(__file__).parents[1]


def test_arguments_go_to_the_parameters_of_their_names():
    right = {each for all_of in RIGHT.values() for each in all_of}
    found = {str(each) for each in exchanged(package(ROOT))}
    assert sorted(found - right) == []
    assert sorted(right - found) == []  # what has gone needs no reason


CALLED = """
from m.other import imported
from m import other

class Row(NamedTuple):
    width: int
    height: int

@dataclass(frozen=True)
class Fields:
    width: int
    height: int

class Made:
    def __init__(self, width, height): ...
    def method(self, width, *, height): ...
    @staticmethod
    def static(width, height): ...

def own(width, height): ...

def f(width, height, size):
    {call}
"""


@pytest.mark.parametrize("wrong", ["height, width", "height, size", "size, width", "height=width, width=size"])
@pytest.mark.parametrize("called", ["Row", "Fields", "Made", "Made.static", "own", "imported", "other.known"])
def test_exchanged_arguments_are_found(called, wrong):
    def names(arguments):
        text = CALLED.format(call=f"{called}({arguments})")
        other = "from m import *\ndef known(width, height): ...\ndef imported(width, height): ..."
        return [each.parameter for each in exchanged({"m": ast.parse(text), "m.other": ast.parse(other)})]

    assert names("width, height") == names("size, height=height") == names("width, height=size") == []
    assert (
        names(wrong)
        == [
            name
            for name, given in zip(("width", "height"), wrong.split(", "), strict=True)
            if given in {"width", "height"} and given != name
        ]
        if "=" not in wrong
        else names(wrong) == ["height"]
    )


def test_a_method_s_arguments_and_attributes_of_self_are_found():
    def parameters(call):
        return [each.parameter for each in exchanged({"m": ast.parse(CALLED.format(call=call))})]

    assert parameters("size.method(height, height=width)") == ["width", "height"]
    assert parameters("self.method(self._height, height=size)") == ["width"]
    assert parameters("size.method(*size, width)") == []
    assert parameters("size.unknown(height, width)") == []
