"""The reference engine's memory: docs/machine.md, section 4. Plain arithmetic; nothing here waits."""

from collections import OrderedDict, defaultdict

from simtmm.machine import Machine
from simtmm.machine.tables import Cache, Rows
from simtmm.workload import ASYNC, ATOMIC, LOAD, STORE, Workload


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
        self.written: set[int] = set()  # chunks that global memory does not have yet

    def look_up(self, chunk: int) -> int | None:
        """The fill time of the chunk's line, which is used by this; None on a miss."""
        lines = self.lines[chunk % self.sets]
        if chunk in lines:
            lines.move_to_end(chunk)
        return lines.get(chunk)

    def drop(self, chunk: int) -> None:
        """Take the chunk's line out, if it is there."""
        self.lines[chunk % self.sets].pop(chunk, None)

    def insert(self, chunk: int, fill: int) -> int | None:
        """Put the chunk in, filled at `fill`; a full set drops its least recently used line, a written chunk of which
        is returned.
        """
        lines = self.lines[chunk % self.sets]
        dropped = lines.popitem(last=False)[0] if len(lines) == self.ways else None
        lines[chunk] = fill
        if dropped in self.written:
            self.written.remove(dropped)
            return dropped
        return None


class OpenRows:
    """The rows of a partition that are open, least recently used first."""

    def __init__(self, rows: Rows, machine: Machine) -> None:
        self.opening = machine.ticks(rows.opening)
        self.stretch = rows.chunks * machine.memory.partitions
        self.most = rows.open
        self.rows: OrderedDict[int, None] = OrderedDict()

    def open(self, chunk: int) -> int:
        """The ticks that it takes until the chunk's row is open: none if it is."""
        row = chunk // self.stretch
        if row in self.rows:
            self.rows.move_to_end(row)
            return 0
        if len(self.rows) == self.most:
            self.rows.popitem(last=False)
        self.rows[row] = None
        return self.opening


class Memory:
    """The path of chunks: the ports and L1s of the groups, the L2 and the partitions of all. New for each launch."""

    def __init__(self, machine: Machine) -> None:
        memory, ticks = machine.memory, machine.ticks
        self.latency = ticks(memory.latency)
        self.store_latency = self.latency if memory.store_latency is None else ticks(memory.store_latency)
        self.serial = memory.transfers == "serial"
        self.port_interval = ticks(memory.port_interval)
        self.port_chunks = memory.port_chunks
        self.service = ticks(memory.service)
        self.atomic_service = ticks(memory.atomic_service)
        self.turnaround = ticks(memory.turnaround)
        self.stores_drop_lines = memory.l1_after_store == "drop"
        self.partitions = memory.partitions
        self.hashed = memory.interleave == "hash"
        self.l2 = Lines(memory.l2, machine) if memory.l2 else None
        self.l2_service = ticks(memory.l2.service) if memory.l2 else 0
        self.stores_stay = memory.l2 is not None and memory.l2.writes == "back"
        self.slice_free: defaultdict[int, int] = defaultdict(int)
        self.l1 = [Lines(memory.l1, machine) for _ in range(machine.cores.groups)] if memory.l1 else None
        self.port_free = [0] * machine.cores.groups
        self.partition_free: defaultdict[int, int] = defaultdict(int)
        self.partition_writes: defaultdict[int, bool] = defaultdict(bool)
        self.rows = [OpenRows(memory.rows, machine) for _ in range(self.partitions)] if memory.rows else None
        self.last_finish = 0
        self.transactions = 0
        self.l1_hits = 0
        self.l2_hits = 0

    def access(self, group: int, kind: int, chunks: list[int], now: int) -> int:
        """Reserve the whole path of an instruction that leaves its port now; the tick at which it finishes."""
        finish = now
        start, passing = now, -1
        for chunk in chunks:
            if self.serial:
                finish = self.transfer(group, kind, chunk, start=finish, now=now)
            else:
                if self.port_chunks == 1 or chunk // self.port_chunks != passing:
                    passing = chunk // self.port_chunks
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
            if kind == STORE and l2 and self.stores_stay:
                return self.into_l2(l2, chunk, start, now)
            return self.from_global_memory(kind, chunk, start, now)
        if l1 and (fill := l1.look_up(chunk)) is not None:
            self.l1_hits += 1
            return max(start + l1.latency, fill)
        if l2:
            start = self.through_slice(chunk, start, now)
        if l2 and (fill := l2.look_up(chunk)) is not None:
            self.l2_hits += 1
            finish = max(start + l2.latency, fill)
        else:
            finish = self.from_global_memory(kind, chunk, start, now)
            if l2:
                self.write_back(l2.insert(chunk, finish), now)
        if l1:
            l1.insert(chunk, finish)
        return finish

    def into_l2(self, l2: Lines, chunk: int, start: int, now: int) -> int:
        """The finish of a store that stays in the L2."""
        finish = self.through_slice(chunk, start, now) + self.store_latency
        if l2.look_up(chunk) is None:
            self.write_back(l2.insert(chunk, finish), now)
        l2.written.add(chunk)
        return finish

    def through_slice(self, chunk: int, start: int, now: int) -> int:
        """When the chunk's slice of the L2 takes it up, which it does not before `start`."""
        slice_ = self.partition_of(chunk)
        begin = max(now, self.slice_free[slice_])
        self.slice_free[slice_] = begin + self.l2_service
        return max(start, begin)

    def write_back(self, chunk: int | None, now: int) -> None:
        """Reserve the partition for a chunk that the L2 drops and global memory does not have; nobody waits for it."""
        if chunk is not None and not self.serial:
            self.reserve(chunk, True, self.service, now)

    def warm(self, workload: Workload, launch: int) -> None:
        """Let the L2 see what an earlier run of the launch went through, its warps one after another."""
        l2 = self.l2
        assert l2 is not None
        first, last = workload.block_warps[workload.launch_blocks[launch : launch + 2]].tolist()
        for warp in range(first, last):
            for operation in workload.warp(warp):
                if operation[0] not in ("load", "async") and not (operation[0] == "store" and self.stores_stay):
                    continue
                for chunk in operation[1]:
                    if l2.look_up(chunk) is None:
                        l2.insert(chunk, 0)
                    if operation[0] == "store":
                        l2.written.add(chunk)

    def from_global_memory(self, kind: int, chunk: int, start: int, now: int) -> int:
        """The finish of a chunk that waits for its partition as well, all reserved at once."""
        latency = self.store_latency if kind == STORE else self.latency
        if self.serial:
            return start + latency
        begin = self.reserve(
            chunk, kind not in (LOAD, ASYNC), self.atomic_service if kind == ATOMIC else self.service, now
        )
        return max(start, begin) + latency

    def partition_of(self, chunk: int) -> int:
        """The partition, and so the slice of the L2, that a chunk belongs to."""
        return (mix(chunk) if self.hashed else chunk) % self.partitions

    def reserve(self, chunk: int, writes: bool, service: int, now: int) -> int:
        """Reserve the chunk's partition; the tick at which it begins."""
        partition = self.partition_of(chunk)
        begin = max(now, self.partition_free[partition])
        if writes != self.partition_writes[partition]:
            self.partition_writes[partition] = writes
            begin += self.turnaround
        if self.rows:
            begin += self.rows[partition].open(chunk)
        self.partition_free[partition] = begin + service
        return begin
