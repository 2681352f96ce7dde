"""A warp: the process that goes through its operations (docs/machine.md, sections 3 and 5)."""

from typing import TYPE_CHECKING

from simpy import Event

from simtmm.engine.reference.block import Block
from simtmm.engine.reference.moment import RELEASE, WAKE, Moment, Waiting
from simtmm.timeline import WarpState
from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LOAD, PAUSE, SHARED, STORE

if TYPE_CHECKING:
    from simtmm.engine.reference.run import Run

CONTROL = (JOIN, BARRIER, PAUSE)


class Warp:
    """A warp: the process that goes through its operations (sections 3 and 5)."""

    granted: Event
    ready_time: int
    granted_at: int
    port: int
    due: int

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
            yield from self.wake(begins)
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
            elif kind == PAUSE:
                yield from self.sleep(self.amounts[self.position])
                self.position += 1
            elif kind == ASYNC and not self.may_start_async(int(self.env.now)):
                yield from self.wait_for_memory(min(self.in_flight))
            else:
                port = yield self.group.request(self)
                yield from use_port(port)
        yield from self.wait_for_asyncs()
        self.turn(self.state)
        self.block.lose(self)
        self.run.warp_done()

    def turn(self, state: WarpState) -> None:
        """The warp is in another state from now on; the interval that ends goes into the timeline."""
        report, now = self.run.report, int(self.env.now)
        if report.intervals is not None and now > self.since:
            begin = report.launch_begin
            interval = (self.number, self.group.number, self.slot, self.state, begin + self.since, begin + now)
            report.intervals.append(interval)
        self.state, self.since = state, now

    def until(self, tick: int, phase: int, rank: int) -> Waiting:
        """Wait for a phase of a tick, which a jump (jump.py) may put off meanwhile."""
        self.due = tick
        yield Moment(self.env).due(tick, phase, self.group.number, rank)
        while self.due > self.env.now:
            yield Moment(self.env).due(self.due, phase, self.group.number, rank)

    def wake(self, tick: int) -> Waiting:
        """Wait for the wake phase of that tick."""
        yield from self.until(tick, WAKE, self.age)

    def wait_for_memory(self, finish: int) -> Waiting:
        """Sleep until a memory instruction of this warp has finished."""
        self.group.account()
        self.turn(WarpState.MEMORY)
        self.group.waiting_for_memory += 1
        yield from self.wake(finish)
        self.group.account()
        self.group.waiting_for_memory -= 1

    def wait_for_asyncs(self, but: int = 0) -> Waiting:
        """Sleep until all asyncs issued so far have finished but the latest `but`."""
        count = len(self.latest_finish) - but
        if count > 0 and (finish := self.latest_finish[count - 1]) > self.env.now:
            yield from self.wait_for_memory(finish)

    def sleep(self, cycles: int) -> Waiting:
        """Sleep for so many cycles, whatever is in flight."""
        self.turn(WarpState.PAUSE)
        yield from self.wake(int(self.env.now) + cycles * self.run.machine.ticks_per_cycle)

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
            yield from self.until(int(self.env.now) + ticks, RELEASE, port)
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
            if kind in CONTROL or (kind == ASYNC and not self.may_start_async(now + ticks)):
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
        return kind not in CONTROL and (kind != ASYNC or self.may_start_async(int(self.env.now)))

    def hold_instruction(self, port: int) -> Waiting:
        """Switch on every instruction: the port is held for one, the next grant waits out the pipeline."""
        self.granted_at, self.port = int(self.env.now), port
        kind, amount = self.kinds[self.position], self.amounts[self.position]
        ticks = self.run.issue_ticks * (amount if kind == SHARED else 1)
        self.computed += 1
        if kind != COMPUTE or self.computed == amount:
            self.position += 1
            self.computed = 0
        self.run.report.issued += 1
        self.run.report.port_busy += ticks
        yield from self.until(self.granted_at + ticks, RELEASE, port)
        finish = self.act(None if kind in (COMPUTE, SHARED) else kind)
        self.group.release(port)
        if finish is not None:
            yield from self.wait_for_memory(finish)
        else:
            self.turn(WarpState.PIPELINE)
            yield from self.wake(max(self.granted_at + max(ticks, self.run.pipeline_depth), int(self.env.now)))

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
