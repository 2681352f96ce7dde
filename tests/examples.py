"""How many examples a property draws: so many each day, and ten times as many with --hypothesis-profile=long.

A day's are the same each time, so that a change is judged by what it changes and not by the luck of the draw; the
long profile draws anew, and what it finds stays as an @example.
"""

from hypothesis import settings, strategies

DAILY = 100  # where a property says nothing else
LONG = 10
SHARING = 4  # machines to a workload, which Hypothesis takes ten times as long to draw as a machine


def load_daily():
    """Register both profiles, and load the daily one.

    Neither has a deadline: how long an example takes depends on what else the machine does, which is no finding about
    the code.
    """
    settings.register_profile("daily", deadline=None, max_examples=DAILY, derandomize=True)
    settings.register_profile("long", deadline=None, max_examples=LONG * DAILY)
    settings.load_profile("daily")


def examples(count, **others):
    """Settings of a property that draws `count` examples a day. others: as of hypothesis.settings."""
    return settings(max_examples=count * settings().max_examples // DAILY, **others)


def daily(cases, count=1):
    """The first cases a day, and all of them with the long profile: of cases that differ by their machine and go the
    same way through the code. count: how many a day.
    """
    return cases if settings().max_examples > DAILY else cases[:count]


def several(machines):
    """As many machines as share a drawn workload: `examples(count // SHARING)` of them are `count` pairs."""
    return strategies.lists(machines, min_size=SHARING, max_size=SHARING)
