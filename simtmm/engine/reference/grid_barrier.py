"""The barrier of a launch's blocks (docs/machine.md, section 3)."""

from typing import TYPE_CHECKING

from simpy import Event

from simtmm.engine.reference.moment import OPEN, Moment, Waiting

if TYPE_CHECKING:
    from simtmm.engine.reference.run import Run
    from simtmm.engine.reference.warp import Warp


class GridBarrier:
    """Where warps of all blocks of a launch meet."""

    def __init__(self, run: "Run") -> None:
        self.run, self.env = run, run.env
        self.there: list[tuple[Warp, Event]] = []
        self.due = Moment(self.env)
        self.env.process(self.open())

    def meet(self, warp: "Warp") -> Event:
        """The warp waits here; the event is the opening, and brings the tick at which it goes on."""
        opening = Event(self.env)
        self.there.append((warp, opening))
        self.think_of_opening()
        return opening

    def think_of_opening(self) -> None:
        """Have the phase of this tick in which the barrier may open, if anybody waits."""
        if self.there and not self.due.triggered:
            self.due.due(int(self.env.now), OPEN)

    def open(self) -> Waiting:
        """When each living block has a warp here, all of them sleep from now on."""
        while True:
            yield self.due
            self.due = Moment(self.env)
            living = sum(group.resident_blocks for group in self.run.groups)
            if len({warp.block for warp, _ in self.there}) < living:
                continue
            leaving, self.there = self.there, []
            tick = int(self.env.now) + self.run.machine.durations.behind_grid_barrier(living, len(self.run.groups))
            for _, opening in leaving:
                opening.succeed(tick)
