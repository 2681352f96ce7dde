"""Stored accuracy: a JSON file a table, and what is no longer so when its values are computed anew."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.errors import MachineError, StudyError, shown_error
from simtmm.machine import load_machine
from simtmm.provenance import provenance
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import REPRODUCTIONS, Tables

SAME = 1e-6  # relative difference of values that count as equal: rounding, on another processor
TEXTS = ("title", "quantity", "unit", "along", "calibrated", "origin", "machine", "notes", "promised", "reference")


@dataclass(frozen=True)
class Kept:
    """A table as a file keeps it.

    reproduction: where it comes from. place: among that one's tables. provenance: of the run that wrote it, with the
    digests of the machines where they are profiles.
    """

    accuracy: Accuracy
    reproduction: str
    place: int
    provenance: Mapping[str, str]

    def to_json(self) -> str:
        """The file's text, a line for each point. Raises StudyError for a value that is no finite number."""
        document = {
            "reproduction": self.reproduction,
            "place": self.place,
            **self.accuracy.to_dict(),
            "provenance": dict(self.provenance),
        }
        points = document.pop("points")
        try:
            head = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
            rows = ",\n    ".join(json.dumps(point, allow_nan=False, ensure_ascii=False) for point in points)
        except ValueError:
            raise StudyError(f"{self.accuracy.name}: its values must be finite numbers") from None
        return f'{head[:-2]},\n  "points": [\n    {rows}\n  ]\n}}\n'


def keep(reproduced: Mapping[str, Tables]) -> tuple[Kept, ...]:
    """Tables just reproduced, by reproduction, with where they come from.

    reproduced: tables by reproduction.
    """
    return tuple(
        Kept(accuracy, name, place, {**provenance(), **_digest(accuracy.machine)})
        for name, tables in reproduced.items()
        for place, accuracy in enumerate(tables)
    )


def ordered(tables: Iterable[Kept]) -> tuple[Kept, ...]:
    """In the order of REPRODUCTIONS, and within one in its own; those of none that is known last.

    tables: as they were found.
    """
    places = {name: place for place, name in enumerate(REPRODUCTIONS)}
    return tuple(
        sorted(tables, key=lambda kept: (places.get(kept.reproduction, len(places)), kept.reproduction, kept.place))
    )


def read(folder: Path) -> tuple[Kept, ...]:
    """The tables of a folder's JSON files, ordered; none where there is no folder.

    folder: its path.

    Raises StudyError for a file that can't be read as one.
    """
    return ordered(_read(path) for path in sorted(folder.glob("*.json")))


def _read(path: Path) -> Kept:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        accuracy = Accuracy.from_dict(document)
        kept = Kept(accuracy, str(document["reproduction"]), int(document["place"]), dict(document["provenance"]))
        kept.to_json()  # which asks everything of the points
    except (OSError, KeyError, TypeError, ValueError, AttributeError, ArithmeticError, StudyError) as error:
        reason = f"key {error}: missing" if isinstance(error, KeyError) else shown_error(error)
        raise StudyError(f"{path}: no table of `simtmm paper reproduce` ({reason})") from None
    if path.stem != accuracy.name:
        raise StudyError(f"{path}: name = {accuracy.name!r}: must be {path.stem!r}, as the file's")
    return kept


def differences(kept: Sequence[Kept], reproduced: Mapping[str, Tables]) -> tuple[str, ...]:
    """A line for each figure that is not what the run gives, and for each mean error above what is promised.

    kept: all that are there; those of reproductions that were not run are left alone. A line names table, point and
    series, and the stored value and the computed one.
    reproduced: tables by reproduction.
    """
    old = {table.accuracy.name: table.accuracy for table in kept if table.reproduction in reproduced}
    new = {table.name: table for tables in reproduced.values() for table in tables}
    lines = [f"{name}: is stored, but no longer reproduced" for name in old if name not in new]
    lines += [
        f"{kept_one.accuracy.name}: no reproduction {kept_one.reproduction!r} makes it any longer"
        for kept_one in kept
        if kept_one.reproduction not in REPRODUCTIONS and kept_one.reproduction not in reproduced
    ]
    for name, table in new.items():
        lines += _stale(old[name], table) if name in old else [f"{name}: is reproduced, and not kept"]
        lines += broken_promises(table)
    return tuple(lines)


def broken_promises(table: Accuracy) -> list[str]:
    """A line for each series whose mean error is above what was promised of it.

    table: of a reproduction.
    """
    lines = []
    for series, promised in table.promised.items():
        if series not in table.series:
            lines.append(f"{table.name}: {series}: a mean error is promised, and no value is there")
        elif (mean := table.errors(series).mean) > promised:
            lines.append(f"{table.name}: {series}: mean error {mean:.2%}, promised at most {promised:.2%}")
    return lines


def errors_follow(stored: Any, table: Accuracy) -> bool:
    """Whether errors that a file tells, by series, are those of its points; sums may be rounded in another order.

    stored: what the file tells.
    table: whose points they are of.
    """
    ours = {series: vars(table.errors(series)) for series in table.series}
    if not isinstance(stored, dict) or stored.keys() != ours.keys():
        return False
    return all(
        stored[series].keys() == errors.keys() and all(_equal(stored[series][key], errors[key]) for key in errors)
        for series, errors in ours.items()
    )


def stale_points(old: Accuracy, new: Accuracy) -> Iterator[str]:
    """A line for each value of a point in `new` that `old` has otherwise, or not at all."""
    before = {(point.group, point.case): point for point in old.points}
    for point in new.points:
        where = f"{new.name}: {_place(point)}"
        kept = before.get((point.group, point.case))
        if kept is None:
            yield f"{where}: is computed, but not stored"
            continue
        ours, theirs = _values(kept), _values(point)
        for series in dict.fromkeys([*ours, *theirs]):
            if not _same(ours.get(series), theirs.get(series)):
                stored, computed = _shown(ours.get(series)), _shown(theirs.get(series))
                yield f"{where}: {series}: {stored} is stored, {computed} is computed"


def _stale(old: Accuracy, new: Accuracy) -> Iterator[str]:
    for key in TEXTS:
        if getattr(old, key) != getattr(new, key):
            yield f"{new.name}: {key}: differs from the stored one"
    yield from stale_points(old, new)
    left = {(point.group, point.case) for point in new.points}
    for point in old.points:
        if (point.group, point.case) not in left:
            yield f"{new.name}: {_place(point)}: is stored, but no longer computed"


def _place(point: Measured) -> str:
    return point.case if point.group in point.case else f"{point.group} {point.case}"


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def _values(point: Measured) -> dict[str, float | None]:
    return {"at": point.at, "measured": point.measured, **point.said}


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=SAME)


def _shown(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.9g}"


def _digest(machines: str) -> dict[str, str]:
    try:
        return {"machine_digest": ", ".join(load_machine(name).digest() for name in machines.split(", "))}
    except MachineError:  # words of another kind
        return {}
