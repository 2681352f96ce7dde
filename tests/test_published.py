"""Every published number, table and equation is decided by tests that name it, or DEVIATIONS.md tells why by none.

The items, with their values and tests, are tests/golden/published.toml.
"""

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ITEMS = tomllib.loads((ROOT / "tests" / "golden" / "published.toml").read_text(encoding="utf-8"))
GIVEN = ROOT.parent / "shared" / "data" / "published" / "published.toml"
NOT_VALUES = {"id", "kind", "machine", "source", "tests", "untested"}
TESTS = [pytest.param(item, test, id=f"{item}-{test}") for item, of in ITEMS.items() for test in of.get("tests", ())]


@functools.cache
def texts_of_tests(path):
    """The text of each test that pytest collects from a file, decorators and all, by its name."""
    assert re.fullmatch(r"test_\w+\.py", path.name)
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name] = "\n".join(lines[first - 1 : node.end_lineno])
    return found


def naming(item):
    """The item's id in a text; in the name of a test it has underscores for what a name may not have."""
    spelled = "".join({".": "[._]", "-": "[-_]"}.get(letter, letter) for letter in item)
    return re.compile(rf"(?<![a-zA-Z0-9]){spelled}(?![a-zA-Z0-9])")


@pytest.mark.parametrize(("item", "test"), TESTS)
def test_each_test_of_an_item_is_there_and_names_it(item, test):
    path, name = test.split("::")
    assert naming(item).search(texts_of_tests(ROOT / path)[name])


@pytest.mark.parametrize("item", ITEMS)
def test_each_item_has_a_source_and_tests_or_a_reason_for_none(item):
    of = ITEMS[item]
    assert of["source"]
    assert bool(of.get("tests")) != bool(of.get("untested"))


def test_a_number_a_table_or_an_equation_without_a_test_is_reported():
    untested = [item for item, of in ITEMS.items() if "untested" in of and of["kind"] != "trend"]
    reported = (ROOT / "DEVIATIONS.md").read_text(encoding="utf-8")
    assert [item for item in untested if f"`{item}`" in reported] == untested


def values(item):
    """What an item says in numbers, and its equation; no sentences."""
    return {
        key: value
        for key, value in item.items()
        if key not in NOT_VALUES and (not isinstance(value, str) or key == "equation")
    }


@pytest.mark.skipif(not GIVEN.exists(), reason="the list that ours was copied from lies beside the project")
def test_ours_are_the_items_that_were_given_with_their_values():
    given = {item["id"]: item for item in tomllib.loads(GIVEN.read_text(encoding="utf-8"))["item"]}
    assert {item: values(of) for item, of in ITEMS.items()} == {item: values(of) for item, of in given.items()}
