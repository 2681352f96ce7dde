"""The published numbers of Ma's chapters 5 and 6 (tests/golden), so that a test carries the id of what it checks."""

import tomllib
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
ITEMS = {
    item["id"]: item
    for chapter in (5, 6)
    for item in tomllib.loads((GOLDEN / f"ma_chapter{chapter}.toml").read_text(encoding="utf-8"))["item"]
}


def published(name):
    """A decorator: the test gets the item, and its id is in the test's name."""
    return pytest.mark.parametrize("item", [pytest.param(ITEMS[name], id=name)])


def table_5_4():
    """Z, R and so on of a GTX 480, by letter, with 48 KB of shared memory."""
    item = ITEMS["ma.table5.4"]
    letters = ("P", "Q", "R", "W", "N_W", "B_max", "T_maxB", "T_maxMP")
    return {letter: item[letter] for letter in letters} | {"Z": 48 * 1024}
