"""The mbarriers of a block: they count arrivals and bytes, phase by phase (docs/machine.md, section 3)."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simtmm.engine.mbarriers import MOST_MBARRIERS, not_initialised, too_many
from simtmm.errors import EngineError
from simtmm.stalls import Reason
from simtmm.workload import (
    ACTION_SHIFT,
    ARRIVE,
    ARRIVE_COPIED,
    AWAIT,
    COMPLETE,
    COMPLETE_MULTICAST,
    COMPLETE_SENT,
    EXPECT,
    INIT,
    MEET,
    MOST_MBARRIER_COUNT,
    MOST_MBARRIER_NUMBER,
    MOST_PASSES,
    NUMBER_SHIFT,
    REMOTE_SHIFT,
)

if TYPE_CHECKING:
    from simtmm.engine.reference.warp import Warp


Waited = tuple[int, int, Reason]  # a wait of a warp: since when, until when, and what for
Queue = tuple[int, Reason]  # of a copy: for how many ticks others kept it waiting, and where for most of them
Opened = tuple[int, Queue, Waited]
"""What came last in a phase: of bytes, since when they were on their way, -1 where an arrival came last, and how they
queued; of an arrival, what its warp had waited for.
"""
NOTHING: Waited = (0, 0, Reason.MBARRIER)
NO_QUEUE: Queue = (0, Reason.PORT_QUEUE)
NO_BYTES: Opened = (-1, NO_QUEUE, NOTHING)


@dataclass
class Mbarrier:
    """An mbarrier.

    expected: arrivals of a phase. pending, bytes: arrivals and bytes that this one still lacks. phases: completed.
    opens: when the latest of these is open. tick: when the latest arrival or byte of this phase so far is there. byte:
    that of the latest byte. begun: since when that was on its way. queue: how it queued. by: what the warp
    of the latest arrival had waited for. opened: of the phase that opened last. waiting: warps that wait, each with the
    parity.
    """

    expected: int
    pending: int
    bytes: int = 0
    phases: int = 0
    opens: int = 0
    tick: int = 0
    byte: int = -1
    begun: int = 0
    queue: Queue = NO_QUEUE
    by: "Waited" = NOTHING
    opened: "Opened" = NO_BYTES
    waiting: list[tuple["Warp", int]] = field(default_factory=list)


class Mbarriers:
    """Those of a block, by their numbers."""

    def __init__(self, latency: int, remote: int) -> None:
        """latency: from the last arrival or byte to what waits for it. remote: from another block of the cluster."""
        self.latency, self.remote = latency, remote
        self.found: dict[int, Mbarrier] = {}

    def act(self, warp: "Warp", amount: int, now: int) -> tuple[Mbarrier, int] | None:
        """What an operation does; the mbarrier that its warp then waits at, and the parity of the phase.

        Raises EngineError for an mbarrier that nobody initialised, and for too many of them.
        """
        action, count = amount >> ACTION_SHIFT, amount & MOST_MBARRIER_COUNT
        number = amount >> NUMBER_SHIFT & MOST_MBARRIER_NUMBER
        if action in (INIT, MEET) and number not in self.found:
            if len(self.found) == MOST_MBARRIERS:
                raise EngineError(too_many())
            self.found[number] = Mbarrier(count, count)
        elif action == INIT:
            self.found[number] = Mbarrier(count, count, waiting=self.found[number].waiting)
        if number not in self.found:
            raise EngineError(not_initialised(number))
        barrier = self.found[number]
        remote = amount >> REMOTE_SHIFT & 1
        there = now + (self.remote if remote else 0)
        phase = barrier.phases & 1
        if action == EXPECT:
            barrier.bytes += count
        elif action == ARRIVE:
            self.arrive(barrier, count, there, now, warp.waited)
        elif action == ARRIVE_COPIED:
            self.arrive(barrier, count, max([there, *warp.latest_finish[-1:]]), now)
        elif action == MEET:
            self.arrive(barrier, 1, now, now, warp.waited)
        elif action in (COMPLETE, COMPLETE_SENT, COMPLETE_MULTICAST):
            self.complete(barrier, count, *self.bring(warp, action, count, bool(remote), now), now)
        if action == MEET:
            return None if remote else (barrier, phase)
        return (barrier, count) if action == AWAIT else None

    def bring(self, warp: "Warp", action: int, count: int, remote: bool, now: int) -> tuple[int, tuple[int, Queue]]:
        """When bytes are there; since when they were on their way, and how they queued."""
        if action == COMPLETE_SENT:
            there, queue = self.send(warp, count) if remote else (now, NO_QUEUE)
            return there, (now, queue)
        copied, warp.copied = warp.copied, 0
        way = (warp.copying, warp.queued) if copied else (now, NO_QUEUE)
        if remote and action == COMPLETE and not copied:
            return max(now, warp.group.remote_free) + self.remote, way
        there = max(now + (self.remote if remote else 0), copied)
        if remote and action == COMPLETE_MULTICAST and warp.run.piped:
            begin, came = warp.run.memory.come_from_others(warp.group.number, count, now)
            if came > there:
                return came, (way[0], (begin - now, Reason.PORT_QUEUE))
        return there, way

    def send(self, warp: "Warp", count: int) -> tuple[int, Queue]:
        """Bytes leave for another block: when they are there, and how they queue for the way."""
        begin = warp.group.take_way(min(MOST_PASSES, -(-count // warp.run.machine.banks.pass_bytes)))
        return warp.group.remote_free + self.remote, (begin - int(warp.env.now), Reason.PORT_QUEUE)

    def complete(self, barrier: Mbarrier, count: int, tick: int, way: tuple[int, Queue], now: int) -> None:
        """Bytes are there at a tick. way: since when they were on their way, and how they queued."""
        barrier.bytes -= count
        begun, queue = way
        if tick > barrier.byte or (tick == barrier.byte and begun > barrier.begun):
            barrier.byte, barrier.begun, barrier.queue = tick, begun, queue
        self.arrive(barrier, 0, tick, now)

    def arrive(self, barrier: Mbarrier, arrivals: int, tick: int, now: int, by: Waited = NOTHING) -> None:
        """Arrivals, or bytes, are there at a tick; the phase is complete when nothing more is missing.

        by: what the warp of an arrival had waited for.
        """
        barrier.pending -= arrivals
        if tick >= barrier.tick:
            barrier.tick, barrier.by = tick, by
        if barrier.pending > 0 or barrier.bytes:
            return
        barrier.phases += 1
        barrier.opens = barrier.tick + self.latency
        bytes_last = barrier.byte == barrier.tick
        barrier.opened = (barrier.begun, barrier.queue, NOTHING) if bytes_last else (-1, NO_QUEUE, barrier.by)
        barrier.pending += barrier.expected
        barrier.tick, barrier.byte, barrier.begun, barrier.by = now, -1, 0, NOTHING
        for warp, parity in barrier.waiting:
            if barrier.phases & 1 != parity:
                warp.opened.succeed((barrier.opens, barrier.opened))
        barrier.waiting = [pair for pair in barrier.waiting if barrier.phases & 1 == pair[1]]
