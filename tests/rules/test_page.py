"""docs/rules.md and docs/schedulers.md: what they show of rules, their promises and the laws."""

import re

import pytest

from simtmm.report.scheduling_rules import laws
from simtmm.rules import NUMBERED, SIMPLE
from simtmm.testing import BrokenPromiseError, check_rule, fair_within
from simtmm.testing.promises import ALWAYS, PROMISES
from tests.cli.conftest import called  # noqa: F401 - a fixture
from tests.pages.examples import ROOT, commands, files, python

PAGE = ROOT / "docs" / "rules.md"
TEXT = PAGE.read_text(encoding="utf-8")


def rows(heading):
    """Cells of the table below a heading."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_table_of_laws_has_each_law_as_its_docstring_states_it():
    expected = [[f"`{name}`", law.summary, f"`{law.formula}`"] for name, law in laws()]
    assert rows("The laws") == expected


def test_the_table_of_rules_has_each_rule_and_its_promises():
    table = {row[0].strip("`"): set(re.findall(r"`([^`]+)`", row[2])) for row in rows("Rules that come with simtmm")}
    assert {name.partition("(")[0] for name in table} == {*SIMPLE, *NUMBERED}
    for name, promised in table.items():
        if name in PROMISES:
            assert promised == {law.name for law in PROMISES[name] if law not in ALWAYS}


def test_its_commands_print_what_it_shows(called, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    for name, text in files(PAGE).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shown = [command for command in commands(PAGE) if command.shown]
    assert len(shown) == 2
    for command in shown:
        status, out, _ = called(*command.words)
        assert status == 1
        wanted = re.escape(" ".join(command.shown.split())).replace(r"\.\.\.", ".*")
        assert re.search(wanted, " ".join(out.split()))


def test_its_lines_of_python_run():
    exec("\n".join(python(PAGE)), {"__name__": "page"})


def test_the_bug_that_it_finds_is_the_one_that_it_names():
    wrong = files(PAGE)["turns.py"]
    for text, keeps in ((wrong, False), (wrong.replace("warp.slot < last", "warp.slot <= last"), True)):
        space = {}
        exec(text, space)
        if keeps:
            check_rule(space["take_turns"], [fair_within(2)], draws=30)
        else:
            with pytest.raises(BrokenPromiseError):
                check_rule(space["take_turns"], [fair_within(2)], draws=30)


def test_the_state_machine_fails_with_sets_of_another_size():
    text = next(lines for lines in python(PAGE) if "RuleBasedStateMachine" in lines)
    with pytest.raises(AssertionError, match="was granted instead of warp"):
        exec(
            text.replace("two_level(2)", "two_level(3)").replace(
                "max_examples=20", "max_examples=300, derandomize=True"
            ),
            {"__name__": "page"},
        )
