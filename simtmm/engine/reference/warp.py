"""A warp: the process that goes through its operations (docs/machine.md, sections 3 and 5)."""

from typing import TYPE_CHECKING

from simpy import Event

from simtmm.engine.reference.block import Block
from simtmm.engine.reference.booking import WHILE, Path
from simtmm.engine.reference.moment import RELEASE, WAKE, Moment, Waiting
from simtmm.stalls import Count, Reason
from simtmm.timeline import WarpState
from simtmm.workload import (
    ASYNC,
    ATOMIC,
    BARRIER,
    COMPUTE,
    COPY,
    FINISH,
    GRID_BARRIER,
    JOIN,
    LISTED,
    LOAD,
    MBARRIER,
    OF_CLASS,
    PASSES_SHIFT,
    PAUSE,
    PRODUCT,
    REDUCE,
    SETTLE,
    SHARED,
    STEPS_SHIFT,
    STORE,
    SYNC,
)

if TYPE_CHECKING:
    from simtmm.engine.reference.run import Run

CONTROL = (JOIN, BARRIER, PAUSE, SYNC, SETTLE, GRID_BARRIER, MBARRIER, PRODUCT, FINISH)


def computes(kind: int) -> bool:
    """Whether an operation is a compute, of any class or of none."""
    return kind == COMPUTE or kind >= OF_CLASS


