"""No source takes or makes a name that it never reads, or gives a call one thing twice, but where that is right."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.arguments import package
from tests.loose_names import loose, loose_in, right, shared_names

ROOT = Path(__file__).parents[1]


def test_every_name_is_read_and_none_is_given_twice():
    found, known = loose_in(package(ROOT)), right()
    assert sorted((found - known).elements()) == []
    assert sorted((known - found).elements()) == []  # what has gone needs no reason


def found_in(text, others=""):
    tree = ast.parse(text)
    return list(loose("m", tree, shared_names([tree, ast.parse(others)])))


METHOD = "class {base}:\n    def f(self, width, height):\n        return {value}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(width, height): return width", ["f: reads no height"]),
        ("def f(a, *rest, most=1, **more): return a", ["f: reads no most", "f: reads no rest", "f: reads no more"]),
        ("def f(width, _height): return width", []),
        ("def f(width, height): raise NotImplementedError", []),
        ("@verb\ndef f(width, height): return width", []),
        ("def f(width):\n    def g(height): return width\n    return g", ["f.g: reads no height"]),
        ("def f(width):\n    height = width\n    return width", ["f: reads no height"]),
        ("def f(width):\n    for height in width: pass", ["f: reads no height"]),
        ("def f(width):\n    global height\n    height = width", []),
        ("def f(width):\n    class Row:\n        height = width\n    return Row", []),
        (METHOD.format(base="Row", value="self.width + width"), ["Row.f: reads no height"]),
        (METHOD.format(base="Row(Base)", value="self.width + width"), []),
        ("def f(a): return g(a, a)", ["f.g: 2 times a"]),
        ("def f(a): return g(a.x, b=a.x)", ["f.g: 2 times a.x"]),
        ("def f(a): return g(a.x, a.y)", []),
        ("def f(a): return (a[0], 1, a[0])", ["f.tuple: 2 times a[0]"]),
        ("def f(a): return a - a, a / a, a * a, a + a", ["f.binop: 2 times a"]),
        ("def f(a): return a < a or a == 1", ["f.compare: 2 times a"]),
        ("def f(a): return WORDS.get(a, a), getattr(a, 'b', a)", []),
        ("def f(a): return g(int, int), Row[float, float], a", []),
        ("def f(a) -> tuple[a, a]: return a", []),
    ],
)  # fmt: skip
def test_what_is_loose_is_found(text, found):
    assert found_in(text) == [f"m: {each}" for each in found]


def test_functions_that_are_called_alike_need_not_read_all():
    text = "def {name}(width, height): return width"
    assert found_in(text.format(name="f"), text.format(name="f")) == []
    assert found_in(text.format(name="_f"), text.format(name="_f")) == ["m: _f: reads no height"]


def test_each_place_counts_once_more():
    once, twice = "def f(a): return g(a, a)", "def f(a): return g(a, a), g(a, a)"
    one, two = (loose("m", ast.parse(text), set()) for text in (once, twice))
    assert two - one == Counter({"m: f.g: 2 times a": 1})
