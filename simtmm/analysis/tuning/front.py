"""The Pareto front of two objectives: configurations that no other one dominates."""

from collections.abc import Iterable, Sequence

from simtmm.analysis.tuning.goals import Goal


def front(points: Sequence[tuple[float, ...]]) -> list[int]:
    """The places of the points that none dominates, by the first coordinate; less is better.

    Of points that are equal all are there.
    """
    kept: list[int] = []
    for place in sorted(range(len(points)), key=lambda place: points[place]):
        last = points[kept[-1]] if kept else None  # which has the least second coordinate so far
        if last is None or points[place][1] < last[1] or points[place] == last:
            kept.append(place)
    return kept


def surely_dominated(one: Sequence[Goal], others: Iterable[Sequence[Goal]]) -> bool:
    """Whether another's intervals lie below all of this one's."""
    return any(
        all(theirs.high < own.low for own, theirs in zip(one, other, strict=True))
        for other in others
        if other is not one
    )
