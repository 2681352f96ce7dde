"""A launch: its arrays, laid out from a machine and a workload, and the calls of the compiled loops that go on with it.

Nothing that is compiled owns memory: the arrays are made here.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from simtmm.engine.fast import cache, lanes, loop
from simtmm.engine.fast import layout as at
from simtmm.engine.fast.part import Part, Room, is_coupled, takes_partitions
from simtmm.engine.fast.tables import (
    Integers,
    all_free,
    closed_rows,
    empty_clock,
    empty_groups,
    empty_lines,
    flags_of,
    parameters_of,
    table,
)
from simtmm.machine import Machine
from simtmm.native import Loop
from simtmm.result import WHERE_TIME_GOES
from simtmm.workload import ASYNC, COMPUTE, Workload

TIMELINE_ROOM = 1_000_000  # intervals of a timeline between two drains, about
STRETCH = 2_000_000  # steps of groups between two looks at the clock: a fraction of a second
WORTH_SHARING = 200_000  # operations: some milliseconds, a hundred times what handing them to threads takes
LONG_COMPUTE = 64  # instructions: so many are worth it to look for what recurs

RUN = Loop(loop.run, ("coupled", "switch", "memory", "order"), "the fast engine for this kind of machine")
_SHORTEST_BLOCKS, _WARM = Loop(lanes.shortest_blocks), Loop(cache.warm)


def is_compiled(machine: Machine, workload: Workload) -> bool:
    """Whether all that a workload needs on a machine is there, in this process or in the user's cache."""
    needed = {
        tuple(flags_of(machine, is_coupled(machine, Part.of(workload, launch)))) for launch in range(workload.launches)
    }
    return all(RUN.is_compiled(flags) for flags in needed)


