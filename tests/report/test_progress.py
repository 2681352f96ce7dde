"""Progress: what is told of long work on standard error, by a clock that the test sets."""

import io
import itertools
import re
import signal

import pytest

from simtmm.report import progress
from simtmm.watch import tell, telling, watched


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _any_computer(monkeypatch):
    """One of which nothing is known."""
    monkeypatch.setattr(progress, "paces", dict)


@pytest.fixture
def clock(monkeypatch):
    result = Clock()
    monkeypatch.setattr(progress, "monotonic", result)
    return result


@pytest.fixture
def looked(clock, capsys):
    """Tell what is done of a stage at a time, look, and give the lines that come."""
    shown = progress._Lines()

    def look(now, *told):
        clock.now = now
        if told:
            shown.watch(*told)
        shown.show([stage for stage in (shown._overall, shown._stage) if stage], now)
        return capsys.readouterr().err.splitlines()

    return look


def test_how_long_a_stage_takes_is_reported_as_soon_as_its_rate_is_known(looked):
    assert looked(0, "simulating", 0, 1000) == []
    assert looked(4, "simulating", 10, 1000) == ["simtmm: simulating: 1 %"]  # which may have compiled
    assert looked(4.5, "simulating", 20, 1000) == []
    assert looked(5, "simulating", 30, 1000) == ["simtmm: simulating: takes about 48 s"]  # 20 a second
    assert looked(6, "simulating", 50, 1000) == []


def test_what_is_done_soon_is_not_told(looked):
    for now in range(1, 6):
        assert looked(now, "lowering", 200 * now, 1000) == []


def test_then_there_is_a_line_now_and_then_and_rarer_the_longer_it_takes(looked):
    looked(0, "simulating", 0, 10_000)
    lines = [now for now in range(1, 1001) if looked(now, "simulating", now, 10_000)]
    assert lines[:4] == [2, 12, 22, 32]
    gaps = [later - before for before, later in itertools.pairwise(lines)]
    assert gaps == sorted(gaps)
    assert gaps[-1] == pytest.approx(0.1 * lines[-1], abs=1)


def test_a_line_has_the_share_and_the_time_that_is_left(looked):
    looked(0, "simulating", 0, 1000)
    looked(1, "simulating", 10, 1000)
    looked(2, "simulating", 20, 1000)
    assert looked(12, "simulating", 120, 1000) == ["simtmm: simulating: 12 %, about 88 s left"]
    assert looked(30) == ["simtmm: simulating: 12 %, about 70 s left"]


def test_work_of_unknown_length_says_how_much_is_done(looked):
    looked(0, "reading", 5, None)
    assert looked(11, "reading", 1234567, None) == ["simtmm: reading: 1,234,567 so far"]


def test_points_are_reported_before_the_first_is_done_and_with_what_they_go_through(looked):
    looked(0, "planning", 256, 300)
    looked(0, "points", 0, 40)
    assert looked(11) == ["simtmm: points: 0 of 40"]
    looked(40, "recording", 1, 4)
    assert looked(40, "points", 1, 40) == ["simtmm: points: takes about 26 minutes"]  # 40 s for the one, 39 left
    assert looked(42, "recording", 2, 4) == []
    assert looked(64) == ["simtmm: points: 1 of 40, about 26 minutes left; recording: 50 %, about 48 s left"]


def test_a_first_point_that_may_have_compiled_is_no_measure(looked):
    looked(0, "points", 0, 40)
    looked(20, "points", 1, 40)
    assert looked(24, "points", 3, 40) == ["simtmm: points: takes about 74 s"]  # 2 s for each that followed


def test_a_wait_within_that_is_many_times_a_step_is_no_measure(looked):
    """Lowering is compiled before the first step is done, the engine before the second: 30 seconds are of neither."""
    looked(0, "simulating", 0, 1000)
    looked(4, "simulating", 1, 1000)
    assert looked(34, "simulating", 2, 1000) == ["simtmm: simulating: 0 %"]
    assert looked(34.5, "simulating", 12, 1000) == []
    assert looked(35, "simulating", 22, 1000) == ["simtmm: simulating: takes about 49 s"]  # 20 a second
    steady = [looked(100 + 20 * step, "points", step, 9) for step in range(5)]
    assert steady[3] == ["simtmm: points: takes about 2.0 minutes"]


