"""A command as a whole: when it began, how long it took the last time, and what was told of that so far.

Parts of it show their progress apart, as a program that runs and then its simulation; an estimate is of all of it.
"""

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

from simtmm.cache.compiled import spent
from simtmm.cache.durations import of_command, remember_command

WORTH = 5.0  # seconds from which on it is worth remembering what a command took
GONE_BY = 0.9  # of what it took last, up to which that says what is left


@dataclass
class Command:
    """begun: when it began [s]. known: seconds that it took the last time, None where nobody knows.
    told: the seconds that were told of it last, and when. is_least: whether they were told as the least.
    """

    begun: float
    known: float | None = None
    told: tuple[float, float] | None = None
    is_least: bool = False

    def left(self, now: float) -> float | None:
        """Seconds that are left of it, as long as it took the last time; None once that is nearly up."""
        taken = now - self.begun
        return None if self.known is None or taken > GONE_BY * self.known else self.known - taken


_command: ContextVar[Command | None] = ContextVar("command", default=None)


def command(now: float) -> Command:
    """The one under way; one that begins now [s] where there is none."""
    return _command.get() or Command(now)


@contextlib.contextmanager
def timed(*words: object) -> Iterator[None]:
    """Run a command whose progress shows how long it took the last time that it ran here without an error.

    words: what it is asked for.
    """
    key = (os.path.realpath("."), *words)
    under_way, compiled = Command(monotonic(), of_command(key)), spent()
    token = _command.set(under_way)
    try:
        yield
    finally:
        _command.reset(token)
    took = monotonic() - under_way.begun - (spent() - compiled)  # which the next time finds
    if took >= WORTH:
        remember_command(key, took)
