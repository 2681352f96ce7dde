"""Every published number, table and equation is in a test, or in DEVIATIONS.md with the reason why not."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT.parent / "shared" / "data" / "published" / "published.toml"
KINDS = ("number", "table", "equation")

pytestmark = pytest.mark.skipif(not PUBLISHED.exists(), reason="needs the published numbers beside the project")


def items():
    with PUBLISHED.open("rb") as file:
        return [item["id"] for item in tomllib.load(file)["item"] if item["kind"] in KINDS]


def test_each_item_is_tested_or_told():
    """By its name, in which a test's own name has underscores for dots."""
    texts = [path.read_text() for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    everything = "\n".join([*texts, (ROOT / "DEVIATIONS.md").read_text()])
    spelled = {item: re.compile(rf"(?<![a-zA-Z0-9]){item.replace('.', '[._]')}(?![a-zA-Z0-9])") for item in items()}
    assert len(spelled) > 40
    assert not [item for item, pattern in spelled.items() if not pattern.search(everything)]
