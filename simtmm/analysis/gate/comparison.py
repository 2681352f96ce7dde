"""Kernels compared with a baseline: which grew by more than is allowed, and what else changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from simtmm.analysis.gate.baseline import Baseline, Timed
from simtmm.provenance import VERSION, computed_by

ROUNDING = 1e-9  # of a growth: what the division of two times, and of each by a clock, may add is below it


@dataclass(frozen=True)
class Row:
    """A kernel. before: None where the baseline has none of the name; after: None where kernels.toml has none.

    failed: whether it grew by more than is allowed.
    """

    name: str
    before: Timed | None
    after: Timed | None
    failed: bool = False

    @property
    def times(self) -> tuple[float | None, float | None, str]:
        """Both times, and their unit: cycles ("cycles") where one of the machines has no clock, else seconds ("s")."""
        there = [timed for timed in (self.before, self.after) if timed is not None]
        unit = "s" if all(timed.seconds is not None for timed in there) else "cycles"
        before, after = (
            None if timed is None else timed.seconds if unit == "s" else timed.cycles
            for timed in (self.before, self.after)
        )
        return before, after, unit

    @property
    def change(self) -> float | None:
        """The part by which it grew, below 0 where it shrank; infinite from no time; None without two times."""
        before, after, _ = self.times
        if before is None or after is None:
            return None
        return after / before - 1 if before else inf if after else 0.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        before, after, unit = self.times
        change = None if self.change == inf else self.change  # JSON has no infinity
        return {
            "name": self.name,
            "before": before,
            "after": after,
            "unit": unit,
            "change": change,
            "failed": self.failed,
            "baseline": self.before and self.before.to_dict(),
            "run": self.after and self.after.to_dict(),
        }


@dataclass(frozen=True)
class Comparison:
    """All kernels: those of kernels.toml in its order, then those that only the baseline has.

    fail_above: the part by which a kernel may grow. notes: what else differs from the baseline, in words.
    """

    rows: tuple[Row, ...]
    fail_above: float
    notes: tuple[str, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """The kernels that grew by more than is allowed."""
        return tuple(row.name for row in self.rows if row.failed)

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "fail_above": self.fail_above,
            "failed": list(self.failed),
            "kernels": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }


def compared(before: Baseline, after: Mapping[str, Timed], fail_above: float) -> Comparison:
    """Kernels that were run beside a baseline.

    before: the baseline.
    after: what was timed now, by the kernel's name in the file.
    fail_above: the part of a time by which it may rise.
    """
    rows = []
    for name in dict.fromkeys((*after, *before.kernels)):
        row = Row(name, before.kernels.get(name), after.get(name))
        grew = row.change is not None and row.change > fail_above + ROUNDING
        rows.append(Row(name, row.before, row.after, grew))
    return Comparison(tuple(rows), fail_above, tuple(_notes(before, rows)))


def _notes(baseline: Baseline, rows: list[Row]) -> Iterator[str]:
    if baseline.simtmm != VERSION:
        yield f"simtmm {baseline.simtmm} wrote the baseline, and this is {VERSION}: its rules may have differed."
    elif baseline.code != computed_by():
        yield f"Another build of simtmm {VERSION} wrote the baseline: its rules may have differed."
    for row in rows:
        if row.after is None:
            yield f"{row.name}: is only in the baseline: the file of kernels no longer has it."
        elif row.before is None:
            yield f"{row.name}: is not in the baseline, so it was not compared: --update adds it."
        else:
            yield from (f"{row.name}: {what}." for what in _changes(row.before, row.after))


def _changes(before: Timed, after: Timed) -> Iterator[str]:
    """What changed around a kernel since the baseline."""
    words = [
        f"{key} was {before.words.get(key, 'not given')}, is {after.words.get(key, 'not given')}"
        for key in dict.fromkeys((*before.words, *after.words))
        if before.words.get(key) != after.words.get(key)
    ]
    if words:
        yield f"its table changed since the baseline: {'; '.join(words)}"
    elif before.machine_digest != after.machine_digest:
        yield f"its machine, {after.machine}, changed since the baseline"
    if before.compiled_by != after.compiled_by:
        then, now = (" and ".join(timed.compiled_by) or "nothing" for timed in (before, after))
        yield f"compiled by {then} in the baseline, by {now} now"
