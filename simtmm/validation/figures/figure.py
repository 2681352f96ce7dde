"""A figure or table of a paper, as the project computes it: curves and rows, and what of them was fitted."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

Kind = Literal["model", "simulated", "fitted", "printed"]
KINDS: tuple[Kind, ...] = ("model", "simulated", "fitted", "printed")
Cell = str | float


@dataclass(frozen=True)
class Curve:
    """Values along what varies.

    kind: "model" for closed forms with constants of 1 or as derived, "simulated", "fitted" for lines that were fitted
        to measurements, "printed" for numbers that the paper's text has. x, y: in the figure's units.
    """

    label: str
    kind: Kind
    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind = {self.kind!r}: must be one of {', '.join(KINDS)}")
        if len(self.x) != len(self.y):
            raise ValueError(f"{self.label}: {len(self.x)} x and {len(self.y)} y: must be as many")


@dataclass(frozen=True)
class Figure:
    """What stands in a paper under one number, computed.

    name: unique, as in file names. source: document and number. x, y: what the axes are, with their units. fitted,
    predicted: what of it was fitted to what, and what follows without that. logarithmic: "", "x", "y" or "xy".
    columns, rows: of a table, which has no curves. shrunk: what is smaller or scaled, beside the paper: stands in the
    picture.
    """

    name: str
    title: str
    source: str
    fitted: str
    predicted: str
    x: str = ""
    y: str = ""
    curves: tuple[Curve, ...] = ()
    logarithmic: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    shrunk: str = ""

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
        """Columns and rows: its own, or a row for each point of its curves."""
        if not self.curves:
            return self.columns, self.rows
        points = tuple(
            (curve.label, curve.kind, x, y) for curve in self.curves for x, y in zip(curve.x, curve.y, strict=True)
        )
        return ("curve", "kind", self.x, self.y), points

    def to_csv(self) -> str:
        """The same as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns, rows = self.table()
        writer.writerow(columns)
        writer.writerows([f"{cell:.9g}" if isinstance(cell, float) else cell for cell in row] for row in rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """The whole object, as one JSON document."""
        return {
            **{entry.name: getattr(self, entry.name) for entry in fields(self)},
            "curves": [vars(curve) for curve in self.curves],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Figure":
        """The figure of a document of `to_dict`.

        document: what `to_dict` gave.

        Raises KeyError, TypeError or ValueError for another.
        """
        own = {"shrunk": "", **document}  # which figures of earlier versions lack
        own = {entry.name: own[entry.name] for entry in fields(cls)}
        curves = tuple(
            Curve(curve["label"], curve["kind"], tuple(map(float, curve["x"])), tuple(map(float, curve["y"])))
            for curve in own.pop("curves")
        )
        rows = tuple(tuple(row) for row in own.pop("rows"))
        return cls(
            **own | {"curves": curves, "rows": rows, "columns": tuple(own["columns"]), "notes": tuple(own["notes"])}
        )


def curve(label: str, kind: Kind, points: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> Curve:
    """A curve of points (x, y), or of a mapping of x to y."""
    pairs = list(points.items() if isinstance(points, Mapping) else points)
    return Curve(label, kind, tuple(float(x) for x, _ in pairs), tuple(float(y) for _, y in pairs))


def powers(low: int, high: int) -> Iterator[int]:
    """The powers of two from 2^low to 2^high."""
    return (2**power for power in range(low, high + 1))
