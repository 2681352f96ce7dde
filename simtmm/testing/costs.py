"""What operations of a warp take at least and at most on a machine, by docs/machine.md alone."""

from itertools import pairwise
from typing import Any

from simtmm.machine import Machine
from simtmm.stalls import CLASSES

Operation = list[Any]


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
        self.service, self.atomic_service = max(durations.service, durations.write_service), durations.atomic_service
        # An access of the L2 takes a slice, and may have a line written back.
        writing_back = self.service + self.turnaround + self.opening
        if memory.partial_writes == "read":
            writing_back *= 2
        of_a_slice = max(durations.l2_service, durations.l2_store_service)
        if memory.sectors > 1:
            of_a_slice = max(of_a_slice, durations.l2_request_service, durations.l2_store_request_service)
        self.l2_service = of_a_slice + writing_back * memory.l2.dies if memory.l2 else 0  # of other dies' lines, too
        self.l2_service += durations.far_service
        if memory.last_level:  # so may one of the last-level cache, for a chunk that comes and for what the L2 drops
            self.l2_service += (
                2
                * (max(durations.last_level_service, durations.atomic_service) + writing_back)
                * (memory.l2.dies if memory.l2 else 1)
            )
        if machine.keeps_local_stores:  # so may one of the L1
            self.l2_service += of_a_slice + writing_back
        self.shared_l1_service = durations.shared_l1_service
        self.atomics_here = memory.l2 is not None and memory.l2.atomics == "here"
        self.atomic_latency = durations.atomic_latency if self.atomics_here else self.latency
        if memory.last_level and not self.atomics_here:
            self.atomic_latency = durations.last_level_latency
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
            case ["join" | "barrier" | "sync" | "pause" | "settle" | "grid_barrier" | "remote", *_]:
                return 0, 0
        return self.issue, 1

    def piped(self, operation: Operation) -> int:
        """Ticks that each instruction takes its pipe, 0 where it passes none."""
        return self.pipes.get(operation[2], 0) if operation[0] == "compute" and len(operation) > 2 else 0

    def paused(self, operation: Operation) -> int:
        """Ticks that the warp sleeps."""
        return self.cycle * int(operation[1]) if operation[0] == "pause" else 0

    def on_the_way(self, operation: Operation) -> int:
        """Ticks that it takes its group's way to the shared memory of others."""
        return self.takes.remote_interval * int(operation[1]) if operation[0] == "remote" else 0

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
        each = self.takes.tag_interval + max(self.takes.fill_interval, self.takes.drain_interval) + self.returning
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
        each = slowest + port + service + self.turnaround + self.opening + self.l2_service + self.shared_l1_service
        return self.first_access + each * len(operation[1])
