"""How many times as long things take as others want the cores, too: by seconds run and seconds waited, as told here."""

import pytest

from simtmm.report.outlook import Outlook
from simtmm.report.slowness import ENOUGH, MOST, Slowness, ran_and_waited


def looks(*told):
    left = list(told)
    slowness = Slowness(lambda: left.pop(0))
    found = []
    for _ in told:
        slowness.look()
        found.append(slowness.times)
    return found


def test_a_second_of_work_takes_as_long_as_it_and_its_wait_for_a_core():
    assert looks((1.0, 0.0), (2.0, 3.0)) == [1.0, 4.0]


def test_what_was_lately_counts_once_there_is_enough_of_it():
    assert looks((1.0, 9.0), (1.0 + ENOUGH / 2, 9.0), (1.0 + ENOUGH, 9.0)) == [10.0, 10.0, 1.0]


def test_the_first_look_counts_however_little_there_is():
    assert looks((0.1, 0.3), (0.2, 0.4)) == [4.0, pytest.approx(3.0)]


def test_nothing_known_is_as_fast_as_ever_and_a_process_that_ended_takes_its_seconds_along():
    assert looks((0.0, 0.0), (0.0, 0.0)) == [1.0, 1.0]
    assert looks((2.0, 2.0), (1.0, 1.0), (2.0, 5.0)) == [2.0, 2.0, 5.0]


def test_no_more_is_believed_than_that():
    assert looks((1.0, 1000.0)) == [MOST]


def test_this_computer_says_seconds_of_both_or_nothing():
    ran, waited = ran_and_waited()
    assert ran >= 0.0
    assert waited >= 0.0


def test_all_that_is_foreseen_takes_as_many_times_as_long_and_what_is_measured_does_not():
    outlook = Outlook()
    outlook.foresee({"lowering": 2.0, "simulating": 10.0})
    outlook.times = 3.0
    outlook.begin("recording launch 1", 0.0)
    assert outlook.left(4.0, 0.5, 1.0) == 4.0 + 3 * 12.0
    assert outlook.if_as_many_follow(5.0) == 5.0 + 2 * 3 * 12.0
    outlook.begin("simulating", 10.0)
    assert outlook.left(None, 0.0, 10.0) == 30.0
    outlook.end(40.0)
    assert outlook.taken["simulating"] == (10.0, 10.0)  # as on a free computer
