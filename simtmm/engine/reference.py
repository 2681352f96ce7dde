"""The reference engine: docs/machine.md in SimPy, written to be read beside that page.

Warps are processes, waiting is an event. What happens at one tick is ordered by SimPy's own priority: the step's
phase (release, wake, dispatch, issue), then the group, then the rank within it (port or age). What an event
sets off at once (a barrier that opens, a port that is granted) has SimPy's NORMAL priority, which comes before
all phases, so it is done before the tick goes on.
"""

import heapq
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from simpy import Environment, Event
from simpy.events import EventPriority

from simtmm.engine.reference_memory import Memory
from simtmm.errors import EngineError, shown
from simtmm.machine import Machine
from simtmm.result import WHERE_TIME_GOES, Result
from simtmm.timeline import Timeline, WarpState
from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LARGEST, LOAD, SHARED, STORE, Workload

RELEASE, WAKE, DISPATCH, ISSUE = range(1, 5)  # the phases of a step, section 2

Waiting = Generator[Event, Any, None]


def simulate(
    machine: Machine,
    workload: Workload,
    *,
    breakdown: bool = True,
    timeline: bool = False,
    progress: Callable[[int, int], None] | None = None,
    scheduler: Callable[..., Any] | None = None,
) -> Result:
    """Run every launch from its own tick 0 and sum what they report (sections 1 and 7).

    scheduler: a user's rule in the place of the machine's; see simtmm.engine.
    """
    pick = _checked(scheduler) if scheduler else SCHEDULERS[machine.scheduling.scheduler]
    total = Report(time=dict.fromkeys(WHERE_TIME_GOES, 0), intervals=[] if timeline else None)
    overhead = machine.ticks(machine.scheduling.launch_overhead)
    launch_ticks: list[int] = []
    for launch in range(workload.launches):
        total.launch_begin = sum(launch_ticks) + overhead
        run = Run(machine, workload, launch, total, progress, pick)
        launch_ticks.append(overhead + run.finish())
    if timeline and sum(launch_ticks) > LARGEST:
        raise EngineError(
            f"{workload.origin} on {machine.name}: takes {sum(launch_ticks)} ticks, which a timeline can't tell: must "
            "be below 2^63; leave it out, or use fewer ticks_per_cycle"
        )
    return Result(
        ticks=sum(launch_ticks),
        issued=total.issued,
        transactions=total.transactions,
        l1_hits=total.l1_hits,
        l2_hits=total.l2_hits,
        port_busy=total.port_busy,
        time=total.time if breakdown else None,
        launch_ticks=tuple(launch_ticks),
        ticks_per_cycle=machine.ticks_per_cycle,
        clock_hz=machine.clock_hz,
        engine="reference",
        timeline=None if total.intervals is None else Timeline.from_rows(total.rows()),
    )


@dataclass
class Report:
    """The counts of section 7, while they grow."""

    time: dict[str, int]
    issued: int = 0
    transactions: int = 0
    l1_hits: int = 0
    l2_hits: int = 0
    port_busy: int = 0
    warps_done: int = 0
    intervals: list[tuple[int, int, int, int, int, int]] | None = None
    launch_begin: int = 0

    def rows(self) -> npt.NDArray[np.int64]:
        """The intervals as an array."""
        return np.array(self.intervals, dtype=np.int64).reshape(-1, 6)


class Moment(Event):
    """An event with a place among the others of its tick: phase, then group, then rank."""

    def due(self, tick: int, phase: int, group: int = 0, rank: int = 0) -> "Moment":
        """Let it happen at `tick`, in that place."""
        self._ok = True
        self._value = None
        self.env.schedule(self, EventPriority(phase << 80 | group << 40 | rank), tick - self.env.now)
        return self


# --- schedulers, section 5 --------------------------------------------------------------------------------------


def fifo(ready: list["Warp"], group: "Group") -> "Warp":
    """The smallest (ready time, age)."""
    return min(ready, key=lambda warp: (warp.ready_time, warp.age))


