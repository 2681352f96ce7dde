"""Where warps' ticks go, by place and reason, and what is counted at places (docs/machine.md, section 10)."""

from collections import Counter, defaultdict

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


class Unbooked:
    """The hooks of a run that nobody asks for stalls. nowhere: the place of what no operation stands for."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.nowhere = len(places)

    def book(self, place: int, reason: Reason, ticks: int) -> None:
        """A warp's ticks go into something."""

    def count(self, place: int, what: Count, number: int) -> None:
        """Something happens so many times."""

    def access(self, place: int, chunks: int, counted: Counter[Count]) -> None:
        """An instruction has gone to memory. counted: of its chunks."""

    def wait(self, place: int, path: Path, ticks: int) -> Reason:
        """A warp waits for an access so many ticks, the last of its path. The reason that takes most of them."""
        return Reason.MEMORY_LATENCY

    def end_launch(self, active: int | None) -> None:
        """A launch ends. active: ticks for which core groups held warps, so far; None where nobody asks."""


class Bookings(Unbooked):
    """What is booked grows while a run goes on."""

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.ticks: defaultdict[tuple[int, Reason], int] = defaultdict(int)
        self.counts: defaultdict[tuple[int, Count], int] = defaultdict(int)
        self.launches: list[list[int]] = []
        self.launch_counts: list[Integers] = []
        self.active: list[int] = []
        self.active_before = 0

    def book(self, place: int, reason: Reason, ticks: int) -> None:
        """See Unbooked."""
        self.ticks[place, reason] += ticks

    def count(self, place: int, what: Count, number: int) -> None:
        """See Unbooked."""
        self.counts[place, what] += number

    def access(self, place: int, chunks: int, counted: Counter[Count]) -> None:
        """See Unbooked."""
        for what, number in (counted + Counter({Count.REQUESTS: 1, Count.CHUNKS: chunks})).items():
            self.counts[place, what] += number

    def wait(self, place: int, path: Path, ticks: int) -> Reason:
        """See Unbooked."""
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
        """See Unbooked: keep the launch's sums."""
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
