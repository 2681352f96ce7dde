"""A command as a whole: what it took the last time stands from its beginning on, by a clock that the test sets."""

import pytest

from simtmm.cache import durations
from simtmm.report import command_time, progress
from simtmm.report.command_time import timed


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch, tmp_path):
    result = Clock()
    for module in (progress, command_time):
        monkeypatch.setattr(module, "monotonic", result)
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path))
    monkeypatch.setattr(command_time, "WORTH", 5.0)
    monkeypatch.setattr(progress, "PATIENCE", 1.0)
    return result


def run(clock, took, *words):
    """A command that took so long; what comes then begins at 0."""
    clock.now += 1000
    with timed(*words):
        clock.now += took
    clock.now = 0.0


@pytest.fixture
def looked(clock, capsys):
    """Tell what is done of a stage at a time after the command's beginning, look, and give the lines that come."""
    begun = clock.now

    def look(shown, now, *told):
        clock.now = begun + now
        if told:
            shown.watch(*told)
        shown.show([stage for stage in (shown._overall, shown._stage) if stage], clock.now)
        return capsys.readouterr().err.splitlines()

    return look


def test_what_a_command_took_the_last_time_is_told_at_once_though_its_end_is_not_in_sight(clock, looked):
    run(clock, 30.0, "run", "script.py")
    with timed("run", "script.py"):
        shown = progress._Lines()
        assert looked(shown, 1.2, "recording launch 1", 0, 64) == ["simtmm: takes about 29 s more"]
        assert looked(shown, 12, "recording launch 900", 0, 64) == [
            "simtmm: recording launch 900: 0 %; about 18 s left in all"
        ]


def test_another_command_knows_nothing_of_it(clock, looked):
    run(clock, 30.0, "run", "script.py")
    with timed("run", "other.py"):
        assert looked(progress._Lines(), 1.2, "recording launch 1", 0, 64) == []


def test_parts_of_a_command_that_show_their_progress_apart_share_one_estimate(clock, looked):
    run(clock, 60.0, "run", "a.cu")
    with timed("run", "a.cu"):
        assert looked(progress._Lines(), 2, "running a launch", 0, 64) == ["simtmm: takes about 58 s more"]
        second = progress._Lines()
        second._begun = 10.0
        assert looked(second, 11, "lowering", 0, None) == []  # told before
        assert looked(second, 21, "lowering", 0, None) == ["simtmm: lowering; about 39 s left in all"]


def test_once_the_time_of_last_time_is_nearly_up_what_is_foreseen_counts_and_corrects_it(clock, looked):
    run(clock, 20.0, "run", "a.cu")
    with timed("run", "a.cu"):
        shown = progress._Lines()
        assert looked(shown, 1, "recording launch 1", 0, 64) == ["simtmm: takes about 19 s more"]
        shown.foresee({"lowering": 10.0, "simulating": 20.0})
        assert looked(shown, 18.5, "recording launch 7", 32, 64) == [
            "simtmm: takes at least about 30 s more, and not 20 s in all: launch 7 so far, how many follow is not known"
            " (as many: about 78 s more)"  # 17.5 s since the first launch, and stages behind of 60 s
        ]


def test_an_estimate_that_is_far_from_the_last_time_wins(clock, looked):
    """Its input has become another, say."""
    run(clock, 20.0, "run", "a.cu")
    with timed("run", "a.cu"):
        shown = progress._Lines()
        shown.foresee({"simulating": 90.0})
        assert looked(shown, 2, "simulating", 0, None) == ["simtmm: takes about 90 s more"]
    run(clock, 80.0, "run", "a.cu")
    with timed("run", "a.cu"):
        shown = progress._Lines()
        shown.foresee({"simulating": 90.0})
        assert looked(shown, 2, "simulating", 0, None) == ["simtmm: takes about 78 s more"]


@pytest.mark.parametrize(("took", "is_known"), [(4.9, False), (5.0, True)])
def test_what_is_soon_done_is_not_remembered(clock, took, is_known):
    run(clock, took, "run", "a.cu")
    with timed("run", "a.cu"):
        assert (command_time.command(clock.now).known is not None) == is_known


def test_a_command_that_fails_is_not_remembered_and_compiling_is_not_counted(clock, monkeypatch):
    def fail():
        with timed("run", "a.cu"):
            clock.now += 30.0
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with timed("run", "a.cu"):
        assert command_time.command(clock.now).known is None
        before = command_time.spent()
        monkeypatch.setattr(command_time, "spent", lambda: before + 7.0)
        clock.now += 30.0
    with timed("run", "a.cu"):
        assert command_time.command(clock.now).known == pytest.approx(23.0)


