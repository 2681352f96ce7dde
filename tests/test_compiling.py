"""What is said of compiling: that it is under way, and for about how long, by how long it took on this computer."""

import json
import logging

import pytest

from simtmm.cache import compiled, durations


@pytest.fixture(autouse=True)
def _stored(tmp_path, monkeypatch):
    monkeypatch.setattr(durations, "_path", lambda: tmp_path / "durations.json")
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
    class Timer:
        def __init__(self, seconds, function, arguments):
            assert seconds == 1.5
            self.start = lambda: function(*arguments)
            self.cancel = lambda: None

    monkeypatch.setattr(compiled.threading, "Timer", Timer)
    durations.remember("a.cu for sm_90", 4.0, 17.3)
    with caplog.at_level(logging.INFO, "simtmm"):
        with compiled.announced("a.cu for sm_90", 4.0):
            pass
        with compiled.announced("something"):
            pass
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("compiling a.cu for sm_90")
    assert first.endswith(": takes about 17 s")
    assert "takes" not in second


def test_what_fails_to_compile_is_not_stored(monkeypatch):
    monkeypatch.setattr(compiled.time, "monotonic", iter([0.0, 9.0]).__next__)
    with pytest.raises(ZeroDivisionError), compiled.announced("a.cu", 4.0):
        raise ZeroDivisionError
    assert durations.expected("a.cu", 4.0) == 4.0
    monkeypatch.setattr(compiled.time, "monotonic", iter([20.0, 29.0]).__next__)
    with compiled.announced("a.cu", 4.0):
        pass
    assert durations.expected("a.cu", 4.0) == 9.0
