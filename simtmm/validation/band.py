"""A claim of a paper over what the paper leaves open: whether it holds at all points, at none, or depends on what."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

Value = float | str
"""A value of an axis."""


@dataclass(frozen=True)
class Point:
    """What came out with one value of each axis, and whether the claim holds there."""

    values: tuple[Value, ...]
    outcome: float
    holds: bool


@dataclass(frozen=True)
class Band:
    """All points of some axes.

    axes: names of what the paper leaves open. points: one for each combination of their values.
    """

    axes: tuple[str, ...]
    points: tuple[Point, ...]

    @property
    def deciding(self) -> tuple[str, ...]:
        """The axes along which the claim changes between holding and failing while all others stay."""
        found = []
        for place, axis in enumerate(self.axes):
            sides: dict[tuple[Value, ...], set[bool]] = {}
            for point in self.points:
                others = point.values[:place] + point.values[place + 1 :]
                sides.setdefault(others, set()).add(point.holds)
            if any(len(both) > 1 for both in sides.values()):
                found.append(axis)
        return tuple(found)

    @property
    def verdict(self) -> str:
        """As "holds", "fails", or "depends on m and k"."""
        if not self.deciding:
            return "holds" if self.points[0].holds else "fails"
        *first, last = self.deciding
        return f"depends on {', '.join(first)}{' and ' if first else ''}{last}"

    @property
    def words(self) -> str:
        """The verdict, at how many points it holds, and between what the outcome lies."""
        outcomes = [point.outcome for point in self.points]
        held = sum(point.holds for point in self.points)
        return (
            f"{self.verdict}: holds at {held} of {len(self.points)} points; {min(outcomes):.3g} to {max(outcomes):.3g}"
        )


def band(axes: Mapping[str, Sequence[Value]], outcome: Callable[..., float], holds: Callable[[float], bool]) -> Band:
    """Evaluate a claim at all combinations of the axes' values, at least one each.

    outcome: of one value for each axis, by its name. holds: whether the claim holds where that comes out.
    """
    points = []
    for values in product(*axes.values()):
        came = outcome(**dict(zip(axes, values, strict=True)))
        points.append(Point(tuple(values), came, holds(came)))
    return Band(tuple(axes), tuple(points))
