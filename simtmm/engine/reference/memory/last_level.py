"""The cache of global memory, behind the L2: its slices, what is read and stored, and what falls out (docs/machine.md,
section 4).
"""

from collections import defaultdict
from collections.abc import Callable

from simtmm.engine.reference.memory.cache import Line, Lines
from simtmm.engine.reference.memory.counted import Counted
from simtmm.engine.reference.memory.path_ticks import Way
from simtmm.engine.reference.memory.sectors import Sectors
from simtmm.machine import Machine
from simtmm.machine.tables.memory import LastLevelCache
from simtmm.stalls import Reason


class LastLevel:
    """The last-level cache: its lines, and of each slice until when it is taken."""

    def __init__(
        self,
        machine: Machine,
        cache: LastLevelCache,
        sectors: Sectors,
        counted: Counted,
        way: Way,
        read: Callable[[int, list[int], int, int], int],
        write: Callable[[int, Line, int], int],
    ) -> None:
        """cache: its table. read: of sectors of a chunk from its partition, when that is done; write: of a line that
        falls out, until when what takes its room waits.
        """
        memory, durations = machine.memory, machine.durations
        self.sectors, self.counted, self.way = sectors, counted, way
        self.lines = Lines(cache, durations.last_level_latency, memory.sectors)
        self.service, self.atomic_service = durations.last_level_service, durations.atomic_service
        self.store_latency = durations.store_latency
        self.read_below, self.write_below = read, write
        self.free: defaultdict[int, int] = defaultdict(int)  # of the slice of a partition

    def through_slice(self, slice_: int, start: int, now: int, service: int) -> int:
        """When a slice takes up a chunk, which it does not before `start`; service: for how long."""
        begin = max(now, self.free[slice_])
        self.free[slice_] = begin + service
        return max(start, begin)

    def load(self, slice_: int, chunk: int, lacking: list[int], start: int, now: int) -> tuple[int, bool]:
        """When the runs of the sectors that the level above lacks are read, and whether that was from here."""
        read = self.sectors.runs_of(lacking)
        begin = self.through_slice(slice_, start, now, self.sectors.part(self.service, len(read)))
        return self.found(chunk, read, begin, begin - start, now)

    def found(self, chunk: int, read: list[int], begin: int, queued: int, now: int) -> tuple[int, bool]:
        """When sectors that the slice takes up at `begin` are there, and whether they were here; queued: before it."""
        self.counted.note("last_level_loads", begin)
        self.counted.moves("last_level_sectors", begin, len(read))
        line = self.lines.look_up(chunk)
        lacking = line.lacks(read) if line else read
        if line and not lacking:
            self.counted.last_level_hits += 1
            self.counted.note("last_level_hits", begin)
            latency, fill = self.lines.latency, line.filled(read)
            finish = max(begin + latency, fill)
            in_flight = max(0, fill - begin - latency)
            self.way.goes(Reason.LAST_LEVEL_LATENCY, latency, Reason.LINE_IN_FLIGHT, in_flight)
        else:
            missing = self.sectors.runs_of(lacking)
            came = finish = self.read_below(chunk, missing, begin, now)
            if not line:
                finish = max(came, self.make_room(chunk, now))
                line = self.lines.insert(chunk)
            self.way.spends(Reason.MEMORY_QUEUE, finish - came)
            line.put(missing, finish)
        self.way.spends(Reason.LAST_LEVEL_QUEUE, queued)
        return finish, not lacking

    def update(self, slice_: int, chunk: int, accessed: list[int], start: int, now: int) -> int:
        """The finish of an atomic, which is done here."""
        wanted = [sector for sector, number in enumerate(accessed) if number]
        begin = self.through_slice(slice_, start, now, self.atomic_service)
        finish, _ = self.found(chunk, self.sectors.runs_of(wanted), begin, begin - start, now)
        line = self.lines.look_up(chunk)
        assert line is not None
        line.store(accessed, self.sectors.bytes, finish)
        return finish

    def store(self, slice_: int, chunk: int, accessed: list[int], start: int, now: int) -> int:
        """The finish of a store that passes the L2, if there is one."""
        number = sum(each > 0 for each in accessed)
        begin, room = self.keep(slice_, chunk, accessed, start, now)
        self.counted.note("last_level_stores", begin)
        self.counted.moves("last_level_sectors", begin, number)
        self.way.goes(Reason.LAST_LEVEL_QUEUE, begin - start, Reason.LAST_LEVEL_LATENCY, self.store_latency)
        self.way.spends(Reason.MEMORY_QUEUE, room - begin)
        return room + self.store_latency

    def keep(self, slice_: int, chunk: int, accessed: list[int], start: int, now: int) -> tuple[int, int]:
        """Write so many bytes of each sector of a chunk here: when its slice takes it up, and when there is room."""
        number = sum(each > 0 for each in accessed)
        begin = room = self.through_slice(slice_, start, now, self.sectors.part(self.service, number))
        line = self.lines.look_up(chunk)
        if not line:
            room = max(begin, self.make_room(chunk, now))
            line = self.lines.insert(chunk)
        line.store(accessed, self.sectors.bytes, room + self.store_latency)
        return begin, room

    def make_room(self, chunk: int, now: int) -> int:
        """Have room for a chunk: until when what comes waits for that."""
        dropped = self.lines.make_room(chunk, now)
        return self.write_below(*dropped, now) if dropped else 0

    def warm(self, chunk: int, read: list[int], stored: list[int]) -> None:
        """See a chunk as in an earlier run of the launch: sectors that are read, and bytes of each that are stored."""
        line = self.lines.look_up(chunk)
        if not line:
            self.lines.make_room(chunk)
            line = self.lines.insert(chunk)
        line.put(self.sectors.runs_of(line.lacks(read)), 0)
        line.store(stored, self.sectors.bytes, 0)
