"""The order of what happens at one tick (docs/machine.md, section 2).

SimPy orders it by its own priority: the step's phase (release, wake, dispatch, the opening of a grid barrier, issue),
then the group, then the rank within it (port or age). What an event sets off at once (a barrier that opens, a port that
is granted) has SimPy's NORMAL priority, which comes before all phases, so it is done before the tick goes on.
"""

from collections.abc import Generator
from typing import Any

from simpy import Event
from simpy.events import EventPriority

RELEASE, WAKE, DISPATCH, OPEN, ISSUE = range(1, 6)  # the phases of a step

Waiting = Generator[Event, Any, None]


class Moment(Event):
    """An event with a place among the others of its tick: phase, then group, then rank."""

    def due(self, tick: int, phase: int, group: int = 0, rank: int = 0) -> "Moment":
        """Let it happen at `tick`, in that place."""
        self._ok = True
        self._value = None
        self.env.schedule(self, EventPriority(phase << 80 | group << 40 | rank), tick - self.env.now)
        return self
