"""The command line, called in this process, which is quicker than one of its own."""

import sys

import pytest

from simtmm.__main__ import main


@pytest.fixture
def called(monkeypatch, capsys):
    """Call the command with these words: exit status, standard output and standard error."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call
