"""A launch: blocks are placed while they fit (docs/machine.md, sections 2 and 6)."""

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from simpy import Environment

from simtmm.engine.holding_back import for_ever
from simtmm.engine.mbarriers import waits_for_ever
from simtmm.engine.reference.block import Block
from simtmm.engine.reference.clusters import Clusters
from simtmm.engine.reference.grid_barrier import GridBarrier
from simtmm.engine.reference.group import Group
from simtmm.engine.reference.jump import has_long_computes, meets_as_grid
from simtmm.engine.reference.memory.path import Memory
from simtmm.engine.reference.moment import DISPATCH, Moment, Waiting
from simtmm.engine.reference.report import Report
from simtmm.engine.reference.schedulers import SCHEDULERS, Pick
from simtmm.engine.reference.warp import Warp
from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.placement import GroupState, PendingBlock, Placement, Placer
from simtmm.replacement import Policy
from simtmm.rules.seen import rule_name
from simtmm.workload import Workload


class Run:
    """One launch on a machine with empty caches and idle ports."""

    def __init__(  # noqa: PLR0913, PLR0917 - each is a part of a launch
        self,
        machine: Machine,
        workload: Workload,
        launch: int,
        report: Report,
        progress: Callable[[int, int], None] | None,
        pick: Pick,
        places: npt.NDArray[Any],
        policies: Mapping[str, Policy] | None = None,
        placement: Placement | None = None,
    ) -> None:
        """places: of all operations of the workload. policies: a user's, of replacement, by the cache. placement: a
        user's rule, of where blocks go.
        """
        self.machine = machine
        self.workload = workload
        self.places = places
        self.report = report
        self.progress = progress
        self.pick = pick
        self.env = Environment()
        self.on_stall = machine.scheduling.switch == "on-stall"
        self.own_ports = machine.scheduling.ports == "own"
        self.blocking_stores = machine.memory.stores == "blocking"
        self.ends_with_stores = machine.memory.stores == "at-end"
        self.outstanding = machine.memory.outstanding
        self.piped = machine.memory.pipe is not None
        self.issue_ticks = machine.durations.issue
        self.pipeline_depth = machine.durations.pipeline_depth
        self.block_launch = machine.durations.block_launch
        self.block_interval = machine.durations.block_interval
        self.block_burst = machine.durations.block_burst
        self.warp_launch = machine.durations.warp_launch
        limits = (machine.limits.blocks_per_group, int(workload.launch_limits[launch]) or None)
        self.blocks_per_group = min((limit for limit in limits if limit is not None), default=None)
        if report.over_time is not None:
            report.over_time.begin = report.launch_begin
        self.memory = Memory(machine, launch, report.over_time, report.way, policies or {})
        if self.memory.l2 and machine.begins_warm:
            self.memory.l2.warm(workload, launch)
        # A rule of somebody's own may do anything, and a timeline has every interval.
        may_jump = not self.on_stall and report.intervals is None and pick in SCHEDULERS.values()
        self.has_jumps = may_jump and has_long_computes(workload, launch) and not meets_as_grid(workload, launch)
        self.placer = None if placement is None else Placer(placement)
        self.grid_barrier = GridBarrier(self)
        self.groups = [Group(self, number) for number in range(machine.cores.groups)]
        first, last = workload.launch_blocks[launch], workload.launch_blocks[launch + 1]
        self.pending = deque(range(first, last))
        self.first_block = first
        sizes = np.diff(workload.block_warps[first : last + 1])
        self.smallest = np.minimum.accumulate(sizes[::-1])[::-1]  # warps of a block, of each and those behind it
        self.age = int(workload.block_warps[first])
        cluster = workload.cluster_of(launch)
        self.clusters = Clusters(self, cluster) if cluster > 1 and machine.cores.cluster_groups is not None else None
        self.finished: list[Block] = []
        self.last_done = 0
        self.dispatch_due = Moment(self.env)
        self.env.process(self.dispatch())

    def finish(self) -> int:
        """Run the launch to its end; its own ticks (section 7)."""
        self.env.run()
        self.check_end()
        ticks = max(self.last_done, self.memory.last_finish)
        self.report.transactions += self.memory.transactions
        self.report.l1_hits += self.memory.counted.l1_hits
        self.report.l2_hits += self.memory.counted.l2_hits
        self.report.last_level_hits += self.memory.counted.last_level_hits
        self.report.shared_l1_hits += self.memory.counted.shared_l1_hits
        self.report.shared_l1_sectors += self.memory.counted.shared_l1_sectors
        self.report.last_level_sectors += self.memory.counted.last_level_sectors
        self.report.l2_sectors += self.memory.counted.l2_sectors
        self.report.memory_sectors += self.memory.counted.memory_sectors
        for group in self.groups:
            group.account()
            group.time["empty"] += ticks - int(group.accounted)
            for state, spent in group.time.items():
                self.report.time[state] += spent
        return ticks

    def check_end(self) -> None:
        """Raise EngineError where warps wait at mbarriers that nobody completes, or where a rule of somebody's own
        held back, and nothing was left to be asked for.
        """
        for group in self.groups:
            if group.ready:
                raise EngineError(for_ever(rule_name(self.pick), group.number, group.accounted, len(group.ready)))
        if living := sum(group.living for group in self.groups):
            raise EngineError(waits_for_ever(living))

    def dispatch(self) -> Waiting:
        """Free the places of finished blocks, then place pending ones as long as the next one fits."""
        while True:
            for block in self.finished:
                block.group.resident_blocks -= 1
                block.group.resident_warps -= len(block.slots)
                for slot in block.slots:
                    heapq.heappush(block.group.free_slots, slot)
            self.finished = []
            while self.pending and (group := self.group_for(self.pending[0])):
                self.place(self.pending.popleft(), group)
                # Its warps advance as they are placed, and where a barrier opens with them, before the next block's.
                yield Moment(self.env).due(int(self.env.now), DISPATCH)
            yield self.dispatch_due
            self.dispatch_due = Moment(self.env)

    def group_for(self, block: int) -> Group | None:
        """Of the groups that fit the block the one with the fewest resident blocks, then the lowest number."""
        if self.placer is not None:
            return self.placed_by_rule(self.placer, PendingBlock(block - self.first_block, self.warps_of(block)))
        if self.clusters is not None:
            return self.clusters.group_for(block)
        return self.emptiest(self.warps_of(block), self.groups)

    def warps_of(self, block: int) -> int:
        """How many warps a block has."""
        return int(self.workload.block_warps[block + 1] - self.workload.block_warps[block])

    def emptiest(self, warps: int, groups: Sequence[Group]) -> Group | None:
        """Of these groups that fit a block of so many warps the one with the fewest blocks, then the lowest number."""
        fitting = (group for group in groups if self.fits(warps, group))
        return min(fitting, key=lambda group: group.resident_blocks, default=None)

    def placed_by_rule(self, placer: Placer, block: PendingBlock) -> Group | None:
        """The group that a user's rule gives. Raises SimtmmError for an answer that is none."""
        most_warps = self.machine.warps_per_group
        most = len(self.smallest) if self.blocks_per_group is None else self.blocks_per_group  # all of the launch
        groups = [
            GroupState(group.number, group.resident_blocks, group.resident_warps, most, most_warps)
            for group in self.groups
        ]
        chosen = placer.ask(groups, block)
        if chosen is None and not any(group.resident_blocks for group in self.groups):
            raise EngineError(f"placement {placer.name}: holds back for ever at block {block.number}: none is resident")
        return None if chosen is None else self.groups[chosen.number]

    def fits(self, warps: int, group: Group) -> bool:
        """Whether a group has room for a block of so many warps."""
        is_full = self.blocks_per_group is not None and group.resident_blocks >= self.blocks_per_group
        return not is_full and group.resident_warps + warps <= self.machine.warps_per_group

    def may_place_in(self, group: Group) -> bool:
        """Whether a pending block fits a group as it is, and could be placed there before a block ends in it."""
        return bool(self.pending) and self.fits(int(self.smallest[self.pending[0] - self.first_block]), group)

    def place(self, number: int, group: Group) -> None:
        """Place a block; its warps start one after another."""
        warps = range(self.workload.block_warps[number], self.workload.block_warps[number + 1])
        block = Block(self, group, number, len(warps))
        group.account()
        if self.report.begun is not None:
            self.report.begun[number] = int(self.env.now)
        group.resident_blocks += 1
        group.resident_warps += len(warps)
        group.living += len(warps)
        if warps:
            group.launch_free = max(int(self.env.now), group.launch_free, group.block_free - self.block_burst)
            group.block_free = max(group.launch_free, group.block_free) + self.block_interval
        for warp in warps:
            group.launch_free = max(int(self.env.now), group.launch_free) + self.warp_launch
            block.slots.append(group.take_slot())
            begins = group.launch_free + self.block_launch
            group.warps.append(Warp(self, block, warp, self.age, block.slots[-1], begins))
            self.age += 1
        group.stir()
        if not warps:
            self.block_finished(block)

    def block_finished(self, block: Block) -> None:
        """All warps of the block are done: have the dispatch phase of this tick."""
        self.finished.append(block)
        self.last_done = int(self.env.now)
        self.grid_barrier.think_of_opening()
        if not self.dispatch_due.triggered:
            self.dispatch_due.due(int(self.env.now), DISPATCH)

    def warp_done(self) -> None:
        """Report progress to the watcher."""
        self.report.warps_done += 1
        if self.progress:
            self.progress(self.report.warps_done, self.workload.warps)
