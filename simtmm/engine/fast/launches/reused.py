"""What the launches of a run share: arrays that are allocated once, and are as new where a launch begins."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from simtmm.engine.fast import layout as at
from simtmm.engine.fast.launches import warming
from simtmm.engine.fast.launches.tables import Integers, empty_lines, parameters_of, pipes_of, table, words_of
from simtmm.machine import Machine
from simtmm.machine.tables.memory import MOST_HALVES, Memory
from simtmm.native import Bound, Loop

_EMPTY = Loop(warming.empty)
_SETTLE = Loop(warming.settle)


class Reused:
    """The arrays of launches on one machine, one after another.

    A launch of a few blocks touches little of what a machine has; as much is made new for the next one.
    """

    def __init__(self, machine: Machine) -> None:
        memory = machine.memory
        self._groups = machine.cores.groups
        self._parameters = parameters_of(machine)
        self._arrays: dict[str, Any] = {}
        self._made: dict[str, tuple[tuple[Any, ...], Any, Any]] = {}
        self._state: at.State | None = None
        self._l1 = empty_lines(self._groups, memory.l1, memory.sectors)
        self._l2 = empty_lines(1, memory.l2, memory.sectors)
        self._has_l1, self._has_l2 = memory.l1 is not None, memory.l2 is not None
        self.keeps = memory.l2 is not None and memory.l2.start == "kept"  # what the launch before leaves in the L2
        self._last_level = empty_lines(1, memory.last_level, memory.sectors)
        self._has_last_level = memory.last_level is not None
        self._last_level_touched = words_of(len(self._last_level[0]))
        self._touched = words_of(len(self._l2[0]))
        self._empty = _EMPTY.bind(self._l2[0], self._touched)
        self._settle = _SETTLE.bind(*self._l2, self._touched, memory.sectors)
        self._empty_last_level = _EMPTY.bind(self._last_level[0], self._last_level_touched)
        self._settle_last_level = _SETTLE.bind(*self._last_level, self._last_level_touched, memory.sectors)
        self._shared_l1s = machine.shared_l1s
        self._shared_l1 = empty_lines(self._shared_l1s, memory.shared_l1, memory.sectors)
        self._shared_l1_touched = words_of(len(self._shared_l1[0]))
        self._empty_shared_l1 = _EMPTY.bind(self._shared_l1[0], self._shared_l1_touched)
        self._bound: tuple[tuple[Any, ...], Bound] | None = None
        self.pipes = pipes_of(machine)

    def parameters(self) -> Integers:
        """Those of the machine, and none yet of the launch."""
        parameters: Integers = self.like("parameters", self._parameters.copy)
        return parameters

    def zeros(self, name: str, *shape: int) -> Integers:
        """An array of zeros."""
        known = self._arrays.get(name)
        if known is None or known.shape != shape:
            known = self._arrays[name] = table(*shape)
        else:
            known.fill(0)
        return known

    def anything(self, name: str, *shape: int) -> Integers:
        """An array of which whatever is read was written before in the same launch."""
        known = self._arrays.get(name)
        if known is None or known.shape != shape:
            known = self._arrays[name] = table(*shape)
        return known

    def like(self, name: str, make: Callable[..., Any], *arguments: Any) -> Any:
        """An array as a function makes it of these arguments."""
        known = self._made.get(name)
        if known is None or known[0] != arguments:
            array = make(*arguments)
            self._made[name] = arguments, array, array.copy()
            return array
        np.copyto(known[1], known[2])
        return known[1]

    def l1(self) -> tuple[Integers, Integers]:
        """The lines of all L1 and their sectors, empty; to be called before the groups' rows are as new."""
        lines, sectors = self._l1
        if self._has_l1 and self._state is not None:
            used = np.flatnonzero(self._state.group[:, at.Group.transactions])
            lines.reshape(self._groups, -1)[used] = -1
        return lines, sectors

    def l2(self) -> tuple[Integers, Integers, Any]:
        """The lines of the L2, their sectors, and bits of the sets that are touched.

        If it keeps them the lines are as the launch before left them, all filled before this one begins; else there are
        none.
        """
        if self.keeps:
            self._settle()
        elif self._has_l2:
            self._empty()
        return *self._l2, self._touched

    def last_level(self, partitions: int) -> dict[str, Any]:
        """Likewise of the last-level cache, which keeps its lines where the L2 does; and until when slices are taken.

        partitions: of global memory.
        """
        if self._has_last_level:
            if self.keeps:
                self._settle_last_level()
            else:
                self._empty_last_level()
        lines, sectors = self._last_level
        free = self.zeros("last_level_free", partitions if self._has_last_level else 1)
        touched = self._last_level_touched
        return {
            "last_level": lines, "last_level_sectors": sectors, "last_level_touched": touched, "last_level_free": free,
        }  # fmt: skip

    def shared_l1(self) -> dict[str, Any]:
        """The lines of shared L1s, empty, with their sectors, and bits of the sets that are touched; and until when
        such a cache is taken.
        """
        if self._shared_l1s:
            self._empty_shared_l1()
        lines, sectors = self._shared_l1
        free, touched = self.zeros("shared_l1_free", max(1, self._shared_l1s)), self._shared_l1_touched
        return {
            "shared_l1": lines, "shared_l1_sectors": sectors, "shared_l1_touched": touched, "shared_l1_free": free,
        }  # fmt: skip

    def slices(self, number: int, watches: bool) -> dict[str, Any]:
        """Until when each slice of the L2 is taken, and the ways between its halves; whether by an atomic.

        number: of slices that take time. watches: whether anybody asks where ticks go.
        """
        return {
            "slice_free": self.zeros("slice_free", number),
            "half_free": self.zeros("half_free", MOST_HALVES),
            "slice_updates": self.zeros("slice_updates", number if watches else 1),
        }

    def keep_below(self, memory: Memory) -> None:
        """Empty an L2 that begins cold before a last-level cache that was warmed with it."""
        if memory.l2 is not None and memory.l2.start == "cold":
            self._empty()

    def taken_from_l2(self, rows: Integers) -> tuple[Integers, Integers]:
        """Copies of sets of an L2 that keeps them, and of their sectors, as a launch that comes next finds them."""
        assert self.keeps  # settled lines are no longer known as touched: nothing would empty them
        lines, sectors, _ = self.l2()
        return lines[rows], sectors[rows if len(sectors) == len(lines) else rows[:0]]

    def put_into_l2(self, rows: Integers, lines: Integers, sectors: Integers) -> None:
        """Have such copies be what lies there."""
        self._l2[0][rows] = lines
        if len(sectors):
            self._l2[1][rows] = sectors

    def state(self, **arrays: Any) -> at.State:
        """A state of these arrays, the one of the launch before if they are the same: what is known of it holds."""
        before = self._state
        if before is None or any(getattr(before, name) is not array for name, array in arrays.items()):
            self._state = at.State(**arrays)
        assert self._state is not None
        return self._state

    def bound(self, loop: Loop, *arguments: Any) -> Bound:
        """A loop with arguments, the one of the call before if they are the same: most launches differ in what lies in
        their arrays alone, and to look at sixty of them takes longer than a short launch.
        """
        if self._bound is None or not all(map(operator.is_, arguments, self._bound[0])):
            self._bound = arguments, loop.bind(*arguments)
        return self._bound[1]
