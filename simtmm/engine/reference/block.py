"""A resident block: its living warps, its barrier, and what they share."""

from typing import TYPE_CHECKING

from simpy import Event

from simtmm.engine.reference.mbarriers import Mbarriers
from simtmm.engine.reference.registers import Registers
from simtmm.timeline import WarpState

if TYPE_CHECKING:
    from simtmm.engine.reference.group import Group
    from simtmm.engine.reference.run import Run
    from simtmm.engine.reference.warp import Warp


class Block:
    """A resident block: its living warps and its barrier."""

    def __init__(self, run: "Run", group: "Group", number: int, warps: int) -> None:
        self.run = run
        self.number = number
        self.group = group
        self.slots: list[int] = []
        self.living = warps
        takes = run.machine.durations
        self.mbarriers = Mbarriers(takes.mbarrier_latency, takes.cluster_latency)
        self.registers = Registers(run.machine.ports)
        self.at_barrier: list[tuple[Warp, Event]] = []

    def barrier(self, warp: "Warp") -> Event:
        """The warp waits at the barrier; the event is its opening."""
        self.group.account()
        warp.turn(WarpState.BARRIER, warp.places[warp.position - 1])
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

    def lose(self, warp: "Warp") -> None:
        """A warp of the block is done."""
        self.group.account()
        self.group.warps.remove(warp)
        self.group.living -= 1
        self.living -= 1
        self.group.stir()
        if self.living:
            self.open_if_complete()
        else:
            self.run.block_finished(self)
