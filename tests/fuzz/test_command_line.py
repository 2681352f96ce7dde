"""Whatever stands on the command line: exit status 0, 1 or 2, and one line for what is wrong."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from simtmm.__main__ import main
from tests.examples import examples
from tests.fuzz.bounds import bounded
from tests.fuzz.targets.commands import (
    ALONE,
    FITTING,
    KEYS,
    OPTIONS,
    PAIRS,
    PROGRAMS,
    WORDS,
    check_ending,
    write_files,
)


@st.composite
def command_lines(draw):
    """A command, something to do it with, and some options."""
    command = draw(st.sampled_from(list(OPTIONS)))
    other = st.lists(st.sampled_from([*PROGRAMS, *PROGRAMS, *WORDS]), max_size=2)
    line = [*command.split(), *draw(other if draw(st.integers(0, 4)) == 0 else st.sampled_from(FITTING[command]))]
    for _ in range(draw(st.integers(0, 3)) if OPTIONS[command] else 0):
        option = draw(st.sampled_from(OPTIONS[command]))
        word = draw(st.sampled_from([*WORDS, *PROGRAMS]))
        if option in PAIRS:
            word = f"{draw(st.sampled_from(KEYS))}={word}"
        line += [option] if option in ALONE else [option, word]
    if command == "sweep":
        line += ["-j", "1", "--store", "s.sqlite"]
    return line


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with files of several kinds, in which nothing is kept from one run to another."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", "")
    return tmp_path


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(line=command_lines())
def test_a_command_ends_with_its_answer_or_one_line(here, monkeypatch, capfd, line):
    for store in here.glob("s.sqlite*"):
        store.unlink()
    monkeypatch.setattr("sys.argv", ["simtmm", *line])
    with bounded(), pytest.raises(SystemExit) as caught:
        main()
    out, err = capfd.readouterr()
    check_ending(caught.value.code, out, err)


def test_memory_that_ends_is_one_line(here, monkeypatch, capfd):
    monkeypatch.setattr("sys.argv", ["simtmm", "machines", "gtx280"])
    monkeypatch.setattr("simtmm.machine.load.read_tables", lambda path: bytearray(1 << 62))
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert capfd.readouterr().err.startswith("simtmm: error: out of memory (")


def test_an_option_that_holds_more_keys_than_one_is_a_text(here, monkeypatch, capfd):
    """What stood behind the end of the line was left out without a word."""
    monkeypatch.setattr("sys.argv", ["simtmm", "machines", "gtx280", "--set", "memory.latency=1\nname='x'"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "memory.latency = \"1\\nname='x'\": must be a number" in capfd.readouterr().err
