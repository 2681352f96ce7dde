"""Two runs side by side, as a person reads it: first what explains the difference."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.difference import NO_WARPS, OVERHEAD, Difference, Entry, changed_keys
from simtmm.report.stalls import WHAT_WARPS_DO
from simtmm.report.text import NO_VALUE, number, seconds, share, table
from simtmm.stalls import REASONS, Place, Reason

NAMES = {name: WHAT_WARPS_DO[Reason(number)][0] for number, name in enumerate(REASONS)}
NAMES |= {OVERHEAD: "launch overhead", NO_WARPS: "time without warps"}
LEAST = Fraction(1, 200)  # of the longer time: an entry that takes less in both runs and changes by less is not shown
MOST = 12  # lines, and arrays
WORTH_TELLING = Fraction(1, 4)  # of the difference, where a reason goes the other way
LONGEST = 60  # characters of a source line


def describe_difference(difference: Difference) -> Iterator[RenderableType]:
    """The sentence, the runs, and tables of times, reasons, lines and arrays."""
    yield Text(words(difference), style="bold")
    yield ""
    for name, side in (("A", difference.a), ("B", difference.b)):
        yield Text(f"{name}: {side.name}")
        for warning in side.warnings:
            yield Text(f"   Warning: {warning}", style="yellow")
        yield Text(f"   Verdict: {side.verdict}")
    yield ""
    changed = [(key, _shown(a), _shown(b)) for key, (a, b) in changed_keys(difference.a, difference.b).items()]
    if changed:
        yield table("What differs", ("", "A", "B"), changed)
        yield ""
    yield table("Time", ("", "A", "B", "B / A"), list(_times(difference)))
    yield ""
    columns = ("", "A", "of A", "B", "of B", f"B - A, {'cycles' if difference.unit == 'cycles' else 'time'}")
    reasons = _worth_showing(difference, difference.reasons, len(difference.reasons))
    if reasons:
        rows = [(NAMES[entry.name], *_in_warps(difference, entry)) for entry in reasons]
        yield table("What warps do: cycles of all warps, and its part of the time", columns, rows)
        yield ""
    lines = _worth_showing(difference, difference.lines, MOST)
    if lines:
        rows = [(*_at(entry), *_numbers(difference, entry), _mostly(entry), _source(entry)) for entry in lines]
        heading = ("line of A", "of B", *columns[1:], "mostly", "")
        yield table(_title("Lines", lines, difference.lines), heading, rows, left=(0, 1, 7, 8), gap=2)
        yield ""
    arrays = _worth_showing(difference, difference.arrays, MOST)
    if any(entry.name for entry in arrays):
        rows = [(entry.name or "no access", *_numbers(difference, entry), _mostly(entry)) for entry in arrays]
        yield table(_title("Arrays", arrays, difference.arrays), (*columns, "mostly"), rows, left=(0, 6), gap=2)


def words(difference: Difference) -> str:
    """One sentence on what explains the difference."""
    change, cause = difference.difference, difference.cause
    if cause is None:
        return f"A and B take the same time, {_amount(difference, difference.times[0])}."
    ratio = difference.ratio
    if ratio is None:
        sentence = f"A takes no time, B {_amount(difference, difference.times[1])}"
    else:
        sentence = f"B takes {ratio:.3g} {'of' if change < 0 else 'times'} A's time"
    name, way = NAMES[cause.reason], "saved" if change < 0 else "added"
    back = abs(difference.against.difference) if difference.against is not None else 0
    if abs(cause.difference) <= abs(change) and back < WORTH_TELLING * abs(change):
        part = "all" if cause.difference == change else share(float(cause.difference / change), 1)
        sentence += f": {part} of the {_amount(difference, abs(change))} {way} are {name}"
        sentence += _where(cause.place, cause.array, cause.share)
        return f"{sentence}."
    # What goes the other way takes a part of it back.
    sentence += f"; {name} takes {_amount(difference, abs(cause.difference))} {'less' if change < 0 else 'more'}"
    sentence += _where(cause.place, cause.array, cause.share)
    if difference.against is not None:
        other = _amount(difference, abs(difference.against.difference))
        sentence += f", and {NAMES[difference.against.name]} {other} {'more' if change < 0 else 'less'}"
    return f"{sentence}."


def _where(place: Place | None, array: str, part: Fraction) -> str:
    if place is None:
        return ""
    at = f"{place.file}:{place.line}" if place.line else place.kind
    much = "all" if part > Fraction(199, 200) else "most" if part > Fraction(1, 2) else share(float(part), 1)
    return f", {much} of it at {at}{f' ({array})' if array else ''}"


def _times(difference: Difference) -> Iterator[tuple[str, ...]]:
    a, b = difference.a, difference.b
    yield "cycles", number(float(a.cycles)), number(float(b.cycles)), _ratio(a.cycles, b.cycles)
    if a.seconds is not None or b.seconds is not None:
        both = [None if side.seconds is None else float(side.seconds) for side in (a, b)]
        yield "time", seconds(both[0]), seconds(both[1]), _ratio(a.seconds, b.seconds)
    if a.empty is not None and b.empty is not None:
        yield "core groups without a block", share(a.empty, 1), share(b.empty, 1), ""


def _ratio(a: Fraction | None, b: Fraction | None) -> str:
    return f"{float(b / a):.3g}" if a and b is not None else NO_VALUE


def _numbers(difference: Difference, entry: Entry) -> tuple[str, ...]:
    """What both runs take, as time and as a part of it, and the difference."""
    (a, b), (of_a, of_b) = (_told(difference, time) for time in entry.times), _parts(difference, entry)
    return a, of_a, b, of_b, _signed(difference, entry.difference)


def _in_warps(difference: Difference, entry: Entry) -> tuple[str, ...]:
    """Likewise, in cycles of all warps."""
    (a, b), (of_a, of_b) = (number(float(warps)) for warps in entry.warps), _parts(difference, entry)
    return a, of_a, b, of_b, _signed(difference, entry.difference)


def _parts(difference: Difference, entry: Entry) -> tuple[str, ...]:
    both = zip(entry.times, difference.times, strict=True)
    return tuple(share(float(time), float(whole)) if whole else NO_VALUE for time, whole in both)


def _signed(difference: Difference, time: Fraction) -> str:
    return f"{'+' if time > 0 else '-' if time else ''}{_told(difference, abs(time))}"


def _told(difference: Difference, time: Fraction) -> str:
    if not time:
        return "0"
    return number(float(time)) if difference.unit == "cycles" else seconds(float(time))


def _amount(difference: Difference, time: Fraction) -> str:
    return f"{_told(difference, time)} cycles" if difference.unit == "cycles" else seconds(float(time))


def _worth_showing(difference: Difference, entries: Sequence[Entry], most: int) -> list[Entry]:
    least = LEAST * max(difference.times)
    return [entry for entry in entries if max(*entry.times, abs(entry.difference)) >= least > 0][:most]


def _title(what: str, shown: Sequence[Entry], found: Sequence[Entry]) -> str:
    return what if len(shown) == len(found) else f"{what}, {len(shown)} of {len(found)}"


def _at(entry: Entry) -> tuple[str, str]:
    """Where the line is in each run."""
    a, b = (NO_VALUE if p is None else f"{p.file}:{p.line}" if p.line else p.kind for p in entry.places)
    return a, "same" if a == b else b


def _source(entry: Entry) -> str:
    """The text of the line; both where they differ."""
    texts = dict.fromkeys(place.source[:LONGEST] for place in entry.places if place is not None and place.source)
    return " | ".join(texts)


def _mostly(entry: Entry) -> str:
    return NAMES[entry.reason]


def _shown(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
