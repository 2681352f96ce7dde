"""What Save gives does what the page shows: the study, the command line, the Python."""

import json
import shlex
import sys
from contextlib import redirect_stdout
from io import StringIO

import pytest

import simtmm
from simtmm.__main__ import main
from simtmm.documents import parsed_toml
from simtmm.explorer.curve import curves
from simtmm.explorer.programs import Opened, Programs
from simtmm.explorer.saved import saved, toml
from simtmm.explorer.simulation import cycles, prepare
from simtmm.explorer.state import State
from simtmm.explorer.stories import stories

STATES = [
    "p.n=2048&drag=latency",
    "p.n=2048&latency=333&p.pattern=stride&drag=bandwidth",
    "p.n=2048&l1=off&scheduler=oldest&drag=groups",
    "p.n=2048&bandwidth=50&drag=chunk",
    "p.n=2048&drag=p.offset",
    "p.n=2048&drag=scheduler",
    "p.n=2048&l1=off&drag=l1",
]


@pytest.mark.parametrize("text", STATES)
def test_the_study_has_the_points_of_the_curve(programs, text):
    state = State.of(text, "copy", "classroom")
    ready = prepare(programs, state.first)
    *_, curve = curves(programs, ready, state.drag)
    tables = parsed_toml(saved(programs, state)["study"])
    results = simtmm.sweep({**tables, "compute": ["simulated", "tmm"]}, workers=1)
    assert results.to_table()["simulated.cycles"].to_pylist() == [point.cycles for point in curve.points]


@pytest.mark.parametrize("text", STATES)
def test_the_command_line_and_the_python_have_the_time_of_the_page(programs, text, capsys, monkeypatch):
    state = State.of(text, "copy", "classroom")
    ready = prepare(programs, state.first)
    wanted = cycles(ready.machine, ready.prepared.workload)
    given = saved(programs, state)
    words = shlex.split(given["command"].splitlines()[0])
    assert words[:2] == ["simtmm", "run"]
    monkeypatch.setattr(sys, "argv", [*words, "--no-what-if", "--json"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code in (0, None)
    assert json.loads(capsys.readouterr().out)["simulated"]["cycles"] == wanted
    begin, _, _ = given["python"].partition("study = ")
    out = StringIO()
    with redirect_stdout(out):
        exec(begin, {})
    assert float(out.getvalue().split()[0]) == wanted


def test_two_configurations_are_two_command_lines(programs):
    given = saved(programs, State.of("latency=500&b.latency=100", "copy", "classroom"))
    assert [line.split()[-1] for line in given["command"].splitlines()] == [
        "memory.latency=500",
        "memory.latency=100",
        "study.toml",
    ]


def test_what_was_opened_is_named_as_the_user_named_it(tmp_path):
    workload = simtmm.Workload.from_dict({"blocks": [{"warps": [[["compute", 1]]]}]})
    machine = simtmm.load_machine("ideal")
    there = Programs({"mine": Opened(workload, "my work.json")}, {"own": (machine, "own.toml")})
    given = saved(there, State.of("", "mine", "own"))
    assert given["study"] == ""
    assert given["command"] == "simtmm run 'my work.json' --machine own.toml"
    assert "'my work.json'" in given["python"]


@pytest.mark.parametrize("story", stories().values(), ids=lambda story: story.name)
def test_a_story_s_claims_hold(programs, story):
    assert len(story.text) >= 3
    assert len(story.shows) >= 2
    State.of(story.state, "", "")
    for shown in story.shows:
        state = State.of(shown.state, "", "")
        first, other = (prepare(programs, each) for each in (state.first, state.other))
        ratio = cycles(other.machine, other.prepared.workload) / cycles(first.machine, first.prepared.workload)
        assert shown.least <= ratio <= shown.most, (shown.words, ratio)


def test_there_are_ten_stories():
    assert len(stories()) == 10


def test_a_study_holds_any_text_as_it_was():
    tables = {"program": "\U0001f600/\x7f.cu", "set": {"é.\U0001f600": "\u2028"}, "linked": [{"\U0001f600": ["\x7f"]}]}
    assert parsed_toml(toml(tables)) == tables
