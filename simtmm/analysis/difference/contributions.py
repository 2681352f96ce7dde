"""What explains the difference between the times of two runs, by reason, by line and by array.

Each run's time is shared out among what its warps' ticks are booked to, in proportion; what launches take before their
warps begin is separate. What a reason, line or array takes in one run less what it takes in the other is what it
contributes, and all contributions add up to the difference: they are stored as fractions.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from simtmm.analysis.difference.side import Side
from simtmm.display import Displayed
from simtmm.errors import OutputError, nearest, shown
from simtmm.extras import frame
from simtmm.stalls import Place

if TYPE_CHECKING:
    import pandas

ALIKE = 0.6  # of the characters of two texts, from where on one is the other, changed
Both: TypeAlias = tuple[Fraction, Fraction]

OVERHEAD, NO_WARPS = "launch_overhead", "no_warps"
"""What time goes to beside simtmm.stalls.REASONS: overheads of launches, and what is left where no warp is there."""


@dataclass(frozen=True)
class Entry:
    """What a reason, a line or an array takes in run A and in run B.

    name: the reason, or the array; "" for no access. places: of a line where it is, None where it is not.
    times: of the runs' times, in the unit of the difference. warps: cycles of all warps.
    reason: with most of the difference.
    """

    name: str
    places: tuple[Place | None, Place | None]
    times: Both
    warps: Both
    reason: str

    @property
    def difference(self) -> Fraction:
        """What it contributes to the difference of the times."""
        return self.times[1] - self.times[0]

    def to_dict(self, of: Both) -> dict[str, Any]:
        """For JSON. of: the runs' times."""
        entry = {
            key: {"time": float(time), "share": float(time / whole) if whole else 0.0, "warp_cycles": float(warps)}
            | ({"place": _plain(place)} if place else {})
            for key, time, whole, warps, place in zip("ab", self.times, of, self.warps, self.places, strict=True)
        }
        return {"name": self.name, "difference": float(self.difference), "reason": self.reason, **entry}


@dataclass(frozen=True)
class Cause:
    """What explains most of a difference. reason: as in Entry. difference: what it contributes.

    place, array: where most of that is, None where no place of the program has any; share: the part of it there.
    """

    reason: str
    difference: Fraction
    place: Place | None
    array: str
    share: Fraction


@dataclass(frozen=True)
class Difference(Displayed):
    """Two runs compared. unit: "cycles" if their clock rates are the same, otherwise "s".

    reasons, lines, arrays: the contributions, the largest first. cause: None if the times are equal.
    against: the reason that contributes most in the opposite direction, if any.
    """

    a: Side
    b: Side
    unit: str
    times: Both
    reasons: tuple[Entry, ...]
    lines: tuple[Entry, ...]
    arrays: tuple[Entry, ...]
    cause: Cause | None
    against: Entry | None

    @property
    def difference(self) -> Fraction:
        """B's time minus A's."""
        return self.times[1] - self.times[0]

    def to_frame(self, by: str = "reason") -> "pandas.DataFrame":
        """A row for each reason, line or array, the largest contribution first, for pandas.

        by: "reason", "line" or "array".

        Raises OutputError for another `by`, and where pandas is not installed.
        """
        tables = {"reason": self.reasons, "line": self.lines, "array": self.arrays}
        if by not in tables:
            raise OutputError(f"by = {shown(by)}: unknown{nearest(str(by), tables)}")
        return frame(
            [
                {
                    by: entry.name,
                    "reason_why": entry.reason,
                    "a": float(entry.times[0]),
                    "b": float(entry.times[1]),
                    "difference": float(entry.difference),
                }
                for entry in tables[by]
            ]
        )

    @property
    def ratio(self) -> float | None:
        """B's time over A's, None if A takes no time."""
        return float(self.times[1] / self.times[0]) if self.times[0] else None

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        cause = self.cause
        return {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "unit": self.unit,
            "ratio": self.ratio,
            "difference": float(self.difference),
            "cause": None
            if cause is None
            else {
                "reason": cause.reason,
                "difference": float(cause.difference),
                "place": _plain(cause.place) if cause.place else None,
                "array": cause.array,
                "share": float(cause.share),
            },
            "reasons": [entry.to_dict(self.times) for entry in self.reasons],
            "lines": [entry.to_dict(self.times) for entry in self.lines],
            "arrays": [entry.to_dict(self.times) for entry in self.arrays],
        }


@dataclass(frozen=True)
class _Part:
    """What a place of one of the runs takes for one reason. which: 0 for A, 1 for B. line: of `_matched`."""

    which: int
    reason: str
    line: int | None
    array: str | None
    time: Fraction
    warps: Fraction


def difference(a: Side, b: Side) -> Difference:
    """Two runs side by side.

    a, b: the runs.
    """
    clocks = a.clock_hz, b.clock_hz
    unit = "s" if None not in clocks and clocks[0] != clocks[1] else "cycles"
    scales = [1 / Fraction(clock) if unit == "s" and clock else Fraction(1) for clock in clocks]
    times = a.cycles * scales[0], b.cycles * scales[1]
    matched = _matched(list(a.lines), list(b.lines), a.program == b.program)
    parts = [part for which, side in enumerate((a, b)) for part in _parts(which, side, scales[which], matched)]
    reasons = _entries(parts, lambda part: part.reason, lambda key: (key, (None, None)))
    lines = _entries(parts, lambda part: part.line, lambda key: ("", matched[key]))
    arrays = _entries(parts, lambda part: part.array, lambda key: (key, (None, None)))
    change = times[1] - times[0]
    cause = _cause(reasons, parts, matched, change) if change else None
    others = [entry for entry in reasons if entry.difference * change < 0]
    return Difference(a, b, unit, times, reasons, lines, arrays, cause, others[0] if others else None)


