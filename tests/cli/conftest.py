"""The command line, called in this process, which is quicker than one of its own."""

import sys

import pytest

from simtmm import cache
from simtmm.__main__ import main

RESULTS = ("traces", "studies", "tuning")  # folders of the user's cache


@pytest.fixture
def called(monkeypatch, capsys):
    """Call the command with these words: exit status, standard output and standard error."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def nothing_kept(monkeypatch, tmp_path):
    """No recording and no result is kept from another test or another run; what is compiled is."""
    usual = cache.own_folder

    def own_folder(kind, root=None):
        if kind not in RESULTS:
            return usual(kind, root)
        folder = tmp_path / ".kept" / kind
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    monkeypatch.setattr(cache, "own_folder", own_folder)
