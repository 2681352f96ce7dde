"""The fast engine: docs/machine.md, compiled. The same Result as the reference engine, to the tick.

This module lays out the arrays of a launch and calls `fast_core.run` until the launch is over, a stretch at a time, so
that progress shows and Ctrl-C is heard. It shares no rule with engine/reference.py: two writings of one page.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.engine import fast_core as core
from simtmm.machine import Machine
from simtmm.result import WHERE_TIME_GOES, Result
from simtmm.workload import ASYNC, ATOMIC, Workload

STRETCH = 2_000_000  # steps of groups between two looks at the clock: a fraction of a second

SWITCHES = {"on-stall": core.ON_STALL, "every-instruction": core.EVERY_INSTRUCTION}
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
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Run every launch from its own tick 0 and sum what they report (sections 1 and 7)."""
    overhead = machine.ticks(machine.scheduling.launch_overhead)
    sums = np.zeros(core.GROUP_ROW, dtype=object)  # Python's integers: no sum overflows
    launch_ticks = []
    for launch in range(workload.launches):
        state = _Launch(machine, workload, launch, breakdown)
        done = int(sums[core.GROUP_DONE_WARPS])
        while not state.go_on():
            if progress:
                progress(done + state.warps_done, workload.warps)
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
    )


class _Launch:
    """The arrays of one launch."""

    def __init__(self, machine: Machine, workload: Workload, launch: int, breakdown: bool) -> None:
        memory = machine.memory
        groups = machine.cores.groups
        first, last = (int(block) for block in workload.launch_blocks[launch : launch + 2])
        block_warps = np.diff(workload.block_warps[first : last + 1])
        operations = slice(*workload.warp_operations[workload.block_warps[[first, last]]])
        has_asyncs = bool((workload.kind[operations] == ASYNC).any())
        outstanding = _outstanding(machine, workload, operations) if has_asyncs else 0

        # Slots and places: what a group can hold of this launch at most.
        largest = max(1, int(block_warps.max(initial=0)))
        most_blocks = min(
            limit
            for limit in (machine.limits.blocks_per_group, int(workload.launch_limits[launch]) or None, int(core.NEVER))
            if limit is not None
        )
        slots = max(1, min(machine.warps_per_group, int(block_warps.sum()), most_blocks * largest))
        places = max(1, min(most_blocks, slots, last - first))
        ring = 1 << int(slots).bit_length()

        # A partition that takes no time for anything in this launch holds nobody up.
        updates = bool((workload.kind[operations] == ATOMIC).any())
        partitioned = bool(machine.ticks(memory.service) or (updates and machine.ticks(memory.atomic_service)))
        # One group's events change another's through partitions, through the L2, or through uneven blocks: where all
        # blocks are alike, only a group whose block ends can take the next one.
        uneven = len(block_warps) > 0 and (block_warps.min() == 0 or block_warps.min() != block_warps.max())
        coupled = partitioned or memory.l2 is not None or uneven
        self._flags = [
            _flag(value)
            for value in (
                core.YES if coupled else core.NO,
                core.YES if breakdown else core.NO,
                SWITCHES[machine.scheduling.switch],
                SCHEDULERS[machine.scheduling.scheduler],
                core.YES if self._has_path(machine) else core.NO,
                core.YES if memory.l1 else core.NO,
                core.YES if memory.l2 else core.NO,
                core.YES if has_asyncs else core.NO,
                core.YES if outstanding else core.NO,
            )
        ]
        parameters = _parameters(machine)
        parameters[core.P_SLOTS] = slots
        parameters[core.P_RING] = ring
        parameters[core.P_BLOCKS] = places
        parameters[core.P_OUTSTANDING] = outstanding
        parameters[core.P_MOST_BLOCKS] = most_blocks
        parameters[core.P_PARTITIONED] = partitioned

        self.group = np.zeros((groups, core.GROUP_ROW), dtype=np.int64)
        self.group[:, core.GROUP_GRANTED_SLOT] = -1
        self.group[:, core.GROUP_GRANTED_AGE] = -1
        port = np.full((groups * machine.ports, core.PORT_ROW), core.NEVER, dtype=np.int64)
        self._state = np.zeros(core.RUN_ROW, dtype=np.int64)
        self._state[[core.R_PENDING, core.R_LAST_BLOCK]] = first, last
        has_queue = machine.scheduling.scheduler == "fifo"
        l1_sets, l1_ways = (memory.l1.sets, memory.l1.ways) if memory.l1 else (0, 0)
        l2_sets, l2_ways = (memory.l2.sets, memory.l2.ways) if memory.l2 else (0, 0)
        self._arrays = [
            parameters,
            workload.kind,
            workload.amount,
            workload.chunks,
            workload.warp_operations,
            workload.warp_chunks,
            workload.block_warps,
            _table(groups * slots, core.WARP_ROW),
            _table(groups * places, core.BLOCK_ROW),
            port,
            self.group,
            _table(groups, ring if has_queue else 1),
            np.zeros((groups, -(-slots // 64)), dtype=np.uint64),  # ready
            *(_table(groups, ring) for _ in range(4)),  # two rings of wake-ups: ticks and slots
            np.full((groups * slots if outstanding else 1, max(1, outstanding)), -1, dtype=np.int64),
            np.empty(len(workload.kind) if has_asyncs else 1, dtype=np.int64),  # finishes of asyncs
            np.zeros(memory.partitions, dtype=np.int64),
            *_lines(groups * l1_sets, l1_ways),
            *_lines(l2_sets, l2_ways),
            _table(groups, places),  # finished
            _all_free(groups, slots),
            _all_free(groups, places),
            np.zeros(groups, dtype=np.int64),  # touched
            np.full(groups, core.NEVER, dtype=np.int64),  # next tick
            self._state,
        ]

    @staticmethod
    def _has_path(machine: Machine) -> bool:
        """Whether a transfer takes anything but L: ports, partitions, or one after another."""
        memory = machine.memory
        durations = (memory.port_interval, memory.service, memory.atomic_service)
        return memory.transfers == "serial" or any(machine.ticks(duration) for duration in durations)

    @property
    def warps_done(self) -> int:
        """Warps that are done so far."""
        return int(self.group[:, core.GROUP_DONE_WARPS].sum())

    def go_on(self) -> bool:
        """Simulate a stretch; True when the launch is over."""
        return bool(core.run(STRETCH, *self._flags, *self._arrays))

    def finish(self) -> int:
        """The launch's own ticks; up to there, idle groups are empty."""
        ticks = int(self.group[:, core.GROUP_LAST].max(initial=0))
        self.group[:, core.GROUP_TIME + WHERE_TIME_GOES.index("empty")] += ticks - self.group[:, core.GROUP_ACCOUNTED]
        return ticks


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
    parameters[core.P_PORT_INTERVAL] = ticks(memory.port_interval)
    parameters[core.P_SERVICE] = ticks(memory.service)
    parameters[core.P_ATOMIC_SERVICE] = ticks(memory.atomic_service)
    parameters[core.P_PARTITIONS] = memory.partitions
    parameters[core.P_HASHED] = memory.interleave == "hash"
    parameters[core.P_BLOCKING] = memory.stores == "blocking"
    parameters[core.P_SERIAL] = memory.transfers == "serial"
    if memory.l1:
        parameters[[core.P_L1_SETS, core.P_L1_WAYS]] = memory.l1.sets, memory.l1.ways
        parameters[core.P_L1_LATENCY] = ticks(memory.l1.latency)
    if memory.l2:
        parameters[[core.P_L2_SETS, core.P_L2_WAYS]] = memory.l2.sets, memory.l2.ways
        parameters[core.P_L2_LATENCY] = ticks(memory.l2.latency)
    return parameters


def _outstanding(machine: Machine, workload: Workload, operations: slice) -> int:
    """The limit on asyncs in flight, 0 where no warp has enough of them to reach it."""
    limit = machine.memory.outstanding
    if limit is None:
        return 0
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(workload.kind == ASYNC, dtype=np.int64)])
    most = int(np.diff(before[workload.warp_operations]).max(initial=0))
    return limit if most > limit else 0


def _flag(value: int) -> npt.NDArray[np.int64]:
    return np.empty((0,) * value, dtype=np.int64)


def _table(rows: int, columns: int) -> Integers:
    return np.zeros((rows, columns), dtype=np.int64)


def _lines(rows: int, ways: int) -> tuple[Integers, Integers]:
    """Tags and fill times of a cache's lines, a row a set; no chunk has the number -1."""
    return np.full((max(1, rows), max(1, ways)), -1, dtype=np.int64), _table(max(1, rows), max(1, ways))


def _all_free(groups: int, places: int) -> npt.NDArray[Any]:
    """Bits of free numbers below `places`, a row a group."""
    words = -(-places // 64)
    bits = np.full((groups, words), ~np.uint64(0), dtype=np.uint64)
    if places % 64:
        bits[:, -1] = np.uint64((1 << (places % 64)) - 1)
    return bits
