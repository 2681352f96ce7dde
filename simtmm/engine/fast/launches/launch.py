"""A launch: its arrays, laid out from a machine and a workload, and the calls of the compiled loops that go on with it.

Nothing that is compiled owns memory: the arrays are allocated here.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from simtmm.computer import available_memory
from simtmm.engine.fast import layout as at
from simtmm.engine.fast.attribution.stall_table import Booked
from simtmm.engine.fast.attribution.units import drained, unit_arrays
from simtmm.engine.fast.launches.clusters import cluster_arrays
from simtmm.engine.fast.launches.part import (
    Part,
    Room,
    has_long_computes,
    is_coupled,
    is_ordered,
    outstanding_of,
    smallest_blocks,
    takes_partitions,
    worth_sharing,
)
from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.fast.launches.tables import (
    Integers,
    all_free,
    closed_rows,
    empty_clock,
    empty_groups,
    flags_of,
    free_ports,
    no_translations,
    slices_of,
    table,
)
from simtmm.engine.fast.ports.rule_arrays import AskedRule, first_warp_of, not_asked
from simtmm.engine.fast.steps import lanes, loop
from simtmm.engine.fast.supply.operations import Held, Streamed, Supply
from simtmm.engine.fast.supply.window_thread import address_of_yield
from simtmm.engine.mbarriers import MOST_MBARRIERS, not_initialised, too_many, waits_for_ever
from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.native import Loop, Rows
from simtmm.result import WHERE_TIME_GOES
from simtmm.trace.streamed import AnyWorkload, Stream, StreamedWorkload
from simtmm.workload import MOST_UNFINISHED, MOST_UNSETTLED, Workload

if TYPE_CHECKING:
    from simtmm.engine.own_rule.compiled import CompiledRule

TIMELINE_ROOM = 1_000_000  # intervals of a timeline between two drains, about
STRETCH = 2_000_000  # steps of groups between two looks at the clock: a fraction of a second
ASYNCS = 16  # of a warp whose finishes there is room for in the beginning
LONG_COMPUTE = 64  # instructions: so many are worth it to look for what recurs

RUN = Loop(
    loop.run,
    ("coupled", "switch", "memory", "order"),
    "the fast engine for this kind of machine",
    rows=("warp", "block", "port", "group", "l1", "l2", "rows"),
)
_SHORTEST_BLOCKS = Loop(lanes.shortest_blocks)


def is_compiled(machine: Machine, workload: AnyWorkload, own_rule: bool = False) -> bool:
    """Whether all that a workload needs on a machine, with a user's rule or without, is there: here or in the cache."""
    return all(RUN.is_compiled(flags) for flags in _needed(machine, workload, own_rule))


def is_wanted_again(machine: Machine, workload: AnyWorkload, own_rule: bool = False) -> bool:
    """Whether all that is missing of it was wanted before: who comes a second time comes more often."""
    missing = [flags for flags in _needed(machine, workload, own_rule) if not RUN.is_compiled(flags)]
    again = [RUN.is_wanted_again(flags) for flags in missing]  # each of them is noted
    return all(again)


def _needed(machine: Machine, workload: AnyWorkload, own_rule: bool) -> set[tuple[int, ...]]:
    """What kinds of machine the launches make of a machine."""
    launches = range(workload.launches)
    return {tuple(flags_of(machine, is_coupled(machine, Part.of(workload, each)), own_rule)) for each in launches}


