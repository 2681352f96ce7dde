"""A launch: its arrays, laid out from a machine and a workload, and the calls of the compiled loops that go on with it.

Nothing that is compiled owns memory: the arrays are made here, and the loops are compiled without Numba's runtime,
which would count references to them.
"""

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from simtmm.compiled import Compiled, announced
from simtmm.engine.fast import cache, lanes, loop
from simtmm.engine.fast import layout as at
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
from simtmm.result import WHERE_TIME_GOES
from simtmm.workload import ASYNC, ATOMIC, Workload

TIMELINE_ROOM = 1_000_000  # intervals of a timeline between two drains, about
STRETCH = 2_000_000  # steps of groups between two looks at the clock: a fraction of a second
WORTH_SHARING = 200_000  # operations: some milliseconds, a hundred times what handing them to threads takes

_RUN, _SHORTEST_BLOCKS, _WARM = (
    Compiled(function, runtime=False) for function in (loop.run, lanes.shortest_blocks, cache.warm)
)
_called: set[tuple[int, ...]] = set()  # sets of flags that are compiled; a timer takes longer than a small launch


@dataclass(frozen=True)
class _Part:
    """The part of a workload that a launch is: its blocks, from the first up to the last, that one left out."""

    workload: Workload
    first: int
    last: int
    limit: int | None

    @classmethod
    def of(cls, workload: Workload, launch: int) -> "_Part":
        first, last = (int(block) for block in workload.launch_blocks[launch : launch + 2])
        return cls(workload, first, last, int(workload.launch_limits[launch]) or None)

    @property
    def blocks(self) -> int:
        return self.last - self.first

    @property
    def block_warps(self) -> Integers:
        """Warps of each block."""
        return np.diff(self.workload.block_warps[self.first : self.last + 1])

    @property
    def warps(self) -> slice:
        return slice(*self.workload.block_warps[[self.first, self.last]])

    @property
    def operations(self) -> slice:
        warps = self.warps
        return slice(*self.workload.warp_operations[[warps.start, warps.stop]])

    def has(self, kind: int) -> bool:
        """Whether some operation is of that kind."""
        return bool((self.workload.kind[self.operations] == kind).any())

    @property
    def is_uneven(self) -> bool:
        """Whether a block has no warps, or another number of them than the next."""
        sizes = self.block_warps
        return len(sizes) > 0 and bool(sizes.min() == 0 or sizes.min() != sizes.max())


