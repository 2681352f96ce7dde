"""Help, names of options, and what a shell offers for a word that is being typed."""

import os
import re
import subprocess
import sys

import pytest
import typer

from simtmm.cli import app
from simtmm.cli.verbs import VERBS

LINES = 45  # of a screen that shows a page of text
COMMANDS = typer.main.get_command(app()).commands
HEAVY = {"numba", "llvmlite", "pyarrow", "sympy", "scipy", "networkx", "simpy", "matplotlib"}
OTHERWISE = {"machines new"}  # whose options are values of a data sheet


@pytest.fixture
def help_of(called, monkeypatch):
    def call(*words, columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        status, out, _ = called(*words, "--help")
        assert status == 0
        return out

    return call


def test_there_are_nine_verbs_each_with_a_sentence(help_of):
    text = help_of(columns=80)
    assert [verb.name for verb in VERBS] == [
        "run", "diff", "sweep", "tune", "explore", "record", "machines", "kernels", "paper",
    ]  # fmt: skip
    for verb in VERBS:
        assert re.search(rf"^  {verb.name} +[A-Z]", text, re.MULTILINE)
        for word in verb.words:
            assert f"{verb.name} {word}" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_one_sentence(name):
    summary = (COMMANDS[name].help or "").partition("\n")[0]
    assert summary.endswith(".")
    assert len(summary) <= 78


def test_the_help_of_each_option_is_words_of_its_own():
    """No name of an option or of a value in their place."""
    for name, command in COMMANDS.items():
        helps = [each.help or "" for each in command.params if each.param_type_name == "option" and not each.hidden]
        assert [words for words in helps if not re.match(r"[^-\s]\S* \S+", words)] == [], name


def test_what_stands_behind_two_dashes_is_no_word_of_the_help(called):
    """And the last word before them is one."""
    short, everything = (called("run", "--help", *words)[1] for words in ((), ("--all",)))
    assert short != everything
    assert called("run", "--help", "--", "x")[1] == called("run", "--help", "--", "--all")[1] == short
    assert (
        called("run", "--help", "--all", "--", "x")[1] == called("run", "x", "--all", "--help", "--")[1] == everything
    )
    status, out, error = called("run", "--", "--help")
    assert status != 0
    assert "Usage" not in out
    assert "--help" in error


@pytest.mark.parametrize("name", [verb.name for verb in VERBS])
def test_a_verbs_help_fits_a_screen_and_all_of_it_is_a_flag_away(called, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "120")
    short, everything = (called(name, "--help", *words)[1] for words in ((), ("--all",)))
    assert len(short.splitlines()) <= LINES
    options = [each for each in COMMANDS[name].params if each.param_type_name == "option" and not each.hidden]
    assert [each.opts[-1] for each in options if each.opts[-1] not in everything] == []
    (usual,) = (verb.usual for verb in VERBS if verb.name == name)
    left = [each for each in options if usual and not {*each.opts} & {*usual}]
    assert (f"{len(left)} more options: simtmm {name} --help --all" in short) == bool(left)
    assert "more options" not in everything


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_usual_option_is_one(verb):
    known = {each for parameter in COMMANDS[verb.name].params for each in parameter.opts}
    assert set(verb.usual) <= known


def test_help_uses_the_width_of_the_terminal(help_of):
    widths = [max(map(len, help_of("run", columns=columns).splitlines())) for columns in (80, 150)]
    assert widths[0] <= 80 < widths[1] <= 150


def options():
    for name, command in COMMANDS.items():
        for parameter in command.params:
            yield name, parameter


def test_every_value_has_a_name_in_the_help():
    assert [
        f"{name} {each.name}" for name, each in options() if not each.metavar and not getattr(each, "is_flag", False)
    ] == []


def test_an_option_is_spelled_alike_everywhere():
    spellings = {}
    for name, each in options():
        if each.param_type_name == "option" and name not in OTHERWISE:
            spellings.setdefault(max(each.opts, key=len), set()).add(tuple(sorted(each.opts)))
    assert {option: found for option, found in spellings.items() if len(found) > 1} == {}


def test_output_is_what_the_command_writes():
    helps = {name: each.help for name, each in options() if each.name == "output"}
    assert [name for name, text in helps.items() if not text.startswith("write ")] == []
    assert set(COMMANDS) - {"explore"} == set(helps)  # which serves a page until it is ended


def offered(words):
    """What bash is offered for the last word of a command line."""
    from typer._completion_classes import BashComplete

    split = words.split(" ")
    complete = BashComplete(typer.main.get_command(app()), {}, "simtmm", "_SIMTMM_COMPLETE")
    return [item.value for item in complete.get_completions(split[1:-1], split[-1])]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("simtmm exp", ["explore"]),
        ("simtmm sweep cross", ["crossover"]),
        ("simtmm record imp", ["import"]),
        ("simtmm paper eq", ["equation"]),
        ("simtmm kernels tes", ["test"]),
        ("simtmm sweep crossover fft ff", ["fft"]),
        ("simtmm mach", ["machines"]),
        ("simtmm machines ne", ["new"]),
        ("simtmm run shared-ch", ["shared-chase"]),
        ("simtmm run -m gtx2", ["gtx280"]),
        ("simtmm run --set memory.lat", ["memory.latency="]),
        ("simtmm run --set memory.l2.w", ["memory.l2.ways=", "memory.l2.waiting_stores=", "memory.l2.writes="]),
        ("simtmm run stream -p thr", ["threads="]),
        ("simtmm diff stream stream --param-b thr", ["threads="]),
        ("simtmm sweep -m gtx480 stream --vary thr", ["threads="]),
        ("simtmm sweep stream --vary cores.warp", ["cores.warp_width="]),
        ("simtmm paper predict fft -p N", ["N="]),
        ("simtmm run stream --models-only --model pra", ["pram"]),
        ("simtmm run nothing-of-the-name -p ", []),
    ],
)
def test_a_word_is_completed(words, expected):
    assert offered(words) == expected


def test_completion_loads_nothing_heavy():
    words = [sys.executable, "-X", "importtime", "-m", "simtmm"]
    typed = {"_SIMTMM_COMPLETE": "complete_bash", "COMP_WORDS": "simtmm sweep stream --vary thr", "COMP_CWORD": "4"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **typed})
    assert done.stdout.split() == ["threads="]
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "simtmm.cli" in loaded
    assert not loaded & HEAVY