def _parts(
    which: int, side: Side, scale: Fraction, matched: Sequence[tuple[Place | None, Place | None]]
) -> list[_Part]:
    """All that a run's time goes to: the parts add up to it."""
    numbers = {pair[which]: number for number, pair in enumerate(matched)}
    parts = []
    if side.overhead:
        parts.append(_Part(which, OVERHEAD, None, None, side.overhead * scale, Fraction(0)))
    rest = (side.cycles - side.overhead) * scale
    whole = sum(row.ticks for row in side.rows)
    if rest and not whole:
        parts.append(_Part(which, NO_WARPS, None, None, rest, Fraction(0)))
    for row in side.rows:
        warps = Fraction(row.ticks, side.ticks_per_cycle)
        parts.append(_Part(which, row.reason, numbers[row.place], row.array, rest * row.ticks / whole, warps))
    return parts


def _entries(
    parts: Sequence[_Part],
    key_of: Callable[[_Part], Any],
    identified: Callable[[Any], tuple[str, tuple[Place | None, Place | None]]],
) -> tuple[Entry, ...]:
    """The parts put together by a key, None for what belongs to none."""
    groups: dict[Hashable, list[_Part]] = defaultdict(list)
    for part in parts:
        if key_of(part) is not None:
            groups[key_of(part)].append(part)
    entries = []
    for key, own in groups.items():
        name, places = identified(key)
        times = _sums(own, lambda part: part.time)
        by_reason: dict[str, Fraction] = defaultdict(Fraction)
        for part in own:
            by_reason[part.reason] += part.time if part.which else -part.time
        reason = max(by_reason, key=lambda each: (by_reason[each] * (1 if times[1] >= times[0] else -1), each))
        entries.append(Entry(name, places, times, _sums(own, lambda part: part.warps), reason))
    return tuple(sorted(entries, key=lambda entry: (-abs(entry.difference), -max(entry.times))))


def _sums(parts: Sequence[_Part], value: Callable[[_Part], Fraction]) -> Both:
    a, b = (sum((value(part) for part in parts if part.which == which), Fraction(0)) for which in (0, 1))
    return a, b


def _cause(
    reasons: Sequence[Entry],
    parts: Sequence[_Part],
    matched: Sequence[tuple[Place | None, Place | None]],
    change: Fraction,
) -> Cause:
    """The reason that contributes most, and the line and array at which it does."""
    entry = next(entry for entry in reasons if entry.difference * change > 0)
    of_places: dict[tuple[int, str], Fraction] = defaultdict(Fraction)
    for part in parts:
        if part.reason == entry.name and part.line is not None:
            of_places[part.line, part.array or ""] += part.time if part.which else -part.time
    if not of_places:
        return Cause(entry.name, entry.difference, None, "", Fraction(0))
    (line, array), own = max(of_places.items(), key=lambda item: item[1] * (1 if change > 0 else -1))
    # Where other places go the other way, one may have more than all together.
    share = min(own / entry.difference, Fraction(1))
    a, b = matched[line]
    return Cause(entry.name, entry.difference, b or a, array, share)


def _matched(a: list[Place], b: list[Place], is_same_program: bool) -> list[tuple[Place | None, Place | None]]:
    """Lines of both runs in pairs: the same line; the same text in the same file, in order; the same number, where the
    text was changed: in one program, or a little. What has no partner stands alone.

    Files are the same that have the same name; so are two that are the only ones without a namesake.
    """
    files = [list(dict.fromkeys(place.file for place in side if place.line)) for side in (a, b)]
    alone = [[file for file in own if file not in other] for own, other in (files, files[::-1])]
    renamed = {alone[1][0]: alone[0][0]} if [len(own) for own in alone] == [1, 1] else {}

    def file(place: Place) -> str:
        return renamed.get(place.file, place.file)

    rules: list[Callable[[Place], Hashable]] = [
        lambda place: (file(place), place.line, place.source, place.kind),
        lambda place: (file(place), place.source) if place.line and place.source else None,
        lambda place: (file(place), place.line) if place.line else None,
    ]
    pairs: list[tuple[Place | None, Place | None]] = []
    for number, rule in enumerate(rules):
        partners: dict[Hashable, list[Place]] = defaultdict(list)
        for place in sorted(b, key=lambda place: place.line):
            partners[rule(place)].append(place)
        for place in sorted(a, key=lambda place: place.line):
            if rule(place) is None or not partners[rule(place)]:
                continue
            partner = partners[rule(place)][0]
            if number == len(rules) - 1 and not is_same_program and not _are_alike(place.source, partner.source):
                continue
            partners[rule(place)].pop(0)
            pairs.append((place, partner))
            a, b = [each for each in a if each != place], [each for each in b if each != partner]
    return [*pairs, *((place, None) for place in a), *((None, place) for place in b)]


def _are_alike(a: str, b: str) -> bool:
    return SequenceMatcher(None, a, b, autojunk=False).ratio() >= ALIKE


def _plain(place: Place) -> Mapping[str, Any]:
    return {key: value for key, value in asdict(place).items() if key in ("file", "line", "source", "kind")}
