"""Two runs side by side as text: its sentence, and the commands of docs/diff.md."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simtmm.analysis.difference import NO_WARPS, OVERHEAD, Side, difference
from simtmm.analysis.difference.side import Row
from simtmm.cli import app
from simtmm.report.diff import NAMES, words
from simtmm.stalls import REASONS, Place

PAGE = (Path(__file__).parents[2] / "docs" / "diff.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"```\n\$ simtmm (.*?)\n(.*?)```", PAGE, flags=re.DOTALL)
LINE = Place("", "k.cu", 17, "x = a[i];")


def side(cycles, clock=None, overhead=0, **ticks):
    """A run whose warps' ticks are all at a line; REASON=TICKS."""
    rows = tuple(Row(LINE, "a", reason, count) for reason, count in ticks.items() if count)
    return Side("it", "p", {}, "m", {}, clock, 1, Fraction(cycles), Fraction(overhead), None, "v", (), rows)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (
            side(1000, memory_latency=80, issuing=20), side(600, memory_latency=40, issuing=20),
            "B takes 0.6 of A's time: all of the 400 cycles saved are memory latency, all of it at k.cu:17 (a).",
        ),
        (
            side(600, memory_latency=40, issuing=20), side(1000, memory_latency=60, issuing=40),
            "B takes 1.67 times A's time: 50 % of the 400 cycles added are memory latency, all of it at k.cu:17 (a).",
        ),
        (
            side(1000, memory_latency=90, issuing=10), side(900, memory_latency=10, issuing=80),
            "B takes 0.9 of A's time; memory latency takes 800 cycles less, all of it at k.cu:17 (a), and issuing 700 "
            "cycles more.",
        ),
        (
            side(1000, memory_latency=70, issuing=30), side(800, memory_latency=70, barrier=10),
            "B takes 0.8 of A's time; issuing takes 300 cycles less, all of it at k.cu:17 (a), and barrier 100 cycles "
            "more.",
        ),
        (
            side(1000, 1e6, issuing=1), side(1000, 2e6, issuing=1),
            "B takes 0.5 of A's time: all of the 500 us saved are issuing, all of it at k.cu:17 (a).",
        ),
        (
            side(100, issuing=1), side(150, overhead=50, issuing=1),
            "B takes 1.5 times A's time: all of the 50 cycles added are launch overhead.",
        ),
        (side(100, issuing=1), side(100, barrier=1), "A and B take the same time, 100 cycles."),
        (side(0), side(0), "A and B take the same time, 0 cycles."),
        (
            side(0), side(10, issuing=5),
            "A takes no time, B 10 cycles: all of the 10 cycles added are issuing, all of it at k.cu:17 (a).",
        ),
        (side(10), side(5), "B takes 0.5 of A's time: all of the 5 cycles saved are time without warps."),
    ],
)  # fmt: skip
def test_the_first_sentence_says_what_explains_the_difference(a, b, said):
    assert words(difference(a, b)) == said


def test_every_reason_has_a_name():
    assert set(NAMES) == {*REASONS, OVERHEAD, NO_WARPS}


def test_the_page_has_a_command():
    assert len(SESSIONS) == 1


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=range(len(SESSIONS)))
def test_a_command_of_the_page_prints_what_the_page_shows(command, shown):
    done = CliRunner().invoke(app(), command.split())
    assert done.exit_code == 0
    expected = re.escape(shown.strip("\n")).replace(r"\.\.\.", "(?s:.*)")
    assert re.fullmatch(expected, done.stdout.strip("\n")), done.stdout
