"""Grid: where each point of a study lies along each of its axes, without making the points."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from simtmm.study.design.axes import Value
from simtmm.study.design.columns import Column, Integers
from simtmm.study.design.design import MACHINE_AXIS, Design


@dataclass(frozen=True)
class Grid:
    """A study's points as a grid: machines, then groups of axes, then what is drawn, the last changing fastest."""

    design: Design

    @cached_property
    def axes(self) -> dict[str, tuple[int, tuple[Value, ...]]]:
        """Of each axis, machines among them, the dimension along which it changes, and its values at its places."""
        found: dict[str, tuple[int, tuple[Value, ...]]] = {MACHINE_AXIS: (0, tuple(self.design.machines))}
        for number, group in enumerate(self.design.groups):
            found |= {entry.name: (number + 1, entry.values) for entry in group}
        last = len(self.design.groups) + 1
        return found | {name: (last, tuple(draw[name] for draw in self.design.drawn)) for name in self.design.sampled}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many places each dimension has."""
        groups = (len(group[0].values) for group in self.design.groups)
        return (len(self.design.machines), *groups, len(self.design.drawn))

    def along(self, dimension: int, points: Integers) -> Integers:
        """The place of these points along a dimension."""
        return points // prod(self.shape[dimension + 1 :]) % self.shape[dimension]

    def together(self, dimensions: Sequence[int], points: Integers) -> Integers:
        """A number of these points' places along several dimensions, the same for the same places."""
        number = np.zeros(len(points), dtype=np.int64)
        for dimension in dimensions:
            number = number * self.shape[dimension] + self.along(dimension, points)
        return number

    def of_point(self, names: Iterable[str], point: int) -> dict[str, Value]:
        """The values of a point on these axes."""
        place = {dimension: int(self.along(dimension, np.array([point]))[0]) for dimension in range(len(self.shape))}
        return {name: self.axes[name][1][place[self.axes[name][0]]] for name in names}

    def dimensions(self, names: Sequence[str]) -> list[int]:
        """Those along which some of these axes change."""
        return sorted({self.axes[name][0] for name in names if name in self.axes})

    def columns(self) -> dict[str, Column]:
        """The study's axes, as columns of all points."""
        points = np.arange(self.design.size)
        columns = {}
        for name in self.design.axes:
            dimension, values = self.axes[name]
            own = Column.of(values)  # linked and drawn axes may have a value several times
            columns[name] = Column(own.values, own.places[self.along(dimension, points)])
        return columns
