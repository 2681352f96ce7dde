"""The cache of all groups: its slices, and what comes, stays and falls out (docs/machine.md, section 4)."""

from collections import defaultdict

from simtmm.engine.reference.memory.cache import Line, Lines, home_of
from simtmm.engine.reference.memory.counted import Counted
from simtmm.engine.reference.memory.partitions import Partitions
from simtmm.engine.reference.memory.waiting_stores import WaitingStores
from simtmm.machine import Machine
from simtmm.machine.tables.memory import SharedCache
from simtmm.replacement import Policy
from simtmm.stalls import Reason
from simtmm.workload import ATOMIC, COPY, REDUCE, Workload

Slice = tuple[int, int]  # a die, and a partition


class L2:
    """The L2: its lines, and of each slice until when it is taken. A slice stands before each partition."""

    def __init__(
        self,
        machine: Machine,
        cache: SharedCache,
        partitions: Partitions,
        counted: Counted,
        policy: Policy | None,
    ) -> None:
        """cache: its table. policy: a user's, of replacement."""
        self.partitions, self.counted = partitions, counted
        self.sectors, self.way = partitions.sectors, partitions.way
        memory, durations = machine.memory, machine.durations
        self.parts = [Lines(cache, durations.l2_latency, memory.sectors, policy) for _ in range(cache.parts)]
        self.dies, self.halved = cache.dies, cache.halves > 1
        self.far_latency, self.far_service = durations.far_latency, durations.far_service
        self.way_free: defaultdict[int, int] = defaultdict(int)  # into each half
        self.groups, self.latency = machine.cores.groups, durations.l2_latency
        self.service, self.store_service = durations.l2_service, durations.l2_store_service
        requests = durations.l2_request_service, durations.l2_store_request_service
        self.request, self.store_request = requests if memory.sectors > 1 else (0, 0)
        self.starts = cache.start
        self.stores_stay = cache.writes == "back"
        self.atomics_stay = cache.atomics == "here"
        self.atomic_latency, self.atomic_service = durations.atomic_latency, durations.atomic_service
        self.store_latency = durations.store_latency
        self.waiting = WaitingStores(cache.waiting_stores) if cache.waiting_stores else None
        self.slice_free: defaultdict[Slice, int] = defaultdict(int)
        self.slice_updates: defaultdict[Slice, bool] = defaultdict(bool)  # by its last chunk that took any time

    def through_l2(
        self, kind: int, chunk: int, wanted: list[int], start: int, now: int, group: int
    ) -> tuple[int, Line]:
        """The finish of what looks into the L2, a load or an atomic that ends there, and the chunk's line."""
        updates = kind in (ATOMIC, REDUCE)
        queue = Reason.ATOMICS_QUEUE if updates or self.slice_updates[self.slice_of(chunk, group)] else Reason.L2_QUEUE
        taken = self.atomic_service if updates else max(self.request, self.sectors.part(self.service, len(wanted)))
        begin = self.through_slice(self.slice_of(chunk, group), start, now, taken, updates)
        self.counted.note("l2_loads", begin)
        self.counted.moves("l2_sectors", begin, len(wanted))
        taken_up, latency = begin, self.atomic_latency if updates else self.latency
        if updates:
            begin = self.to_home(chunk, group, len(wanted), begin, now)
            self.take_from_others(chunk, group, now)
        lines = self.lines_for(chunk, group, updates)
        near = line = lines.look_up(chunk)
        lacking = line.lacks(wanted) if line else wanted
        is_far = lacking and lines is not self.lines_for(chunk, group, True)
        come = lacking if is_far else []  # from the other half
        if is_far:
            begin = self.over(group % 2, len(come), begin, now)
            latency += self.far_latency
            lines = self.lines_for(chunk, group, True)
            line = lines.look_up(chunk)
            wanted, lacking = come, line.lacks(come) if line else come
        if line and not lacking:
            self.counted.l2_hits += 1
            self.counted.note("l2_hits", begin)
            fill = line.filled(wanted)
            finish = max(begin + latency, fill)
            self.way.goes(Reason.L2_LATENCY, latency, Reason.LINE_IN_FLIGHT, max(0, fill - begin - latency))
        else:
            self.write_down_others(chunk, group, now)
            read = self.sectors.runs_of(lacking)
            of_group = None if updates or kind == COPY else group  # that takes its fetch port
            came = self.partitions.from_global_memory(chunk, lacking, read, begin, now, of_group)
            finish = came
            if not line:
                finish = max(came, self.partitions.write_back(lines.make_room(chunk, now), now))
                line = lines.insert(chunk)
            self.way.spends(Reason.MEMORY_QUEUE, finish - came)
            line.put(read, finish)
        if come:
            there, finish = finish, self.keep_copy(chunk, near, come, group, finish, now)
            self.way.spends(Reason.MEMORY_QUEUE, finish - there)
        self.way.spends(queue, taken_up - start)
        self.way.spends(Reason.L2_QUEUE, begin - taken_up)
        return finish, line

    def store(self, chunk: int, accessed: list[int], start: int, now: int, group: int) -> int:
        """The finish of a store that stays in the L2."""
        behind = self.slice_updates[self.slice_of(chunk, group)]
        stored = {sector for sector, number in enumerate(accessed) if number}
        joined = self.waiting.joined(group, chunk, stored, start) if self.waiting else None
        begin, over, room = self.keep_chunk(chunk, accessed, start, now, group, joined=joined)
        self.counted.note("l2_stores", begin)
        if joined is None:
            self.counted.moves("l2_sectors", begin, len(stored))
            if self.waiting:
                self.waiting.wait(group, chunk, stored, begin)
        queue = Reason.ATOMICS_QUEUE if behind else Reason.L2_QUEUE
        self.way.goes(queue, begin - start, Reason.L2_LATENCY, self.store_latency)
        self.way.spends(Reason.L2_QUEUE, over - begin)
        self.way.spends(Reason.MEMORY_QUEUE, room - over)
        return room + self.store_latency

    def keep_chunk(
        self,
        chunk: int,
        accessed: list[int],
        start: int,
        now: int,
        group: int,
        *,
        waits: bool = True,
        joined: int | None = None,
    ) -> tuple[int, int, int]:
        """Write a chunk in the L2; when its slice takes it up, when its home does, and when there is room for it, if it
        waits for that.

        joined: when the slice takes up another store, and this one with it, in no time of its own.
        """
        taken = self.sectors.part(self.store_service, sum(number > 0 for number in accessed))
        slice_ = self.slice_of(chunk, group)
        begin = self.through_slice(slice_, start, now, max(self.store_request, taken)) if joined is None else joined
        over = begin
        if joined is None:
            over = self.to_home(chunk, group, sum(number > 0 for number in accessed), begin, now)
        self.take_from_others(chunk, group, now)
        room, lines = over, self.lines_for(chunk, group, True)
        line = lines.look_up(chunk)
        if not line:
            free = self.partitions.write_back(lines.make_room(chunk, now), now)
            room = max(over, free) if waits else over
            line = lines.insert(chunk)
        line.store(accessed, self.sectors.bytes, room + self.store_latency)
        return begin, over, room

    def lines_for(self, chunk: int, group: int, at_home: bool) -> Lines:
        """Those of a group's die, or of its half. at_home: of the half that is the chunk's home, if there are two."""
        return self.parts[home_of(chunk) if self.halved and at_home else group % len(self.parts)]

    def over(self, half: int, sectors: int, start: int, now: int) -> int:
        """When the way into a half takes up sectors from the other one, which it does not before `start`."""
        begin = max(now, self.way_free[half])
        self.way_free[half] = begin + self.sectors.part(self.far_service, sectors)
        return max(start, begin)

    def to_home(self, chunk: int, group: int, sectors: int, start: int, now: int) -> int:
        """When what a group writes comes to the half that is the chunk's home, where there are two."""
        if not self.halved or home_of(chunk) == group % 2:
            return start
        return self.over(home_of(chunk), sectors, start, now)

    def keep_copy(self, chunk: int, line: Line | None, come: list[int], group: int, finish: int, now: int) -> int:
        """Store what came from the other half in that of the group: its finish, which may wait for room. line: what
        this half has of the chunk.
        """
        if not line:
            lines = self.lines_for(chunk, group, False)
            finish = max(finish, self.partitions.write_back(lines.make_room(chunk, now), now))
            line = lines.insert(chunk)
        line.put(come, finish)
        return finish

    def slice_of(self, chunk: int, group: int) -> Slice:
        """The slice that a chunk takes for a group."""
        return group % self.dies, self.partitions.partition_of(chunk)

    def others_of(self, chunk: int, group: int) -> list[tuple[Lines, Line]]:
        """The lines that other dies have of a chunk, or the half that is not its home."""
        own = home_of(chunk) if self.halved else group % self.dies
        others = [lines for part, lines in enumerate(self.parts) if part != own]
        return [(lines, line) for lines in others if (line := lines.line_of(chunk))]

    def write_down_others(self, chunk: int, group: int, now: int | None) -> None:
        """Have what other dies have written of a chunk written down; now: None in an earlier run."""
        for _, line in self.others_of(chunk, group):
            if not line.written:
                continue
            if now is not None:
                self.partitions.write_back((chunk, line), now)
            elif self.partitions.last_level:
                self.partitions.last_level.warm(chunk, [], line.stored)
            line.stored = [0] * self.sectors.number

    def take_from_others(self, chunk: int, group: int, now: int | None) -> None:
        """Likewise, and take the chunk out of their L2s."""
        self.write_down_others(chunk, group, now)
        for lines, _ in self.others_of(chunk, group):
            lines.drop(chunk)

    def through_slice(self, slice_: Slice, start: int, now: int, service: int, updates: bool = False) -> int:
        """When a slice of the L2 takes a chunk up, which it does not before `start`; service: for how long."""
        if service:
            self.slice_updates[slice_] = updates
        begin = max(now, self.slice_free[slice_])
        self.slice_free[slice_] = begin + service
        return max(start, begin)

    def keep(self, before: "L2") -> None:
        """Begin with the L2, and the last-level cache behind it, as the launch before left them."""
        for lines, left_lines in zip(self.parts, before.parts, strict=True):
            lines.keep(left_lines)
        below, left = self.partitions.last_level, before.partitions.last_level
        if below and left:
            below.lines.keep(left.lines)

    def warm(self, workload: Workload, launch: int) -> None:
        """Let the L2, and the last-level cache behind it, see what an earlier run of the launch went through, its warps
        one after another; the last-level cache alone where the L2 begins cold.
        """
        first, last = workload.launch_blocks[launch : launch + 2].tolist()
        for block in range(first, last):
            for warp in range(workload.block_warps[block], workload.block_warps[block + 1]):
                self.see_warp(workload, warp, (block - first) % self.groups)
        if self.starts == "cold":
            for lines in self.parts:
                lines.clear()

    def see_warp(self, workload: Workload, warp: int, group: int) -> None:
        """See what a warp lists, which ran on a group."""
        at = int(workload.warp_chunks[warp])
        for operation in workload.warp(warp):
            if operation[0] not in ("load", "async", "store", "atomic", "reduce", "copy"):
                continue
            words = workload.sectors[at : at + len(operation[1])].tolist() or [0] * len(operation[1])
            at += len(words)
            updates = operation[0] in ("atomic", "reduce")
            for chunk, word in zip(operation[1], words, strict=True):
                self.see(chunk, self.sectors.accessed(word), operation[0] == "store", updates, group)

    def see(self, chunk: int, accessed: list[int], stores: bool, updates: bool, group: int) -> None:
        """See a chunk of such an operation."""
        below = self.partitions.last_level
        wanted = [] if stores else [sector for sector, number in enumerate(accessed) if number]
        stays = self.stores_stay if stores else self.atomics_stay
        nothing = [0] * self.sectors.number
        if (stores or updates) and not stays:
            if below:
                below.warm(chunk, self.sectors.runs_of(wanted), accessed)
            return
        if stores or updates:
            self.take_from_others(chunk, group, None)
        lines = self.lines_for(chunk, group, stores or updates)
        near = line = lines.look_up(chunk)
        lacking = line.lacks(wanted) if line else wanted
        come = lacking if lines is not self.lines_for(chunk, group, True) else []  # from the other half
        if come:
            lines = self.lines_for(chunk, group, True)
            line = lines.look_up(chunk)
            lacking = line.lacks(come) if line else come
        read = self.sectors.runs_of(lacking)
        if read:
            self.write_down_others(chunk, group, None)
        if below and read:
            below.warm(chunk, read, nothing)
        line = line or self.see_come(lines, chunk)
        line.put(read, 0)
        if stores or updates:
            line.store(accessed, self.sectors.bytes, 0)
        if come:
            near = near or self.see_come(self.lines_for(chunk, group, False), chunk)
            near.put(come, 0)

    def see_come(self, lines: Lines, chunk: int) -> Line:
        """The line of a chunk that comes into lines which lack it, in an earlier run."""
        below = self.partitions.last_level
        dropped = lines.make_room(chunk)
        if below and dropped:
            below.warm(dropped[0], [], dropped[1].stored)
        return lines.insert(chunk)
