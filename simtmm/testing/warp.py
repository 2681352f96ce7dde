"""One warp's operations set beside its intervals of the timeline: what it did at which tick."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from simtmm.machine import Machine
from simtmm.stalls import CLASSES

Operation = list[Any]
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


class Costs:
    """What operations take on a machine, in ticks, were nothing else there."""

    def __init__(self, machine: Machine) -> None:
        memory, durations = machine.memory, machine.durations
        self.issue = durations.issue
        self.cycle = machine.ticks_per_cycle
        self.every_instruction = machine.scheduling.switch == "every-instruction"
        self.pipeline_depth = durations.pipeline_depth if self.every_instruction else 0
        self.latency, self.store_latency = durations.latency, durations.store_latency
        self.fastest_store = machine.fastest_store
        self.turnaround, self.opening = durations.turnaround, durations.row_opening
        self.fastest, self.slowest = durations.fastest_load, durations.slowest_load
        self.port_interval, self.store_interval = durations.port_interval, durations.store_interval
        self.fetch_interval = durations.fetch_interval
        self.returning = durations.return_interval + durations.return_delay
        self.port_chunks = memory.port_chunks
        self.tlb_miss = durations.tlb_miss
        self.first_access = durations.first_access
        self.service, self.atomic_service = durations.service, durations.atomic_service
        # An access of the L2 takes a slice, and may have a line written back.
        writing_back = self.service + self.turnaround + self.opening
        if memory.partial_writes == "read":
            writing_back *= 2
        of_a_slice = max(durations.l2_service, durations.l2_store_service)
        if memory.sectors > 1:
            of_a_slice = max(of_a_slice, durations.l2_request_service, durations.l2_store_request_service)
        self.l2_service = of_a_slice + writing_back if memory.l2 else 0
        if machine.keeps_local_stores:  # so may one of the L1
            self.l2_service += of_a_slice + writing_back
        self.atomics_here = memory.l2 is not None and memory.l2.atomics == "here"
        self.atomic_latency = durations.atomic_latency if self.atomics_here else self.latency
        self.pipes = dict(zip(CLASSES, durations.pipes, strict=False))
        self.serial = memory.transfers == "serial"
        self.takes = durations
        self.shared_apart = memory.pipe is not None and memory.pipe.shared == "apart"
        self.has_group_pipe = memory.pipe is not None
        self.blocking_stores = memory.stores == "blocking"
        self.ends_with_stores = memory.stores == "at-end"

    def held(self, operation: Operation) -> tuple[int, int]:
        """Ticks that an operation holds a port, and how many instructions it is."""
        match operation:
            case ["compute", count, *_]:
                return self.issue * count, count
            case ["shared", degree, *_]:
                return self.issue if self.has_group_pipe else self.issue * degree, 1
            case ["join" | "barrier" | "sync" | "pause" | "settle" | "grid_barrier", *_]:
                return 0, 0
        return self.issue, 1

    def piped(self, operation: Operation) -> int:
        """Ticks that each instruction takes its pipe, 0 where it passes none."""
        return self.pipes.get(operation[2], 0) if operation[0] == "compute" and len(operation) > 2 else 0

    def paused(self, operation: Operation) -> int:
        """Ticks that the warp sleeps."""
        return self.cycle * int(operation[1]) if operation[0] == "pause" else 0

    def banks(self, operation: Operation) -> int:
        """Ticks that an access takes the banks of its group's pipe; 0 where it passes none."""
        if not self.has_group_pipe:
            return 0
        if operation[0] == "shared":
            return self.takes.shared_pass * int(operation[1])
        return self.takes.pass_interval * int(operation[2] if len(operation) > 2 else 1)

    def through_pipe(self, operation: Operation) -> int:
        """Ticks that an access and what it lists take stages of the pipe, one after another, until it is over."""
        if not self.has_group_pipe:
            return 0
        if operation[0] == "shared":
            return self.takes.access_interval + self.banks(operation) + self.takes.shared_latency
        each = self.takes.tag_interval + self.takes.fill_interval + self.returning
        return self.takes.access_interval + self.banks(operation) + each * len(operation[1])

    def waits(self, operation: Operation) -> bool:
        """Whether the warp waits for it."""
        return operation[0] in ("load", "atomic") or (operation[0] == "store" and self.blocking_stores)

    def least_access(self, operation: Operation) -> int:
        """Ticks from the port to the finish of a memory operation, at least: no chunk is faster than its latency."""
        latencies = {"atomic": min(self.latency, self.atomic_latency), "store": self.fastest_store}
        latency = latencies.get(operation[0], self.fastest)
        chunks = operation[1]
        if self.atomics_here and operation[0] == "atomic":
            chunks = list(dict.fromkeys(chunks))  # what is listed again takes no port
        one_by_one = self.port_chunks == 1
        runs = 1 + sum(
            one_by_one or one // self.port_chunks != other // self.port_chunks for one, other in pairwise(chunks)
        )
        interval = self.store_interval if operation[0] == "store" else self.port_interval
        return latency * len(operation[1]) if self.serial else latency + interval * (runs - 1)

    def most_access(self, operation: Operation) -> int:
        """The same where its chunks come one after another and wait for nobody else's."""
        service = self.atomic_service if operation[0] in ("atomic", "reduce") else self.service
        if self.atomics_here and operation[0] in ("atomic", "reduce"):
            service += self.service  # the chunk may have to be read
        slowest = max(self.slowest, self.store_latency, self.atomic_latency)
        port = max(self.port_interval, self.store_interval)
        port += self.tlb_miss + self.fetch_interval + self.returning  # of a load, the last at a later store
        each = slowest + port + service + self.turnaround + self.opening + self.l2_service
        return self.first_access + each * len(operation[1])


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
            elif operation[0] == "settle":
                self.settle()
                position += 1
            elif operation[0] in ("barrier", "sync"):
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
        """Pass a wait for shared accesses, which how others take the pipe decides."""
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
