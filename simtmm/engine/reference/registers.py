"""Registers that warps of a block give back, and others take (docs/machine.md, section 3)."""

from typing import TYPE_CHECKING

from simpy import Event

from simtmm.engine.reference.moment import Waiting
from simtmm.stalls import Reason
from simtmm.timeline import WarpState

if TYPE_CHECKING:
    from simtmm.engine.reference.warp import Warp


class Registers:
    """Those of a block that no warp has: a pool for each issue port, of so many of each thread of a warp."""

    def __init__(self, ports: int) -> None:
        """ports: issue ports of a group."""
        self.free = [0] * ports
        self.waiting: list[tuple[Warp, int, Event]] = []

    def pool_of(self, warp: "Warp") -> int:
        """The number of the pool that a warp uses."""
        return warp.slot % len(self.free)

    def give(self, warp: "Warp", count: int) -> None:
        """A warp gives so many of each thread; others that sleep for some take them, oldest first."""
        pool = self.pool_of(warp)
        self.free[pool] += count
        for one in sorted(self.waiting, key=lambda each: each[0].age):
            other, wanted, taken = one
            if self.pool_of(other) == pool and self.has_taken(other, wanted):
                self.waiting.remove(one)
                taken.succeed()

    def has_taken(self, warp: "Warp", count: int) -> bool:
        """Whether there are as many for a warp; then it takes them."""
        pool = self.pool_of(warp)
        if self.free[pool] < count:
            return False
        self.free[pool] -= count
        return True


def take_registers(warp: "Warp", count: int) -> Waiting:
    """Take registers for the warp's threads, and sleep until there are enough."""
    registers, began, place = warp.block.registers, int(warp.env.now), warp.places[warp.position]
    if registers.has_taken(warp, count):
        return
    warp.group.account()
    warp.turn(WarpState.MEMORY, place, Reason.REGISTERS)
    warp.group.waiting_for_memory += 1
    taken = Event(warp.env)
    registers.waiting.append((warp, count, taken))
    yield taken
    wakes = int(warp.env.now) + warp.run.machine.ticks_per_cycle
    warp.bookings.book(place, Reason.REGISTERS, wakes - began)
    yield from warp.wake(wakes)
    warp.group.account()
    warp.group.waiting_for_memory -= 1
