"""The pipes of a core group, which instructions of some classes pass behind their port (docs/machine.md, section 5)."""

from collections import defaultdict

from simtmm.machine import Machine
from simtmm.workload import OF_CLASS


class Pipes:
    """Until when each pipe is taken."""

    def __init__(self, machine: Machine) -> None:
        of_machine = machine.pipes.each() if machine.pipes else ()
        self.counts = [pipe.count if pipe else 1 for pipe in of_machine]
        self.intervals = machine.durations.pipes
        self.free: defaultdict[tuple[int, int], int] = defaultdict(int)  # by operation and number

    def has(self, kind: int) -> bool:
        """Whether an operation is of a class with a pipe that takes time."""
        return OF_CLASS <= kind < OF_CLASS + len(self.intervals) and self.intervals[kind - OF_CLASS] > 0

    def take(self, kind: int, slot: int, tick: int, instructions: int) -> int:
        """The start of the last of some instructions, the first of which starts at a tick or later."""
        number, interval = slot % self.counts[kind - OF_CLASS], self.intervals[kind - OF_CLASS]
        first = max(tick, self.free[kind, number])
        self.free[kind, number] = first + instructions * interval
        return first + (instructions - 1) * interval

    def ahead(self, now: int) -> list[tuple[tuple[int, int], int]]:
        """The pipes that are taken, each with the ticks that it is from now on."""
        return sorted((pipe, free - now) for pipe, free in self.free.items() if free > now)

    def jump(self, ticks: int) -> None:
        """All that happened happens again, so many ticks later."""
        for pipe in self.free:
            self.free[pipe] += ticks


class Products:
    """Until when each pipe is taken that multiplies matrices beside the warps."""

    def __init__(self, machine: Machine) -> None:
        self.count = machine.products.count if machine.products else 1
        self.free: defaultdict[int, int] = defaultdict(int)  # by number

    def take(self, slot: int, tick: int, taken: int) -> int:
        """The end of a product, which begins at a tick or later. taken: how long it takes its pipe."""
        number = slot % self.count
        self.free[number] = max(tick, self.free[number]) + taken
        return self.free[number]
