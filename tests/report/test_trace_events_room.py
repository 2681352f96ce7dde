"""What of a timeline there is room for: how many means the machine's counters become, and how many events a sample has.

Sizes are made up, so that each limit is met exactly, missed by one, and no multiple of what it is divided by.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from simtmm import Machine
from simtmm.report.trace_events import file, traffic
from simtmm.report.trace_events.choice import sample
from simtmm.report.trace_events.events import COUNTER, SLICE, WINDOW, Events

TICKS = (0, 1000)


def made(kind, number, step=7):
    """So many events of a kind, one every few ticks."""
    begin = step * np.arange(number)
    return Events.of(kind, begin, begin + 1, 2, 1, 0, np.arange(number))


@dataclass(frozen=True)
class Sized:
    """The text of events that take so many bytes each, and a sample's marks as many for all of them."""

    each: int = 10
    marks: int = 0

    def sizes(self, of):
        return self.each * len(of) + self.marks * bool((of.kind == WINDOW).any())


def within(counters, slices, most=None, spare=0, text=Sized()):
    """What is asked of the overview, how many events there are, and the rest of what `_within` gives."""
    asked = []

    def overview(number):
        asked.append(number)
        return made(COUNTER, min(number, counters)), 2.5

    found, *rest = file._within(made(SLICE, slices), overview, text, TICKS, most, spare)
    return asked, len(found), *rest


@pytest.mark.parametrize(
    ("counters", "most", "expected"),
    [  # of 100 slices: numbers that the overview is asked for, events, all that there are, windows
        (10, 110, ([2000], 110, 110, 0, 1.0, 2.5)),  # all fit, just so
        (60, 160, ([2000], 160, 160, 0, 1.0, 2.5)),
        (10, 43, ([2000], 43, 110, 1)),  # a fourth of 43 is 10
        (11, 43, ([2000, 10], 43, 110, 1)),
        (60, 159, ([2000, 39], 139, 139, 0, 1.0, 2.5)),  # a fourth of them, and all of the slices
    ],
)
def test_counters_take_a_fourth_of_the_events_at_most_where_not_all_fit(counters, most, expected):
    assert within(counters, 100, most)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("counters", "spare", "marks", "expected"),
    [  # of 100 slices of 10 bytes
        (30, 1300, 0, ([2000], 130, 130, 0, 1.0, 2.5)),
        (30, 1200, 0, ([2000], 30 + 90, 130, 1)),  # 300 bytes of 1200 are a fourth
        (30, 1199, 0, ([2000, 29], 29 + 90, 129, 1)),  # 30 * 1199 / 1200, and 90.9 slices
        (30, 1199, 100, ([2000, 29], 29 + 80, 129, 1)),  # 90 take 1000 bytes of 909, and 81.8 are one too many
        (0, 999, 0, ([2000], 99, 100, 1)),
        (0, 995, 0, ([2000], 99, 100, 1)),
        (0, 5, 0, ([2000], 1, 100, 1)),
        (30, -1, 0, ([2000, 0], 1, 100, 1)),
    ],
)
def test_counters_take_a_fourth_of_the_bytes_at_most_and_a_sample_what_is_left(counters, spare, marks, expected):
    assert within(counters, 100, None, spare, Sized(marks=marks))[: len(expected)] == expected


def test_without_slices_all_counters_are_there_whatever_they_take():
    assert within(9, 0, 4) == ([2000, 1], 1, 1, 0, 1.0, 2.5)
    assert within(9, 0, None, 40) == ([2000, 1], 1, 1, 0, 1.0, 2.5)


@pytest.mark.parametrize(
    ("most", "windows", "period"),
    [(1000, 1, 7000), (1999, 1, 7000), (2000, 2, 3500), (3500, 3, 2334), (10**6, 100, 70)],
)
def test_a_window_has_a_thousand_events_and_windows_begin_evenly_the_last_ones_sooner(most, windows, period):
    begin = np.repeat(np.arange(7000), 200)
    everything = Events.of(SLICE, begin, begin + 1, 2, 1, 0, begin)
    found, number, share = sample(everything, 0, 7000, most)
    marks = found.where(found.kind == WINDOW)
    assert (number, len(marks)) == (windows, windows)
    assert marks.begin.tolist() == [period * place for place in range(windows)]
    assert len(found) <= most
    assert share == pytest.approx((marks.end - marks.begin).sum() / 7000, abs=1e-12)  # a quotient of the same numbers
    assert len(found) - windows == 200 * (marks.end - marks.begin).sum()


def test_a_tick_with_more_events_than_there_is_room_for_has_the_first_of_them():
    begin = np.repeat([0, 50], [30, 10])
    found, windows, share = sample(Events.of(SLICE, begin, begin, 2, 1, 0, np.arange(40)), 0, 100, 20)
    assert (found.values[:, 0].tolist(), windows, share) == (list(range(20)), 1, 0.01)
    found, windows, share = sample(Events.of(SLICE, begin, begin, 2, 1, 0, np.arange(40)), 0, 100, 35)
    assert (len(found), windows, share) == (31, 1, 0.5)  # all that begin before tick 50, and the window's mark


@pytest.mark.parametrize(("room", "means"), [(0, None), (4, None), (5, 1), (9, 1), (10, 2), (999, 199), (10**6, 200)])
def test_there_are_as_many_means_as_five_counters_of_them_have_room_for(room, means, monkeypatch):
    asked = []
    monkeypatch.setattr(traffic, "over_time", lambda machine, result, most: asked.append(most))
    machine = Machine.from_dict(
        {"name": "one", "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
         "memory": {"latency": 20, "chunk_words": 8}}
    )  # fmt: skip
    found, counters = traffic.traffic_of(machine, None, 0, 100, room)
    assert (asked, len(found), counters) == ([] if means is None else [means], 0, ())
