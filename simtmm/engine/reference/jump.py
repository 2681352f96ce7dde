"""Jumps over long computes where each instruction is granted by itself. No rule of the page: no tick is other by it.

Until a warp of the group comes to its next operation, or one that sleeps for something else than the pipeline wakes,
what follows in a group depends on who is ready, who holds which port, who waits out the pipeline, and until when pipes
are taken: not on how many instructions are left, and on ticks only as far as they lie apart. So once all this is as it
was a while ago, everything that happened since happens again, over and over. Nothing else changes a group meanwhile;
but a block that fits into it as it is could be placed there at any tick.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from simtmm.stalls import CLASSES, Count, Reason
from simtmm.timeline import WarpState
from simtmm.workload import (
    COMPUTE,
    GIVE_REGISTERS,
    GRID_BARRIER,
    MBARRIER,
    OF_CLASS,
    PRODUCT,
    TAKE_REGISTERS,
    Workload,
)

if TYPE_CHECKING:
    from simtmm.engine.reference.group import Group
    from simtmm.engine.reference.warp import Warp

LONG = 64  # instructions: a compute of so many is worth it to look for what recurs
COMPUTES = (COMPUTE, *range(OF_CLASS, OF_CLASS + len(CLASSES)))
WAITED_FOR = (GRID_BARRIER, MBARRIER, PRODUCT, GIVE_REGISTERS, TAKE_REGISTERS)
MOVING = (WarpState.ISSUING, WarpState.PIPELINE)
ASLEEP = (WarpState.MEMORY, WarpState.PAUSE, WarpState.START)


def has_long_computes(workload: Workload, launch: int) -> bool:
    """Whether a launch has something to jump over."""
    warps = workload.block_warps[workload.launch_blocks[launch : launch + 2]]
    operations = slice(*workload.warp_operations[warps])
    amounts = workload.amount[operations][np.isin(workload.kind[operations], COMPUTES)]
    return bool((amounts >= LONG).any())


def meets_as_grid(workload: Workload, launch: int) -> bool:
    """Whether warps of a launch wait for others at barriers that a jump would pass over, begin products, or give others
    registers.
    """
    warps = workload.block_warps[workload.launch_blocks[launch : launch + 2]]
    return bool(np.isin(workload.kind[slice(*workload.warp_operations[warps])], WAITED_FOR).any())


class Jumps:
    """Looks for a state of a group that recurs: one is kept, and after a while a later one, for longer and longer."""

    def __init__(self, group: "Group") -> None:
        self.group = group
        self.left = self.patience = 0  # looks at the group until another state is kept, of how many
        self.granted_last: Warp | None = None
        self.places: list[tuple[int, int]] = []
        self.phases: list[Any] = []
        self.tick = 0
        self.computed: list[int] = []
        self.piped: list[int] = []
        self.time: dict[str, int] = {}

    def ahead(self) -> int:
        """Ticks to jump at the issue phase of this one, 0 or whole periods: the group is put into its state then."""
        self.left -= 1
        if self.left > 0 and self.group.granted_last is not self.granted_last:
            return 0
        self.group.account()
        shortest = 2 * (len(self.group.warps) + len(self.group.free_ports) + 1)
        places = [(warp.age, warp.position) for warp in self.group.warps]
        if self.left <= 0:
            self.left = self.patience = max(shortest, 2 * self.patience if places == self.places else 0)
            self.keep(places)
            return 0
        ticks = self.jump() if places == self.places and self.phases == self.phases_now() else 0
        if ticks or places != self.places:
            self.left, self.patience, self.granted_last = shortest // 2, 0, None  # what is kept will not come again
        return ticks

    def keep(self, places: list[tuple[int, int]]) -> None:
        """Keep the group's present state."""
        self.granted_last = self.group.granted_last
        self.places, self.phases = places, self.phases_now()
        self.tick = self.group.now
        self.computed = [warp.computed for warp in self.group.warps]
        self.piped = [warp.piped for warp in self.group.warps]
        self.time = dict(self.group.time)

    def phases_now(self) -> list[Any]:
        """What decides the group's future, but for the operations that its warps are at."""
        ready = sorted(self.group.ready, key=lambda warp: (warp.ready_time, warp.age))
        phases = [self.phase(warp) for warp in self.group.warps]
        pipes = self.group.pipes.ahead(self.group.now)
        granted = sorted((port, warp.age) for port, warp in self.group.granted_by.items() if self.group.run.own_ports)
        return [
            self.group.granted_last,
            *granted,
            *self.group.free_ports,
            *(warp.age for warp in ready),
            *phases,
            *pipes,
        ]

    def phase(self, warp: "Warp") -> tuple[int, ...]:
        """A warp's state, and how far away the ticks are that it waits for; a longer sleep ends where it ends."""
        now = self.group.now
        if warp.state == WarpState.ISSUING:
            return warp.state, warp.port, warp.in_port, warp.granted_at - now, warp.due - now
        if warp.state == WarpState.PIPELINE:
            return warp.state, warp.due - now
        return (warp.state, warp.due) if warp.state in ASLEEP else (warp.state,)

    def jump(self) -> int:
        """Let all that happened since the kept state happen again, as often as it does; the ticks that this takes."""
        group, warps = self.group, self.group.warps
        period = group.now - self.tick
        done = [warp.computed - before for warp, before in zip(warps, self.computed, strict=True)]
        # The last instruction of a compute is left for later: behind it, its warp goes on.
        often = [
            (warp.amounts[warp.position] - 1 - warp.computed) // n for warp, n in zip(warps, done, strict=True) if n
        ]
        if not often or group.run.may_place_in(group):
            return 0
        often += [(warp.due - 1 - group.now) // period for warp in warps if warp.state in ASLEEP]
        times = min(often)
        piped = [warp.piped - before for warp, before in zip(warps, self.piped, strict=True)]
        group.pipes.jump(times * period)
        for warp, instructions, queue in zip(warps, done, piped, strict=True):
            warp.computed += times * instructions
            if instructions:
                self.book(warp, times, instructions, period, queue)
            if warp.state in MOVING:
                warp.due += times * period
                warp.granted_at += times * period
        group.run.report.issued += times * sum(done)
        group.run.report.port_busy += times * sum(done) * group.run.issue_ticks
        for state, ticks in self.time.items():
            group.time[state] += times * (group.time[state] - ticks)
        group.accounted += times * period
        return times * period

    def book(self, warp: "Warp", times: int, instructions: int, period: int, queue: int) -> None:
        """Book what a warp does in periods that are jumped over: it issues, waits out the pipeline and in the queue of
        its pipe, for so many ticks of a period, and is ready.
        """
        run = self.group.run
        issuing = instructions * run.issue_ticks
        waiting = instructions * max(0, run.pipeline_depth - run.issue_ticks)
        place, bookings = warp.places[warp.position], warp.bookings
        bookings.book(place, Reason.ISSUING, times * issuing)
        bookings.book(place, Reason.INSTRUCTION_LATENCY, times * waiting)
        bookings.book(place, Reason.PIPE_QUEUE, times * queue)
        bookings.book(place, Reason.NOT_GRANTED, times * (period - issuing - waiting - queue))
        bookings.count(place, Count.INSTRUCTIONS, times * instructions)
        warp.since += times * period
