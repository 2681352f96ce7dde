"""What is said of compiling: that it is under way, and for about how long, by how long it took on this computer."""

import json
import logging

import pytest

from simtmm.cache import compiled, durations
from simtmm.cuda.compilers.includes import times_as_long


@pytest.fixture(autouse=True)
def _stored(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path))
    monkeypatch.setattr(compiled, "PATIENCE", 1.5)  # which other tests make longer


def test_what_was_never_compiled_takes_what_is_usual_at_the_pace_of_what_was_compiled_last():
    assert durations.expected("a.cu", 4.0) == 4.0
    durations.remember("a loop", 2.0, 5.0)
    assert durations.expected("a.cu", 4.0) == 10.0
    durations.remember("b.cu", 4.0, 4.0)
    assert durations.expected("a.cu", 4.0) == 4.0


def test_what_was_compiled_before_takes_as_long_again():
    for took in (30.0, 12.0):
        durations.remember("a.cu", 4.0, took)
        assert durations.expected("a.cu", 4.0) == took


@pytest.mark.parametrize("text", ["", "[]", '{"a.cu": "long", "pace": NaN}', '{"a.cu": -1, "pace": 0}'])
def test_a_file_that_nobody_can_read_says_nothing(text):
    durations._path().write_text(text)
    assert durations.expected("a.cu", 4.0) == 4.0


def test_the_latest_are_stored():
    for number in range(durations.MOST + 5):
        durations.remember(f"{number}.cu", 4.0, 4.0)
    assert len(json.loads(durations._path().read_text())) == durations.MOST + 1
    assert durations.expected("0.cu", 7.0) == 7.0


def test_it_is_said_after_a_second_or_two_with_an_estimate(caplog, monkeypatch):
    due = timers(monkeypatch)
    durations.remember("a.cu for sm_90", 4.0, 17.3)
    with caplog.at_level(logging.INFO, "simtmm"):
        with compiled.announced("a.cu for sm_90", 4.0):
            assert due.run(1.5)
        with compiled.announced("something"):
            assert due.run(1.5)
            assert not due.run(1000.0)  # of what nobody knows how long it takes
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("compiling a.cu for sm_90")
    assert first.endswith(": takes about 17 s")
    assert "takes" not in second


def timers(monkeypatch):
    """Timers by a clock that the test sets: `run` lets so many seconds go by, and says whether any was due."""

    class Due:
        waiting, now = None, 0.0

        def run(self, until):
            self.now, was = until, False
            while self.waiting is not None and self.waiting[0] <= until:
                (at, function, arguments), self.waiting, was = self.waiting, None, True
                self.begun = at
                function(*arguments)
            return was

    due = Due()

    class Timer:
        def __init__(self, seconds, function, arguments):
            begun = getattr(due, "begun", 0.0)
            self.start = lambda: setattr(due, "waiting", (begun + seconds, function, arguments))
            self.cancel = lambda: (setattr(due, "waiting", None), setattr(due, "begun", 0.0))

    monkeypatch.setattr(compiled.threading, "Timer", Timer)
    return due


def test_what_takes_twice_as_long_as_was_said_is_taken_to_be_half_done_again_and_again(caplog, monkeypatch):
    due = timers(monkeypatch)
    with caplog.at_level(logging.INFO, "simtmm"), compiled.announced("a.cu", 4.0):
        for second, lines in ((7.9, 1), (8.0, 2), (31.9, 2), (32.0, 3)):
            due.run(second)
            assert len(caplog.records) == lines, second
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "takes about 4 s",
        "takes about 8 s more, and not 4 s in all",
        "takes about 32 s more, and not 16 s in all",
    ]


def test_what_is_compiled_in_time_is_not_corrected(caplog, monkeypatch):
    due = timers(monkeypatch)
    with caplog.at_level(logging.INFO, "simtmm"), compiled.announced("a.cu", 4.0):
        due.run(1.5)
    assert not due.run(100.0)
    assert len(caplog.records) == 1


def test_a_file_that_includes_libraries_of_templates_takes_many_times_as_long():
    assert times_as_long([b"#include <cstdio>"]) == 1.0
    assert times_as_long([b"int x;", b"# include <thrust/sort.h>"]) == times_as_long([b"#include <cub/cub.cuh>"]) > 5
    assert times_as_long([b'#include "cutlass/gemm.h"\n#include <thrust/sort.h>']) > 10


def test_seconds_of_compiling_are_known_apart(monkeypatch):
    monkeypatch.setattr(compiled.time, "monotonic", iter([0.0, 9.0]).__next__)
    before = compiled.spent()
    with compiled.announced("a.cu", 4.0):
        pass
    assert compiled.spent() - before == 9.0


def test_stages_and_commands_are_known_beside_what_was_compiled():
    durations.remember("a.cu", 4.0, 12.0)
    durations.remember_paces({"lowering": 4.0})
    durations.remember_paces({"lowering": 1.0})
    durations.remember_command(("/here", "run", "a.cu"), 30.0)
    assert durations.paces() == {"lowering": 2.0}  # half the way, in ratios
    assert durations.of_command(("/here", "run", "a.cu")) == 30.0
    for other in (("/there", "run", "a.cu"), ("/here", "record", "a.cu"), ("/here", "run", "b.cu"), ("/here", "run")):
        assert durations.of_command(other) is None
    assert durations.expected("a.cu", 4.0) == 12.0


def test_paces_outlast_many_commands_and_are_believed_within_bounds():
    durations.remember_paces({"lowering": 1e6})
    for number in range(durations.MOST + 5):
        durations.remember_command((number,), 10.0)
    assert durations.paces() == {"lowering": durations.SLOWEST}
    assert durations.of_command((4,)) is None
    assert durations.of_command((durations.MOST,)) == 10.0


def test_what_fails_to_compile_is_not_stored(monkeypatch):
    monkeypatch.setattr(compiled.time, "monotonic", iter([0.0, 9.0]).__next__)
    with pytest.raises(ZeroDivisionError), compiled.announced("a.cu", 4.0):
        raise ZeroDivisionError
    assert durations.expected("a.cu", 4.0) == 4.0
    monkeypatch.setattr(compiled.time, "monotonic", iter([20.0, 29.0]).__next__)
    with compiled.announced("a.cu", 4.0):
        pass
    assert durations.expected("a.cu", 4.0) == 9.0
