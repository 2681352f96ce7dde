"""Memory: the path of chunks (docs/machine.md, section 4). Plain arithmetic; nothing here waits."""

from collections import defaultdict
from collections.abc import Mapping

from simtmm.engine.reference.memory.cache import Line, Lines, Translations
from simtmm.engine.reference.memory.counted import Counted
from simtmm.engine.reference.memory.l2 import L2
from simtmm.engine.reference.memory.loaded import Loaded
from simtmm.engine.reference.memory.partitions import Partitions
from simtmm.engine.reference.memory.path_ticks import Way
from simtmm.engine.reference.memory.pipe import AccessPipe
from simtmm.engine.reference.memory.sectors import Sectors
from simtmm.engine.reference.memory.shared_l1 import SharedL1s
from simtmm.engine.reference.traffic import OverTime
from simtmm.machine import Machine
from simtmm.replacement import Policy
from simtmm.stalls import Reason
from simtmm.workload import ASYNC, ATOMIC, COPY, LOAD, MOST_PASSES, REDUCE, STORE

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
        self.way = way or Way()
        self.counted = Counted(over_time)
        self.sectors = Sectors(machine)
        self.loaded = Loaded(machine)
        self.partitions = Partitions(machine, self.sectors, self.counted, self.way)
        memory, durations = machine.memory, machine.durations
        self.l2: L2 | None = None
        if memory.l2:
            self.l2 = L2(machine, memory.l2, self.partitions, self.counted, policies.get("l2"))
        self.stores_stay = self.l2 is not None and self.l2.stores_stay
        self.atomics_stay = self.l2 is not None and self.l2.atomics_stay
        l1, groups = memory.l1, range(machine.cores.groups)
        self.l1 = [Lines(l1, durations.l1_latency, memory.sectors, policies.get("l1")) for _ in groups] if l1 else None
        self.shared_l1: SharedL1s | None = None
        if memory.shared_l1:
            self.shared_l1 = SharedL1s(machine, memory.shared_l1, self.sectors, self.counted, self.way)
        self.stores_drop_lines = memory.l1_after_store == "drop"
        self.local_stays = machine.keeps_local_stores
        self.first_local = machine.first_local_chunk
        tlb, miss = memory.tlb, durations.tlb_miss
        self.tlb = [Translations(tlb, miss, machine.chunk_bytes) for _ in groups] if tlb else None
        self.serial = memory.transfers == "serial"
        self.ports, self.port_interval, self.port_chunks = memory.ports, durations.port_interval, memory.port_chunks
        self.port_free: defaultdict[tuple[int, int], int] = defaultdict(int)  # of a port of a group
        self.copy_interval = durations.copy_interval
        self.pass_bytes, self.chunk_bytes = machine.banks.pass_bytes, machine.chunk_bytes
        self.l2_latency = durations.l2_latency
        self.copy_free: defaultdict[int, int] = defaultdict(int)  # of a group's copies in bulk
        self.store_interval = durations.store_interval
        self.store_free: defaultdict[int, int] | None = None if memory.store_interval is None else defaultdict(int)
        self.pipes = [AccessPipe(machine) for _ in groups] if memory.pipe else None
        lacks = launch == 0 or memory.translations == "launch"
        self.first_access = durations.first_access if lacks else 0
        self.translated: dict[int, int] = {}  # of each group, from when on it lacks no translation
        self.last_finish = 0
        self.transactions = 0

    def access(
        self, group: int, slot: int, kind: int, chunks: list[int], sectors: list[int], passes: int, now: int
    ) -> int:
        """Reserve the whole path of an instruction that leaves its port now; the tick at which it finishes.

        sectors: of each chunk, as a workload has them; empty if it has none. passes: over the banks of the group's
        pipe, if it has one.
        """
        finish = begin = self.begin_copy(group, now) if kind == COPY else now
        self.last_pass = self.pipes[group].access(passes, now) if self.pipes and kind != COPY else 0
        self.waits, self.waits_next = self.loaded.take(kind, group, slot)
        start, passing = begin, -1
        fetched = self.partitions.fetched
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
                    start = self.through_port(group, kind, slot, begin)
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
            self.loaded.load((group, slot), self.partitions.fetched - fetched, now, finish)
        if kind == LOAD:
            self.loaded.waited(group, slot)
        self.transactions += len(chunks)
        self.last_finish = max(self.last_finish, finish, self.pipes[group].stages.banks if self.pipes else 0)
        return finish

    def access_shared(self, group: int, passes: int, now: int) -> int:
        """Likewise of a shared access, which passes the group's pipe: the tick from which on its value may be used."""
        assert self.pipes is not None
        settled, free = self.pipes[group].access_shared(passes, now)
        self.last_finish = max(self.last_finish, settled, free)
        return settled

    def take_banks(self, group: int, passes: int, now: int) -> None:
        """A product takes the banks of shared memory for its factors, or a copy for what it writes."""
        assert self.pipes is not None
        self.last_finish = max(self.last_finish, self.pipes[group].take_banks(passes, now))

    def come_from_others(self, group: int, count: int, now: int) -> tuple[int, int]:
        """So many bytes of other blocks' multicasts come: when the last of them begin to, and when they are there."""
        assert self.pipes is not None
        self.take_banks(group, min(MOST_PASSES, -(-count // self.pass_bytes)), now)
        begin = self.pipes[group].take_in(min(MOST_PASSES, -(-count // self.chunk_bytes)), now)
        there = begin + self.l2_latency
        self.last_finish = max(self.last_finish, there)
        return begin, there

    def begin_copy(self, group: int, now: int) -> int:
        """When the group begins a copy in bulk."""
        begin = max(now, self.copy_free[group])
        self.copy_free[group] = begin + self.copy_interval
        return begin

    def out_free(self, group: int, now: int) -> int:
        """When what the group has stored so far has left it."""
        return max(now, self.pipes[group].drain_free) if self.pipes else now

    def through_port(self, group: int, kind: int, slot: int, now: int) -> int:
        """When a chunk, or a run of them, leaves the group: by the port of its warp's slot, or by the stores' path.

        now: when its access begins.
        """
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

    def known_from(self, group: int, chunk: int, start: int, now: int) -> int:
        """When the chunk's address is known beyond the group, which it is not before `start`."""
        return max(start, self.tlb[group].look_up(chunk, now)) if self.tlb else start

    def transfer(self, group: int, kind: int, chunk: int, accessed: list[int], start: int, now: int) -> int:  # noqa: C901 - section 4 in its order
        """The finish of one chunk: from a cache, or from global memory and then into the caches.

        accessed: bytes of each of its sectors.
        """
        l1, l2 = self.l1[group] if self.l1 and kind != COPY else None, self.l2
        wanted = [sector for sector, number in enumerate(accessed) if number]
        self.counted.note("loads" if kind in READS else "others", start)
        if kind not in READS:
            stays = self.local_stays and chunk >= self.first_local
            if l1 and stays and kind == STORE:
                return self.into_l1(l1, chunk, start, now, group)
            if l1 and self.stores_drop_lines and not stays:
                l1.drop(chunk)
            if self.shared_l1:
                self.shared_l1.drop(group, chunk)
            came = start
            if kind == STORE and self.pipes:
                out = self.pipes[group]
                start = out.drain(self.sectors.part(out.drain_interval, len(wanted)), start, now)
            known = self.known_from(group, chunk, start, now)
            if kind == STORE and l2 and self.stores_stay:
                finish = l2.store(chunk, accessed, known, now, group)
            elif kind in UPDATES and l2 and self.atomics_stay:
                finish, line = l2.through_l2(kind, chunk, wanted, known, now, group)
                line.store(accessed, self.sectors.bytes, finish)
            else:
                finish = self.partitions.to_global_memory(kind, chunk, accessed, known, now)
            self.way.spends(Reason.FIRST_ACCESS, known - start)
            self.way.spends(Reason.PORT_QUEUE, start - came)
            return finish
        found = l1.look_up(chunk) if l1 else None
        if found:
            lacking = found.lacks(wanted)
            if l1 and not lacking:
                self.counted.l1_hits += 1
                self.counted.note("l1_hits", start)
                read, fill = max(start, self.last_pass), found.filled(wanted)
                self.way.goes(Reason.L1_LATENCY, l1.latency, Reason.LINE_IN_FLIGHT, max(0, fill - read - l1.latency))
                self.way.spends(Reason.PORT_QUEUE, read - start)
                return max(read + l1.latency, fill)
            wanted = lacking
        pipe = self.pipes[group] if self.pipes else None
        came = start
        if pipe and kind == COPY:
            self.take_banks(group, -(-len(wanted) * self.sectors.bytes // self.pass_bytes), now)
        if pipe:
            start = pipe.fetch(self.sectors.part(pipe.fill_interval, len(wanted)), start, now)
        known = self.known_from(group, chunk, start, now)
        finish = self.from_behind_l1(kind, chunk, wanted, known, now, group)
        self.way.spends(Reason.FIRST_ACCESS, known - start)
        self.way.spends(Reason.PORT_QUEUE, start - came)
        if pipe:
            pipe.arrives(finish)
        if l1:
            if not found:
                self.write_down(l1.make_room(chunk), now, group)
                found = l1.insert(chunk)
            found.put(wanted, finish)
        return finish

    def from_behind_l1(self, kind: int, chunk: int, wanted: list[int], start: int, now: int, group: int) -> int:
        """The finish of sectors that are read from what lies behind an L1: a shared one, or what is below that."""
        shared = self.shared_l1
        if not shared:
            return self.from_below(kind, chunk, wanted, start, now, group)
        begin = shared.take(group, len(wanted), start, now)
        finish, lacking = shared.look_up(group, chunk, wanted, begin)
        if finish is None:
            finish = self.from_below(kind, chunk, lacking, begin, now, group)
            shared.keep(group, chunk, lacking, finish)
        self.way.spends(Reason.SHARED_L1_QUEUE, begin - start)
        return finish

    def from_below(self, kind: int, chunk: int, wanted: list[int], start: int, now: int, group: int) -> int:
        """Likewise of the L2, or of global memory."""
        if self.l2:
            finish, _ = self.l2.through_l2(kind, chunk, wanted, start, now, group)
            return finish
        of_group = None if kind == COPY else group  # that takes its fetch port
        return self.partitions.from_global_memory(chunk, wanted, self.sectors.runs_of(wanted), start, now, of_group)

    def into_l1(self, l1: Lines, chunk: int, start: int, now: int, group: int) -> int:
        """The finish of a store to local memory that stays in the group's L1, as a whole."""
        finish = start + l1.latency
        self.counted.l1_stores += 1
        self.way.goes(Reason.L1_LATENCY, l1.latency)
        line = l1.look_up(chunk)
        if not line:
            self.write_down(l1.make_room(chunk), now, group)
            line = l1.insert(chunk)
        line.store(self.sectors.whole, self.sectors.bytes, finish)
        return finish

    def write_down(self, dropped: tuple[int, Line] | None, now: int, group: int) -> None:
        """Store a chunk that an L1 drops and nothing below has, as a store does; nobody waits for it."""
        if dropped and self.shared_l1:
            self.shared_l1.drop(group, dropped[0])
        if dropped and self.l2 and self.stores_stay:
            self.l2.keep_chunk(dropped[0], self.sectors.whole, now, now, group, waits=False)
        else:
            self.partitions.write_back(dropped, now)