class Launch:
    """The state of one launch, from tick 0 to its end."""

    def __init__(  # noqa: PLR0913, PLR0915, PLR0917 - a statement for each array of the state
        self,
        machine: Machine,
        workload: AnyWorkload,
        launch: int,
        reused: Reused,
        breakdown: bool,
        timeline: bool,
        threads: int,
        stream: Stream | None = None,
        booked: Booked | None = None,
        traffic: Integers | None = None,
        begun: Integers | None = None,
        rule: "CompiledRule | None" = None,
    ) -> None:
        """reused: what this launch has after those before. stream: of a streamed workload, at an earlier launch or
        none. booked: where warps' ticks are booked, if they are. traffic: likewise chunks over time. begun:
        int64[blocks], takes the tick at which each is placed. rule: a user's, in the place of the machine's scheduler.
        """
        self._origin, self._launch, self._reused = workload.origin, launch, reused
        part = Part.of(workload, launch)
        self._asyncs = part.tally.asyncs
        room = Room.of(machine, part)
        groups, memory = machine.cores.groups, machine.memory
        partitioned = takes_partitions(machine, part)
        # The blocks of a stream come one after another, so its groups go on together.
        coupled = stream is not None or rule is not None or is_coupled(machine, part)
        # In lanes, blocks that follow one another have to be long enough to be worth it; a timeline is one list.
        parts = 1 if coupled or timeline else min(threads, groups)
        outstanding = outstanding_of(machine, part)
        jumps = not timeline and rule is None and has_long_computes(machine, part, LONG_COMPUTE)

        parameters = reused.parameters()
        given = Rows(parameters, at.Parameters)
        pipes = int(given.pipes)
        given.first_block = part.first
        given.timeline = timeline
        given.turns, given.own_rule = timeline or rule is not None, rule is not None
        watches = timeline or booked is not None
        given.watch, given.books = watches, booked is not None
        given.placed, given.nowhere = workload.has_places, len(workload.known_places)
        given.lanes = parts
        given.wide = worth_sharing(part)
        given.slots, given.blocks = room.slots, room.places
        given.ring = ring = 1 << (room.slots - 1).bit_length()
        given.outstanding, given.most_blocks = outstanding, room.most_blocks
        given.partitioned = partitioned
        given.breakdown = breakdown
        if launch > 0 and memory.translations == "run":
            given.first_access = 0
        given.begun, given.jumps, given.pools = begun is not None, jumps, part.tally.registers > 0
        given.ordered = is_ordered(part)
        given.pending, given.last_block = part.first, part.last
        given.ahead = given.loaded = part.first
        self._supply: Supply
        if stream is not None:
            assert isinstance(workload, StreamedWorkload)
            given.streamed = 1
            given.block_warps = workload.warps_of_blocks[launch]
            given.first_warp = workload.launch_warps[launch]
            self._supply = Streamed(workload, stream, launch, part, groups * room.slots)
            # Behind it: how many threads fill windows follows from how many rows this launch has.
            given.yields = address_of_yield() if stream.windows.threads > 1 else 0
        else:
            assert isinstance(workload, Workload)
            self._supply = Held(workload, part, reused)
        l2, l2_sectors, l2_touched = reused.l2()
        below = reused.last_level(memory.partitions)
        if machine.begins_warm:
            self._supply.warm(parameters, l2, l2_sectors, l2_touched, *list(below.values())[:-1])
            reused.keep_below(memory)
        l1, l1_sectors = reused.l1()
        self.group = reused.like("group", empty_groups, groups)
        self._lanes = ThreadPoolExecutor(parts) if parts > 1 else None
        self._open: set[int] = set()  # lanes whose groups go on
        self._stretch = min(STRETCH, max(1, TIMELINE_ROOM // room.slots)) if timeline else STRETCH
        # At one tick a warp ends one interval at most; a stretch may end behind its budget by a step of each group.
        intervals = (self._stretch + 2 * groups) * room.slots if timeline else 1
        self._flags = flags_of(machine, coupled, rule is not None)
        self._asked = AskedRule(rule, machine, room.slots, reused) if rule is not None else None
        if rule is not None:  # as it sees them
            parameters[at.Parameters.age] = first_warp_of(workload, launch)
        warps, places, asyncs = groups * room.slots, groups * room.places, part.tally.asyncs > 0
        zeros, like, anything = reused.zeros, reused.like, reused.anything
        shortest = _shortest_blocks(machine, workload, part, self._lanes, parts) if self._lanes else None
        of_group = at.KEPT + len(at.Group) + 1 + at.KEPT_OF_PORT * machine.ports + pipes + 3 * room.slots
        self._state = reused.state(
            parameters=parameters,
            **self._supply.fields(),
            warp=zeros("warp", warps, len(at.Warp)),
            block=zeros("block", places, len(at.Block)),
            port=like("port", free_ports, groups * machine.ports),
            group=self.group,
            shortest=zeros("shortest", 1) if shortest is None else shortest,
            begun=zeros("begun", 1) if begun is None else begun,
            clock=like("clock", empty_clock, groups),
            rings=zeros("rings", groups, at.RINGS, ring),
            bits=like("bits", all_free, groups, room.slots, room.places),
            in_flight=anything("in_flight", warps if outstanding else 1, max(1, outstanding)),
            finishes=anything("finishes", warps if asyncs else 1, ASYNCS),
            booked=zeros("booked", 1, 1, len(at.Booked)) if booked is None else booked.table,
            traffic=zeros("traffic", 1, 1) if traffic is None else traffic,
            path=zeros("path", groups, at.PATH_ROW),
            paths=anything("paths", warps if asyncs and watches else 1, ASYNCS, at.ASYNC_ROW),
            stored=zeros("stored", warps if memory.stores == "at-end" else 1, at.STORED_ROW),
            told=zeros("told", 10),
            partition_updates=zeros("partition_updates", memory.partitions if partitioned and watches else 1),
            unsettled=anything("unsettled", warps if memory.pipe else 1, MOST_UNSETTLED + 1, len(at.Shared)),
            mbarriers=zeros("mbarriers", places if part.tally.mbarriers else 1, MOST_MBARRIERS, len(at.Mbarrier)),
            pools=zeros("pools", places if part.tally.registers else 1, machine.ports),
            waited=zeros("waited", warps if is_ordered(part) else 1, len(at.Waited)),
            products=anything("products", warps if part.tally.products else 1, MOST_UNFINISHED + 1, len(at.Product)),
            product_free=zeros("product_free", groups * int(parameters[at.Parameters.product_pipes])),
            arrivals=zeros("arrivals", groups, (memory.pipe and memory.pipe.misses) or 1),
            port_free=zeros("port_free", groups * memory.ports),
            partition_free=zeros("partition_free", memory.partitions if partitioned else 1),
            partition_writes=zeros("partition_writes", memory.partitions if machine.durations.turnaround else 1),
            rows=like("rows", closed_rows, machine, partitioned),
            tlb=like("tlb", no_translations, machine),
            l1=l1,
            l2=l2,
            l1_sectors=l1_sectors,
            l2_sectors=l2_sectors,
            l2_touched=l2_touched,
            **(below | reused.shared_l1()),
            **reused.slices(slices_of(machine), watches),
            waiting=zeros("waiting", groups, (memory.l2 and memory.l2.waiting_stores) or 1, len(at.Waiting)),
            pipes=reused.pipes,
            pipe_free=zeros("pipe_free", max(1, groups * pipes)),
            queued=zeros("queued", warps if jumps and booked is not None else 1),
            watch=zeros("watch", warps if watches else 1, len(at.Watch)),
            intervals=anything("intervals", intervals, len(at.Interval)),
            **unit_arrays(reused, parameters, self._stretch, groups, room.slots),
            kept=zeros("kept", groups if jumps else 1, of_group if jumps else 1),
            kept_warp=zeros("kept_warp", warps if jumps else 1, len(at.KeptWarp)),
            **cluster_arrays(reused, parameters, machine, part),
            smallest=smallest_blocks(part) if jumps else zeros("smallest", 1),
            **(self._asked.arrays if self._asked is not None else not_asked(reused)),
        )

    @property
    def warps_done(self) -> int:
        """Warps that are done so far."""
        return int(self.group[:, at.Group.done_warps].sum())

    @property
    def tick(self) -> int:
        """The tick that groups which keep one clock have come to."""
        return int(self._state.parameters[at.Parameters.tick])

    @property
    def reached_memory(self) -> bool:
        """Whether any partition of global memory was taken so far, or any sector moved there or from there."""
        return bool(self._state.partition_free.any() or self.group[:, at.Group.memory_sectors].any())

    @property
    def issued(self) -> int:
        """Instructions issued so far."""
        return int(self.group[:, at.Group.issued].sum())

    def go_on(self, steps: int | None = None) -> bool:
        """Simulate a stretch, or about so many steps of groups; True when the launch is over."""
        self._stretch = steps or self._stretch
        if self._lanes and self._open:
            stretches = {lane: self._lanes.submit(self._simulate, at.LANE + lane) for lane in self._open}
            self._open = {lane for lane, stretch in stretches.items() if stretch.result() == at.GO_ON}
            self._make_room()
            return False
        self._state = self._supply.supplied(self._state)
        outcome = self._simulate(1)
        self._make_room()
        if outcome == at.OVER and self._asked is not None:
            self._asked.check_end(self._state)
        if outcome == at.OVER and (living := int(self.group[:, at.Group.living].sum())):
            raise EngineError(waits_for_ever(living))
        if outcome == at.WIDE:
            self._open = set(range(int(self._state.parameters[at.Parameters.lanes])))
        return outcome == at.OVER

    def _simulate(self, mark: int) -> int:
        with self._supply.beside(self._state):
            if self._lanes:  # at the same time as others
                outcome = RUN(self._state, *self._flags, self._stretch, mark)
            else:
                outcome = self._reused.bound(RUN, self._state, *self._flags, self._stretch, mark)()
        if wrong := int(self._state.parameters[at.Parameters.mbarrier]):
            raise EngineError(too_many() if wrong == at.TOO_MANY else not_initialised(wrong - 1))
        if self._state.parameters[at.Parameters.refused]:  # what was lowered before can't be lowered any more
            raise EngineError(f"{self._origin}: launch {self._launch}: its trace has changed meanwhile")
        return outcome

    def _make_room(self) -> None:
        """Twice the room for finishes of asyncs, where a warp needs it. Only what is used of it takes memory."""
        if not self._state.parameters[at.Parameters.full]:
            return
        self._state.parameters[at.Parameters.full] = 0
        old, watches = self._state.finishes, bool(self._state.parameters[at.Parameters.watch])
        warps, room = old.shape
        used = min(2 * room * warps, self._asyncs)
        needed = old.itemsize * used * (1 + at.ASYNC_ROW * watches)
        if needed > available_memory():
            what = "stalls take" if watches else "finishes take"
            way = "simulate without stalls and timeline, or " if watches else ""
            raise EngineError(
                f"{self._origin}: launch {self._launch}: a warp has {room:,} asyncs in flight, whose {what} "
                f"{needed >> 20:,} MiB with those of others, more than there is: {way}give memory.outstanding"
            )
        asyncs = self._state.warp[:, at.Warp.asyncs]
        finishes = table(warps, 2 * room)
        paths = table(warps, 2 * room, at.ASYNC_ROW) if watches else self._state.paths
        for warp in np.flatnonzero(asyncs).tolist():
            numbers = np.maximum(asyncs[warp] - 1 - np.arange(room), 0)  # of those that are kept, counted from 0
            finishes[warp, numbers % (2 * room)] = old[warp, numbers % room]
            if watches:
                paths[warp, numbers % (2 * room)] = self._state.paths[warp, numbers % room]
        self._state = self._state._replace(finishes=finishes, paths=paths)

    def drain(self, begin: int) -> Integers:
        """The intervals of the timeline so far, which are forgotten here; the launch begins at that tick."""
        parameters = self._state.parameters
        rows: Integers = self._state.intervals[: parameters[at.Parameters.intervals]].copy()
        parameters[at.Parameters.intervals] = 0
        if len(rows):  # without a timeline `begin` may not fit 64 bits
            rows[:, [at.Interval.begin, at.Interval.end]] += begin
        return rows

    def drain_units(self, begin: int, is_over: bool) -> Integers:
        """Likewise what units beside the warps did; where the launch is over, what goes on as well."""
        return drained(self._state, begin, is_over)

    def finish(self, left: int | None = None) -> int:
        """The launch's own ticks; up to there, idle groups are empty. left: when it was left, if it was."""
        ticks = int(self.group[:, at.Group.last].max(initial=0)) if left is None else left
        if self._lanes:
            self._lanes.shutdown()
        self._supply.end()
        if self._asked is not None:
            self._asked.end()
        self.group[:, at.GROUP_TIME + WHERE_TIME_GOES.index("empty")] += ticks - self.group[:, at.Group.accounted]
        return ticks


def _shortest_blocks(
    machine: Machine, workload: AnyWorkload, part: Part, threads: ThreadPoolExecutor, parts: int
) -> Integers:
    """The ticks that each block of a launch takes at least."""
    assert isinstance(workload, Workload)  # a stream has no lanes
    takes = machine.durations
    wait = min(takes.latency, takes.l1_latency)
    store_wait = machine.fastest_store if machine.memory.stores == "blocking" else 0
    operations = workload.kind, workload.amount, workload.warp_operations
    shortest = table(part.blocks)

    def fill(number: int) -> None:
        begin, end = (part.blocks * bound // parts for bound in (number, number + 1))
        block_warps = workload.block_warps[part.first + begin : part.first + end + 1]
        waits = takes.issue, wait, store_wait, machine.ticks_per_cycle, machine.memory.pipe is not None
        _SHORTEST_BLOCKS(*operations, block_warps, *waits, shortest[begin:end])

    list(threads.map(fill, range(parts)))
    return shortest
