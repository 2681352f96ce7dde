"""Memory: the path of chunks (docs/machine.md, section 4). Plain arithmetic; nothing here waits."""

from collections import defaultdict

from simtmm.engine.reference.access_pipe import AccessPipe
from simtmm.engine.reference.cache import Lines, OpenRows, Translations, mix
from simtmm.engine.reference.over_time import OverTime
from simtmm.engine.reference.way import Way
from simtmm.machine import Machine
from simtmm.stalls import Reason
from simtmm.workload import ASYNC, ATOMIC, LOAD, REDUCE, STORE, Workload

READS, UPDATES = (LOAD, ASYNC), (ATOMIC, REDUCE)


class Memory:
    """The path of chunks: the ports and L1s of the groups, the L2 and the partitions of all. New for each launch."""

    def __init__(
        self, machine: Machine, launch: int = 0, over_time: OverTime | None = None, way: Way | None = None
    ) -> None:
        """launch: its number in the run. way: where the ticks of accesses go; nobody asks if left out."""
        self.over_time = over_time
        self.way = way or Way()
        memory, durations = machine.memory, machine.durations
        self.latency, self.store_latency = durations.latency, durations.store_latency
        self.serial = memory.transfers == "serial"
        self.port_interval = durations.port_interval
        self.port_chunks = memory.port_chunks
        self.service = durations.service
        self.atomic_service = durations.atomic_service
        self.turnaround = durations.turnaround
        self.store_buffer = durations.store_buffer
        self.stores_drop_lines = memory.l1_after_store == "drop"
        self.partitions = memory.partitions
        self.hashed = memory.interleave == "hash"
        self.l2 = Lines(memory.l2, durations.l2_latency) if memory.l2 else None
        self.l2_service, self.l2_store_service = durations.l2_service, durations.l2_store_service
        self.l2_sectors = memory.l2.sectors if memory.l2 else 1
        self.store_taken = self.l2_store_service  # by each chunk of the store that is on its way
        self.victims_waited = memory.l2 is not None and memory.l2.victims == "waited"
        self.stores_stay = memory.l2 is not None and memory.l2.writes == "back"
        self.atomics_stay = memory.l2 is not None and memory.l2.atomics == "here"
        self.atomic_latency = durations.atomic_latency
        self.slice_free: defaultdict[int, int] = defaultdict(int)
        self.slice_updates: defaultdict[int, bool] = defaultdict(bool)  # by its last chunk that took any time
        l1, groups = memory.l1, range(machine.cores.groups)
        self.l1 = [Lines(l1, durations.l1_latency) for _ in groups] if l1 else None
        tlb, miss = memory.tlb, durations.tlb_miss
        self.tlb = [Translations(tlb, miss, machine.chunk_bytes) for _ in groups] if tlb else None
        self.local_stays = machine.keeps_local_stores
        self.first_local = machine.first_local_chunk
        self.ports = memory.ports
        self.port_free: defaultdict[tuple[int, int], int] = defaultdict(int)  # of a port of a group
        self.store_interval = durations.store_interval
        self.store_free: defaultdict[int, int] | None = None if memory.store_interval is None else defaultdict(int)
        self.pipes = [AccessPipe(machine) for _ in groups] if memory.pipe else None
        self.fetch_interval = durations.fetch_interval
        self.fetch_free: defaultdict[int, int] = defaultdict(int)  # of a group's fetch port
        self.return_interval, self.return_delay = durations.return_interval, durations.return_delay
        self.loaded: dict[tuple[int, int], tuple[int, int]] = {}  # by a warp's group and slot: see `load`
        self.partition_free: defaultdict[int, int] = defaultdict(int)
        self.partition_writes: defaultdict[int, bool] = defaultdict(bool)
        self.partition_updates: defaultdict[int, bool] = defaultdict(bool)  # by its last chunk that took any time
        rows, opening = memory.rows, durations.row_opening
        self.rows = [OpenRows(rows, opening, self.partitions) for _ in range(self.partitions)] if rows else None
        lacks = launch == 0 or memory.translations == "launch"
        self.first_access = durations.first_access if lacks else 0
        self.translated: dict[int, int] = {}  # of each group, from when on it lacks no translation
        self.last_finish = 0
        self.transactions = 0
        self.fetched = 0  # chunks that loads and asyncs had from global memory
        self.l1_hits = 0
        self.l2_hits = 0
        self.l1_stores = 0

    def note(self, what: str, tick: int) -> None:
        """A chunk passes, as the traffic over time calls it."""
        if self.over_time is not None:
            self.over_time.note(what, tick)

    def access(
        self, group: int, slot: int, kind: int, chunks: list[int], passes: int, now: int, sectors: int = 0
    ) -> int:
        """Reserve the whole path of an instruction that leaves its port now; the tick at which it finishes.

        passes: over the banks of the group's pipe, if it has one. sectors: that a store writes in all, 0 for all.
        """
        finish = now
        self.store_taken = self.taken_by_store(sectors, len(chunks))
        self.last_pass = self.pipes[group].access(passes, now) if self.pipes else 0
        self.waits, self.waits_next = self.takes_loaded(kind, group, slot)
        start, passing = now, -1
        fetched = self.fetched
        self.way.begins()
        for index, chunk in enumerate(chunks):
            if self.serial:
                finish = self.transfer(group, kind, chunk, start=finish, now=now)
                self.way.follows()
            else:
                again = kind in UPDATES and self.atomics_stay and chunk in chunks[:index]
                if not again and (self.port_chunks == 1 or chunk // self.port_chunks != passing):
                    passing = chunk // self.port_chunks
                    start = self.through_port(group, kind, slot, now)
                    self.waits = self.waits_next if index + 1 < passes else 0
                done = self.transfer(group, kind, chunk, start, now)
                if done > finish:
                    finish = done
                    self.way.is_last(start - now)
        if kind != STORE:
            late = max(0, self.translated.setdefault(group, now + self.first_access) - now)
            self.way.is_late(late)
            finish += late
        if kind in READS:
            self.load((group, slot), self.fetched - fetched, now, finish)
        if kind == LOAD:
            self.waited(group, slot)
        self.transactions += len(chunks)
        self.last_finish = max(self.last_finish, finish, self.pipes[group].stages.banks if self.pipes else 0)
        return finish

    def access_shared(self, group: int, passes: int, now: int) -> int:
        """Likewise of a shared access, which passes the group's pipe: the tick from which on its value may be used."""
        assert self.pipes is not None
        settled, free = self.pipes[group].access_shared(passes, now)
        self.last_finish = max(self.last_finish, settled, free)
        return settled

    def begin(self, group: int, slot: int) -> None:
        """A warp is placed: it has loaded nothing so far."""
        self.loaded[group, slot] = 0, 0

    def load(self, warp: tuple[int, int], chunks: int, now: int, finish: int) -> None:
        """Count what a warp's loads brought from global memory: those of before count while one is on its way."""
        loaded, until = self.loaded.get(warp, (0, 0))
        self.loaded[warp] = chunks + (loaded if now < until else 0), max(finish, until)

    def waited(self, group: int, slot: int) -> None:
        """A warp waits for loads: those so far and those to come do not count together."""
        loaded, _ = self.loaded[group, slot]
        self.loaded[group, slot] = loaded, 0

    def through_port(self, group: int, kind: int, slot: int, now: int) -> int:
        """When a chunk, or a run of them, leaves the group: by the port of its warp's slot, or by the stores' path."""
        looked_up = self.pipes[group].look_up() if self.pipes else now
        if kind == STORE and self.store_free is not None:
            start = max(looked_up, self.store_free[group]) + self.waits
            self.store_free[group] = start + self.store_interval
        elif self.pipes:
            start = looked_up + self.waits
        else:
            port = group, slot % self.ports
            start = max(now, self.port_free[port]) + self.waits
            self.port_free[port] = start + self.port_interval
        return start

    def through_fetch_port(self, group: int, start: int, now: int) -> int:
        """When the group fetches a chunk from global memory, which it does not before `start`."""
        begin = max(now, self.fetch_free[group])
        self.fetch_free[group] = begin + self.fetch_interval
        return max(start, begin)

    def known_from(self, group: int, chunk: int, start: int, now: int) -> int:
        """When the chunk's address is known beyond the group, which it is not before `start`."""
        return max(start, self.tlb[group].look_up(chunk, now)) if self.tlb else start

    def takes_loaded(self, kind: int, group: int, slot: int) -> tuple[int, int]:
        """How much later a store's first chunk starts, and each other one, for what its warp loaded before."""
        if kind != STORE:
            return 0, 0
        loaded, until = self.loaded.get((group, slot), (0, 0))
        self.loaded[group, slot] = 0, until
        if not loaded:
            return 0, 0
        return self.return_delay + loaded * self.return_interval, self.return_delay if self.pipes else 0

    def transfer(self, group: int, kind: int, chunk: int, start: int, now: int) -> int:
        """The finish of one chunk: from a cache, or from global memory and then into the caches."""
        l1, l2 = self.l1[group] if self.l1 else None, self.l2
        self.note("loads" if kind in READS else "others", start)
        if kind not in READS:
            stays = self.local_stays and chunk >= self.first_local
            if l1 and stays and kind == STORE:
                return self.into_l1(l1, chunk, start, now)
            if l1 and self.stores_drop_lines and not stays:
                l1.drop(chunk)
            known = self.known_from(group, chunk, start, now)
            if kind == STORE and l2 and self.stores_stay:
                finish = self.into_l2(l2, chunk, known, now)
            elif kind in UPDATES and l2 and self.atomics_stay:
                finish = self.through_l2(l2, kind, chunk, known, now, group)
                l2.written.add(chunk)
            else:
                finish = self.from_global_memory(kind, chunk, known, now)
            self.way.spends(Reason.FIRST_ACCESS, known - start)
            return finish
        if l1 and (fill := l1.look_up(chunk)) is not None:
            self.l1_hits += 1
            self.note("l1_hits", start)
            read = max(start, self.last_pass)
            self.way.goes(Reason.L1_LATENCY, l1.latency, Reason.LINE_IN_FLIGHT, max(0, fill - read - l1.latency))
            self.way.spends(Reason.PORT_QUEUE, read - start)
            return max(read + l1.latency, fill)
        pipe = self.pipes[group] if self.pipes else None
        came = start
        if pipe:
            start = pipe.fetch(start, now)
        known = self.known_from(group, chunk, start, now)
        if l2:
            finish = self.through_l2(l2, kind, chunk, known, now, group)
        else:
            finish = self.from_global_memory(kind, chunk, known, now, group)
        self.way.spends(Reason.FIRST_ACCESS, known - start)
        self.way.spends(Reason.PORT_QUEUE, start - came)
        if pipe:
            pipe.arrives(finish)
        if l1:
            self.write_down(l1.insert(chunk, finish), now)
        return finish

    def through_l2(self, l2: Lines, kind: int, chunk: int, start: int, now: int, group: int) -> int:
        """The finish of what looks into the L2: a load, or an atomic that ends there."""
        updates = kind in UPDATES
        queue = Reason.ATOMICS_QUEUE if updates or self.slice_updates[self.partition_of(chunk)] else Reason.L2_QUEUE
        begin = self.through_slice(chunk, start, now, self.atomic_service if updates else self.l2_service, updates)
        self.note("l2_loads", begin)
        if (fill := l2.look_up(chunk)) is not None:
            self.l2_hits += 1
            self.note("l2_hits", begin)
            latency = self.atomic_latency if updates else l2.latency
            finish = max(begin + latency, fill)
            self.way.goes(Reason.L2_LATENCY, latency, Reason.LINE_IN_FLIGHT, max(0, fill - begin - latency))
        else:
            came = self.from_global_memory(LOAD if updates else kind, chunk, begin, now, None if updates else group)
            finish = max(came, self.write_back(l2.make_room(chunk, now), now))
            self.way.spends(Reason.MEMORY_QUEUE, finish - came)
            l2.insert(chunk, finish)
        self.way.spends(queue, begin - start)
        return finish

    def into_l1(self, l1: Lines, chunk: int, start: int, now: int) -> int:
        """The finish of a store to local memory that stays in the group's L1."""
        finish = start + l1.latency
        self.l1_stores += 1
        self.way.goes(Reason.L1_LATENCY, l1.latency)
        if l1.look_up(chunk) is None:
            self.write_down(l1.insert(chunk, finish), now)
        l1.written.add(chunk)
        return finish

    def into_l2(self, l2: Lines, chunk: int, start: int, now: int) -> int:
        """The finish of a store that stays in the L2."""
        behind = self.slice_updates[self.partition_of(chunk)]
        begin, room = self.keep_in_l2(l2, chunk, start, now, self.store_taken)
        self.note("l2_stores", begin)
        queue = Reason.ATOMICS_QUEUE if behind else Reason.L2_QUEUE
        self.way.goes(queue, begin - start, Reason.L2_LATENCY, self.store_latency)
        self.way.spends(Reason.MEMORY_QUEUE, room - begin)
        return room + self.store_latency

    def taken_by_store(self, sectors: int, chunks: int) -> int:
        """How long each chunk of a store takes its slice: by the sectors that it writes of each in the mean."""
        if not sectors or self.l2_sectors == 1:
            return self.l2_store_service
        return max(self.l2_service, -(-self.l2_store_service * sectors // (self.l2_sectors * chunks)))

    def keep_in_l2(
        self, l2: Lines, chunk: int, start: int, now: int, taken: int, waits: bool = True
    ) -> tuple[int, int]:
        """Write a chunk in the L2; when its slice takes it up, and when there is room for it, if it waits for that.

        taken: how long it takes its slice.
        """
        begin = room = self.through_slice(chunk, start, now, taken)
        if l2.look_up(chunk) is None:
            free = self.write_back(l2.make_room(chunk, now), now)
            room = max(begin, free) if waits else begin
            l2.insert(chunk, room + self.store_latency)
        l2.written.add(chunk)
        return begin, room

    def through_slice(self, chunk: int, start: int, now: int, service: int, updates: bool = False) -> int:
        """When the chunk's slice of the L2 takes it up, which it does not before `start`; service: for how long."""
        slice_ = self.partition_of(chunk)
        if service:
            self.slice_updates[slice_] = updates
        begin = max(now, self.slice_free[slice_])
        self.slice_free[slice_] = begin + service
        return max(start, begin)

    def write_down(self, chunk: int | None, now: int) -> None:
        """Store a chunk that an L1 drops and nothing below has, as a store does; nobody waits for it."""
        if chunk is not None and self.l2 and self.stores_stay:
            self.keep_in_l2(self.l2, chunk, now, now, self.l2_store_service, waits=False)
        else:
            self.write_back(chunk, now)

    def write_back(self, chunk: int | None, now: int) -> int:
        """Reserve the partition for a chunk that a cache drops and global memory does not have; what takes its room in
        the L2 waits until then.
        """
        if chunk is None or self.serial:
            return 0
        begin, _, _ = self.reserve(chunk, True, self.service, now)
        return begin - self.store_buffer if self.victims_waited else 0

    def keep(self, l2: Lines) -> None:
        """Begin with the L2 as the launch before left it, all lines filled long ago."""
        for lines in l2.lines.values():
            lines |= dict.fromkeys(lines, 0)
        self.l2 = l2

    def warm(self, workload: Workload, launch: int) -> None:
        """Let the L2 see what an earlier run of the launch went through, its warps one after another."""
        l2 = self.l2
        assert l2 is not None
        first, last = workload.block_warps[workload.launch_blocks[launch : launch + 2]].tolist()
        for warp in range(first, last):
            for operation in workload.warp(warp):
                writes = (operation[0] == "store" and self.stores_stay) or (
                    operation[0] in ("atomic", "reduce") and self.atomics_stay
                )
                if operation[0] not in ("load", "async") and not writes:
                    continue
                for chunk in operation[1]:
                    if l2.look_up(chunk) is None:
                        l2.insert(chunk, 0)
                    if writes:
                        l2.written.add(chunk)

    def from_global_memory(self, kind: int, chunk: int, start: int, now: int, group: int | None = None) -> int:
        """The finish of a chunk that waits for its partition as well, all reserved at once.

        group: where the chunk is fetched for a load; none else takes the fetch port.
        """
        latency = self.store_latency if kind == STORE else self.latency
        self.way.goes(Reason.MEMORY_LATENCY, latency)
        came = start
        if group is not None and self.fetch_interval:
            start = self.through_fetch_port(group, start, now)
        self.fetched += kind in READS
        if self.serial:
            self.note("memory", start)
            return start + latency
        behind = self.partition_updates[self.partition_of(chunk)]
        updates = kind in UPDATES
        service = self.atomic_service if updates else self.service
        begin, turning, opening = self.reserve(chunk, kind not in READS, service, now, updates)
        self.note("memory", max(start, begin))
        if kind == STORE:
            begin -= self.store_buffer  # waited for no longer than until the partition has room for it
        wait = max(0, begin - start)
        rows = min(wait, opening)
        turnaround = min(wait - rows, turning)
        queue = Reason.ATOMICS_QUEUE if updates or behind else Reason.MEMORY_QUEUE
        self.way.spends(queue, wait - rows - turnaround)
        self.way.spends(Reason.TURNAROUND, turnaround)
        self.way.spends(Reason.ROWS, rows)
        self.way.spends(Reason.MEMORY_QUEUE, start - came)
        return max(start, begin) + latency

    def partition_of(self, chunk: int) -> int:
        """The partition, and so the slice of the L2, that a chunk belongs to."""
        return (mix(chunk) if self.hashed else chunk) % self.partitions

    def reserve(self, chunk: int, writes: bool, service: int, now: int, updates: bool = False) -> tuple[int, int, int]:
        """Reserve the chunk's partition; when it begins, and for how long it turns round and opens a row before."""
        partition = self.partition_of(chunk)
        turning = self.turnaround if writes != self.partition_writes[partition] else 0
        self.partition_writes[partition] = writes
        if service:
            self.partition_updates[partition] = updates
        opening = self.rows[partition].open(chunk) if self.rows else 0
        begin = max(now, self.partition_free[partition]) + turning + opening
        self.partition_free[partition] = begin + service
        return begin, turning, opening
