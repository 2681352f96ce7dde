"""How many times as long as on a free computer this command takes now, as others want its cores, too.

Linux says how long each thread has run, and how long it waited for a core to run on.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path

SELF = Path("/proc/self/task")
ENOUGH = 0.5  # seconds of running, from which on what was seen lately says more than all that was seen
MOST = 30.0  # times as long, that is believed


def ran_and_waited() -> tuple[float, float]:
    """Seconds that threads of this process and of those that it started have run, and that they waited for a core.

    Zeros where no one says.
    """
    ran = waited = 0
    tasks = [SELF]
    with contextlib.suppress(OSError, ValueError):  # of those that end meanwhile
        while tasks:
            for thread in tasks.pop().iterdir():
                run, wait, _ = (thread / "schedstat").read_text().split()
                ran, waited = ran + int(run), waited + int(wait)
                with contextlib.suppress(OSError):  # not every kernel has it
                    tasks += [Path(f"/proc/{child}/task") for child in (thread / "children").read_text().split()]
    return ran / 1e9, waited / 1e9


class Slowness:
    """Looks at it now and then: by what was seen lately, as others come and go."""

    def __init__(self, look: Callable[[], tuple[float, float]] = ran_and_waited) -> None:
        """look: seconds that were run and that were waited so far."""
        self._look_at, self._before = look, (0.0, 0.0)
        self.times = 1.0
        """How many times as long everything takes."""

    def look(self) -> None:
        """Take in what has happened since the last look."""
        ran, waited = self._look_at()
        run, wait = ran - self._before[0], waited - self._before[1]
        if run < 0 or wait < 0:  # a process that has ended takes its seconds along
            self._before = ran, waited
        elif run > 0 and (run >= ENOUGH or self._before == (0.0, 0.0)):
            self.times = min(MOST, (run + wait) / run)
            self._before = (ran, waited) if run >= ENOUGH else self._before
