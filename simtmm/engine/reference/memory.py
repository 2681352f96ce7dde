"""Memory: the path of chunks (docs/machine.md, section 4). Plain arithmetic; nothing here waits."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from simtmm.engine.reference.access_pipe import AccessPipe
from simtmm.engine.reference.cache import Line, Lines, OpenRows, Translations, mix
from simtmm.engine.reference.over_time import OverTime
from simtmm.engine.reference.sectors import Sectors
from simtmm.engine.reference.way import Way
from simtmm.machine import Machine
from simtmm.replacement import Policy
from simtmm.stalls import Count, Reason
from simtmm.workload import ASYNC, ATOMIC, COPY, LOAD, REDUCE, STORE, Workload

NO_POLICIES: Mapping[str, Policy] = {}  # of somebody's own
READS, UPDATES = (LOAD, ASYNC, COPY), (ATOMIC, REDUCE)


class Memory:
    """The path of chunks: the ports and L1s of the groups, the L2 and the partitions of all. New for each launch."""

    def __init__(
        self,
        machine: Machine,
        launch: int = 0,
        over_time: OverTime | None = None,
        way: Way | None = None,
        policies: Mapping[str, Policy] = NO_POLICIES,
    ) -> None:
        """launch: its number in the run. way: where the ticks of accesses go; nobody asks if left out. policies: of
        replacement, a user's, by the cache.
        """
        self.over_time = over_time
        self.way = way or Way()
        memory, durations = machine.memory, machine.durations
        self.latency, self.store_latency = durations.latency, durations.store_latency
        self.serial = memory.transfers == "serial"
        self.port_interval = durations.port_interval
        self.port_chunks = memory.port_chunks
        self.sectors = Sectors(machine)
        self.reads_parts = memory.partial_writes == "read"
        self.service = durations.service
        self.atomic_service = durations.atomic_service
        self.turnaround = durations.turnaround
        self.store_buffer = durations.store_buffer
        self.stores_drop_lines = memory.l1_after_store == "drop"
        self.partitions = memory.partitions
        self.hashed = memory.interleave == "hash"
        self.l2 = Lines(memory.l2, durations.l2_latency, memory.sectors, policies.get("l2")) if memory.l2 else None
        self.l2_service, self.l2_store_service = durations.l2_service, durations.l2_store_service
        requests = durations.l2_request_service, durations.l2_store_request_service
        self.l2_request, self.l2_store_request = requests if memory.sectors > 1 else (0, 0)
        self.victims_waited = memory.l2 is not None and memory.l2.victims == "waited"
        self.stores_stay = memory.l2 is not None and memory.l2.writes == "back"
        self.atomics_stay = memory.l2 is not None and memory.l2.atomics == "here"
        self.atomic_latency = durations.atomic_latency
        self.slice_free: defaultdict[int, int] = defaultdict(int)
        self.slice_updates: defaultdict[int, bool] = defaultdict(bool)  # by its last chunk that took any time
        l1, groups = memory.l1, range(machine.cores.groups)
        self.l1 = [Lines(l1, durations.l1_latency, memory.sectors, policies.get("l1")) for _ in groups] if l1 else None
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
        self.l2_sectors = self.memory_sectors = 0  # that moved to and from the L2, and global memory

    @property
    def counted(self) -> Counter[Count]:
        """What was counted of all chunks so far, at the places of their accesses too."""
        return Counter(
            {
                Count.L1_HITS: self.l1_hits,
                Count.L2_HITS: self.l2_hits,
                Count.L1_STORES: self.l1_stores,
                Count.L2_SECTORS: self.l2_sectors,
                Count.MEMORY_SECTORS: self.memory_sectors,
            }
        )

    def note(self, what: str, tick: int, number: int = 1) -> None:
        """A chunk passes, or so many sectors, as the traffic over time calls it."""
        if self.over_time is not None:
            self.over_time.note(what, tick, number)

    def access(
        self, group: int, slot: int, kind: int, chunks: list[int], sectors: list[int], passes: int, now: int
    ) -> int:
        """Reserve the whole path of an instruction that leaves its port now; the tick at which it finishes.

        sectors: of each chunk, as a workload has them; empty if it has none. passes: over the banks of the group's
        pipe, if it has one.
        """
        finish = now
        self.last_pass = self.pipes[group].access(passes, now) if self.pipes and kind != COPY else 0
        self.waits, self.waits_next = self.takes_loaded(kind, group, slot)
        start, passing = now, -1
        fetched = self.fetched
        self.way.begins()
        for index, chunk in enumerate(chunks):
            accessed = self.sectors.accessed(sectors[index] if sectors else 0)
            if self.serial:
                finish = self.transfer(group, kind, chunk, accessed, start=finish, now=now)
                self.way.follows()
            else:
                again = kind in UPDATES and self.atomics_stay and chunk in chunks[:index]
                if not again and (self.port_chunks == 1 or chunk // self.port_chunks != passing):
                    passing = chunk // self.port_chunks
                    start = self.through_port(group, kind, slot, now)
                    self.waits = self.waits_next if index + 1 < passes else 0
                done = self.transfer(group, kind, chunk, accessed, start, now)
                if done > finish:
                    finish = done
                    self.way.is_last(start - now)
        if kind != STORE:
            late = max(0, self.translated.setdefault(group, now + self.first_access) - now)
            self.way.is_late(late)
            finish += late
        if kind in (LOAD, ASYNC):
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

    def read_factors(self, group: int, passes: int, now: int) -> tuple[int, int]:
        """A product reads its factors from shared memory: when the first pass begins, and when the last has ended."""
        assert self.pipes is not None
        first, last = self.pipes[group].read_factors(passes, now)
        self.last_finish = max(self.last_finish, last)
        return first, last

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
        looked_up = self.pipes[group].look_up() if self.pipes and kind != COPY else now
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

    def through_fetch_port(self, group: int, sectors: int, start: int, now: int) -> int:
        """When the group fetches sectors of a chunk from global memory, which it does not before `start`."""
        begin = max(now, self.fetch_free[group])
        self.fetch_free[group] = begin + self.sectors.part(self.fetch_interval, sectors)
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

    def transfer(self, group: int, kind: int, chunk: int, accessed: list[int], start: int, now: int) -> int:
        """The finish of one chunk: from a cache, or from global memory and then into the caches.

        accessed: bytes of each of its sectors.
        """
        l1, l2 = self.l1[group] if self.l1 and kind != COPY else None, self.l2
        wanted = [sector for sector, number in enumerate(accessed) if number]
        self.note("loads" if kind in READS else "others", start)
        if kind not in READS:
            stays = self.local_stays and chunk >= self.first_local
            if l1 and stays and kind == STORE:
                return self.into_l1(l1, chunk, start, now)
            if l1 and self.stores_drop_lines and not stays:
                l1.drop(chunk)
            known = self.known_from(group, chunk, start, now)
            if kind == STORE and l2 and self.stores_stay:
                finish = self.into_l2(l2, chunk, accessed, known, now)
            elif kind in UPDATES and l2 and self.atomics_stay:
                finish, line = self.through_l2(l2, kind, chunk, wanted, known, now, group)
                line.store(accessed, self.sectors.bytes, finish)
            else:
                finish = self.to_global_memory(kind, chunk, accessed, known, now)
            self.way.spends(Reason.FIRST_ACCESS, known - start)
            return finish
        found = l1.look_up(chunk) if l1 else None
        if found:
            lacking = found.lacks(wanted)
            if l1 and not lacking:
                self.l1_hits += 1
                self.note("l1_hits", start)
                read, fill = max(start, self.last_pass), found.filled(wanted)
                self.way.goes(Reason.L1_LATENCY, l1.latency, Reason.LINE_IN_FLIGHT, max(0, fill - read - l1.latency))
                self.way.spends(Reason.PORT_QUEUE, read - start)
                return max(read + l1.latency, fill)
            wanted = lacking
        pipe = self.pipes[group] if self.pipes else None
        came = start
        if pipe:
            start = pipe.fetch(self.sectors.part(pipe.fill_interval, len(wanted)), start, now)
        known = self.known_from(group, chunk, start, now)
        if l2:
            finish, _ = self.through_l2(l2, kind, chunk, wanted, known, now, group)
        else:
            finish = self.from_global_memory(kind, chunk, wanted, self.sectors.runs_of(wanted), known, now, group)
        self.way.spends(Reason.FIRST_ACCESS, known - start)
        self.way.spends(Reason.PORT_QUEUE, start - came)
        if pipe:
            pipe.arrives(finish)
        if l1:
            if not found:
                self.write_down(l1.make_room(chunk), now)
                found = l1.insert(chunk)
            found.put(wanted, finish)
        return finish

    def through_l2(
        self, l2: Lines, kind: int, chunk: int, wanted: list[int], start: int, now: int, group: int
    ) -> tuple[int, Line]:
        """The finish of what looks into the L2, a load or an atomic that ends there, and the chunk's line."""
        updates = kind in UPDATES
        queue = Reason.ATOMICS_QUEUE if updates or self.slice_updates[self.partition_of(chunk)] else Reason.L2_QUEUE
        taken = (
            self.atomic_service if updates else max(self.l2_request, self.sectors.part(self.l2_service, len(wanted)))
        )
        begin = self.through_slice(chunk, start, now, taken, updates)
        self.note("l2_loads", begin)
        self.moves("l2_sectors", begin, len(wanted))
        line = l2.look_up(chunk)
        lacking = line.lacks(wanted) if line else wanted
        if line and not lacking:
            self.l2_hits += 1
            self.note("l2_hits", begin)
            latency, fill = self.atomic_latency if updates else l2.latency, line.filled(wanted)
            finish = max(begin + latency, fill)
            self.way.goes(Reason.L2_LATENCY, latency, Reason.LINE_IN_FLIGHT, max(0, fill - begin - latency))
        else:
            read = self.sectors.runs_of(lacking)
            of_group = None if updates else group
            came = self.from_global_memory(LOAD if updates else kind, chunk, lacking, read, begin, now, of_group)
            finish = came
            if not line:
                finish = max(came, self.write_back(l2.make_room(chunk, now), now))
                line = l2.insert(chunk)
            self.way.spends(Reason.MEMORY_QUEUE, finish - came)
            line.put(read, finish)
        self.way.spends(queue, begin - start)
        return finish, line

    def moves(self, what: str, tick: int, sectors: int) -> None:
        """Sectors of a chunk move to or from the L2, or global memory."""
        self.note(what, tick, sectors)
        if what == "l2_sectors":
            self.l2_sectors += sectors
        else:
            self.memory_sectors += sectors

    def into_l1(self, l1: Lines, chunk: int, start: int, now: int) -> int:
        """The finish of a store to local memory that stays in the group's L1, as a whole."""
        finish = start + l1.latency
        self.l1_stores += 1
        self.way.goes(Reason.L1_LATENCY, l1.latency)
        line = l1.look_up(chunk)
        if not line:
            self.write_down(l1.make_room(chunk), now)
            line = l1.insert(chunk)
        line.store(self.sectors.whole, self.sectors.bytes, finish)
        return finish

    def into_l2(self, l2: Lines, chunk: int, accessed: list[int], start: int, now: int) -> int:
        """The finish of a store that stays in the L2."""
        behind = self.slice_updates[self.partition_of(chunk)]
        begin, room = self.keep_in_l2(l2, chunk, accessed, start, now)
        self.note("l2_stores", begin)
        self.moves("l2_sectors", begin, sum(number > 0 for number in accessed))
        queue = Reason.ATOMICS_QUEUE if behind else Reason.L2_QUEUE
        self.way.goes(queue, begin - start, Reason.L2_LATENCY, self.store_latency)
        self.way.spends(Reason.MEMORY_QUEUE, room - begin)
        return room + self.store_latency

    def keep_in_l2(
        self, l2: Lines, chunk: int, accessed: list[int], start: int, now: int, waits: bool = True
    ) -> tuple[int, int]:
        """Write a chunk in the L2; when its slice takes it up, and when there is room for it, if it waits for that."""
        taken = self.sectors.part(self.l2_store_service, sum(number > 0 for number in accessed))
        begin = room = self.through_slice(chunk, start, now, max(self.l2_store_request, taken))
        line = l2.look_up(chunk)
        if not line:
            free = self.write_back(l2.make_room(chunk, now), now)
            room = max(begin, free) if waits else begin
            line = l2.insert(chunk)
        line.store(accessed, self.sectors.bytes, room + self.store_latency)
        return begin, room

    def through_slice(self, chunk: int, start: int, now: int, service: int, updates: bool = False) -> int:
        """When the chunk's slice of the L2 takes it up, which it does not before `start`; service: for how long."""
        slice_ = self.partition_of(chunk)
        if service:
            self.slice_updates[slice_] = updates
        begin = max(now, self.slice_free[slice_])
        self.slice_free[slice_] = begin + service
        return max(start, begin)

    def write_down(self, dropped: tuple[int, Line] | None, now: int) -> None:
        """Store a chunk that an L1 drops and nothing below has, as a store does; nobody waits for it."""
        if dropped and self.l2 and self.stores_stay:
            self.keep_in_l2(self.l2, dropped[0], self.sectors.whole, now, now, waits=False)
        else:
            self.write_back(dropped, now)

    def write_back(self, dropped: tuple[int, Line] | None, now: int) -> int:
        """Reserve the partition for a chunk that a cache drops and global memory does not have; what takes its room in
        the L2 waits until then.
        """
        if dropped is None or self.serial:
            return 0
        chunk, line = dropped
        begin, _, _ = self.write(chunk, line.written, line.lacks(line.written), now)
        return begin - self.store_buffer if self.victims_waited else 0

    def write(self, chunk: int, sectors: list[int], partial: list[int], now: int) -> tuple[int, int, int]:
        """Reserve the chunk's partition for sectors that are written, and before that for what is read of those of
        which only a part is; as `reserve`.
        """
        if self.reads_parts and partial:
            self.reserve(chunk, False, self.sectors.part(self.service, len(self.sectors.runs_of(partial))), now)
        return self.reserve(chunk, True, self.sectors.part(self.service, len(sectors)), now)

    def keep(self, l2: Lines) -> None:
        """Begin with the L2 as the launch before left it, all sectors that are there filled long ago."""
        for lines in l2.lines.values():
            for line in lines.values():
                line.fill = [None if fill is None else 0 for fill in line.fill]
        self.l2 = l2

    def warm(self, workload: Workload, launch: int) -> None:
        """Let the L2 see what an earlier run of the launch went through, its warps one after another."""
        l2 = self.l2
        assert l2 is not None
        first, last = workload.block_warps[workload.launch_blocks[launch : launch + 2]].tolist()
        for warp in range(first, last):
            at = int(workload.warp_chunks[warp])
            for operation in workload.warp(warp):
                if operation[0] not in ("load", "async", "store", "atomic", "reduce", "copy"):
                    continue
                words = workload.sectors[at : at + len(operation[1])].tolist() or [0] * len(operation[1])
                at += len(words)
                updates = operation[0] in ("atomic", "reduce")
                writes = (operation[0] == "store" and self.stores_stay) or (updates and self.atomics_stay)
                if operation[0] not in ("load", "async", "copy") and not writes:
                    continue
                for chunk, word in zip(operation[1], words, strict=True):
                    accessed = self.sectors.accessed(word)
                    line = l2.look_up(chunk)
                    if not line:
                        l2.make_room(chunk)
                        line = l2.insert(chunk)
                    if operation[0] != "store":
                        wanted = [sector for sector, number in enumerate(accessed) if number]
                        line.put(self.sectors.runs_of(line.lacks(wanted)), 0)
                    if writes:
                        line.store(accessed, self.sectors.bytes, 0)

    def to_global_memory(self, kind: int, chunk: int, accessed: list[int], start: int, now: int) -> int:
        """The finish of a store or an atomic that waits for its partition, all reserved at once."""
        latency = self.store_latency if kind == STORE else self.latency
        self.way.goes(Reason.MEMORY_LATENCY, latency)
        wanted = [sector for sector, number in enumerate(accessed) if number]
        if self.serial:
            self.note("memory", start)
            self.moves("memory_sectors", start, len(wanted))
            return start + latency
        updates = kind in UPDATES
        behind = updates or self.partition_updates[self.partition_of(chunk)]
        if updates:
            reserved = self.reserve(chunk, True, self.atomic_service, now, updates)
        else:
            partial = [sector for sector in wanted if accessed[sector] < self.sectors.bytes]
            reserved = self.write(chunk, wanted, partial, now)
        return self.at_partition(kind, reserved, behind, len(wanted), start) + latency

    def from_global_memory(
        self, kind: int, chunk: int, lacking: list[int], read: list[int], start: int, now: int, group: int | None
    ) -> int:
        """The finish of a chunk that is loaded and waits for its partition as well, all reserved at once.

        lacking: its sectors that are. read: those that global memory is read for them. group: where the chunk is
        fetched for a load; none else takes the fetch port.
        """
        self.way.goes(Reason.MEMORY_LATENCY, self.latency)
        came = start
        if group is not None and self.fetch_interval:
            start = self.through_fetch_port(group, len(lacking), start, now)
        self.fetched += 1
        if self.serial:
            self.note("memory", start)
            self.moves("memory_sectors", start, len(read))
            return start + self.latency
        behind = self.partition_updates[self.partition_of(chunk)]
        reserved = self.reserve(chunk, False, self.sectors.part(self.service, len(read)), now)
        finish = self.at_partition(kind, reserved, behind, len(read), start) + self.latency
        self.way.spends(Reason.MEMORY_QUEUE, start - came)
        return finish

    def at_partition(self, kind: int, reserved: tuple[int, int, int], behind: bool, sectors: int, start: int) -> int:
        """When a partition that is reserved for a chunk serves it, which it does not before `start`.

        behind: whether the chunk is an atomic, or comes behind one. sectors: of the chunk that move.
        """
        begin, turning, opening = reserved
        self.note("memory", max(start, begin))
        self.moves("memory_sectors", max(start, begin), sectors)
        if kind == STORE:
            begin -= self.store_buffer  # waited for no longer than until the partition has room for it
        wait = max(0, begin - start)
        rows = min(wait, opening)
        turnaround = min(wait - rows, turning)
        self.way.spends(Reason.ATOMICS_QUEUE if behind else Reason.MEMORY_QUEUE, wait - rows - turnaround)
        self.way.spends(Reason.TURNAROUND, turnaround)
        self.way.spends(Reason.ROWS, rows)
        return max(start, begin)

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
