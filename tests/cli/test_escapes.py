"""Names in data may hold anything: on a terminal or beside it, they are text."""

import dataclasses
import os
import pty
import sys

import pytest
from rich.console import Console

from simtmm.report.text import Escaped, table
from simtmm.trace.digest import TraceDigest
from simtmm.trace.io import Trace
from tests.study.programs import trace

EVIL = "\x1b[2Jevil\x9b1m\u202e"
SHOWN = r"\x1b[2Jevil\x9b1m\u202e"


@pytest.fixture
def evil(tmp_path):
    """A trace whose names would clear the screen."""
    result = trace()
    launches = tuple(dataclasses.replace(each, kernel=EVIL) for each in result.info.launches)
    digest = TraceDigest()
    for runs in result.runs():
        digest.add(runs)
    info = dataclasses.replace(
        result.info, kernel=EVIL, launches=launches,
        digest=digest.finish(launches, result.info.arrays, result.info.sites),
        provenance={**result.info.provenance, "warnings": [EVIL]},
    )  # fmt: skip
    path = tmp_path / "t.parquet"
    Trace(info, list(result.batches())).save(path)
    return path


@pytest.mark.parametrize("command", ["run", "threads", "compare", "predict"])
def test_names_in_a_report_are_text(called, nothing_kept, evil, command):
    status, out, err = called(command, evil, "--machine", "ideal")
    assert status == 0
    assert SHOWN in out + err
    assert not set("\x1b\x9b\u202e") & set(out + err)


def test_names_on_a_terminal_are_text(called, nothing_kept, evil, monkeypatch):
    mine, terminal = pty.openpty()
    with os.fdopen(terminal, "w", encoding="utf-8") as screen, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", screen)
        patched.setenv("TERM", "xterm")
        status, _, _ = called("sweep", "threads", evil, "--machine", "ideal")
        screen.flush()
        seen = os.read(mine, 1 << 16).decode()
    os.close(mine)
    assert status == 0
    assert SHOWN in seen
    assert "\x1b[2J" not in seen


def test_what_a_table_looks_like_does_not_change():
    result = table("title", ["a", "b"], [["x", "1"], ["é\u00a0y", "22"]])
    plain, wrapped = (
        Console(width=40, force_terminal=True, color_system="truecolor", highlight=False) for _ in range(2)
    )
    with plain.capture() as first:
        plain.print(result)
    with wrapped.capture() as second:
        wrapped.print(Escaped(result))
    assert first.get() == second.get()
