"""How long a run takes is told within three seconds of its beginning, within a factor of two, by recorded times.

runs.csv has what runs reported, as they went on, by their processor time, as others used the two cores meanwhile.
"""

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from simtmm.analysis.run.expected import CHANGES, HELP, LOWERING, SIMULATING, after_lowering, after_recording
from simtmm.report import progress
from simtmm.report.outlook import Outlook
from simtmm.watch import followed_by, foresee, foresee_events, foreseen_by, repeated_by

RUNS = Path(__file__).parent / "runs.csv"


def runs():
    """By name, each report: when, of what stage, what was done of it, all of it, and the events foreseen."""
    found = defaultdict(list)
    with RUNS.open() as file:
        for row in csv.DictReader(file):
            total, events = int(row["total"] or 0) or None, float(row["events"] or 0)
            found[row["run"]].append((float(row["second"]), row["stage"], int(row["done"]), total, events))
    return found


@pytest.fixture(autouse=True)
def _any_computer(monkeypatch):
    """One of which nothing is known."""
    monkeypatch.setattr(progress, "paces", dict)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def lines_of(reports, monkeypatch, capsys):
    """What is told of a run, and when. A look is taken every REFRESH seconds."""
    clock = Clock()
    monkeypatch.setattr(progress, "monotonic", clock)
    shown, found, left = progress._Lines(), [], list(reports)
    with foreseen_by(shown.foresee), repeated_by(shown.outlook.repeats), followed_by(after_recording):
        while left:
            clock.now += progress.REFRESH
            while left and left[0][0] <= clock.now:
                _, stage, done, total, events = left.pop(0)
                shown.watch(stage, done, total)
                foresee_events(events)
            stages = [stage for stage in (shown._overall, shown._stage) if stage]
            if stages:
                shown.show(stages, clock.now)
            found += [(clock.now, line) for line in capsys.readouterr().err.splitlines()]
    return found


@pytest.mark.parametrize("name", list(runs()))
def test_the_first_estimate_comes_in_time_and_is_within_a_factor_of_two(name, monkeypatch, capsys):
    reports = runs()[name]
    begun = next(second for second, _, done, _, _ in reports if done)  # its first block: nothing is known before
    told = lines_of(reports, monkeypatch, capsys)
    second, line = next((second, line) for second, line in told if "takes about" in line)
    assert second <= begun + 3.0
    words = line.removeprefix("simtmm: takes about ").removesuffix(" more").split()
    estimate = second + float(words[0]) * {"s": 1, "minutes": 60}[words[1]]
    assert 0.5 < estimate / reports[-1][0] < 2.0, told


def test_what_is_left_is_that_of_the_stage_under_way_and_of_those_behind_it():
    outlook = Outlook()
    assert outlook.left(5.0, 0.5, 0.0) is None
    outlook.foresee({"lowering": 2.0, "simulating": 10.0, "trying": 3.0})
    outlook.begin("recording", 0.0)
    assert outlook.left(None, 0.0, 1.0) is None  # whose end nobody knows
    assert outlook.left(4.0, 0.5, 1.0) == 4 + 2 + 10 + 3
    outlook.begin("lowering", 5.0)
    assert outlook.left(None, 0.0, 6.0) == 1 + 10 + 3
    outlook.begin("simulating", 8.0)
    assert outlook.left(None, 0.0, 8.0) == 10 + 3
    outlook.begin("writing", 20.0)
    assert outlook.left(1.0, 0.0, 20.0) == 1 + 10 + 3  # simulating may come again


def test_the_more_is_done_of_a_stage_the_more_its_own_rate_counts():
    outlook = Outlook()
    outlook.foresee({"simulating": 10.0})
    outlook.begin("simulating", 0.0)
    assert outlook.left(None, 0.5, 10.0) == 0.5 * 10 + 0.5 * 3  # by its rate 10 more; foreseen, none but three tenths
    assert outlook.left(None, 0.9, 9.0) == pytest.approx(0.9 * 1 + 0.1 * 2.7)
    assert outlook.left(None, 0.0, 100.0) == 30  # of what has no rate and takes longer than foreseen


def test_a_later_report_changes_the_stages_that_it_names():
    outlook = Outlook()
    outlook.foresee({"simulating": 10.0, "trying": 3.0})
    outlook.foresee({"simulating": 4.0})
    outlook.begin("recording", 0.0)
    assert outlook.left(1.0, 0.0, 0.0) == 1 + 4 + 3


def test_an_estimate_of_all_that_was_far_off_is_corrected(monkeypatch, capsys):
    reports = [(0.5, "recording", 1, 100, 1e8)]
    reports += [(0.5 + tenth / 10, "recording", 1 + tenth, 100, 1e8) for tenth in range(1, 30)]
    reports += [(4.0 + second, "simulating", 0, 100, 0) for second in range(60)]
    told = [line for _, line in lines_of(reports, monkeypatch, capsys) if "takes about" in line]
    assert told[0] == "simtmm: takes about 21 s more"  # 9 of recording, 1.5 + 3 + 3 + 4.5 behind it
    assert any("and not" in line for line in told[1:])


