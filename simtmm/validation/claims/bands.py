"""Claims over what their papers leave open: bands.toml has the axes of each, outcomes.csv what came out at each point.

A band compares two programs. Its outcome is a quantity of the one (`of`) over the same quantity of the other (`over`),
at every combination of the axes' values; the claim holds where the outcome is at least `at_least` and at most
`at_most`.
"""

import csv
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import product
from typing import Any

from simtmm.errors import StudyError, nearest
from simtmm.validation.band import Band as Points
from simtmm.validation.band import Point, Value

OUTCOMES = "outcomes.csv"


@dataclass(frozen=True)
class Side:
    """One of the two programs.

    kernel, parameters: what is simulated; a text that begins with "=" is an expression of the axes, as "=2 * n".
    launches: beginnings of the names of those launches whose time counts; all if none. quantity: "seconds", or
    "l1_hit_rate", of loads but those of streams. set: keys of the machine. value: instead of a program, an expression.
    """

    kernel: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    launches: tuple[str, ...] = ()
    quantity: str = "seconds"
    set: Mapping[str, Any] = field(default_factory=dict)
    value: str = ""


@dataclass(frozen=True)
class Band:
    """A claim over axes.

    claim: name in claims.toml. criterion: what holding means, in words. machine: the machine of both programs;
    one_group: one of its core groups alone, with its share of the bandwidth and without an L2. shrunk: what is smaller
    than in the paper, or "". along: the axis that a picture has as x, with `x` as its name and unit. outcome: what is
    compared, in words.
    """

    name: str
    claim: str
    title: str
    source: str
    criterion: str
    machine: str
    axes: Mapping[str, tuple[Value, ...]]
    of: Side
    over: Side
    along: str
    x: str
    outcome: str
    at_least: float = float("-inf")
    at_most: float = float("inf")
    set: Mapping[str, Any] = field(default_factory=dict)
    one_group: bool = False
    shrunk: str = ""

    def holds(self, outcome: float) -> bool:
        """Whether the claim holds where this comes out.

        outcome: what was simulated.
        """
        return self.at_least <= outcome <= self.at_most

    @property
    def settings(self) -> Iterator[dict[str, Value]]:
        """Every combination of the axes' values, the last axis varying fastest."""
        for values in product(*self.axes.values()):
            yield dict(zip(self.axes, values, strict=True))

    @property
    def points(self) -> Points:
        """What came out at each setting. Raises StudyError if outcomes.csv lacks one."""
        kept = _outcomes()
        points = []
        for setting in self.settings:
            outcome = kept.get((self.name, setting_text(setting)))
            if outcome is None:
                raise StudyError(f"{OUTCOMES}: {self.name}: {setting_text(setting)}: is not there")
            points.append(Point(tuple(setting.values()), outcome, self.holds(outcome)))
        return Points(tuple(self.axes), tuple(points))

    def to_dict(self) -> dict[str, Any]:
        """As one JSON document."""
        found = self.points
        return {
            "name": self.name,
            "criterion": self.criterion,
            "machine": self.machine,
            "axes": {name: list(values) for name, values in self.axes.items()},
            "outcome": self.outcome,
            "shrunk": self.shrunk,
            "verdict": found.words,
            "depends_on": list(found.deciding),
            "points": [
                {
                    "values": dict(zip(found.axes, point.values, strict=True)),
                    "outcome": point.outcome,
                    "holds": point.holds,
                }
                for point in found.points
            ],
        }


def setting_text(setting: Mapping[str, Value]) -> str:
    """As "k=8 letters=4": how outcomes.csv names a setting."""
    return " ".join(f"{name}={value if isinstance(value, str) else f'{value:.12g}'}" for name, value in setting.items())


@cache
def known_bands() -> dict[str, Band]:
    """All bands by name."""
    tables = tomllib.loads((resources.files(__package__) / "bands.toml").read_text(encoding="utf-8"))
    return {name: _band(name, table) for name, table in tables.items()}


def _band(name: str, table: Mapping[str, Any]) -> Band:
    axes = {axis: tuple(values) for axis, values in table["axes"].items()}
    sides = {
        side: Side(**{**table[side], "launches": tuple(table[side].get("launches", ()))}) for side in ("of", "over")
    }
    return Band(name, **{**table, **sides, "axes": axes})


def find_band(name: str) -> Band:
    """The band of that name. Raises StudyError for an unknown one."""
    bands = known_bands()
    if name not in bands:
        raise StudyError(f"band {name!r}: unknown{nearest(name, bands)}")
    return bands[name]


def band_of_claim(name: str) -> Band | None:
    """The band of a claim, if it has one."""
    return next((band for band in known_bands().values() if band.claim == name), None)


@cache
def _outcomes() -> dict[tuple[str, str], float]:
    text = (resources.files(__package__) / OUTCOMES).read_text(encoding="utf-8")
    return {(row["band"], row["setting"]): float(row["outcome"]) for row in csv.DictReader(text.splitlines())}


def written(outcomes: Mapping[tuple[str, str], float], order: Sequence[str]) -> str:
    """outcomes.csv with these outcomes, bands in this order."""
    rows = sorted(outcomes, key=lambda key: order.index(key[0]))
    return "".join(["band,setting,outcome\n", *(f"{b},{s},{outcomes[b, s]:.6g}\n" for b, s in rows)])
