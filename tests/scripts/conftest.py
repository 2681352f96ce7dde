"""Scripts are called in this process, as tests of the command line are."""

import sys
import textwrap

import pytest

from simtmm.__main__ import main


@pytest.fixture
def called(monkeypatch, capfd):
    """Call the command with these words: exit status, standard output and standard error."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capfd.readouterr()

    return call


@pytest.fixture
def script(tmp_path):
    """Write a script; gives its path."""

    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return write