class Launch:
    """The state of one launch, from tick 0 to its end."""

    def __init__(
        self, machine: Machine, workload: Workload, launch: int, breakdown: bool, timeline: bool, threads: int
    ) -> None:
        part = Part.of(workload, launch)
        room = Room.of(machine, part)
        groups, memory = machine.cores.groups, machine.memory
        partitioned, coupled = takes_partitions(machine, part), is_coupled(machine, part)
        # In lanes, blocks that follow one another have to be long enough to be worth it; a timeline is one list.
        parts = 1 if coupled or timeline else min(threads, groups)
        has_asyncs = part.has(ASYNC)
        outstanding = _outstanding(machine, part) if has_asyncs else 0
        jumps = not timeline and _has_long_computes(machine, part)

        parameters = parameters_of(machine)
        parameters[at.P_FIRST_BLOCK] = part.first
        parameters[at.P_TIMELINE] = timeline
        parameters[at.P_LANES] = parts
        parameters[at.P_WIDE] = _worth_sharing(part)
        parameters[at.P_SLOTS] = room.slots
        parameters[at.P_RING] = ring = 1 << (room.slots - 1).bit_length()
        parameters[at.P_BLOCKS] = room.places
        parameters[at.P_OUTSTANDING] = outstanding
        parameters[at.P_MOST_BLOCKS] = room.most_blocks
        parameters[at.P_PARTITIONED] = partitioned
        parameters[at.P_BREAKDOWN] = breakdown
        parameters[at.P_JUMPS] = jumps
        parameters[[at.R_PENDING, at.R_LAST_BLOCK]] = part.first, part.last

        self.group = empty_groups(groups)
        self._lanes = ThreadPoolExecutor(parts) if parts > 1 else None
        self._open: set[int] = set()  # lanes whose groups go on
        self._stretch = min(STRETCH, max(1, TIMELINE_ROOM // room.slots)) if timeline else STRETCH
        # At one tick a warp ends one interval at most; a stretch may end behind its budget by a step of each group.
        intervals = (self._stretch + 2 * groups) * room.slots if timeline else 1
        self._flags = flags_of(machine, coupled)
        self._state = at.State(
            parameters=parameters,
            kind=workload.kind,
            amount=workload.amount,
            chunks=workload.chunks,
            warp_operations=workload.warp_operations,
            warp_chunks=workload.warp_chunks,
            block_warps=workload.block_warps,
            warp=table(groups * room.slots, at.WARP_ROW),
            block=table(groups * room.places, at.BLOCK_ROW),
            port=np.full((groups * machine.ports, at.PORT_ROW), at.NEVER, dtype=np.int64),
            group=self.group,
            shortest=_shortest_blocks(machine, part, self._lanes, parts) if self._lanes else table(1),
            clock=empty_clock(groups),
            rings=table(groups, at.RINGS, ring),
            bits=all_free(groups, room.slots, room.places),
            in_flight=np.full((groups * room.slots if outstanding else 1, max(1, outstanding)), -1, dtype=np.int64),
            finishes=np.empty(len(workload.kind) if has_asyncs else 1, dtype=np.int64),
            partition_free=table(memory.partitions if partitioned else 1),
            partition_writes=table(memory.partitions if machine.durations.turnaround else 1),
            rows=closed_rows(machine, partitioned),
            l1=empty_lines(groups, memory.l1),
            l2=_shared_lines(machine, part),
            slice_free=table(memory.partitions if machine.durations.l2_service else 1),
            watch=table(groups * room.slots if timeline else 1, at.WATCH_ROW),
            intervals=np.empty((intervals, at.INTERVAL_ROW), dtype=np.int64),
            kept=table(groups, at.KEPT + at.GROUP_ROW + 1 + 3 * machine.ports + 3 * room.slots)
            if jumps
            else table(1, 1),
            kept_warp=table(groups * room.slots if jumps else 1, 2),
            smallest=_smallest_blocks(part) if jumps else table(1),
        )

    @property
    def warps_done(self) -> int:
        """Warps that are done so far."""
        return int(self.group[:, at.GROUP_DONE_WARPS].sum())

    def go_on(self) -> bool:
        """Simulate a stretch; True when the launch is over."""
        if self._lanes and self._open:
            stretches = {lane: self._lanes.submit(self._simulate, at.LANE + lane) for lane in self._open}
            self._open = {lane for lane, stretch in stretches.items() if stretch.result() == at.GO_ON}
            return False
        outcome = self._simulate(1)
        if outcome == at.WIDE:
            self._open = set(range(int(self._state.parameters[at.P_LANES])))
        return outcome == at.OVER

    def _simulate(self, mark: int) -> int:
        return RUN(self._state, *self._flags, self._stretch, mark)

    def drain(self, begin: int) -> Integers:
        """The intervals of the timeline so far, which are forgotten here; the launch begins at that tick."""
        parameters = self._state.parameters
        rows: Integers = self._state.intervals[: parameters[at.R_INTERVALS]].copy()
        parameters[at.R_INTERVALS] = 0
        if len(rows):  # without a timeline `begin` may not fit 64 bits
            rows[:, [at.INTERVAL_BEGIN, at.INTERVAL_END]] += begin
        return rows

    def finish(self) -> int:
        """The launch's own ticks; up to there, idle groups are empty."""
        ticks = int(self.group[:, at.GROUP_LAST].max(initial=0))
        if self._lanes:
            self._lanes.shutdown()
        self.group[:, at.GROUP_TIME + WHERE_TIME_GOES.index("empty")] += ticks - self.group[:, at.GROUP_ACCOUNTED]
        return ticks


def _worth_sharing(part: Part) -> int:
    """How many groups that go on at once, a block each, are worth being shared out to lanes."""
    operations = part.operations
    block_operations = int(operations.stop - operations.start) // max(1, part.blocks)
    return max(2, -(-WORTH_SHARING // max(1, block_operations)))


def _outstanding(machine: Machine, part: Part) -> int:
    """The limit on asyncs in flight, 0 where no warp has enough of them to reach it."""
    limit = machine.memory.outstanding or 0
    ends = part.workload.warp_operations[part.warps.start : part.warps.stop + 1]
    asyncs = np.flatnonzero(part.workload.kind[ends[0] : ends[-1]] == ASYNC)
    most = int(np.diff(np.searchsorted(asyncs, ends - ends[0])).max(initial=0))
    return limit if most > limit else 0


def _has_long_computes(machine: Machine, part: Part) -> bool:
    """Whether an operation takes many grants."""
    if machine.scheduling.switch == "on-stall":
        return False
    kind, amount = part.workload.kind[part.operations], part.workload.amount[part.operations]
    return bool(((kind == COMPUTE) & (amount >= LONG_COMPUTE)).any())


def _smallest_blocks(part: Part) -> Integers:
    """The fewest warps of a block, of each block and those behind it."""
    return np.minimum.accumulate(part.block_warps[::-1])[::-1].copy()


def _shortest_blocks(machine: Machine, part: Part, threads: ThreadPoolExecutor, parts: int) -> Integers:
    """The ticks that each block of a launch takes at least."""
    takes, workload = machine.durations, part.workload
    wait = min(takes.latency, takes.l1_latency)
    store_wait = takes.store_latency if machine.memory.stores == "blocking" else 0
    operations = workload.kind, workload.amount, workload.warp_operations
    shortest = table(part.blocks)

    def fill(number: int) -> None:
        begin, end = (part.blocks * bound // parts for bound in (number, number + 1))
        block_warps = workload.block_warps[part.first + begin : part.first + end + 1]
        waits = takes.issue, wait, store_wait, machine.ticks_per_cycle
        _SHORTEST_BLOCKS(*operations, block_warps, *waits, shortest[begin:end])

    list(threads.map(fill, range(parts)))
    return shortest


def _shared_lines(machine: Machine, part: Part) -> Integers:
    """The lines of the L2: empty, or as an earlier run of these warps leaves them."""
    l2 = machine.memory.l2
    lines = empty_lines(1, l2)
    if l2 and l2.start == "warm":
        workload, warps = part.workload, part.warps
        chunks = workload.chunks[slice(*workload.warp_chunks[[warps.start, warps.stop]])]
        listed = workload.kind[part.operations], workload.amount[part.operations], chunks
        _WARM(lines, *listed, l2.writes == "back")
    return lines
