"""Where warps' ticks go, by place and reason, and what is counted at places (docs/machine.md, section 10)."""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from simtmm.errors import EngineError
from simtmm.stalls import (
    COUNTS,
    LAUNCH_COUNTS,
    PATH,
    REASONS,
    Count,
    Places,
    Reason,
    Stalls,
    launch_counts,
    launches_of,
)
from simtmm.timeline import WarpState
from simtmm.workload import LARGEST

WHILE = {  # what an interval of a state is booked to where it ends; what takes a known time is booked where it begins
    WarpState.START: Reason.LAUNCH,
    WarpState.READY: Reason.NOT_GRANTED,
    WarpState.PAUSE: Reason.INSTRUCTION_LATENCY,
    WarpState.BARRIER: Reason.BARRIER,
}

Integers = npt.NDArray[np.int64]
Path = dict[Reason, int]  # of an access: its ticks by reason, in the order in which it goes through them


class Bookings:
    """Grows while a run goes on. nowhere: the place of what no operation stands for."""

    def __init__(self, places: Places, wanted: bool = True) -> None:
        """wanted: whether `stalls` will be read, so that sums must fit 64 bits."""
        self.places = places
        self.wanted = wanted
        self.nowhere = len(places)
        self.ticks: defaultdict[tuple[int, Reason], int] = defaultdict(int)
        self.counts: defaultdict[tuple[int, Count], int] = defaultdict(int)
        self.launches: list[list[int]] = []
        self.launch_counts: list[Integers] = []
        self.active: list[int] = []
        self.active_before = 0

    def wait(self, place: int, path: Path, ticks: int) -> Reason:
        """Book a wait for an access: of its path the last so many ticks. The reason that takes most of them."""
        longest, most = Reason.MEMORY_LATENCY, 0
        left = ticks
        for reason in reversed(PATH):
            part = min(left, path.get(reason, 0))
            left -= part
            self.ticks[place, reason] += part
            if part > 0 and part >= most:
                longest, most = reason, part
        return longest

    def end_launch(self, active: int | None) -> None:
        """Keep the launch's sums. active: ticks for which core groups held warps, so far; None where nobody asks."""
        if not self.wanted:
            return
        self.active.append(-1 if active is None else active - self.active_before)
        self.active_before = active or 0
        self.launch_counts.append(launch_counts(self.places, self.table(self.counts, len(COUNTS))))
        sums = [0] * len(REASONS)
        for (_, reason), ticks in self.ticks.items():
            sums[reason] += ticks
        before = [sum(of_launches) for of_launches in zip(*self.launches, strict=True)] or [0] * len(REASONS)
        self.launches.append([now - earlier for now, earlier in zip(sums, before, strict=True)])

    def stalls(self, name: str) -> Stalls:
        """What was booked. Raises EngineError where it does not fit 64 bits. name: what the error calls the run."""
        if sum(self.ticks.values()) > LARGEST:
            raise EngineError(
                f"{name}: its warps take 2^63 ticks and more together, which stalls can't tell: leave them out, "
                "or use fewer ticks_per_cycle"
            )
        return Stalls(
            self.table(self.ticks, len(REASONS)),
            self.table(self.counts, len(COUNTS)),
            np.array(self.launches, np.int64).reshape(-1, len(REASONS)),
            self.places,
            launches_of(self.launch_counts, len(LAUNCH_COUNTS)),
            np.array(self.active, np.int64),
        )

    def table(self, sums: dict[tuple[int, Reason], int] | dict[tuple[int, Count], int], columns: int) -> Integers:
        """Sums by place and column."""
        cells = np.zeros((self.nowhere + 1, columns), np.int64)
        for (place, column), value in sums.items():
            cells[place, column] = value
        return cells
