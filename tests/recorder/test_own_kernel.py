"""docs/own-kernel.md: its files, commands and lines of Python, as they stand on the page."""

import re
import sys
from pathlib import Path

import pytest

from simtmm.__main__ import main

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

PAGE = (Path(__file__).parents[2] / "docs" / "own-kernel.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w.]+)`[^\n]*:\n\n```\w+\n(.*?)```", PAGE, flags=re.DOTALL | re.MULTILINE))
SESSIONS = re.findall(r"```\n(\$ .*?)```", PAGE, flags=re.DOTALL)
COMMANDS = [
    command
    for session in SESSIONS
    for command in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, flags=re.MULTILINE)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The page's files, in a folder of their own."""
    folder = tmp_path_factory.mktemp("page")
    for path, text in FILES.items():
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ran(folder, monkeypatch, capsys):
    """Call the command with these words, in that folder: exit status and what it prints, warnings first."""

    def call(words):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as caught:
            main()
        printed = capsys.readouterr()
        return caught.value.code, (printed.err + printed.out).rstrip("\n")

    return call


def test_the_page_has_its_files_and_sessions():
    assert sorted(FILES) == ["blur.cu", "launches.toml", "saxpy.cu"]
    assert len(SESSIONS) == 4


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=range(len(COMMANDS)))
def test_a_command_of_the_page_prints_what_the_page_shows(ran, command, shown):
    words = command.split()
    assert words[0] == "simtmm"
    status, printed = ran(words)
    expected = re.escape(shown.rstrip("\n")).replace(r"\.\.\.", "(?s:.*)")  # dots stand for anything
    assert re.fullmatch(expected, printed), printed
    assert (status or 0) == (2 if "error" in shown else 0)


def test_the_lines_of_python_print_a_verdict(folder, monkeypatch, capsys):
    (lines,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    body = re.search(r"\{(.*)\}", FILES["saxpy.cu"], flags=re.DOTALL)[1].replace("\n", " ")
    monkeypatch.chdir(folder)
    exec(lines.replace("/* as above */", body), {})
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith("Starting the launch binds, about ")


def test_every_key_of_a_file_of_launches_is_shown():
    from simtmm.recorder.compiled.launches_file import LaunchesFile, LaunchTable

    shown = set(re.findall(r"^(?:\[\[?)?(\w+)(?:\]\]?| = )", FILES["launches.toml"], flags=re.MULTILINE)) | {"sources"}
    assert shown >= {*LaunchesFile.model_fields, *LaunchTable.model_fields}
