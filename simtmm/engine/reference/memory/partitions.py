"""Partitions of global memory, and what comes right before: the groups' fetch ports (docs/machine.md, section 4)."""

from collections import defaultdict

from simtmm.engine.reference.memory.cache import Line, OpenRows, mix
from simtmm.engine.reference.memory.counted import Counted
from simtmm.engine.reference.memory.last_level import LastLevel
from simtmm.engine.reference.memory.path_ticks import Way
from simtmm.engine.reference.memory.sectors import Sectors
from simtmm.machine import Machine
from simtmm.stalls import Reason
from simtmm.workload import ATOMIC, LOAD, REDUCE, STORE


class Partitions:
    """Global memory: of each partition until when it is taken, and what it did last. New for each launch."""

    def __init__(self, machine: Machine, sectors: Sectors, counted: Counted, way: Way) -> None:
        self.sectors, self.counted, self.way = sectors, counted, way
        memory, durations = machine.memory, machine.durations
        self.latency, self.store_latency = durations.latency, durations.store_latency
        self.serial = memory.transfers == "serial"
        self.reads_parts = memory.partial_writes == "read"
        self.service, self.write_service = durations.service, durations.write_service
        self.atomic_service = durations.atomic_service
        self.turnaround = durations.turnaround
        self.store_buffer = durations.store_buffer
        self.victims_waited = memory.l2 is not None and memory.l2.victims == "waited"
        self.number = memory.partitions
        self.interleave = memory.interleave
        self.fetch_interval = durations.fetch_interval
        self.fetch_free: defaultdict[int, int] = defaultdict(int)  # of a group's fetch port
        self.fetched = 0  # chunks that loads and asyncs had from here
        self.free: defaultdict[int, int] = defaultdict(int)
        self.writes: defaultdict[int, bool] = defaultdict(bool)
        self.updates: defaultdict[int, bool] = defaultdict(bool)  # by its last chunk that took any time
        rows, opening = memory.rows, durations.row_opening
        self.rows = [OpenRows(rows, opening, self.number) for _ in range(self.number)] if rows else None
        self.last_level: LastLevel | None = None
        if memory.last_level:
            below = self.read, self.write_line
            self.last_level = LastLevel(machine, memory.last_level, sectors, counted, way, *below)

    def partition_of(self, chunk: int) -> int:
        """The partition, and so the slice of the L2, that a chunk belongs to."""
        if self.interleave == "rotated":
            return (chunk + mix(chunk // self.number)) % self.number
        return (mix(chunk) if self.interleave == "hash" else chunk) % self.number

    def reserve(self, chunk: int, writes: bool, service: int, now: int, updates: bool = False) -> tuple[int, int, int]:
        """Reserve the chunk's partition; when it begins, and for how long it turns round and opens a row before."""
        partition = self.partition_of(chunk)
        turning = self.turnaround if writes != self.writes[partition] else 0
        self.writes[partition] = writes
        if service:
            self.updates[partition] = updates
        opening = self.rows[partition].open(chunk) if self.rows else 0
        begin = max(now, self.free[partition]) + turning + opening
        self.free[partition] = begin + service
        return begin, turning, opening

    def write(self, chunk: int, sectors: list[int], partial: list[int], now: int) -> tuple[int, int, int]:
        """Reserve the chunk's partition for sectors that are written, and before that for what is read of those of
        which only a part is; as `reserve`.
        """
        if self.reads_parts and partial:
            self.reserve(chunk, False, self.sectors.part(self.service, len(self.sectors.runs_of(partial))), now)
        return self.reserve(chunk, True, self.sectors.part(self.write_service, len(sectors)), now)

    def write_back(self, dropped: tuple[int, Line] | None, now: int) -> int:
        """Reserve the partition for a chunk that a cache drops and global memory does not have; what takes its room in
        the L2 waits until then.
        """
        if dropped is None or self.serial:
            return 0
        chunk, line = dropped
        if self.last_level:
            _, room = self.last_level.keep(self.partition_of(chunk), chunk, line.stored, now, now)
        else:
            room = self.write_line(chunk, line, now)
        return room if self.victims_waited else 0

    def write_line(self, chunk: int, line: Line, now: int) -> int:
        """Reserve the partition for what was stored of a line; from when on the partition has taken that in."""
        begin, _, _ = self.write(chunk, line.written, line.lacks(line.written), now)
        return begin - self.store_buffer

    def to_global_memory(self, kind: int, chunk: int, accessed: list[int], start: int, now: int) -> int:
        """The finish of a store or an atomic that waits for its partition, all reserved at once, or ends before it."""
        if self.last_level:
            ends = self.last_level.store if kind == STORE else self.last_level.update
            return ends(self.partition_of(chunk), chunk, accessed, start, now)
        latency = self.store_latency if kind == STORE else self.latency
        self.way.goes(Reason.MEMORY_LATENCY, latency)
        wanted = [sector for sector, number in enumerate(accessed) if number]
        if self.serial:
            self.counted.note("memory", start)
            self.counted.moves("memory_sectors", start, len(wanted))
            return start + latency
        updates = kind in (ATOMIC, REDUCE)
        behind = updates or self.updates[self.partition_of(chunk)]
        if updates:
            reserved = self.reserve(chunk, True, self.atomic_service, now, updates)
        else:
            partial = [sector for sector in wanted if accessed[sector] < self.sectors.bytes]
            reserved = self.write(chunk, wanted, partial, now)
        return self.at_partition(kind, reserved, behind, len(wanted), start) + latency

    def from_global_memory(
        self, chunk: int, lacking: list[int], read: list[int], start: int, now: int, group: int | None
    ) -> int:
        """The finish of a chunk that is loaded and waits for its partition as well, all reserved at once.

        lacking: its sectors that are. read: those that global memory is read for them. group: where the chunk is
        fetched for a load; none else takes the fetch port.
        """
        came = start
        if group is not None and self.fetch_interval:
            start = self.through_fetch_port(group, len(lacking), start, now)
        is_hit = False
        if self.last_level:
            finish, is_hit = self.last_level.load(self.partition_of(chunk), chunk, lacking, start, now)
        else:
            finish = self.read(chunk, read, start, now)
        self.fetched += not is_hit
        self.way.spends(Reason.MEMORY_QUEUE, start - came)
        return finish

    def read(self, chunk: int, read: list[int], start: int, now: int) -> int:
        """The finish of sectors that are read from the chunk's partition, which they don't come to before `start`."""
        self.way.goes(Reason.MEMORY_LATENCY, self.latency)
        if self.serial:
            self.counted.note("memory", start)
            self.counted.moves("memory_sectors", start, len(read))
            return start + self.latency
        behind = self.updates[self.partition_of(chunk)]
        reserved = self.reserve(chunk, False, self.sectors.part(self.service, len(read)), now)
        return self.at_partition(LOAD, reserved, behind, len(read), start) + self.latency

    def through_fetch_port(self, group: int, sectors: int, start: int, now: int) -> int:
        """When the group fetches sectors of a chunk from global memory, which it does not before `start`."""
        begin = max(now, self.fetch_free[group])
        self.fetch_free[group] = begin + self.sectors.part(self.fetch_interval, sectors)
        return max(start, begin)

    def at_partition(self, kind: int, reserved: tuple[int, int, int], behind: bool, sectors: int, start: int) -> int:
        """When a partition that is reserved for a chunk serves it, which it does not before `start`.

        behind: whether the chunk is an atomic, or comes behind one. sectors: of the chunk that move.
        """
        begin, turning, opening = reserved
        self.counted.note("memory", max(start, begin))
        self.counted.moves("memory_sectors", max(start, begin), sectors)
        if kind == STORE:
            begin -= self.store_buffer  # waited for no longer than until the partition has room for it
        wait = max(0, begin - start)
        rows = min(wait, opening)
        turnaround = min(wait - rows, turning)
        self.way.spends(Reason.ATOMICS_QUEUE if behind else Reason.MEMORY_QUEUE, wait - rows - turnaround)
        self.way.spends(Reason.TURNAROUND, turnaround)
        self.way.spends(Reason.ROWS, rows)
        return max(start, begin)
