"""The caches between L1s and the L2 that some groups share (docs/machine.md, section 4)."""

from collections import defaultdict

from simtmm.engine.reference.memory.cache import Lines
from simtmm.engine.reference.memory.counted import Counted
from simtmm.engine.reference.memory.path_ticks import Way
from simtmm.engine.reference.memory.sectors import Sectors
from simtmm.machine import Machine
from simtmm.machine.tables.memory import SharedL1
from simtmm.stalls import Reason


class SharedL1s:
    """All of them: their lines, and of each until when it is taken. New for each launch."""

    def __init__(self, machine: Machine, cache: SharedL1, sectors: Sectors, counted: Counted, way: Way) -> None:
        """cache: their table."""
        durations = machine.durations
        self.sectors, self.counted, self.way = sectors, counted, way
        self.latency, self.service = durations.shared_l1_latency, durations.shared_l1_service
        number = range(machine.shared_l1s)
        self.caches = [Lines(cache, self.latency, machine.memory.sectors) for _ in number]
        self.free: defaultdict[int, int] = defaultdict(int)

    def of(self, group: int) -> int:
        """The number of a group's cache."""
        return group % len(self.caches)

    def take(self, group: int, sectors: int, start: int, now: int) -> int:
        """When a group's cache takes up sectors of a chunk, which it does not before `start`."""
        begin = max(now, self.free[self.of(group)])
        self.free[self.of(group)] = begin + self.sectors.part(self.service, sectors)
        begin = max(start, begin)
        self.counted.note("shared_l1_loads", begin)
        self.counted.moves("shared_l1_sectors", begin, sectors)
        return begin

    def look_up(self, group: int, chunk: int, wanted: list[int], begin: int) -> tuple[int | None, list[int]]:
        """When a chunk that is taken up at `begin` is there, None if not from here; and which sectors are missing."""
        line = self.caches[self.of(group)].look_up(chunk)
        lacking = line.lacks(wanted) if line else wanted
        if not line or lacking:
            return None, lacking
        self.counted.shared_l1_hits += 1
        self.counted.note("shared_l1_hits", begin)
        fill = line.filled(wanted)
        in_flight = max(0, fill - begin - self.latency)
        self.way.goes(Reason.SHARED_L1_LATENCY, self.latency, Reason.LINE_IN_FLIGHT, in_flight)
        return max(begin + self.latency, fill), lacking

    def keep(self, group: int, chunk: int, sectors: list[int], finish: int) -> None:
        """Put in sectors that were missing, and come at `finish`."""
        lines = self.caches[self.of(group)]
        line = lines.line_of(chunk)
        if line is None:
            lines.make_room(chunk)
            line = lines.insert(chunk)
        line.put(sectors, finish)

    def drop(self, group: int, chunk: int) -> None:
        """Take a chunk out that the group writes past it."""
        self.caches[self.of(group)].drop(chunk)