def test_while_a_program_may_launch_more_what_is_known_at_two_seconds_is_told_as_the_least(clock, looked):
    clock.now = 0.0
    with timed("run", "new.cu"):
        shown = progress._Lines()
        shown.foresee({"lowering": 2.0, "simulating": 5.0})
        assert looked(shown, 1.9, "recording launch 7", 0, 64) == []
        assert looked(shown, 2.0, "recording launch 8", 0, 64) == [
            "simtmm: takes at least about 7 s more: launch 8 so far, how many follow is not known"
            " (as many: about 14 s more)"
        ]


def test_of_a_script_without_a_launch_that_is_said_at_two_seconds_and_an_estimate_follows_its_first_launch(
    clock, looked
):
    clock.now = 0.0
    with timed("run", "new.py"):
        shown = progress._Lines()
        assert looked(shown, 1.9, "running the script", 0, None) == []
        assert looked(shown, 2.1) == ["simtmm: no launch so far, how many launches follow is not known"]
        assert looked(shown, 4.0) == []  # once
        shown.foresee({"lowering": 2.0, "simulating": 5.0})
        assert looked(shown, 8.0, "recording launch 1", 0, 64) == [
            "simtmm: takes at least about 7 s more: launch 1 so far, how many follow is not known"
            " (as many: about 14 s more)"  # the time before it counts for no launch
        ]


def test_where_what_is_known_of_a_program_is_little_it_is_said_at_two_seconds_what_as_many_launches_take(clock, looked):
    clock.now = 0.0
    with timed("run", "new.cu"):
        shown = progress._Lines()
        shown.foresee({"simulating": 2.0})
        looked(shown, 1.0, "recording launch 1", 0, 64)
        assert looked(shown, 2.0, "recording launch 500", 0, 64) == [
            "simtmm: launch 500 so far, how many follow is not known (as many: about 5 s more)"
        ]
        assert looked(shown, 4.0, "recording launch 700", 0, 64) == []


def test_where_nothing_is_foreseen_of_a_program_it_is_said_at_two_seconds_that_its_end_is_not_known(clock, looked):
    clock.now = 0.0
    with timed("run", "new.cu"):
        shown = progress._Lines()
        assert looked(shown, 1.9, "recording launch 40", 1, 64) == []
        assert looked(shown, 2.0, "recording launch 41", 0, 64) == [
            "simtmm: launch 41 so far, how many follow is not known"
        ]
        assert looked(shown, 4.0, "recording launch 42", 0, 64) == []  # once


def test_of_a_launch_that_is_not_recorded_no_number_is_told(clock, looked):
    clock.now = 0.0
    with timed("run", "new.cu"):
        shown = progress._Lines()
        looked(shown, 1.0, "running a launch", 0, 64)
        assert looked(shown, 3.5) == ["simtmm: how many launches follow is not known"]


def test_a_kernel_alone_has_an_end_and_nothing_of_it_is_unknown(clock, looked):
    clock.now = 0.0
    with timed("run", "k.cu"):
        shown = progress._Lines()
        assert looked(shown, 3.0, "recording", 1, 64) == ["simtmm: recording: 1 %"]  # whose rate is not known yet
        assert looked(shown, 4.5, "recording", 3, 64) == ["simtmm: recording: takes about 46 s"]


def test_what_stages_took_here_says_how_fast_this_computer_is(clock, looked):
    clock.now = 0.0
    with timed("run", "new.cu"):
        shown = progress._Lines()
        shown.foresee({"lowering": 0.2, "simulating": 10.0})
        looked(shown, 0, "lowering", 0, None)
        looked(shown, 2, "simulating", 0, None)
        shown._learn(7.0)
    assert durations.paces() == {"simulating": 0.5}  # 5 of 10 s; of 0.2 s nothing is to be learnt
    later = progress._Lines()
    later.foresee({"simulating": 30.0})
    assert later.outlook.left(1.0, 0.0, 7.0) == 1.0 + 15.0
    looked(later, 10, "simulating", 0, None)
    later._learn(22.0)  # 12 of 15 s: by now at 0.4 of what is foreseen
    assert durations.paces()["simulating"] == pytest.approx((0.4 * 0.5) ** 0.5)


def test_of_a_command_that_is_soon_done_nothing_is_learnt(clock, looked):
    clock.now = 0.0
    with timed("run", "new.cu"):
        shown = progress._Lines()
        shown.foresee({"simulating": 10.0})
        looked(shown, 0, "simulating", 0, None)
        shown._learn(0.9)
    assert durations.paces() == {}
