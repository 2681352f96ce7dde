"""What of a timeline is written: some core groups, some cycles, and a sample where that is still too much."""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from simtmm.errors import OutputError, shown
from simtmm.machine import Machine
from simtmm.report.trace_events.events import RUN, WINDOW, WINDOWS, Events
from simtmm.result import Result

MOST_WINDOWS = 100  # of a sample
WINDOW_EVENTS = 1000  # that a window should have at least, so that one sees warps take turns in it


@dataclass(frozen=True)
class Choice:
    """The part of a timeline that is written. groups: core groups, all for None. begin, end: cycles, to the run's end
    for None.
    """

    groups: tuple[int, ...] | None = None
    begin: float = 0
    end: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.begin < float("inf"):
            raise OutputError(f"timeline from cycle {self.begin:g}: must be at least 0")
        if self.end is not None and not self.begin < self.end < float("inf"):
            raise OutputError(f"timeline from cycle {self.begin:g} to {self.end:g}: must end after it begins")

    def mask(self, machine: Machine) -> npt.NDArray[np.bool_]:
        """Which core groups of a machine: bool[groups]. Raises OutputError for one that it does not have."""
        has = machine.cores.groups
        chosen = np.full(has, self.groups is None)
        for group in self.groups or ():
            if not 0 <= group < has:
                raise OutputError(f"timeline of core group {group}: {machine.name} has the core groups 0 to {has - 1}")
            chosen[group] = True
        return chosen

    def ticks(self, result: Result) -> tuple[int, int]:
        """The ticks that are chosen, end excluded; the changes at the run's last are in. Raises OutputError."""
        begin, end = (
            None if cycle is None else round(Fraction(cycle) * result.ticks_per_cycle)
            for cycle in (self.begin, self.end)
        )
        assert begin is not None
        if begin and begin >= result.ticks:
            raise OutputError(f"timeline from cycle {self.begin:g}: the run ends at cycle {result.cycles:g}")
        last = result.ticks + 1
        return begin, last if end is None else max(begin + 1, min(end, last))

    def words(self, machine: Machine, result: Result) -> str:
        """What is left out by it, in words; "" for nothing."""
        parts = []
        if self.groups is not None and not self.mask(machine).all():
            parts.append(f"core groups {numbers(self.groups)} of {machine.cores.groups:,}")
        if self.begin or (self.end is not None and self.end < result.cycles):
            end = result.cycles if self.end is None else min(self.end, result.cycles)
            parts.append(f"cycles {self.begin:,.10g} to {end:,.10g} of {result.cycles:,.10g}")
        return ", ".join(parts)


ALL = Choice()


def groups_of(text: str, option: str = "--timeline-groups") -> tuple[int, ...]:
    """Core groups from a word such as 0,1,5-7, ascending.

    text: as the command line has it.
    option: as messages call it.

    Raises OutputError, naming the option.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last if dash else first)
        # Nothing has a million core groups, and a range must not fill the memory before it is refused.
        if not all(end.isdecimal() and end.isascii() and len(end) <= 6 for end in ends) or int(ends[0]) > int(ends[1]):
            raise OutputError(f"{option} {shown(text)}: must be core groups, such as 0,1,5-7")
        found.update(range(int(ends[0]), int(ends[1]) + 1))
    return tuple(sorted(found))


def numbers(values: Collection[int]) -> str:
    """0, 1 and 2 as 0-2; 0 and 7 as 0,7."""
    runs: list[list[int]] = []
    for value in sorted(values):
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def sample(events: Events, begin: int, end: int, most: int) -> tuple[Events, int, float]:
    """As much of whole windows as `most` events allow, marks of the windows included; windows; their share of time.

    begin, end: ticks of the windows; what begins earlier counts as if it began then.
    """
    ticks = max(1, end - begin)
    windows = min(MOST_WINDOWS, max(1, most // WINDOW_EVENTS))
    period = -(-ticks // windows)
    room = max(most - windows, 1)
    offset = np.maximum(events.begin - begin, 0)
    phase = offset % period
    width = int(np.partition(phase, room)[room])  # no more than `room` events begin before it in their window
    if width == 0 or most <= windows:  # more begin at one tick than there is room for
        return events.where(slice(0, most)), 1, min(1.0, float(offset[most] + 1) / ticks)
    starts = np.arange(0, ticks, period)
    ends = np.minimum(starts + width, ticks)
    marks = Events.of(WINDOW, begin + starts, begin + ends, RUN, WINDOWS, 0, np.arange(len(starts)))
    inside = (phase < width) & (offset < ticks)  # the last warps' ends are behind the last window
    return Events.together(events.where(inside), marks), len(starts), float((ends - starts).sum()) / ticks