def oldest(ready: list["Warp"], group: "Group") -> "Warp":
    """The smallest age."""
    return min(ready, key=lambda warp: warp.age)


def greedy_oldest(ready: list["Warp"], group: "Group") -> "Warp":
    """The warp granted last in this group if it is ready, else the oldest."""
    return group.granted_last if group.granted_last in ready else oldest(ready, group)


def round_robin(ready: list["Warp"], group: "Group") -> "Warp":
    """Going round the slots from the one after that of the warp granted last."""
    last = group.granted_last.slot if group.granted_last else -1
    return min(ready, key=lambda warp: (warp.slot <= last, warp.slot))


SCHEDULERS: dict[str, Callable[[list["Warp"], "Group"], "Warp"]] = {
    "fifo": fifo,
    "oldest": oldest,
    "greedy-oldest": greedy_oldest,
    "round-robin": round_robin,
}


def _checked(rule: Callable[..., Any]) -> Callable[[list["Warp"], "Group"], "Warp"]:
    """A user's rule: it sees the ready warps and must give one of them."""

    def pick(ready: list["Warp"], group: "Group") -> "Warp":
        chosen = rule(tuple(ready), group)
        if not any(chosen is warp for warp in ready):
            name = getattr(rule, "__name__", type(rule).__name__)
            raise EngineError(f"scheduler {name}: gave {shown(chosen)} at tick {group.now}: must be a ready warp")
        return cast(Warp, chosen)

    return pick


# --- core groups, blocks and warps ------------------------------------------------------------------------------


class Group:
    """A core group: its issue ports, its places for warps, and where its time goes."""

    def __init__(self, run: "Run", number: int) -> None:
        self.run = run
        self.env = run.env
        self.number = number
        self.free_ports = list(range(run.machine.ports))
        self.ready: list[Warp] = []
        self.granted_last: Warp | None = None
        self.resident_blocks = 0
        self.resident_warps = 0
        self.free_slots: list[int] = []
        self.slots = 0
        self.launch_free = 0
        self.living = 0
        self.waiting_for_memory = 0
        self.waiting_at_barrier = 0
        self.accounted = 0
        self.issue_due = Moment(self.env)
        self.env.process(self.issue())

    @property
    def now(self) -> int:
        """The tick."""
        return int(self.env.now)

    def account(self) -> None:
        """Book the ticks since the last change under what the group was doing (section 7)."""
        now = self.env.now
        if now == self.accounted:
            return
        if len(self.free_ports) < self.run.machine.ports:
            state = "issuing"
        elif not self.living:
            state = "empty"
        elif self.waiting_for_memory:
            state = "memory"
        elif self.waiting_at_barrier:
            state = "barrier"
        else:
            state = "start"
        self.run.report.time[state] += int(now - self.accounted)
        self.accounted = int(now)

    def request(self, warp: "Warp") -> Event:
        """The warp is ready from now on; the event brings the port that it is granted."""
        warp.turn(WarpState.READY)
        warp.ready_time = int(self.env.now)
        warp.granted = Event(self.env)
        self.ready.append(warp)
        self.think_of_issuing()
        return warp.granted

    def release(self, port: int) -> None:
        """The port is free again."""
        self.account()
        self.free_ports.append(port)
        self.free_ports.sort()
        self.think_of_issuing()

    def think_of_issuing(self) -> None:
        """Have the issue phase of this tick, if it has something to do."""
        if self.ready and self.free_ports and not self.issue_due.triggered:
            self.issue_due.due(int(self.env.now), ISSUE, self.number)

    def issue(self) -> Waiting:
        """Grant free ports, in ascending order, to ready warps (section 2, phase 4)."""
        while True:
            yield self.issue_due
            self.issue_due = Moment(self.env)
            self.account()
            while self.ready and self.free_ports:
                warp = self.run.pick(self.ready, self)
                self.ready.remove(warp)
                self.granted_last = warp
                warp.turn(WarpState.ISSUING)
                warp.granted.succeed(self.free_ports.pop(0))

    def take_slot(self) -> int:
        """The lowest free slot."""
        if self.free_slots:
            return heapq.heappop(self.free_slots)
        self.slots += 1
        return self.slots - 1