@dataclass(frozen=True)
class _Room:
    """What a group can hold of a launch at most. most_blocks: as far as limits go; places: no more than there are."""

    slots: int
    places: int
    most_blocks: int

    @classmethod
    def of(cls, machine: Machine, part: _Part) -> "_Room":
        sizes = part.block_warps
        largest = max(1, int(sizes.max(initial=0)))
        smallest = max(1, int(sizes.min(initial=largest)))
        limits = (machine.limits.blocks_per_group, part.limit, int(at.NEVER))
        most_blocks = min(limit for limit in limits if limit is not None)
        slots = max(1, min(machine.warps_per_group, int(sizes.sum()), most_blocks * largest))
        return cls(slots, max(1, min(most_blocks, slots // smallest, part.blocks)), most_blocks)


class Launch:
    """The state of one launch, from tick 0 to its end."""

    def __init__(
        self, machine: Machine, workload: Workload, launch: int, breakdown: bool, timeline: bool, threads: int
    ) -> None:
        part = _Part.of(workload, launch)
        room = _Room.of(machine, part)
        groups, memory = machine.cores.groups, machine.memory
        partitioned = _takes_partitions(machine, part)
        # One group's events change another's through partitions, through the L2, or through uneven blocks: where all
        # blocks are alike, only a group whose block ends can take the next one.
        coupled = partitioned or memory.l2 is not None or part.is_uneven
        # In lanes, blocks that follow one another have to be long enough to be worth it; a timeline is one list.
        parts = 1 if coupled or timeline else min(threads, groups)
        has_asyncs = part.has(ASYNC)
        outstanding = _outstanding(machine, part) if has_asyncs else 0

        parameters = parameters_of(machine)
        parameters[at.P_FIRST_BLOCK] = part.first
        parameters[at.P_TIMELINE] = timeline
        parameters[at.P_LANES] = parts
        parameters[at.P_WIDE] = _worth_sharing(part)
        parameters[at.P_SLOTS] = room.slots
        parameters[at.P_RING] = ring = 1 << room.slots.bit_length()
        parameters[at.P_BLOCKS] = room.places
        parameters[at.P_OUTSTANDING] = outstanding
        parameters[at.P_MOST_BLOCKS] = room.most_blocks
        parameters[at.P_PARTITIONED] = partitioned
        parameters[at.P_BREAKDOWN] = breakdown
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
        with _compilation_announced(tuple(flag.ndim for flag in self._flags)):
            outcome = self._simulate(1)
        if outcome == at.WIDE:
            self._open = set(range(int(self._state.parameters[at.P_LANES])))
        return outcome == at.OVER

    def _simulate(self, mark: int) -> int:
        outcome: int = _RUN(self._state, *self._flags, self._stretch, mark)
        return outcome

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


@contextlib.contextmanager
def _compilation_announced(flags: tuple[int, ...]) -> Iterator[None]:
    """Say so where the first call with a set of flags compiles it."""
    if flags in _called:
        yield
        return
    with announced("the fast engine for this kind of machine"):
        yield
    _called.add(flags)


def _takes_partitions(machine: Machine, part: _Part) -> bool:
    """Whether a partition takes time for anything in this launch; else it holds nobody up."""
    takes = machine.durations
    always = takes.service or takes.turnaround or takes.row_opening
    return bool(always or (takes.atomic_service and part.has(ATOMIC)))


def _worth_sharing(part: _Part) -> int:
    """How many groups that go on at once, a block each, are worth being shared out to lanes."""
    operations = part.operations
    block_operations = int(operations.stop - operations.start) // max(1, part.blocks)
    return max(2, -(-WORTH_SHARING // max(1, block_operations)))


def _outstanding(machine: Machine, part: _Part) -> int:
    """The limit on asyncs in flight, 0 where no warp has enough of them to reach it."""
    limit = machine.memory.outstanding or 0
    ends = part.workload.warp_operations[part.warps.start : part.warps.stop + 1]
    asyncs = np.flatnonzero(part.workload.kind[ends[0] : ends[-1]] == ASYNC)
    most = int(np.diff(np.searchsorted(asyncs, ends - ends[0])).max(initial=0))
    return limit if most > limit else 0


def _shortest_blocks(machine: Machine, part: _Part, threads: ThreadPoolExecutor, parts: int) -> Integers:
    """The ticks that each block of a launch takes at least."""
    takes, workload = machine.durations, part.workload
    wait = min(takes.latency, takes.l1_latency)
    store_wait = takes.store_latency if machine.memory.stores == "blocking" else 0
    operations = workload.kind, workload.amount, workload.warp_operations
    shortest = table(part.blocks)

    def fill(number: int) -> None:
        begin, end = (part.blocks * bound // parts for bound in (number, number + 1))
        block_warps = workload.block_warps[part.first + begin : part.first + end + 1]
        _SHORTEST_BLOCKS(*operations, block_warps, takes.issue, wait, store_wait, shortest[begin:end])

    list(threads.map(fill, range(parts)))
    return shortest


def _shared_lines(machine: Machine, part: _Part) -> Integers:
    """The lines of the L2: empty, or as an earlier run of these warps leaves them."""
    l2 = machine.memory.l2
    lines = empty_lines(1, l2)
    if l2 and l2.start == "warm":
        workload, warps = part.workload, part.warps
        chunks = workload.chunks[slice(*workload.warp_chunks[[warps.start, warps.stop]])]
        listed = workload.kind[part.operations], workload.amount[part.operations], chunks
        _WARM(lines, *listed, l2.writes == "back")
    return lines