def test_who_foresees_nothing_is_told_nothing():
    heard = []
    foresee({"simulating": 1.0})
    foresee_events(5.0)
    with foreseen_by(heard.append):
        foresee_events(5.0)  # followed by nobody knows what
        foresee({"simulating": 1.0})
        with followed_by(lambda events: {"lowering": events}):
            foresee_events(5.0)
            foresee_events(0.0)
    assert heard == [{"simulating": 1.0}, {"lowering": 5.0}]


def test_stages_behind_a_recording_come_in_their_order_and_tests_take_no_time_where_there_are_none():
    assert list(after_recording(1e6)) == [LOWERING, SIMULATING, HELP, CHANGES]
    assert (after_recording(1e9)[HELP], after_recording(1e9)[CHANGES]) == (3.0, 4.5)
    assert after_recording(1e9, what_if=False)[HELP] == 0.0


def test_what_simulating_takes_follows_from_operations_and_chunks():
    from simtmm import Workload

    blocks = [{"warps": [[["load", [0, 1, 2]], ["compute", 5]]]}] * 100
    found = after_lowering(Workload.from_dict({"blocks": blocks}))
    assert found[SIMULATING] == pytest.approx(500 / 6e6)
    assert found[LOWERING] == 0.0


def test_while_a_program_may_launch_more_an_estimate_is_what_it_takes_at_least(monkeypatch, capsys):
    reports = [(0.5 + tenth / 10, "recording launch 1", 1 + tenth, 40, 1e8) for tenth in range(40)]
    reports += [(5.0 + second, "simulating", 0, 100, 0) for second in range(9)]
    told = [line for _, line in lines_of(reports, monkeypatch, capsys)]
    assert told[0].startswith("simtmm: takes at least about ")
    assert not any("at least" in line for line in told if "simulating" in line)


def of_launches(launches, seconds, monkeypatch, capsys, known):
    """What is told of a program whose launches take so many seconds each, with 100 blocks and 1e8 events each."""
    reports, now = [], 0.4
    for number in range(1, launches + 1):
        for done in range(0, 101, 10):
            events = 1e8 * number if done else 0
            reports.append((now + seconds * done / 100, f"recording launch {number}", done, 100, events))
        now += seconds
    behind = after_recording(1e8 * launches)
    reports += [(now, stage, 0, None, 0) for stage in list(behind)[:1]]
    whole = now + sum(behind.values())
    monkeypatch.setattr(progress, "Outlook", lambda: with_launches(known))
    told = lines_of(reports, monkeypatch, capsys)
    return [(second, line) for second, line in told if "takes" in line], whole


def with_launches(known):
    outlook = Outlook()
    outlook.launches = known
    return outlook


@pytest.mark.parametrize(("launches", "seconds"), [(150, 0.15), (60, 0.7), (12, 3.0)])
def test_where_the_source_says_how_many_launches_there_are_the_first_estimate_is_of_all(
    launches, seconds, monkeypatch, capsys
):
    told, whole = of_launches(launches, seconds, monkeypatch, capsys, known=launches)
    second, line = told[0]
    assert second <= 3.0
    assert f"of {launches}, by the loops of its source" in line
    assert "at least" not in line
    words = line.removeprefix("simtmm: takes about ").split()
    left = float(words[0]) * {"s": 1, "minutes": 60}[words[1]]
    assert 0.5 < (second + left) / whole < 2.0, (line, whole)


def test_once_there_were_more_launches_than_the_source_says_nobody_knows_how_many_follow(monkeypatch, capsys):
    told, _ = of_launches(60, 0.7, monkeypatch, capsys, known=20)
    assert "of 20, by the loops of its source" in told[0][1]
    assert "how many follow is not known" in told[-1][1]


def test_a_recording_that_has_a_most_goes_on_to_that_many_events():
    outlook = with_launches(150)
    outlook.foresee({"lowering": 2.0})
    assert outlook.repeats(1e7, None) == 1.0  # no launch so far
    outlook.begin("recording launch 1", 0.0)
    outlook.begin("recording launch 2", 2.0)
    assert outlook.repeats(2e7, None) == 75.0
    assert outlook.left(None, 0.0, 3.0) is None  # the first may have compiled, and of the second no end is seen
    assert outlook.left(1.0, 0.5, 3.0) == 1.0 + 148 * 2.0 + 2.0
    outlook.begin("recording launch 3", 4.0)
    assert outlook.repeats(3e7, None) == 50.0
    assert outlook.repeats(3e7, 3e8) == 10.0
    assert outlook.left(None, 0.0, 4.0) == 2.0 * (30 - 2) + 2.0  # the second took 2 s
    assert outlook.repeats(4e8, 3e8) == 1.0