class Block:
    """A resident block: its living warps and its barrier."""

    def __init__(self, run: "Run", group: Group, warps: int) -> None:
        self.run = run
        self.group = group
        self.slots: list[int] = []
        self.living = warps
        self.at_barrier: list[tuple[Warp, Event]] = []

    def barrier(self, warp: "Warp") -> Event:
        """The warp waits at the barrier; the event is its opening."""
        self.group.account()
        warp.turn(WarpState.BARRIER)
        self.group.waiting_at_barrier += 1
        opening = Event(self.run.env)
        self.at_barrier.append((warp, opening))
        self.open_if_complete()
        return opening

    def open_if_complete(self) -> None:
        """When all living warps wait, all leave the barrier first, then they advance in order of age."""
        if len(self.at_barrier) < self.living:
            return
        leaving, self.at_barrier = sorted(self.at_barrier, key=lambda pair: pair[0].age), []
        self.group.account()
        self.group.waiting_at_barrier -= len(leaving)
        for _, opening in leaving:
            opening.succeed()

    def lose(self) -> None:
        """One warp of the block is done."""
        self.group.account()
        self.group.living -= 1
        self.living -= 1
        if self.living:
            self.open_if_complete()
        else:
            self.run.block_finished(self)


class Warp:
    """A warp: the process that goes through its operations (sections 3 and 5)."""

    granted: Event
    ready_time: int

    def __init__(self, run: "Run", block: Block, number: int, age: int, slot: int, begins: int) -> None:
        workload = run.workload
        operations = slice(workload.warp_operations[number], workload.warp_operations[number + 1])
        chunks = slice(workload.warp_chunks[number], workload.warp_chunks[number + 1])
        self.kinds: list[int] = workload.kind[operations].tolist()
        self.amounts: list[int] = workload.amount[operations].tolist()
        self.chunks: list[int] = workload.chunks[chunks].tolist()
        self.position = 0
        self.chunk_position = 0
        self.computed = 0  # instructions of the compute at `position` that have issued, every-instruction only
        self.run = run
        self.env = run.env
        self.number = number
        self.block = block
        self.group = block.group
        self.age = age
        self.slot = slot
        self.in_flight: list[int] = []  # finishes of asyncs
        self.latest_finish: list[int] = []  # of the first async, of the first two, of the first three, ...
        self.state, self.since = WarpState.START, int(self.env.now)
        self.env.process(self.life(begins))

    def life(self, begins: int) -> Waiting:
        """From placing to done."""
        if begins > self.env.now:
            yield self.wake(begins)
        use_port = self.hold_segment if self.run.on_stall else self.hold_instruction
        while self.position < len(self.kinds):
            kind = self.kinds[self.position]
            if kind == JOIN:
                yield from self.wait_for_asyncs(but=self.amounts[self.position])
                self.position += 1
            elif kind == BARRIER:
                yield from self.wait_for_asyncs()
                self.position += 1
                yield self.block.barrier(self)
            elif kind == ASYNC and not self.may_start_async(int(self.env.now)):
                yield from self.wait_for_memory(min(self.in_flight))
            else:
                port = yield self.group.request(self)
                yield from use_port(port)
        yield from self.wait_for_asyncs()
        self.turn(self.state)
        self.block.lose()
        self.run.warp_done()

    def turn(self, state: WarpState) -> None:
        """The warp is in another state from now on; the interval that ends goes into the timeline."""
        report, now = self.run.report, int(self.env.now)
        if report.intervals is not None and now > self.since:
            begin = report.launch_begin
            interval = (self.number, self.group.number, self.slot, self.state, begin + self.since, begin + now)
            report.intervals.append(interval)
        self.state, self.since = state, now

    def wake(self, tick: int) -> Moment:
        """The wake phase of that tick."""
        return Moment(self.env).due(tick, WAKE, self.group.number, self.age)

    def wait_for_memory(self, finish: int) -> Waiting:
        """Sleep until a memory instruction of this warp has finished."""
        self.group.account()
        self.turn(WarpState.MEMORY)
        self.group.waiting_for_memory += 1
        yield self.wake(finish)
        self.group.account()
        self.group.waiting_for_memory -= 1

    def wait_for_asyncs(self, but: int = 0) -> Waiting:
        """Sleep until all asyncs issued so far have finished but the latest `but`."""
        count = len(self.latest_finish) - but
        if count > 0 and (finish := self.latest_finish[count - 1]) > self.env.now:
            yield from self.wait_for_memory(finish)

    def may_start_async(self, tick: int) -> bool:
        """Whether fewer than `outstanding` asyncs are in flight at a tick, now or later."""
        if self.run.outstanding is None:
            return True
        now = self.env.now
        self.in_flight = [finish for finish in self.in_flight if finish > now]
        return sum(finish > tick for finish in self.in_flight) < self.run.outstanding

    def hold_segment(self, port: int) -> Waiting:
        """Switch on a stall: the port is held up to the next wait or control operation (section 5)."""
        while True:
            ticks, access = self.next_segment()
            self.run.report.port_busy += ticks
            yield Moment(self.env).due(int(self.env.now) + ticks, RELEASE, self.group.number, port)
            finish = self.act(access)
            if finish is not None or access is None or not self.next_issues():
                break
        self.group.release(port)
        if finish is not None:
            yield from self.wait_for_memory(finish)

    def next_segment(self) -> tuple[int, int | None]:
        """Take the operations of a segment that starts now: its length in ticks, and its memory operation."""
        ticks, issue = 0, self.run.issue_ticks
        now = int(self.env.now)
        while self.position < len(self.kinds):
            kind, amount = self.kinds[self.position], self.amounts[self.position]
            if kind in (JOIN, BARRIER) or (kind == ASYNC and not self.may_start_async(now + ticks)):
                break
            self.position += 1
            self.run.report.issued += amount if kind == COMPUTE else 1
            ticks += issue * amount if kind in (COMPUTE, SHARED) else issue
            if kind not in (COMPUTE, SHARED):
                return ticks, kind
        return ticks, None

    def next_issues(self) -> bool:
        """Whether the next operation needs a port and may start now."""
        if self.position == len(self.kinds):
            return False
        kind = self.kinds[self.position]
        return kind not in (JOIN, BARRIER) and (kind != ASYNC or self.may_start_async(int(self.env.now)))

    def hold_instruction(self, port: int) -> Waiting:
        """Switch on every instruction: the port is held for one, the next grant waits out the pipeline."""
        granted = int(self.env.now)
        kind, amount = self.kinds[self.position], self.amounts[self.position]
        ticks = self.run.issue_ticks * (amount if kind == SHARED else 1)
        self.computed += 1
        if kind != COMPUTE or self.computed == amount:
            self.position += 1
            self.computed = 0
        self.run.report.issued += 1
        self.run.report.port_busy += ticks
        yield Moment(self.env).due(granted + ticks, RELEASE, self.group.number, port)
        finish = self.act(None if kind in (COMPUTE, SHARED) else kind)
        self.group.release(port)
        if finish is not None:
            yield from self.wait_for_memory(finish)
        else:
            self.turn(WarpState.PIPELINE)
            yield self.wake(max(granted + max(ticks, self.run.pipeline_depth), int(self.env.now)))

    def act(self, access: int | None) -> int | None:
        """The memory instruction just taken, if any, leaves its port: its finish if the warp waits for it."""
        if access is None:
            return None
        count = self.amounts[self.position - 1]
        chunks = self.chunks[self.chunk_position : self.chunk_position + count]
        self.chunk_position += count
        finish = self.run.memory.access(self.group.number, access, chunks, int(self.env.now))
        if access == ASYNC:
            self.in_flight.append(finish)
            self.latest_finish.append(max(finish, self.latest_finish[-1]) if self.latest_finish else finish)
        waits = access in (LOAD, ATOMIC) or (access == STORE and self.run.blocking_stores)
        return finish if waits else None


