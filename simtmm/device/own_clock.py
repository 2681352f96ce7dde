"""The clock that a program or a script under simtmm reads: whose time it is."""

from dataclasses import dataclass

VIRTUAL, REAL = "virtual", "real"
CLOCKS = (VIRTUAL, REAL)


@dataclass(frozen=True)
class OwnClock:
    """Whose time a program reads from its clocks.

    kind: VIRTUAL, the simulated machine's; or REAL, this computer's. has_host_time: whether the processor time of the
    program's own code counts, in addition to the time of its calls; without it, runs repeat exactly. why_off: why it
    does not count where nobody chose, as a report says it.
    """

    kind: str = VIRTUAL
    has_host_time: bool = True
    why_off: str = ""
