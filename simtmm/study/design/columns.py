"""Columns: a value of each point of a study as arrays, for questions about all points at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from simtmm.study.design.axes import Value

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


def numbered(columns: Mapping[str, Column], names: Sequence[str], points: Integers) -> Integers:
    """A number for each of these points, the same for those that have the same values in all these columns."""
    number = np.zeros(len(points), dtype=np.int64)
    for name in names:
        column = columns[name]
        number = number * len(column.values) + column.places[points]
        if number.size and number.max() >= 1 << 40:  # the next column must not overflow it
            number = np.unique(number, return_inverse=True)[1]
    return np.unique(number, return_inverse=True)[1]
