"""Winners: of several programs, which is fastest where, by each series, and where that changes.

A place is what all of them have in common: a machine, and a value of each parameter or key that is varied.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from simtmm.study.curves import curves
from simtmm.study.design.programs import PROGRAM
from simtmm.study.results import Results

SAME = 1e-9  # relative difference of times below which nobody wins


@dataclass(frozen=True)
class Winner:
    """Who is fastest at a place, by a series.

    at: the place. best: the programs that are fastest, several where they take the same time. times: of each program.
    """

    at: Mapping[str, Any]
    series: str
    best: tuple[str, ...]
    times: Mapping[str, float]

    @property
    def lead(self) -> float | None:
        """How many times as long the next one takes; None where there is none, or nobody wins."""
        others = [time for program, time in self.times.items() if program not in self.best]
        return min(others) / self.times[self.best[0]] if others and len(self.best) == 1 else None


@dataclass(frozen=True)
class Exchange:
    """Where the winner changes along an axis, the rest of the place being fixed. between: two neighbouring values."""

    axis: str
    at: Mapping[str, Any]
    series: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    between: tuple[float, float]


def winner(at: Mapping[str, Any], series: str, times: Mapping[str, float]) -> Winner | None:
    """Of the times of programs at a place; None for one program alone.

    at: values that say where, by name.
    series: whose times these are.
    times: by program, all in one unit.
    """
    if len(times) < 2:
        return None
    least = min(times.values())
    best = tuple(program for program, time in times.items() if time <= least * (1 + SAME))
    return Winner(at, series, best, times)


def winners_of(results: Results) -> tuple[Winner, ...]:
    """Of a study of several programs, by place and quantity, in the order of its points; empty for one program."""
    if PROGRAM not in results.axes or PROGRAM not in results.design.subject.parameters:
        return ()
    along, found = curves(results, PROGRAM), []
    for place in range(len(along)):
        curve = along[place]
        names = [str(results.axes[PROGRAM].at(int(point))) for point in curve.index]
        for series in results.design.compute:
            cycles = results.cycles[series][curve.index].tolist()
            times = {name: time for name, time in zip(names, cycles, strict=True) if np.isfinite(time)}
            one = winner(curve.fixed, series, times)
            found += [one] if one else []
    return tuple(found)


def exchanges(winners: Sequence[Winner]) -> tuple[Exchange, ...]:
    """Where the winner changes between neighbouring values of an axis that has numbers."""
    found = []
    for name in dict.fromkeys(name for one in winners for name in one.at):
        for curve in _curves(winners, name):
            for one, other in pairwise(curve):
                if one.best != other.best:
                    at = {key: value for key, value in one.at.items() if key != name}
                    between = (one.at[name], other.at[name])
                    found.append(Exchange(name, at, one.series, one.best, other.best, between))
    return tuple(found)


def _curves(winners: Sequence[Winner], name: str) -> Iterator[list[Winner]]:
    """The places that differ in one value alone, in its order, by series."""
    groups: dict[tuple[object, ...], list[Winner]] = {}
    for one in winners:
        if isinstance(one.at[name], int | float) and not isinstance(one.at[name], bool):
            rest = tuple(value for key, value in one.at.items() if key != name)
            groups.setdefault((one.series, *rest), []).append(one)
    for group in groups.values():
        yield sorted(group, key=lambda one: float(one.at[name]))