@pytest.mark.parametrize(("times", "left"), [(10.0, 960 * 24 / 30), (10.5, 960 * 4 / 20)])
def test_steps_that_take_more_than_ten_times_as_long_as_the_others_are_left_out(times, left):
    pace = progress._Pace(0.0)
    for now, done in ((0.0, 0), (1.0, 10), (3.0, 20), (5.0, 30), (5.0 + 2.0 * times, 40)):
        pace.update(done, 1000, now)
    assert pace.left(5.0 + 2.0 * times) == pytest.approx(left, rel=1e-12)  # rounding


@pytest.mark.parametrize(("waited", "left"), [(10.0, 90 * 10.5 / 9), (10.25, None)])
def test_a_wait_of_more_than_ten_seconds_that_is_nearly_all_that_was_seen_is_no_measure(waited, left):
    pace = progress._Pace(0.0)
    for now, done in ((0.0, 0), (1.0, 1), (1.5, 9), (1.5 + waited, 10)):
        pace.update(done, 100, now)
    assert pace.left(1.5 + waited) == (left if left is None else pytest.approx(left, rel=1e-12))


@pytest.mark.parametrize(("now", "left"), [(29.0, None), (30.0, 9 * 30.0)])
def test_a_first_step_counts_once_it_is_half_a_minute_long(now, left):
    pace = progress._Pace(0.0)
    pace.update(1, 10, now)
    assert pace.left(now) == left


def test_steps_in_other_processes_say_how_long_the_first_point_takes(looked):
    looked(0, "points", 0, 40)
    looked(0, "steps", 0, 160)
    assert [line for now in range(1, 5) for line in looked(now, "steps", now, 160)] == [
        "simtmm: points: takes about 2.6 minutes"
    ]


def test_another_launch_has_a_rate_of_its_own(looked):
    for now in range(5):
        looked(now, "recording", now * 10, 1000)
    assert looked(20, "recording launch 1", 1, 10) != ["simtmm: recording launch 1: 10 %, about 0 s left"]
    assert looked(22, "recording launch 1", 2, 10) == []
    assert looked(32, "recording launch 1", 7, 10) == ["simtmm: recording launch 1: 70 %, about 6 s left"]


def test_on_a_terminal_there_is_a_bar_with_the_time_that_is_left(clock, monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "100")
    shown = progress._Bars()
    for clock.now, done in ((0, 0), (1, 10), (2, 20), (3, 30)):
        shown.watch("lowering", done, 1000)
    shown.show([shown._stage], clock.now)
    shown.end()
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    assert "simtmm: lowering: takes about 97 s" in text
    assert re.search(r"lowering .* 3% about 97 s left", text)


def test_nothing_is_shown_of_what_is_quick(capsys):
    with progress.watching() as watch:
        watch("simulating", 1, 2)
    assert capsys.readouterr().err == ""


def test_a_look_is_taken_while_nothing_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "REFRESH", 0.001)
    monkeypatch.setattr(progress, "LINES", 0.001)
    seen = progress.threading.Event()
    usual = progress._Lines.show

    def show(self, *given):
        usual(self, *given)
        if self._last is not None:
            seen.set()

    monkeypatch.setattr(progress._Lines, "show", show)
    with progress.watching() as watch:
        watch("points", 0, 9)
        assert seen.wait(600)
    assert "simtmm: points: 0 of 9" in capsys.readouterr().err


def test_what_is_reported_anywhere_below_is_heard_within_and_nowhere_else():
    heard = []
    tell("recording", 1, 2)
    with watched(lambda *told: heard.append(told)):
        progress_of = telling("simulating")
        progress_of(3, 4)
        with watched(None):
            tell("recording", 1)
    progress_of(4, 4)
    assert heard == [("simulating", 0, None), ("simulating", 3, 4), ("recording", 1, None)]


def test_a_thread_that_shows_progress_leaves_interrupts_to_others():
    with progress._no_interrupts():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_bar_is_wiped_when_its_work_is_done(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    bars = progress._Bars()
    bars.show([("simulating", progress._Pace(0.0))], 1.0)
    bars.end()
    assert "simulating" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[1A\x1b[2K")  # up a line, and that line erased


def test_an_estimate_that_was_far_off_is_corrected_and_one_that_holds_is_not(looked):
    for now, done in ((0, 0), (1, 1)):
        assert looked(now, "simulating", done, 1000) == []
    assert looked(3, "simulating", 2, 1000) == ["simtmm: simulating: takes about 33 minutes"]  # one in two seconds
    (line,) = looked(20, "simulating", 500, 1000)
    assert line == "simtmm: simulating: takes about 17 s more, and not 33 minutes in all"
    for now in range(21, 33):
        assert not any("and not" in line for line in looked(now, "simulating", 500 + 26 * (now - 20), 1000))
