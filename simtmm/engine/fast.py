"""The fast engine: docs/machine.md, compiled. The same Result as the reference engine, to the tick.

This module lays out the arrays of a launch and calls `fast_core.run` until the launch is over, a stretch at a time, so
that progress shows and Ctrl-C is heard. It shares no rule with engine/reference.py: two writings of one page.
"""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.compiled import Compiled, announced
from simtmm.engine import fast_core as core
from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.machine.tables import Cache
from simtmm.result import WHERE_TIME_GOES, Result
from simtmm.timeline import Timeline
from simtmm.workload import ASYNC, ATOMIC, SHARED, Workload

TIMELINE_ROOM = 1_000_000  # intervals of a timeline between two drains, about
STRETCH = 2_000_000  # steps of groups between two looks at the clock: a fraction of a second
WORTH_SHARING = 200_000  # operations: some milliseconds, a hundred times what handing them to threads takes
LONGEST = 2.0**61  # ticks; sums of two of them fit 64 bits

SCHEDULERS = {
    "fifo": core.FIFO,
    "oldest": core.OLDEST,
    "greedy-oldest": core.GREEDY_OLDEST,
    "round-robin": core.ROUND_ROBIN,
}

Integers = npt.NDArray[np.int64]


def simulate(
    machine: Machine,
    workload: Workload,
    *,
    breakdown: bool = True,
    timeline: bool = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Run every launch from its own tick 0 and sum what they report (sections 1 and 7).

    threads: for core groups that nothing couples. Raises EngineError where the run could be longer than 64-bit ticks
    tell.
    """
    _check_length(machine, workload)
    overhead = machine.ticks(machine.scheduling.launch_overhead)
    if timeline and overhead * workload.launches >= LONGEST:
        raise EngineError(
            f"{workload.origin} on {machine.name}: launch overheads of 2^61 ticks and more, which a timeline can't "
            "tell: leave it out, or use fewer ticks_per_cycle"
        )
    sums = np.zeros(core.GROUP_ROW, dtype=object)  # Python's integers: no sum overflows
    launch_ticks: list[int] = []
    intervals = [np.empty((0, 6), np.int64)]
    for launch in range(workload.launches):
        state = _Launch(machine, workload, launch, breakdown, timeline, threads)
        done = int(sums[core.GROUP_DONE_WARPS])
        begin = sum(launch_ticks) + overhead
        while not state.go_on():
            intervals.append(state.drain(begin))
            if progress:
                progress(done + state.warps_done, workload.warps)
        intervals.append(state.drain(begin))
        launch_ticks.append(overhead + state.finish())
        sums += state.group.sum(axis=0)
        if progress:
            progress(int(sums[core.GROUP_DONE_WARPS]), workload.warps)
    time = {name: int(sums[core.GROUP_TIME + index]) for index, name in enumerate(WHERE_TIME_GOES)}
    return Result(
        ticks=sum(launch_ticks),
        issued=int(sums[core.GROUP_ISSUED]),
        transactions=int(sums[core.GROUP_TRANSACTIONS]),
        l1_hits=int(sums[core.GROUP_L1_HITS]),
        l2_hits=int(sums[core.GROUP_L2_HITS]),
        port_busy=int(sums[core.GROUP_PORT_BUSY]),
        time=time if breakdown else None,
        launch_ticks=tuple(launch_ticks),
        ticks_per_cycle=machine.ticks_per_cycle,
        clock_hz=machine.clock_hz,
        engine="fast",
        timeline=Timeline.from_rows(np.concatenate(intervals)) if timeline else None,
    )


@contextlib.contextmanager
def _compilation_announced(variant: tuple[int, ...]) -> Iterator[None]:
    """Say so where the first call of a variant compiles it."""
    if variant in _called:
        yield
        return
    with announced("the fast engine for this kind of machine"):
        yield
    _called.add(variant)


_called: set[tuple[int, ...]] = set()  # variants that are compiled; a timer takes longer than a small launch


_RUN, _SHORTEST_BLOCKS, _WARM = (
    Compiled(function, runtime=False) for function in (core.run, core.shortest_blocks, core.warm)
)


class _Launch:
    """The arrays of one launch."""

    def __init__(
        self, machine: Machine, workload: Workload, launch: int, breakdown: bool, timeline: bool, threads: int
    ) -> None:
        memory = machine.memory
        groups = machine.cores.groups
        first, last = (int(block) for block in workload.launch_blocks[launch : launch + 2])
        block_warps = np.diff(workload.block_warps[first : last + 1])
        warps = slice(*workload.block_warps[[first, last]])
        operations = slice(*workload.warp_operations[[warps.start, warps.stop]])
        has_asyncs = bool((workload.kind[operations] == ASYNC).any())
        outstanding = _outstanding(machine, workload, warps) if has_asyncs else 0

        # Slots and places: what a group can hold of this launch at most.
        largest = max(1, int(block_warps.max(initial=0)))
        most_blocks = min(
            limit
            for limit in (machine.limits.blocks_per_group, int(workload.launch_limits[launch]) or None, int(core.NEVER))
            if limit is not None
        )
        slots = max(1, min(machine.warps_per_group, int(block_warps.sum()), most_blocks * largest))
        smallest = max(1, int(block_warps.min(initial=largest)))
        places = max(1, min(most_blocks, slots // smallest, last - first))
        ring = 1 << int(slots).bit_length()

        # A partition that takes no time for anything in this launch holds nobody up.
        updates = bool((workload.kind[operations] == ATOMIC).any())
        taken = memory.service, memory.turnaround, _row_opening(machine), memory.atomic_service if updates else 0
        partitioned = any(machine.ticks(duration) for duration in taken)
        # One group's events change another's through partitions, through the L2, or through uneven blocks: where all
        # blocks are alike, only a group whose block ends can take the next one.
        uneven = len(block_warps) > 0 and (block_warps.min() == 0 or block_warps.min() != block_warps.max())
        coupled = partitioned or memory.l2 is not None or uneven
        # In lanes, blocks that follow one another have to be long enough to be worth it; a timeline is one list.
        lanes = 1 if coupled or timeline else min(threads, groups)
        block_operations = (operations.stop - operations.start) // max(1, last - first)
        parameters = _parameters(machine)
        parameters[core.P_FIRST_BLOCK] = first
        parameters[core.P_TIMELINE] = timeline
        parameters[core.P_LANES] = lanes
        parameters[core.P_WIDE] = max(2, -(-WORTH_SHARING // max(1, block_operations)))
        parameters[core.P_SLOTS] = slots
        parameters[core.P_RING] = ring
        parameters[core.P_BLOCKS] = places
        parameters[core.P_OUTSTANDING] = outstanding
        parameters[core.P_MOST_BLOCKS] = most_blocks
        parameters[core.P_PARTITIONED] = partitioned
        parameters[core.P_BREAKDOWN] = breakdown

        self.group = np.zeros((groups, core.GROUP_ROW), dtype=np.int64)
        self.group[:, core.GROUP_GRANTED_SLOT] = -1
        self.group[:, core.GROUP_GRANTED_AGE] = -1
        port = np.full((groups * machine.ports, core.PORT_ROW), core.NEVER, dtype=np.int64)
        clock = _table(2, groups)
        clock[core.NEXT] = core.NEVER
        parameters[[core.R_PENDING, core.R_LAST_BLOCK]] = first, last
        self._lanes = ThreadPoolExecutor(lanes) if lanes > 1 else None
        self._open: set[int] = set()  # lanes whose groups go on
        self._stretch = min(STRETCH, max(1, TIMELINE_ROOM // slots)) if timeline else STRETCH
        # At one tick a warp ends one interval at most; a stretch may end behind its budget by a step of each group.
        room = (self._stretch + 2 * groups) * slots if timeline else 1
        self._flags = [
            np.empty((0,) * value, dtype=np.int64)
            for value in (
                core.YES if coupled else core.NO,
                core.ON_STALL if machine.scheduling.switch == "on-stall" else core.EVERY_INSTRUCTION,
                core.YES if self._has_path(machine) else core.NO,
                core.QUEUE if machine.scheduling.scheduler == "fifo" else core.BITS,
            )
        ]
        warm = memory.l2 is not None and memory.l2.start == "warm"
        self._launch = core.State(
            parameters=parameters,
            kind=workload.kind,
            amount=workload.amount,
            chunks=workload.chunks,
            warp_operations=workload.warp_operations,
            warp_chunks=workload.warp_chunks,
            block_warps=workload.block_warps,
            warp=_table(groups * slots, core.WARP_ROW),
            block=_table(groups * places, core.BLOCK_ROW),
            port=port,
            group=self.group,
            shortest=_shortest_blocks(machine, workload, first, last, self._lanes, lanes) if self._lanes else _table(1),
            clock=clock,
            rings=_table(groups, core.FINISHED + 1, ring),
            bits=_bits(groups, slots, places),
            in_flight=np.full((groups * slots if outstanding else 1, max(1, outstanding)), -1, dtype=np.int64),
            finishes=np.empty(len(workload.kind) if has_asyncs else 1, dtype=np.int64),
            partition_free=_table(memory.partitions if partitioned else 1),
            partition_writes=_table(memory.partitions if machine.ticks(memory.turnaround) else 1),
            rows=_rows(machine, partitioned),
            l1=_lines(groups, memory.l1),
            l2=_warm_lines(machine, workload, operations, warps) if warm else _lines(1, memory.l2),
            slice_free=_table(memory.partitions if memory.l2 and machine.ticks(memory.l2.service) else 1),
            watch=_table(groups * slots if timeline else 1, core.WATCH_ROW),
            intervals=np.empty((room, 6), dtype=np.int64),
        )

    @staticmethod
    def _has_path(machine: Machine) -> bool:
        """Whether a transfer may take anything but L: ports, partitions, caches, or one after another."""
        memory = machine.memory
        durations = (memory.port_interval, memory.service, memory.atomic_service, memory.turnaround)
        busy = any(machine.ticks(duration) for duration in (*durations, _row_opening(machine)))
        return busy or memory.transfers == "serial" or memory.l1 is not None or memory.l2 is not None

    @property
    def warps_done(self) -> int:
        """Warps that are done so far."""
        return int(self.group[:, core.GROUP_DONE_WARPS].sum())

    def go_on(self) -> bool:
        """Simulate a stretch; True when the launch is over."""
        if self._lanes and self._open:
            stretches = {lane: self._lanes.submit(self._simulate, core.LANE + lane) for lane in self._open}
            self._open = {lane for lane, stretch in stretches.items() if stretch.result() == core.GO_ON}
            return False
        with _compilation_announced(tuple(flag.ndim for flag in self._flags)):
            outcome = self._simulate(1)
        if outcome == core.WIDE:
            self._open = set(range(int(self._launch.parameters[core.P_LANES])))
        return outcome == core.OVER

    def _simulate(self, mark: int) -> int:
        return int(_RUN(self._launch, *self._flags, self._stretch, mark))

    def drain(self, begin: int) -> Integers:
        """The intervals of the timeline so far, which are forgotten here; the launch begins at that tick."""
        parameters = self._launch.parameters
        rows: Integers = self._launch.intervals[: parameters[core.R_INTERVALS]].copy()
        parameters[core.R_INTERVALS] = 0
        if len(rows):  # without a timeline `begin` may not fit 64 bits
            rows[:, 4:] += begin
        return rows

    def finish(self) -> int:
        """The launch's own ticks; up to there, idle groups are empty."""
        ticks = int(self.group[:, core.GROUP_LAST].max(initial=0))
        if self._lanes:
            self._lanes.shutdown()
        self.group[:, core.GROUP_TIME + WHERE_TIME_GOES.index("empty")] += ticks - self.group[:, core.GROUP_ACCOUNTED]
        return ticks


def _check_length(machine: Machine, workload: Workload) -> None:
    """The sum of everything one after another bounds every tick; it must stay well within 64 bits."""
    memory, scheduling, ticks = machine.memory, machine.scheduling, machine.ticks
    caches = [cache.latency for cache in (memory.l1, memory.l2) if cache]
    longest = max(ticks(latency) for latency in (memory.latency, _store_latency(machine), *caches))
    taken = max(ticks(memory.service), ticks(memory.atomic_service)) + ticks(memory.turnaround)
    taken += ticks(_row_opening(machine))
    if memory.l2:  # its slice, and the partition of a chunk that is written back
        taken += ticks(memory.l2.service) + ticks(memory.service)
        taken += ticks(memory.turnaround) + ticks(_row_opening(machine))
    chunk = longest + ticks(memory.port_interval) + taken
    start = ticks(scheduling.block_launch) + ticks(scheduling.warp_launch)
    each = ticks(machine.issue_cycles) + ticks(scheduling.pipeline_depth)

    def bound(held: float) -> float:
        others = chunk * (len(workload.chunks) + 1) + start * (workload.warps + 1)
        return each * (held + workload.operations + 1) + others

    # Rarely does it take the sum itself to see that it is no more than it may be.
    most = float(workload.amount.max(initial=0)) * workload.operations
    if bound(most) < LONGEST:
        return
    if bound(float(workload.amount[workload.kind <= SHARED].sum(dtype=np.float64))) >= LONGEST:
        raise EngineError(
            f"{workload.origin} on {machine.name}: could take 2^61 ticks and more, which engine 'fast' can't count; "
            "use engine 'reference', or fewer ticks_per_cycle"
        )


def _store_latency(machine: Machine) -> float:
    """What a store takes in the place of L, in cycles."""
    memory = machine.memory
    return memory.latency if memory.store_latency is None else memory.store_latency


def _row_opening(machine: Machine) -> float:
    """What it takes a partition to open a row, in cycles."""
    return machine.memory.rows.opening if machine.memory.rows else 0.0


def _rows(machine: Machine, partitioned: bool) -> Integers:
    """The rows of all partitions, none of them open."""
    rows = machine.memory.rows
    shape = (machine.memory.partitions, rows.open, 2) if rows and partitioned else (1, 1, 2)
    return np.full(shape, -1, dtype=np.int64)


def _parameters(machine: Machine) -> Integers:
    """What stays the same over launches; see core.P_*."""
    memory, scheduling, ticks = machine.memory, machine.scheduling, machine.ticks
    parameters = np.zeros(core.PARAMETERS, dtype=np.int64)
    parameters[core.P_GROUPS] = machine.cores.groups
    parameters[core.P_PORTS] = machine.ports
    parameters[core.P_ROOM] = machine.warps_per_group
    parameters[core.P_ISSUE] = ticks(machine.issue_cycles)
    parameters[core.P_DEPTH] = ticks(scheduling.pipeline_depth)
    parameters[core.P_BLOCK_LAUNCH] = ticks(scheduling.block_launch)
    parameters[core.P_WARP_LAUNCH] = ticks(scheduling.warp_launch)
    parameters[core.P_LATENCY] = ticks(memory.latency)
    parameters[core.P_STORE_LATENCY] = ticks(_store_latency(machine))
    parameters[core.P_TURNAROUND] = ticks(memory.turnaround)
    parameters[core.P_DROPS] = memory.l1 is not None and memory.l1_after_store == "drop"
    parameters[core.P_PORT_INTERVAL] = ticks(memory.port_interval)
    parameters[core.P_PORT_CHUNKS] = memory.port_chunks
    parameters[core.P_SERVICE] = ticks(memory.service)
    parameters[core.P_ATOMIC_SERVICE] = ticks(memory.atomic_service)
    parameters[core.P_SCHEDULER] = SCHEDULERS[scheduling.scheduler]
    parameters[core.P_PARTITIONS] = memory.partitions
    parameters[core.P_HASHED] = memory.interleave == "hash"
    parameters[core.P_BLOCKING] = memory.stores == "blocking"
    parameters[core.P_SERIAL] = memory.transfers == "serial"
    if memory.rows:
        parameters[core.P_ROW_CHUNKS] = memory.rows.chunks * memory.partitions
        parameters[core.P_OPEN_ROWS] = memory.rows.open
        parameters[core.P_ROW_OPENING] = ticks(memory.rows.opening)
    if memory.l1:
        parameters[[core.P_L1_SETS, core.P_L1_WAYS]] = memory.l1.sets, memory.l1.ways
        parameters[core.P_L1_LATENCY] = ticks(memory.l1.latency)
    if memory.l2:
        parameters[[core.P_L2_SETS, core.P_L2_WAYS]] = memory.l2.sets, memory.l2.ways
        parameters[core.P_L2_LATENCY] = ticks(memory.l2.latency)
        parameters[core.P_L2_SERVICE] = ticks(memory.l2.service)
        parameters[core.P_WRITES_BACK] = memory.l2.writes == "back"
    return parameters


def _shortest_blocks(
    machine: Machine, workload: Workload, first: int, last: int, lanes: ThreadPoolExecutor, parts: int
) -> Integers:
    """The ticks that each block of a launch takes at least."""
    memory = machine.memory
    issue, latency = machine.ticks(machine.issue_cycles), machine.ticks(memory.latency)
    wait = min(latency, machine.ticks(memory.l1.latency)) if memory.l1 else latency
    store_wait = machine.ticks(_store_latency(machine)) if memory.stores == "blocking" else 0
    operations = workload.kind, workload.amount, workload.warp_operations
    shortest = _table(last - first)

    def fill(part: int) -> None:
        begin, end = ((last - first) * bound // parts for bound in (part, part + 1))
        block_warps = workload.block_warps[first + begin : first + end + 1]
        _SHORTEST_BLOCKS(*operations, block_warps, issue, wait, store_wait, shortest[begin:end])

    list(lanes.map(fill, range(parts)))
    return shortest


def _outstanding(machine: Machine, workload: Workload, warps: slice) -> int:
    """The limit on asyncs in flight, 0 where none of these warps has enough of them to reach it."""
    limit = machine.memory.outstanding
    if limit is None:
        return 0
    ends = workload.warp_operations[warps.start : warps.stop + 1]
    asyncs = np.flatnonzero(workload.kind[ends[0] : ends[-1]] == ASYNC)
    most = int(np.diff(np.searchsorted(asyncs, ends - ends[0])).max(initial=0))
    return limit if most > limit else 0


def _table(*shape: int) -> Integers:
    return np.zeros(shape, dtype=np.int64)


def _lines(caches: int, cache: Cache | None) -> Integers:
    """The lines of some caches, a row a set, a chunk and its fill time each; no chunk has the number -1."""
    return np.full((caches * cache.sets, cache.ways, 2) if cache else (1, 1, 2), -1, dtype=np.int64)


def _warm_lines(machine: Machine, workload: Workload, operations: slice, warps: slice) -> Integers:
    """The lines of the L2 as an earlier run of these warps leaves them."""
    l2 = machine.memory.l2
    assert l2 is not None
    lines = _lines(1, l2)
    chunks = workload.chunks[slice(*workload.warp_chunks[[warps.start, warps.stop]])]
    made = workload.kind[operations], workload.amount[operations], chunks
    _WARM(lines, *made, l2.writes == "back")
    return lines


def _bits(groups: int, slots: int, places: int) -> npt.NDArray[Any]:
    """No ready slot; all slots and all places free."""
    words = -(-max(slots, places) // 64)
    bits = np.zeros((groups, core.FREE_BLOCKS + 1, words), dtype=np.uint64)
    for which, count in ((core.FREE_SLOTS, slots), (core.FREE_BLOCKS, places)):
        bits[:, which, : count // 64] = ~np.uint64(0)
        if count % 64:
            bits[:, which, count // 64] = np.uint64((1 << (count % 64)) - 1)
    return bits
