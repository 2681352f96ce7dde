"""The time of a script: what passes, and what is only told to pass."""

import threading
from types import SimpleNamespace

import pytest

from simtmm.scripts import own_time
from simtmm.scripts.own_time import NANO, HostTime


class Clock:
    """A clock that says what it is told."""

    def __init__(self):
        self.seconds, self.armed = 1.0, False

    def arm(self):
        self.armed = True

    def advance(self, seconds):
        self.seconds += seconds

    def now(self):
        return self.seconds


@pytest.fixture
def slept(monkeypatch):
    """What was slept really [s]."""
    seconds = []
    monkeypatch.setattr(own_time, "time_sleep", seconds.append)
    return seconds


@pytest.mark.parametrize(
    ("others", "is_real"),
    [([], False), ([True], False), ([None], False), ([False], True), ([True, False], True)],
)
def test_a_sleep_takes_time_only_where_threads_that_the_process_waits_for_go_on(monkeypatch, slept, others, is_real):
    """others: of each other thread whether it is a daemon."""
    threads = [threading.main_thread(), *(SimpleNamespace(daemon=daemon) for daemon in others)]
    monkeypatch.setattr(own_time, "threading", SimpleNamespace(
        enumerate=lambda: threads, main_thread=threading.main_thread
    ))  # fmt: skip
    clock = Clock()
    HostTime(clock, True).sleep(0.25)
    assert slept == ([0.25] if is_real else [])
    assert (clock.seconds, clock.armed) == (1.25, True)


def test_a_sleep_passes_on_all_clocks_but_the_process_s(monkeypatch, slept):
    monkeypatch.setattr(own_time, "threading", SimpleNamespace(enumerate=list, main_thread=threading.main_thread))
    clock = Clock()
    clock.host = SimpleNamespace(call=lambda what: {"clock": 0.0}[what])
    host = HostTime(clock, False)
    before = {which: host.read(which) for which in ("time", "monotonic", "process")}
    host.sleep(0.5)
    passed = {which: host.read(which) - then for which, then in before.items()}
    assert passed == {"time": NANO // 2, "monotonic": NANO // 2, "process": 0}


def test_no_sleep_is_negative(slept):
    with pytest.raises(ValueError, match="sleep length must be non-negative"):
        HostTime(Clock(), True).sleep(-0.1)
    assert slept == []
