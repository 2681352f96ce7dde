"""docs/tmm.md: its commands run, and print the lines that it shows."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from simtmm.__main__ import main
from tests.recorder.conftest import needs_compiler

PAGE = (Path(__file__).parents[1] / "docs" / "tmm.md").read_text(encoding="utf-8")
BLOCKS = [block for block in re.findall(r"^```\n(.*?)^```$", PAGE, re.M | re.S) if block.startswith("$ ")]
COMMANDS = [
    (command.splitlines()[0], command.splitlines()[1:]) for block in BLOCKS for command in block.split("$ ") if command
]


def words(line):
    return " ".join(line.split())


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        pytest.param(*each, id=f"{n}", marks=needs_compiler if " run " in each[0] else ())
        for n, each in enumerate(COMMANDS)
    ],
)
def test_a_command_prints_the_lines_that_are_shown(command, shown, monkeypatch, capsys):
    program, *rest = shlex.split(command)
    assert program == "simtmm"
    monkeypatch.setattr(sys, "argv", ["simtmm", *rest])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    printed = [words(line) for line in capsys.readouterr().out.splitlines()]
    place, elided = 0, False
    for line in shown:
        if line == "...":
            elided = True
            continue
        found = printed.index(words(line), place)
        assert elided or found == place
        place, elided = found + 1, False


def test_there_are_commands():
    assert len(COMMANDS) >= 10
