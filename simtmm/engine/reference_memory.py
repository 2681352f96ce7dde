"""The reference engine's memory: docs/machine.md, section 4. Plain arithmetic; nothing here waits."""

from collections import OrderedDict, defaultdict

from simtmm.machine import Machine
from simtmm.machine.tables import Cache
from simtmm.workload import ASYNC, ATOMIC, LOAD, STORE


def mix(x: int) -> int:
    """The finaliser of SplitMix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return x ^ (x >> 31)


class Lines:
    """The lines of a cache: which chunks it holds, each with its fill time, least recently used first."""

    def __init__(self, cache: Cache, machine: Machine) -> None:
        self.latency = machine.ticks(cache.latency)
        self.sets = cache.sets
        self.ways = cache.ways
        self.lines: defaultdict[int, OrderedDict[int, int]] = defaultdict(OrderedDict)

    def look_up(self, chunk: int) -> int | None:
        """The fill time of the chunk's line, which is used by this; None on a miss."""
        lines = self.lines[chunk % self.sets]
        if chunk in lines:
            lines.move_to_end(chunk)
        return lines.get(chunk)

    def drop(self, chunk: int) -> None:
        """Take the chunk's line out, if it is there."""
        self.lines[chunk % self.sets].pop(chunk, None)

    def insert(self, chunk: int, fill: int) -> None:
        """Put the chunk in, filled at `fill`; a full set drops its least recently used line."""
        lines = self.lines[chunk % self.sets]
        if len(lines) == self.ways:
            lines.popitem(last=False)
        lines[chunk] = fill


class Memory:
    """The path of chunks: the ports and L1s of the groups, the L2 and the partitions of all. New for each launch."""

    def __init__(self, machine: Machine) -> None:
        memory, ticks = machine.memory, machine.ticks
        self.latency = ticks(memory.latency)
        self.store_latency = self.latency if memory.store_latency is None else ticks(memory.store_latency)
        self.serial = memory.transfers == "serial"
        self.port_interval = ticks(memory.port_interval)
        self.service = ticks(memory.service)
        self.atomic_service = ticks(memory.atomic_service)
        self.turnaround = ticks(memory.turnaround)
        self.stores_drop_lines = memory.l1_after_store == "drop"
        self.partitions = memory.partitions
        self.hashed = memory.interleave == "hash"
        self.l2 = Lines(memory.l2, machine) if memory.l2 else None
        self.l1 = [Lines(memory.l1, machine) for _ in range(machine.cores.groups)] if memory.l1 else None
        self.port_free = [0] * machine.cores.groups
        self.partition_free: defaultdict[int, int] = defaultdict(int)
        self.partition_writes: defaultdict[int, bool] = defaultdict(bool)
        self.last_finish = 0
        self.transactions = 0
        self.l1_hits = 0
        self.l2_hits = 0

    def access(self, group: int, kind: int, chunks: list[int], now: int) -> int:
        """Reserve the whole path of an instruction that leaves its port now; the tick at which it finishes."""
        finish = now
        for chunk in chunks:
            if self.serial:
                finish = self.transfer(group, kind, chunk, start=finish, now=now)
            else:
                start = max(now, self.port_free[group])
                self.port_free[group] = start + self.port_interval
                finish = max(finish, self.transfer(group, kind, chunk, start, now))
        self.transactions += len(chunks)
        self.last_finish = max(self.last_finish, finish)
        return finish

    def transfer(self, group: int, kind: int, chunk: int, start: int, now: int) -> int:
        """The finish of one chunk: from a cache, or from global memory and then into the caches."""
        l1, l2 = self.l1[group] if self.l1 else None, self.l2
        if kind not in (LOAD, ASYNC):
            if l1 and self.stores_drop_lines:
                l1.drop(chunk)
            return self.from_global_memory(kind, chunk, start, now)
        if l1 and (fill := l1.look_up(chunk)) is not None:
            self.l1_hits += 1
            return max(start + l1.latency, fill)
        if l2 and (fill := l2.look_up(chunk)) is not None:
            self.l2_hits += 1
            finish = max(start + l2.latency, fill)
        else:
            finish = self.from_global_memory(kind, chunk, start, now)
            if l2:
                l2.insert(chunk, finish)
        if l1:
            l1.insert(chunk, finish)
        return finish

    def from_global_memory(self, kind: int, chunk: int, start: int, now: int) -> int:
        """The finish of a chunk that waits for its partition as well, all reserved at once."""
        latency = self.store_latency if kind == STORE else self.latency
        if self.serial:
            return start + latency
        partition = (mix(chunk) if self.hashed else chunk) % self.partitions
        begin = max(now, self.partition_free[partition])
        writes = kind not in (LOAD, ASYNC)
        if writes != self.partition_writes[partition]:
            self.partition_writes[partition] = writes
            begin += self.turnaround
        self.partition_free[partition] = begin + (self.atomic_service if kind == ATOMIC else self.service)
        return max(start, begin) + latency
