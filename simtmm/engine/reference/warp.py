"""A warp: the process that goes through its operations (docs/machine.md, sections 3 and 5)."""

from typing import TYPE_CHECKING

from simpy import Event

from simtmm.engine.reference.block import Block
from simtmm.engine.reference.issue import hold_instruction, hold_segment
from simtmm.engine.reference.mbarriers import NO_QUEUE, NOTHING
from simtmm.engine.reference.moment import WAKE, Moment, Waiting
from simtmm.engine.reference.registers import take_registers
from simtmm.engine.reference.stalls import WHILE, Path
from simtmm.engine.reference.waits import (
    begin_product,
    may_start_async,
    meet_grid,
    sleep,
    use_mbarrier,
    wait_for_asyncs,
    wait_for_drain,
    wait_for_products,
    wait_for_shared,
    wait_for_stores,
    wait_for_turn,
    wait_for_way,
)
from simtmm.stalls import Reason
from simtmm.timeline import WarpState
from simtmm.workload import (
    ASYNC,
    BARRIER,
    DRAIN,
    FINISH,
    GIVE_REGISTERS,
    GRID_BARRIER,
    JOIN,
    MBARRIER,
    PAUSE,
    PRODUCT,
    REMOTE,
    SETTLE,
    STORE_GROUP,
    SYNC,
    TAKE_REGISTERS,
)

if TYPE_CHECKING:
    from simtmm.engine.reference.run import Run


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
        run.memory.loaded.begin(self.group.number, slot)
        self.in_flight: list[int] = []  # finishes of asyncs
        self.latest_finish: list[int] = []  # of the first async, of the first two, of the first three, ...
        self.untaken = 0  # asyncs that no join has taken
        self.shared: list[tuple[int, int, int, int]] = []  # in a pipe: when settled, its own ticks, conflicts, place
        self.copied = self.copying = 0  # of copies that no mbarrier was told of: the last finish, and the first start
        self.queued = NO_QUEUE  # how the copy that finishes last of these queues
        self.copies = False  # whether it has begun any
        self.waited = NOTHING  # at an mbarrier for bytes, or for products, the last time
        self.products: list[tuple[int, int, int]] = []  # of each: when it is finished, its own ticks, its place
        self.left = 0  # when its stores so far have left the group
        self.store_groups: list[int] = []  # likewise those up to each group's end
        self.stored: tuple[int, int, Path] = 0, run.report.bookings.nowhere, {}  # the store that finishes last
        self.latest: list[tuple[int, Path]] = []  # likewise the async that finishes last: its place, and its path
        self.bookings = run.report.bookings
        self.state, self.since = WarpState.START, int(self.env.now)
        self.place, self.reason = self.bookings.nowhere, Reason.LAUNCH
        self.env.process(self.life(begins))

    def life(self, begins: int) -> Waiting:  # noqa: C901, PLR0912, PLR0915 - a case for each kind of operation
        """From placing to done."""
        if begins > self.env.now:
            yield from self.wake(begins)
        use_port = hold_segment if self.run.on_stall else hold_instruction
        while self.position < len(self.kinds):
            kind = self.kinds[self.position]
            if kind == JOIN:
                yield from wait_for_asyncs(self, but=self.amounts[self.position])
                self.position += 1
            elif kind in (BARRIER, SYNC):
                if kind == BARRIER:
                    yield from wait_for_asyncs(self)
                self.position += 1
                yield self.block.barrier(self)
            elif kind == GRID_BARRIER:
                self.position += 1
                yield from meet_grid(self)
            elif kind == SETTLE:
                yield from wait_for_shared(self, but=self.amounts[self.position])
                self.position += 1
            elif kind == MBARRIER:
                self.position += 1
                yield from use_mbarrier(self, self.amounts[self.position - 1])
            elif kind == PRODUCT:
                begin_product(self, self.amounts[self.position])
                self.position += 1
            elif kind == FINISH:
                yield from wait_for_products(self, but=self.amounts[self.position])
                self.position += 1
            elif kind == STORE_GROUP:
                self.store_groups.append(self.left)
                self.position += 1
            elif kind == DRAIN:
                yield from wait_for_drain(self, but=self.amounts[self.position])
                self.position += 1
            elif kind == REMOTE:
                yield from wait_for_way(self, self.amounts[self.position])
                self.position += 1
            elif kind == GIVE_REGISTERS:
                self.block.registers.give(self, self.amounts[self.position])
                self.position += 1
            elif kind == TAKE_REGISTERS:
                yield from take_registers(self, self.amounts[self.position])
                self.position += 1
            elif kind == PAUSE:
                yield from sleep(self, self.amounts[self.position], self.places[self.position])
                self.position += 1
            elif kind == ASYNC and not may_start_async(self, int(self.env.now)):
                yield from wait_for_turn(self, min(self.in_flight))
            else:
                port = yield self.group.request(self)
                yield from use_port(self, port)
        yield from wait_for_asyncs(self)
        if self.run.ends_with_stores:
            yield from wait_for_stores(self)
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

    def note_unit(self, unit: int, begin: int, end: int) -> None:
        """What the warp has begun keeps a unit of its group from a tick to another one, for the timeline."""
        report = self.run.report
        if report.units is not None:
            report.units.note(report.launch_begin, self.group.number, unit, begin, end, self.number)

    def until(self, tick: int, phase: int, rank: int) -> Waiting:
        """Wait for a phase of a tick, which a jump (jump.py) may put off meanwhile."""
        self.due = tick
        yield Moment(self.env).due(tick, phase, self.group.number, rank)
        while self.due > self.env.now:
            yield Moment(self.env).due(self.due, phase, self.group.number, rank)

    def wake(self, tick: int) -> Waiting:
        """Wait for the wake phase of that tick."""
        yield from self.until(tick, WAKE, self.age)
