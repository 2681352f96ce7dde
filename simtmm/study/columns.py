"""Columns: the points of a study as arrays, for what is asked of all of them at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from simtmm.study.axes import Value

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """A value of each point. values: the different ones; places: int64[points], which it is, -1 for none."""

    values: tuple[Value, ...]
    places: Integers

    @classmethod
    def of(cls, values: Sequence[Value]) -> "Column":
        """From the value of each point. 1 and true are equal in Python and not the same value."""
        known: dict[tuple[bool, Value], int] = {}
        places = [known.setdefault((type(value) is bool, value), len(known)) for value in values]
        return cls(tuple(value for _, value in known), np.array(places, dtype=np.int64))

    @cached_property
    def is_numeric(self) -> bool:
        """Whether all values are numbers."""
        return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in self.values)

    def numbers(self, points: Integers) -> Floats:
        """The values of these points, which must all be numbers."""
        return np.array(self.values, dtype=np.float64)[self.places[points]]

    def at(self, point: int) -> Value:
        """The value of a point."""
        return self.values[int(self.places[point])]


@dataclass(frozen=True)
class Columns:
    """What is known of a study's points, in its order.

    axes: by name. By quantity: cycles, float64[points], nan where there are none; bounds, what binds; terms, those of
    a model by name, float64[points], nan where there are none.
    """

    axes: Mapping[str, Column]
    cycles: Mapping[str, Floats]
    bounds: Mapping[str, Column] = field(default_factory=dict)
    terms: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)

    @cached_property
    def known(self) -> Integers:
        """The points of which some time is known."""
        there = [np.isfinite(cycles) for cycles in self.cycles.values()]
        return np.flatnonzero(np.logical_or.reduce(there)) if there else np.empty(0, dtype=np.int64)

    def groups(self, names: Sequence[str], points: Integers) -> Integers:
        """A number for each of these points, the same for those that have the same values on all these axes."""
        number = np.zeros(len(points), dtype=np.int64)
        for name in names:
            column = self.axes[name]
            number = number * len(column.values) + column.places[points]
            if number.size and number.max() >= 1 << 40:  # the next axis must not overflow it
                number = np.unique(number, return_inverse=True)[1]
        return np.unique(number, return_inverse=True)[1]
