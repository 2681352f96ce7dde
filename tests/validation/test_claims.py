"""docs/claims.md: every published item has a verdict and a command, and the commands are there."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from simtmm.__main__ import main  # noqa: F401  (the commands' module must import)
from simtmm.cli import app
from simtmm.model.applications.catalogue import EQUATIONS
from simtmm.validation.cases import REPRODUCTIONS
from simtmm.validation.figures import ITEMS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| claim", "| ---"))
]
COMMANDS = {command.name or command.callback.__name__ for command in app.registered_commands}


def test_every_published_item_is_claimed():
    items = tomllib.loads((ROOT / "tests" / "golden" / "published.toml").read_text(encoding="utf-8"))
    named = {name for row in ROWS for name in re.findall(r"`([\w.-]+)`", row[0])}
    assert set(items) - named == set()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_a_claim_has_a_verdict_and_a_command_that_is_there(row):
    claim, verdict, found, command = row
    assert claim
    assert verdict.split(",")[0].split()[0] in ("holds", "fails", "undecided")
    assert found
    (words,) = re.findall(r"`((?:simtmm|python) [^`]*)`", command)
    program, verb, *rest = shlex.split(words)
    if program == "python":
        assert (ROOT / rest[1]).is_file()
        return
    if rest and f"{verb} {rest[0]}" in COMMANDS:
        verb, rest = f"{verb} {rest[0]}", rest[1:]
    assert verb in COMMANDS
    if verb == "paper reproduce":
        assert all(name in REPRODUCTIONS or ITEMS[name].makes for name in rest)
    if verb == "paper equation":
        assert rest[0] in EQUATIONS
