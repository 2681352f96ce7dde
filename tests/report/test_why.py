"""docs/why.md: its commands print what it shows, and its lines of Python run."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simtmm.cli import app
from simtmm.engine import causes
from simtmm.stalls import REASONS

PAGE = (Path(__file__).parents[2] / "docs" / "why.md").read_text(encoding="utf-8")
SOURCES = dict(re.findall(r"Write this to `(.*?)`:\n\n```cuda\n(.*?)```", PAGE, flags=re.DOTALL))
SESSIONS = re.findall(r"```\n\$ simtmm (.*?)\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_page_has_these():
    assert len(SESSIONS) == 3
    assert list(SOURCES) == ["sgemm.cu"]


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=range(len(SESSIONS)))
def test_a_command_of_the_page_prints_what_the_page_shows(tmp_path, monkeypatch, command, shown):
    if ".cu " in command:
        pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    done = CliRunner().invoke(app(), command.split())
    assert done.exit_code == 0
    expected = re.escape(shown.strip("\n")).replace(r"\.\.\.", "(?s:.*)")
    assert re.fullmatch(expected, done.stdout.strip("\n")), done.stdout


def test_the_lines_of_python_run(capsys):
    (lines,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(lines, {})
    verdict, _, reasons, last = capsys.readouterr().out.splitlines()
    assert verdict.startswith("Too few blocks, 30 for 132 core groups")
    assert all(repr(reason) in reasons for reason in REASONS)
    assert last == "12 values 512 512"


# Which warps' ticks do not tell
OTHERS = (causes.GROUPS_PATH, causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN, causes.BLOCK_STARTS)


def test_every_cause_is_reported():
    (reported,) = re.findall(r"A cause is one of: (.*?)\.\n", PAGE, flags=re.DOTALL)
    reported = re.sub(r" \(.*?\)", "", " ".join(reported.split()))
    assert set(reported.split(", ")) == {*causes.REASONS_OF, *OTHERS}