class Warp:
    """A warp: the process that goes through its operations (sections 3 and 5)."""

    granted: Event
    opened: Event  # the mbarrier at which it waits
    granted_at: int
    port: int
    in_port: int  # the operation that has the port
    due: int

    def __init__(self, run: "Run", block: Block, number: int, age: int, slot: int, begins: int) -> None:
        workload = run.workload
        operations = slice(workload.warp_operations[number], workload.warp_operations[number + 1])
        chunks = slice(workload.warp_chunks[number], workload.warp_chunks[number + 1])
        self.kinds: list[int] = workload.kind[operations].tolist()
        self.amounts: list[int] = workload.amount[operations].tolist()
        self.chunks: list[int] = workload.chunks[chunks].tolist()
        self.sectors: list[int] = workload.sectors[chunks].tolist()
        self.places: list[int] = run.places[operations].tolist()
        self.position = 0
        self.chunk_position = 0
        self.ready_time = -1
        self.issued = 0
        self.hits = self.misses = 0  # chunks of loads and asyncs
        self.piped = 0  # ticks waited for pipes so far
        self.computed = 0  # instructions of the compute at `position` that have issued, every-instruction only
        self.run = run
        self.env = run.env
        self.number = number
        self.block = block
        self.group = block.group
        self.age = age
        self.slot = slot
        run.memory.begin(self.group.number, slot)
        self.in_flight: list[int] = []  # finishes of asyncs
        self.latest_finish: list[int] = []  # of the first async, of the first two, of the first three, ...
        self.untaken = 0  # asyncs that no join has taken
        self.shared: list[tuple[int, int, int, int]] = []  # in a pipe: when settled, its own ticks, conflicts, place
        self.copied = self.copying = 0  # of copies that no mbarrier was told of: the last finish, and the first start
        self.products: list[tuple[int, int, int]] = []  # of each: when it is finished, its own ticks, its place
        self.stored: tuple[int, int, Path] = 0, run.report.bookings.nowhere, {}  # the store that finishes last
        self.latest: list[tuple[int, Path]] = []  # likewise the async that finishes last: its place, and its path
        self.bookings = run.report.bookings
        self.state, self.since = WarpState.START, int(self.env.now)
        self.place, self.reason = self.bookings.nowhere, Reason.LAUNCH
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
            elif kind in (BARRIER, SYNC):
                if kind == BARRIER:
                    yield from self.wait_for_asyncs()
                self.position += 1
                yield self.block.barrier(self)
            elif kind == GRID_BARRIER:
                self.position += 1
                yield from self.meet_grid()
            elif kind == SETTLE:
                yield from self.wait_for_shared(but=self.amounts[self.position])
                self.position += 1
            elif kind == MBARRIER:
                self.position += 1
                yield from self.use_mbarrier(self.amounts[self.position - 1])
            elif kind == PRODUCT:
                self.begin_product(self.amounts[self.position])
                self.position += 1
            elif kind == FINISH:
                yield from self.wait_for_products(but=self.amounts[self.position])
                self.position += 1
            elif kind == PAUSE:
                yield from self.sleep(self.amounts[self.position], self.places[self.position])
                self.position += 1
            elif kind == ASYNC and not self.may_start_async(int(self.env.now)):
                yield from self.wait_for_turn(min(self.in_flight))
            else:
                port = yield self.group.request(self)
                yield from use_port(port)
        yield from self.wait_for_asyncs()
        if self.run.ends_with_stores:
            yield from self.wait_for_stores()
        self.turn(self.state, self.place)
        self.block.lose(self)
        self.run.warp_done()

    def turn(self, state: WarpState, place: int, reason: Reason | None = None) -> None:
        """The warp is in another state from now on, because of an operation at that place.

        The interval that ends goes into the timeline, and is booked unless it was when it began.
        """
        report, now = self.run.report, int(self.env.now)
        if now > self.since and self.state in WHILE:
            self.bookings.book(self.place, WHILE[self.state], now - self.since)
        if report.intervals is not None and now > self.since:
            begin = report.launch_begin
            where = (self.number, self.group.number, self.slot, self.state, begin + self.since, begin + now)
            report.intervals.append((*where, self.place, self.reason))
        self.state, self.since, self.place = state, now, place
        self.reason = WHILE.get(state, Reason.ISSUING) if reason is None else reason
        self.group.stir()

    def until(self, tick: int, phase: int, rank: int) -> Waiting:
        """Wait for a phase of a tick, which a jump (jump.py) may put off meanwhile."""
        self.due = tick
        yield Moment(self.env).due(tick, phase, self.group.number, rank)
        while self.due > self.env.now:
            yield Moment(self.env).due(self.due, phase, self.group.number, rank)

    def wake(self, tick: int) -> Waiting:
        """Wait for the wake phase of that tick."""
        yield from self.until(tick, WAKE, self.age)

    def wait_for_memory(self, finish: int, place: int, path: Path) -> Waiting:
        """Sleep until an access of this warp has finished, which the wait is booked to."""
        reason = self.bookings.wait(place, path, finish - int(self.env.now))
        yield from self.wait(finish, place, reason)

    def wait_for_turn(self, finish: int) -> Waiting:
        """Sleep until the next async may start."""
        place = self.places[self.position]
        self.bookings.book(place, Reason.OUTSTANDING, finish - int(self.env.now))
        yield from self.wait(finish, place, Reason.OUTSTANDING)

    def wait(self, finish: int, place: int, reason: Reason) -> Waiting:
        """Sleep for an access."""
        self.group.account()
        self.turn(WarpState.MEMORY, place, reason)
        self.group.waiting_for_memory += 1
        yield from self.wake(finish)
        self.group.account()
        self.group.waiting_for_memory -= 1

    def meet_grid(self) -> Waiting:
        """Wait until each living block has a warp here, and for what that takes."""
        self.group.account()
        self.turn(WarpState.BARRIER, self.places[self.position - 1])
        self.group.waiting_at_barrier += 1
        tick = yield self.run.grid_barrier.meet(self)
        yield from self.wake(tick)
        self.group.account()
        self.group.waiting_at_barrier -= 1

    def wait_for_asyncs(self, but: int = 0) -> Waiting:
        """Sleep until all asyncs issued so far have finished but the latest `but`."""
        if self.untaken > but:
            self.untaken = but
            self.run.memory.waited(self.group.number, self.slot)
        count = len(self.latest_finish) - but
        if count > 0 and (finish := self.latest_finish[count - 1]) > self.env.now:
            yield from self.wait_for_memory(finish, *self.latest[count - 1])

    def wait_for_shared(self, but: int) -> Waiting:
        """Sleep until all shared accesses issued so far have settled but the latest `but`."""
        now = int(self.env.now)
        if len(self.shared) <= but or self.shared[-1 - but][0] <= now:
            return
        settled, own, conflicts, place = self.shared[-1 - but]
        latency = min(settled - now, own)
        conflicts = min(settled - now - latency, conflicts)
        parts = {
            Reason.INSTRUCTION_LATENCY: latency,
            Reason.BANK_CONFLICTS: conflicts,
            Reason.PORT_QUEUE: settled - now - latency - conflicts,
        }
        for reason, ticks in parts.items():
            self.bookings.book(place, reason, ticks)
        yield from self.wait(settled, place, max(parts, key=lambda reason: parts[reason]))

    def use_mbarrier(self, amount: int) -> Waiting:
        """Do something at an mbarrier of the block, and wait there for the end of a phase if that is what it is."""
        waits = self.block.mbarriers.act(self, amount, int(self.env.now))
        if waits is None:
            return
        (barrier, parity), began, place = waits, int(self.env.now), self.places[self.position - 1]
        if barrier.phases & 1 == parity:
            self.group.account()
            self.turn(WarpState.MEMORY, place, Reason.MBARRIER)
            self.group.waiting_for_memory += 1
            self.opened = Event(self.env)
            barrier.waiting.append((self, parity))
            opens, begun = yield self.opened
            self.book_mbarrier(began, opens, begun, place)
            yield from self.wake(opens)
            self.group.account()
            self.group.waiting_for_memory -= 1
        elif barrier.opens > began:
            self.book_mbarrier(began, barrier.opens, barrier.open_begun, place)
            yield from self.wait(barrier.opens, place, Reason.MBARRIER)

    def book_mbarrier(self, since: int, opens: int, begun: int, place: int) -> None:
        """Book a wait for a phase. begun: since when its last bytes were on their way, -1 if an arrival came last."""
        ticks = opens - since
        copies = 0 if begun < 0 else min(ticks, opens - begun)
        self.bookings.book(place, Reason.COPIES, copies)
        self.bookings.book(place, Reason.MBARRIER, ticks - copies)

    def begin_product(self, amount: int) -> None:
        """Have matrices multiplied by the pipe of the warp's slot, while the warp goes on."""
        steps, passes, now = amount & LISTED, amount >> STEPS_SHIFT, int(self.env.now)
        takes = self.run.machine.durations
        first, last = now, now
        if passes and self.run.piped:
            first, last = self.run.memory.read_factors(self.group.number, passes, now)
        end = self.group.products.take(self.slot, max(now, first), steps, last)
        finish = end + takes.product_latency
        self.run.memory.last_finish = max(self.run.memory.last_finish, finish)
        self.products.append((finish, steps * takes.product_step + takes.product_latency, self.places[self.position]))

    def wait_for_products(self, but: int) -> Waiting:
        """Sleep until all products begun so far are finished but the latest `but`."""
        now = int(self.env.now)
        if len(self.products) <= but or self.products[-1 - but][0] <= now:
            return
        finish, own, place = self.products[-1 - but]
        latency = min(finish - now, own)
        self.bookings.book(place, Reason.INSTRUCTION_LATENCY, latency)
        self.bookings.book(place, Reason.PIPE_QUEUE, finish - now - latency)
        longest = Reason.INSTRUCTION_LATENCY if 2 * latency >= finish - now else Reason.PIPE_QUEUE
        yield from self.wait(finish, place, longest)

    def wait_for_stores(self) -> Waiting:
        """Sleep until all stores and reduces have finished."""
        finish, place, path = self.stored
        if finish > self.env.now:
            yield from self.wait_for_memory(finish, place, path)

    def sleep(self, cycles: int, place: int) -> Waiting:
        """Sleep for so many cycles, whatever is in flight."""
        self.turn(WarpState.PAUSE, place)
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
            ticks, last = self.next_segment()
            self.run.report.port_busy += ticks
            yield from self.until(int(self.env.now) + ticks, RELEASE, port)
            finish = self.act(last)
            start = self.pass_pipe(last, self.amounts[self.position - 1]) if last else int(self.env.now)
            if finish is not None or start > self.env.now or last is None or not self.next_issues():
                break
        self.group.release(port)
        if finish is not None:
            yield from self.wait_for_memory(finish, self.places[self.position - 1], self.run.memory.way.access)
        elif start > self.env.now:
            yield from self.wait_for_pipe(int(self.env.now), start, self.places[self.position - 1])

    def next_segment(self) -> tuple[int, int | None]:
        """Take the operations of a segment that starts now: its length in ticks, and the operation that ends it, if it
        does more than compute: that of memory, or of a class with a pipe.
        """
        ticks, issue = 0, self.run.issue_ticks
        now = int(self.env.now)
        while self.position < len(self.kinds):
            kind, amount = self.kinds[self.position], self.amounts[self.position]
            if kind in CONTROL or (kind == ASYNC and not self.may_start_async(now + ticks)):
                break
            instructions = amount if computes(kind) else 1
            held = amount & LISTED if kind == SHARED and not self.run.piped else 1
            self.book_issuing(instructions, held)
            self.position += 1
            self.run.report.issued += instructions
            ticks += issue * held * instructions
            if self.group.pipes.has(kind) or not (computes(kind) or (kind == SHARED and not self.run.piped)):
                return ticks, kind
        return ticks, None

    def book_issuing(self, instructions: int, degree: int) -> None:
        """Book what the operation at `position` takes its port for."""
        place, issue = self.places[self.position], self.run.issue_ticks
        self.issued += instructions
        self.bookings.book(place, Reason.ISSUING, instructions * issue)
        self.bookings.book(place, Reason.BANK_CONFLICTS, (degree - 1) * issue)
        self.bookings.count(place, Count.INSTRUCTIONS, instructions)
        self.bookings.count(place, Count.CONFLICTS, degree - 1)

    def next_issues(self) -> bool:
        """Whether the next operation needs a port and may start now."""
        if self.position == len(self.kinds):
            return False
        kind = self.kinds[self.position]
        return kind not in CONTROL and (kind != ASYNC or self.may_start_async(int(self.env.now)))

    def hold_instruction(self, port: int) -> Waiting:
        """Switch on every instruction: the port is held for one, the next grant waits out the pipeline."""
        self.granted_at, self.port = int(self.env.now), port
        self.in_port = kind = self.kinds[self.position]
        amount = self.amounts[self.position]
        held = amount & LISTED if kind == SHARED and not self.run.piped else 1
        ticks = self.run.issue_ticks * held
        self.book_issuing(1, held)
        self.computed += 1
        if not computes(kind) or self.computed == amount:
            self.position += 1
            self.computed = 0
        self.run.report.issued += 1
        self.run.report.port_busy += ticks
        yield from self.until(self.granted_at + ticks, RELEASE, port)
        finish = self.act(kind)
        start = self.pass_pipe(kind, 1)
        self.group.release(port)
        if finish is not None:
            yield from self.wait_for_memory(finish, self.place, self.run.memory.way.access)
        else:
            wakes = self.granted_at + max(ticks, self.run.pipeline_depth)
            yield from self.wait_for_pipe(wakes, max(wakes, start), self.place)

    def pass_pipe(self, kind: int, instructions: int) -> int:
        """So many instructions that have just left their port pass their pipe: the start of the last (section 5)."""
        now = int(self.env.now)
        if not self.group.pipes.has(kind):
            return now
        return self.group.pipes.take(kind, self.slot, now - (instructions - 1) * self.run.issue_ticks, instructions)

    def wait_for_pipe(self, wakes: int, start: int, place: int) -> Waiting:
        """Wait out the pipeline, and from there on for the start of an instruction in its pipe."""
        now = int(self.env.now)
        pipeline, queue = wakes - now, start - wakes
        self.bookings.book(place, Reason.INSTRUCTION_LATENCY, pipeline)
        self.bookings.book(place, Reason.PIPE_QUEUE, queue)
        self.piped += queue
        longest = Reason.PIPE_QUEUE if queue > pipeline else Reason.INSTRUCTION_LATENCY
        self.turn(WarpState.PIPELINE, place, longest)
        yield from self.wake(start)

    def act(self, access: int | None) -> int | None:
        """The memory instruction just taken, if any, leaves its port: its finish if the warp waits for it."""
        if access is None or computes(access):
            return None
        if access == SHARED:
            self.act_on_shared(self.amounts[self.position - 1])
            return None
        amount = self.amounts[self.position - 1]
        count, passes = amount & LISTED, 1 + (amount >> PASSES_SHIFT)
        chunks, sectors = (of[self.chunk_position : self.chunk_position + count] for of in (self.chunks, self.sectors))
        self.chunk_position += count
        place, memory = self.places[self.position - 1], self.run.memory
        before, hits = memory.counted, memory.l1_hits
        finish = memory.access(self.group.number, self.slot, access, chunks, sectors, passes, int(self.env.now))
        self.bookings.access(place, count, memory.counted - before)
        if access in (LOAD, ASYNC):
            self.hits += memory.l1_hits - hits
            self.misses += count - (memory.l1_hits - hits)
        if access == ASYNC:
            is_last = not self.latest_finish or finish > self.latest_finish[-1]
            self.latest.append((place, memory.way.access) if is_last else self.latest[-1])
            self.in_flight.append(finish)
            self.untaken += 1
            self.latest_finish.append(max(finish, self.latest_finish[-1]) if self.latest_finish else finish)
        if access == COPY:
            self.copying = self.copying if self.copied else int(self.env.now)
            self.copied = max(self.copied, finish)
        if access in (STORE, REDUCE) and finish > self.stored[0]:
            self.stored = finish, place, memory.way.access
        waits = access in (LOAD, ATOMIC) or (access == STORE and self.run.blocking_stores)
        return finish if waits else None

    def act_on_shared(self, amount: int) -> None:
        """The shared access just taken leaves its port: it passes the group's pipe, if that has one."""
        if not self.run.piped:
            return
        passes, least = amount & LISTED, 1 + (amount >> PASSES_SHIFT)
        place, takes = self.places[self.position - 1], self.run.machine.durations
        settled = self.run.memory.access_shared(self.group.number, passes, int(self.env.now))
        own = takes.shared_latency + (least - 1) * takes.shared_pass
        self.bookings.count(place, Count.CONFLICTS, passes - least)
        self.shared.append((settled, own, (passes - least) * takes.shared_pass, place))