# --- a launch, sections 2 and 6 ---------------------------------------------------------------------------------


class Run:
    """One launch on a machine with empty caches and idle ports."""

    def __init__(
        self,
        machine: Machine,
        workload: Workload,
        launch: int,
        report: Report,
        progress: Callable[[int, int], None] | None,
        pick: Callable[[list[Warp], Group], Warp],
    ) -> None:
        self.machine = machine
        self.workload = workload
        self.report = report
        self.progress = progress
        self.pick = pick
        self.env = Environment()
        self.on_stall = machine.scheduling.switch == "on-stall"
        self.blocking_stores = machine.memory.stores == "blocking"
        self.outstanding = machine.memory.outstanding
        self.issue_ticks = machine.ticks(machine.issue_cycles)
        self.pipeline_depth = machine.ticks(machine.scheduling.pipeline_depth)
        self.block_launch = machine.ticks(machine.scheduling.block_launch)
        self.warp_launch = machine.ticks(machine.scheduling.warp_launch)
        limits = (machine.limits.blocks_per_group, int(workload.launch_limits[launch]) or None)
        self.blocks_per_group = min((limit for limit in limits if limit is not None), default=None)
        self.memory = Memory(machine)
        if machine.memory.l2 and machine.memory.l2.start == "warm":
            self.memory.warm(workload, launch)
        self.groups = [Group(self, number) for number in range(machine.cores.groups)]
        first, last = workload.launch_blocks[launch], workload.launch_blocks[launch + 1]
        self.pending = deque(range(first, last))
        self.age = int(workload.block_warps[first])
        self.finished: list[Block] = []
        self.last_done = 0
        self.dispatch_due = Moment(self.env)
        self.env.process(self.dispatch())

    def finish(self) -> int:
        """Run the launch to its end; its own ticks (section 7)."""
        self.env.run()
        ticks = max(self.last_done, self.memory.last_finish)
        self.report.transactions += self.memory.transactions
        self.report.l1_hits += self.memory.l1_hits
        self.report.l2_hits += self.memory.l2_hits
        for group in self.groups:
            group.account()
            self.report.time["empty"] += ticks - int(group.accounted)
        return ticks

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
            yield self.dispatch_due
            self.dispatch_due = Moment(self.env)

    def group_for(self, block: int) -> Group | None:
        """Of the groups that fit the block the one with the fewest resident blocks, then the lowest number."""
        warps = int(self.workload.block_warps[block + 1] - self.workload.block_warps[block])
        room = self.machine.warps_per_group - warps
        fitting = (
            group
            for group in self.groups
            if group.resident_warps <= room
            and (self.blocks_per_group is None or group.resident_blocks < self.blocks_per_group)
        )
        return min(fitting, key=lambda group: group.resident_blocks, default=None)

    def place(self, number: int, group: Group) -> None:
        """Place a block; its warps start one after another."""
        warps = range(self.workload.block_warps[number], self.workload.block_warps[number + 1])
        block = Block(self, group, len(warps))
        group.account()
        group.resident_blocks += 1
        group.resident_warps += len(warps)
        group.living += len(warps)
        for warp in warps:
            group.launch_free = max(int(self.env.now), group.launch_free) + self.warp_launch
            block.slots.append(group.take_slot())
            Warp(self, block, warp, self.age, block.slots[-1], group.launch_free + self.block_launch)
            self.age += 1
        if not warps:
            self.block_finished(block)

    def block_finished(self, block: Block) -> None:
        """All warps of the block are done: have the dispatch phase of this tick."""
        self.finished.append(block)
        self.last_done = int(self.env.now)
        if not self.dispatch_due.triggered:
            self.dispatch_due.due(int(self.env.now), DISPATCH)

    def warp_done(self) -> None:
        """Tell who watches."""
        self.report.warps_done += 1
        if self.progress:
            self.progress(self.report.warps_done, self.workload.warps)
