"""docs/written-kernel.md: its files and commands, as they stand on the page."""

import re
import sys
from pathlib import Path

import pytest

from simtmm.__main__ import main
from simtmm.recorder.compiler import HERE
from tests.kernels.nvrtc import compile_cuda, library
from tests.recorder.conftest import needs_compiler

PAGE = (Path(__file__).parents[2] / "docs" / "written-kernel.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"`(my-kernels/[^`]+)`:\n\n```\w+\n(.*?)```", PAGE, flags=re.DOTALL))
SESSIONS = re.findall(r"```\n(\$ .*?)```", PAGE, flags=re.DOTALL)
SOURCE = "my-kernels/dot-product/kernel.cu"
SECOND_SYNC = "        SYNC();\n    }\n"
CHANGES = [  # what the text before each session asks for
    ("", ""),
    ("i < n", "i <= n"),
    (SECOND_SYNC, "    }\n"),
    ("", ""),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The page's files, in a folder of their own."""
    folder = tmp_path_factory.mktemp("page")
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_the_page_has_the_two_files_and_a_session_for_each_change():
    assert sorted(FILES) == ["my-kernels/dot-product/host.py", SOURCE]
    assert len(SESSIONS) == len(CHANGES)
    for before, _ in CHANGES:
        assert not before or FILES[SOURCE].count(before) == 1


@needs_compiler
@pytest.mark.parametrize("number", range(len(SESSIONS)))
def test_a_session_of_the_page_prints_what_the_page_shows(folder, number, monkeypatch, capsys):
    before, after = CHANGES[number]
    (folder / SOURCE).write_text(FILES[SOURCE].replace(before, after) if before else FILES[SOURCE])
    monkeypatch.chdir(folder)
    if number:
        monkeypatch.setenv("SIMTMM_KERNEL_PATH", "my-kernels")  # exported in the first session
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", SESSIONS[number], flags=re.MULTILINE):
        if command.startswith("export "):
            name, value = command.removeprefix("export ").split("=")
            monkeypatch.setenv(name, value)
            continue
        words = command.split()
        assert words[0] == "simtmm"
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as left:
            main()
        message = capsys.readouterr()
        printed = (message.err + message.out).rstrip("\n")
        expected = re.escape(shown.rstrip("\n")).replace(r"\.\.\.", "[^~]*")  # dots stand for anything
        assert re.fullmatch(expected, printed), printed
        assert (left.value.code or 0) == (2 if "error" in shown else 0)


@pytest.mark.skipif(library() is None, reason="needs the wheel nvidia-cuda-nvrtc")
def test_the_kernel_that_the_page_starts_from_and_the_one_it_ends_with_are_cuda():
    plain = re.search(r"```cuda\n(.*?)int main", PAGE, flags=re.DOTALL)[1]
    assert compile_cuda(plain, "80", []) is None
    assert compile_cuda(FILES[SOURCE], "80", [f"-I{HERE}", "-DTHREADS=256"]) is None
