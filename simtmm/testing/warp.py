"""One warp's operations set beside its intervals of the timeline: what it did at which tick."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from simtmm.testing.costs import Costs, Operation

Interval = tuple[str, int, int]


@dataclass
class Life:
    """begin, end: placing and end, None for a warp without intervals. barriers: for each barrier that it passed the
    ticks at which it came and left; of barriers right behind one another only the first's coming and the last's leaving
    are known. unclear: numbers of barriers of which neither is, as a wait of the warp's lies before or behind them (for
    its asyncs, or at its end for its stores).
    broken: where intervals and operations part, by the law that this breaks.
    """

    begin: int | None = None
    end: int | None = None
    barriers: list[tuple[int | None, int | None]] = field(default_factory=list)
    unclear: set[int] = field(default_factory=set)
    broken: dict[str, list[str]] = field(default_factory=dict)

    def breaks(self, law: str, what: str) -> None:
        """Note a finding."""
        self.broken.setdefault(law, []).append(what)


def life_of(costs: Costs, operations: list[Operation], intervals: list[Interval]) -> Life:
    """Go through both at once."""
    life = Life()
    if not intervals:
        if any(costs.held(operation)[0] or costs.paused(operation) for operation in operations):
            life.breaks("work", "has work, but did nothing")
        return life
    life.begin, life.end = intervals[0][1], intervals[-1][2]
    for (_, _, end), (state, begin, _) in pairwise(intervals):
        if begin != end:
            life.breaks("once", f"is {state} from tick {begin} on, and what it did before ended at {end}")
            return life
    _Walk(costs, operations, intervals, life).go()
    return life


WAITS = ("barrier", "sync", "grid_barrier", "join", "settle", "remote")


class _Walk:
    def __init__(self, costs: Costs, operations: list[Operation], intervals: list[Interval], life: Life) -> None:
        self.costs = costs
        self.operations = operations
        self.life = life
        self.last = intervals[-1]
        self.intervals = iter(intervals)
        self.current: Interval | None = next(self.intervals)
        self.now = self.current[1] if self.current else 0
        self.finishes: list[int] = []  # of asyncs, at the earliest
        self.earliest = 0  # tick at which it may go on behind a compute of a class with a pipe
        self.at_barriers = False  # nothing but barriers since it came to one, and no wait between them
        self.at_grid_barrier = False  # a grid barrier is among these
        self.is_unclear = False  # whether what the latest join waited for may be what one behind a sync waited for

    def go(self) -> None:
        self.skip("start")
        position = 0
        computed = 0  # instructions of a compute that were granted one at a time
        while position < len(self.operations):
            operation = self.operations[position]
            if operation[0] == "join":
                self.join(operation[1] if len(operation) > 1 else 0)
                position += 1
            elif operation[0] in ("settle", "remote"):
                self.settle()
                position += 1
            elif operation[0] in ("barrier", "sync"):
                if self.is_by_way(position):  # a wait for it looks like the barrier's for asyncs
                    self.life.unclear.add(len(self.life.barriers))
                self.barrier(waits=operation[0] == "barrier")
                position += 1
            elif operation[0] == "grid_barrier":
                self.grid_barrier()
                position += 1
            elif operation[0] == "pause":
                self.pause(self.costs.paused(operation))
                position += 1
            else:
                self.at_barriers = self.at_grid_barrier = self.is_unclear = False
                self.skip("memory", "pipeline", "ready")  # an async waits for its turn as a memory wait
                if self.current is None or self.current[0] != "issuing":
                    self.life.breaks("work", f"operation {position}, {operation[0]}, did not issue at tick {self.now}")
                    return
                if self.costs.every_instruction:
                    position, computed = self.instruction(position, computed)
                else:
                    position = self.segment(position)
        self.join(0)
        self.skip("pipeline", *(("memory",) if self.costs.ends_with_stores else ()))
        if self.current is not None:
            self.life.breaks("work", f"is {self.current[0]} at tick {self.now}, after its last operation")

    def take(self) -> None:
        assert self.current is not None
        self.now = self.current[2]
        self.current = next(self.intervals, None)

    def skip(self, *states: str) -> None:
        while self.current is not None and self.current[0] in states:
            self.take()

    def join(self, but: int) -> None:
        """Pass a join, and see that the asyncs have had their time."""
        self.skip("pipeline")
        if self.may_be_the_end():
            return
        if self.current is not None and self.current[0] == "memory":
            self.at_barriers = self.at_grid_barrier = False
            self.is_unclear = but > 0
            self.take()
        waited_for = self.finishes[: max(0, len(self.finishes) - but)]
        if waited_for and self.now < max(waited_for):
            self.life.breaks(
                "latency", f"passed a join at tick {self.now}: an async can't finish before {max(waited_for)}"
            )

    def settle(self) -> None:
        """Pass a wait for shared accesses, or for the way to others: who else takes the pipe, or the way, decides."""
        self.skip("pipeline")
        if self.current is not None and self.current[0] == "memory":
            self.at_barriers = self.at_grid_barrier = False
            self.is_unclear = True
            self.take()

    def may_be_the_end(self) -> bool:
        """Whether it waits for memory now, and that may be for its stores, behind all its operations."""
        return self.costs.ends_with_stores and self.current is self.last and self.current[0] == "memory"

    def barrier(self, waits: bool) -> None:
        """Pass a barrier; with the first of some that follow one another all their intervals are taken.

        waits: whether for the warp's asyncs first.
        """
        barriers = self.life.barriers
        if waits:
            self.join(0)
        else:
            self.skip("pipeline")
        if (self.finishes and self.may_be_the_end()) or (self.is_unclear and (self.at_barriers or not waits)):
            self.life.unclear.add(len(barriers))
        else:
            self.is_unclear = False
        if self.at_grid_barrier:
            self.life.unclear.add(len(barriers))
        if self.at_barriers:
            if barriers:
                barriers[-1] = (barriers[-1][0], None)
            barriers.append((None, self.now))
            return
        came = self.now
        self.skip("barrier")
        barriers.append((came, self.now))
        self.at_barriers = True

    def is_by_way(self, position: int) -> bool:
        """Whether an access to other blocks' shared memory, which may wait for its way, is among the operations around
        a barrier that take no port.
        """
        around = (self.operations[position:], self.operations[:position][::-1])
        return any(each[0] == "remote" for part in around for each in takewhile(lambda one: one[0] in WAITS, part))

    def grid_barrier(self) -> None:
        """Pass a grid barrier, whose interval may be one with those of barriers beside it: neither is known then."""
        if self.at_barriers:
            self.life.unclear.add(len(self.life.barriers) - 1)
        self.skip("pipeline", "barrier")
        self.at_barriers = self.at_grid_barrier = True

    def pause(self, ticks: int) -> None:
        """Sleep: an interval of its own."""
        self.at_barriers = self.at_grid_barrier = self.is_unclear = False
        self.skip("pipeline")
        if self.current is None or self.current[0] != "pause":
            self.life.breaks("work", f"did not pause at tick {self.now}")
            return
        _, begin, end = self.current
        if end - begin != ticks:
            self.life.breaks("work", f"paused from tick {begin} to {end}: takes {ticks}")
        self.take()

    def instruction(self, position: int, computed: int) -> tuple[int, int]:
        """One grant of an issue port, one instruction."""
        operation = self.operations[position]
        assert self.current is not None
        _, begin, end = self.current
        held = self.costs.issue if operation[0] == "compute" else self.costs.held(operation)[0]
        if end - begin != held:
            self.life.breaks("work", f"held a port from tick {begin} to {end} for {operation[0]}: takes {held}")
        self.take()
        if operation[0] == "compute" and computed + 1 < operation[1]:
            return position, computed + 1
        self.access(operation)
        return position + 1, 0

    def segment(self, position: int) -> int:
        """One grant of an issue port, all operations that its ticks cover."""
        assert self.current is not None
        _, begin, end = self.current
        tick = begin
        for operation, held in self.issuing_from(position):
            if tick + held > end:
                break
            tick += held
            position += 1
            if interval := self.costs.piped(operation):
                self.earliest = tick + (operation[1] - 1) * (interval - self.costs.issue)
            if operation[0] in ("async", "store") and not self.costs.waits(operation):
                self.posted(operation, tick)
            elif self.costs.waits(operation):
                break
            if tick == end:
                break
        if tick != end:
            self.life.breaks("work", f"held a port from tick {begin} to {end}: its operations take {tick - begin}")
        self.take()
        if position and self.costs.waits(self.operations[position - 1]):
            self.access(self.operations[position - 1])
        self.skip("pipeline")
        if self.now < self.earliest:
            self.life.breaks("work", f"went on at tick {self.now}: its pipe takes it until {self.earliest}")
        return position

    def issuing_from(self, position: int) -> Iterator[tuple[Operation, int]]:
        for operation in self.operations[position:]:
            held, instructions = self.costs.held(operation)
            if not instructions:
                return
            yield operation, held

    def access(self, operation: Operation) -> None:
        """A memory operation has left its port; the warp waits for it, or goes on."""
        if self.costs.waits(operation):
            left = self.now
            earliest = left + self.costs.least_access(operation)
            if self.current is not None and self.current[0] == "memory":
                self.take()
            if self.now < earliest:
                self.life.breaks("latency", f"{operation[0]} left its port at tick {left} and was there at {self.now}: "
                                            f"can't be before {earliest}")  # fmt: skip
        elif operation[0] in ("async", "store"):
            self.posted(operation, self.now)

    def posted(self, operation: Operation, tick: int) -> None:
        """Nobody waits for a posted store; a join waits for asyncs."""
        if operation[0] == "async":
            self.finishes.append(tick + self.costs.least_access(operation))
