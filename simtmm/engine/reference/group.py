"""A core group: its issue ports, its places for warps, and where its time goes."""

import heapq
from typing import TYPE_CHECKING

from simpy import Event

from simtmm.engine import holding_back
from simtmm.engine.reference.jump import Jumps
from simtmm.engine.reference.moment import ISSUE, Moment, Waiting
from simtmm.engine.reference.pipes import Pipes, Products
from simtmm.errors import EngineError
from simtmm.result import WHERE_TIME_GOES
from simtmm.rules.seen import Idle, rule_name
from simtmm.timeline import WarpState

if TYPE_CHECKING:
    from simtmm.engine.reference.run import Run
    from simtmm.engine.reference.warp import Warp


class Group:
    """A core group: its issue ports, its places for warps, and where its time goes."""

    def __init__(self, run: "Run", number: int) -> None:
        self.run = run
        self.env = run.env
        self.number = number
        self.free_ports = list(range(run.machine.ports))
        self.warps: list[Warp] = []  # living
        self.ready: list[Warp] = []
        self.granted_last: Warp | None = None  # with ports of their own the port's, once it is asked who comes next
        self.granted_by: dict[int, Warp] = {}  # likewise the last of each port
        self.resident_blocks = 0
        self.resident_warps = 0
        self.free_slots: list[int] = []
        self.slots = 0
        self.launch_free = 0
        self.block_free = 0
        self.remote_free = 0  # the way to other groups' shared memory
        self.living = 0
        self.waiting_for_memory = 0
        self.waiting_at_barrier = 0
        self.time = dict.fromkeys(WHERE_TIME_GOES, 0)
        self.accounted = 0
        self.pipes = Pipes(run.machine)
        self.products = Products(run.machine)
        self.jumps = Jumps(self) if run.has_jumps else None
        self.holds_back = False  # whether a rule of somebody's own granted nobody when it was asked last
        self.asks_at: int | None = None  # the tick at which that rule, as it answered last, wants to be asked again
        self.holds = 0  # times in a row that it held back
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
        self.time[state] += int(now - self.accounted)
        self.accounted = int(now)

    def take_way(self, passes: int) -> int:
        """Take the way to other groups' shared memory for so many passes, from the tick on that this gives."""
        begin, memory = max(self.now, self.remote_free), self.run.memory
        self.remote_free = begin + passes * self.run.machine.durations.remote_interval
        memory.last_finish = max(memory.last_finish, self.remote_free)
        return begin

    def request(self, warp: "Warp") -> Event:
        """The warp is ready from now on; the event brings the port that it is granted."""
        warp.turn(WarpState.READY, warp.places[warp.position])
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
            if self.jumps and (ticks := self.jumps.ahead()):
                yield Moment(self.env).due(self.now + ticks, ISSUE, self.number)
            self.issue_due = Moment(self.env)
            self.account()
            self.holds_back, self.asks_at, held = False, None, False
            for port in tuple(self.free_ports):
                if (held and not self.run.own_ports) or not (ready := self.ready_for(port)):
                    continue
                warp = self.run.pick(ready, self)
                if isinstance(warp, Idle):
                    held = True
                    self.ask_again(warp.until)
                    continue
                self.holds = 0
                self.ready.remove(warp)
                self.granted_last = self.granted_by[port] = warp
                warp.turn(WarpState.ISSUING, warp.place)
                self.free_ports.remove(port)
                warp.granted.succeed(port)
            self.holds_back = held

    def ask_again(self, tick: int | None) -> None:
        """A rule holds back, and wants to be asked again at that tick at the latest."""
        self.holds += 1
        most = holding_back.MOST_HOLDS
        if self.holds > most:
            raise EngineError(holding_back.too_often(rule_name(self.run.pick), self.number, self.now, most))
        if tick is None or (self.asks_at is not None and self.asks_at <= tick):
            return
        self.asks_at = tick
        moment = Moment(self.env).due(tick, ISSUE, self.number)
        moment.callbacks.append(lambda _: self.asks_again(tick))

    def asks_again(self, tick: int) -> None:
        """That tick has come, which the rule may have named before its last answer."""
        if self.asks_at == tick:
            self.stir()

    def stir(self) -> None:
        """Something happened in the group: a rule that holds back is asked again."""
        if self.holds_back:
            self.think_of_issuing()

    def ready_for(self, port: int) -> "list[Warp]":
        """The ready warps that may have a port: all, or those whose slot it is of (section 5)."""
        if not self.run.own_ports:
            return self.ready
        self.granted_last = self.granted_by.get(port)
        return [warp for warp in self.ready if warp.slot % self.run.machine.ports == port]

    def take_slot(self) -> int:
        """The lowest free slot."""
        if self.free_slots:
            return heapq.heappop(self.free_slots)
        self.slots += 1
        return self.slots - 1
