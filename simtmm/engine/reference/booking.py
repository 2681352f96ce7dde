"""Where warps' ticks go, by place and reason, and what is counted at places (docs/machine.md, section 10)."""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from simtmm.errors import EngineError
from simtmm.stalls import COUNTS, PATH, REASONS, Count, Places, Reason, Stalls
from simtmm.timeline import WarpState
from simtmm.workload import LARGEST

WHILE = {  # what an interval of a state is booked to where it ends; issuing and waits for memory are as they begin
    WarpState.START: Reason.LAUNCH,
    WarpState.READY: Reason.NOT_GRANTED,
    WarpState.PIPELINE: Reason.INSTRUCTION_LATENCY,
    WarpState.PAUSE: Reason.INSTRUCTION_LATENCY,
    WarpState.BARRIER: Reason.BARRIER,
}

Path = dict[Reason, int]  # of an access: its ticks by reason, in the order in which it goes through them


class Bookings:
    """Grows while a run goes on. nowhere: the place of what no operation stands for."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.nowhere = len(places)
        self.ticks: defaultdict[tuple[int, Reason], int] = defaultdict(int)
        self.counts: defaultdict[tuple[int, Count], int] = defaultdict(int)
        self.launches: list[list[int]] = []

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

    def end_launch(self) -> None:
        """Keep the launch's sums."""
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
        rows = self.nowhere + 1

        def table(sums: dict[tuple[int, Reason], int] | dict[tuple[int, Count], int], columns: int) -> Integers:
            cells = np.zeros((rows, columns), np.int64)
            for (place, column), value in sums.items():
                cells[place, column] = value
            return cells

        launches = np.array(self.launches, np.int64).reshape(-1, len(REASONS))
        return Stalls(table(self.ticks, len(REASONS)), table(self.counts, len(COUNTS)), launches, self.places)


Integers = npt.NDArray[np.int64]
