"""The answers of a study as tables of words: what a terminal prints and a page shows."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from simtmm.model.series import label
from simtmm.report.text import NO_VALUE, number, rate
from simtmm.study.design.axes import Value
from simtmm.study.findings import MOST_CURVES, Findings
from simtmm.study.results import Results
from simtmm.study.winners import Winner, exchanges

LISTED = 24  # rows of a table; the rest is in the document and in the exports
EXACT = 5e-5  # relative error that is none to the digits shown
NAMED = 6  # values of an axis that are listed one by one
FORMS = {"none": "no simple form", "knee": "a knee", "1/x": "a + b / x", "x and 1/x": "a + b x + c / x"}
FORMS |= {"linear": "a + b x", "power": "a x^b"}

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Answer:
    """A table. left: the columns that are set flush left. more: what to say behind it."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left: tuple[int, ...] = (0,)
    more: tuple[str, ...] = ()


def answers(study: Results, found: Findings) -> list[Answer]:
    """All that a study has an answer to, in the order in which it is read."""
    answers = [
        _elasticities(found),
        _spreads(found),
        _forms(found),
        _knees(found),
        _changes(found),
        *contest(found.winners, study.design.compute),
        _held(found),
        _carried(found),
        _fastest(study, found),
    ]
    return [answer for answer in answers if answer.rows]


def earlier(study: Results) -> list[str]:
    """How many points were computed by something else than would compute them now."""
    return [
        f"{number:,} of them were computed earlier, by {by}; a new sweep recomputes them"
        for by, number in study.earlier.most_common()
    ]


def reasons(study: Results) -> list[Answer]:
    """Why points were skipped and why they failed; reasons that differ in numbers and names of machines are one."""
    answers = []
    for title, status in (("Skipped", "skipped"), ("Failed", "failed")):
        reasons = study.reasons(status)  # type: ignore[arg-type]  # both are
        alike: dict[str, list[str]] = {}
        for reason, _ in reasons.most_common():
            alike.setdefault(re.sub(r"\([^()]*\)|\d[\d.,]*", "#", reason), []).append(reason)
        rows = [
            (
                f"{sum(reasons[reason] for reason in each):,}",
                each[0] + (f" (and {len(each) - 1} more like it)" if len(each) > 1 else ""),
            )
            for each in alike.values()
        ]
        rows.sort(key=lambda row: -int(row[0].replace(",", "")))
        if rows:
            answers.append(Answer(title, ("points", "reason"), rows[:LISTED], (1,), _more(len(rows))))
    return answers


def _elasticities(found: Findings) -> Answer:
    rows = [
        (
            elasticity.axis,
            label(elasticity.quantity),
            two(elasticity.value),
            two(elasticity.low),
            two(elasticity.high),
            f"{elasticity.curves:,}" if elasticity.curves else "sampled",
        )
        for elasticity in found.elasticities
    ]
    header = ("axis", "by", "median", "lowest", "highest", "curves")
    return Answer("Elasticity of time: per cent for one per cent more", header, rows, (0, 1))


def _spreads(found: Findings) -> Answer:
    rows = []
    for spread in found.spreads:
        best = " = ".join(map(plain, spread.best))
        won = f"{spread.wins} of {spread.curves}" if spread.wins else ""
        equal = f"{spread.equal} of {spread.curves} equal" if spread.equal else ""
        ratio = NO_VALUE if spread.equal == spread.curves else f"{spread.ratio:.3f}"
        times = (number(spread.fastest), number(spread.slowest))
        rows.append((spread.axis, label(spread.quantity), *times, ratio, best or NO_VALUE, won, equal))
    header = ("axis", "by", "fastest", "slowest", "ratio", "best", "in", "ties")
    title = "Slowest over fastest: medians over curves, times in cycles"
    return Answer(title, header, rows, (0, 1, 5, 6, 7))


def _forms(found: Findings) -> Answer:
    groups = grouped(found.forms, lambda form: (form.axis, form.quantity, form.shape.kind))
    rows = []
    for forms in groups.values():
        axis, quantity, kind = forms[0].axis, forms[0].quantity, forms[0].shape.kind
        formulas = {form.shape.formula() for form in forms}
        (formula,) = formulas if len(formulas) == 1 else ("",)
        error = max(form.shape.error for form in forms)
        word = formula or FORMS.get(kind, kind)
        with_ = common(form.fixed for form in forms)
        rows.append(
            (axis, label(quantity), word, f"{100 * error:.2g} %" if error > EXACT else "exact", str(len(forms)), with_)
        )
    header = ("axis", "by", "form", "to within", "curves", "with")
    title = "Form of the curves: cycles over the axis, x"
    return Answer(title, header, rows[:LISTED], (0, 1, 2, 5), _more(len(rows), found.curves))


def _knees(found: Findings) -> Answer:
    groups = grouped(
        found.knees,
        lambda knee: (knee.axis, knee.quantity, *map(round3, (knee.at, knee.before, knee.after)), str(knee.thresholds)),
    )
    rows = [
        (
            knees[0].axis,
            label(knees[0].quantity),
            brief(knees[0].at),
            span(knees[0].between),
            two(knees[0].before),
            two(knees[0].after),
            _thresholds(knees[0].thresholds),
            str(len(knees)),
            common(knee.fixed for knee in knees),
        )
        for knees in groups.values()
    ]
    header = ("axis", "by", "knee at", "between", "before", "after", "models' thresholds", "curves", "with")
    title = "Knees, and the elasticity on each side"
    return Answer(title, header, rows[:LISTED], (0, 1, 6, 8), _more(len(rows), found.curves))


def _changes(found: Findings) -> Answer:
    groups = grouped(
        found.changes,
        lambda change: (change.axis, change.quantity, change.before, change.after, change.between, round3(change.at)),
    )
    rows = []
    for changes in groups.values():
        first = changes[0]
        exact = first.quantity != "simulated"  # a simulation is known at its points alone
        rows.append(
            (
                first.axis,
                brief(first.at) if exact else NO_VALUE,
                span(first.between),
                label(first.quantity),
                f"{first.before} to {first.after}",
                str(len(changes)),
                common(change.fixed for change in changes),
            )
        )
    header = ("axis", "at", "between", "by", "what binds", "curves", "with")
    title = "Where what binds changes"
    return Answer(title, header, rows[:LISTED], (0, 3, 4, 6), _more(len(rows), found.curves))


def _held(found: Findings) -> Answer:
    rows = []
    for held in grouped(found.held, lambda one: (one.axis, one.spans)).values():
        spans = [f"{brief(low) if low == high else span((low, high))}: {by}" for low, high, by in held[0].spans]
        rows.append((held[0].axis, "; ".join(spans), str(len(held)), common(one.fixed for one in held)))
    header = ("axis", "held by", "curves", "with")
    title = "What limits the resident blocks of a group, by the values of an axis"
    return Answer(title, header, rows[:LISTED], (0, 1, 3), _more(len(rows), found.curves))


def _carried(found: Findings) -> Answer:
    rows = [
        (
            carried.axis,
            " to ".join(map(plain, carried.ends)),
            carried.what,
            f"{_amount(carried.first, carried.unit)} to {_amount(carried.last, carried.unit)}",
            carried.remedy or NO_VALUE,
        )
        for carried in found.carried
    ]
    header = ("axis", "from", "changes too", "from", "to hold it")
    return Answer("What else changes along an axis", header, rows, (0, 1, 2, 3, 4))


def _amount(value: float, unit: str) -> str:
    return rate(value, unit) if unit == "bytes/s" else f"{brief(value)} {unit}"


def _fastest(study: Results, found: Findings) -> Answer:
    rows = []
    for quantity, axes in found.fastest.items():
        equal, of = found.ties[quantity]
        points = study.cycles[quantity]
        least = float(np.nanmin(points))
        tie = f"{equal:,} of {of:,} equal" if equal > 1 else ""
        rows.append((label(quantity), number(least), words(axes), tie))
    return Answer("Fastest [cycles]", ("by", "time", "at", "ties"), rows, (0, 2, 3))


def contest(told: Sequence[Winner], series: Sequence[str]) -> list[Answer]:
    """Which of several programs is fastest at each place, a column for each series, and where that changes."""
    if not told:
        return []
    names = list(told[0].at)
    by = {(*map(str, one.at.values()), one.series): one for one in told}
    places = {tuple(map(str, one.at.values())): one for one in told}
    rows = [
        (*(plain(value) for value in one.at.values()), *(_won(by.get((*place, name))) for name in series))
        for place, one in places.items()
    ]
    header = (*names, *(label(name) for name in series))
    title = "Fastest program, and the next one's time as a multiple of its time"
    left = tuple(range(len(names), len(header)))
    answers = [Answer(title, header, rows[:LISTED], left, _more(len(rows)))]
    changes = [
        (
            one[0].axis,
            span(one[0].between),
            label(one[0].series),
            f"{' = '.join(one[0].before)} to {' = '.join(one[0].after)}",
            str(len(one)),
            common(each.at for each in one),
        )
        for one in grouped(
            exchanges(told), lambda one: (one.axis, one.series, one.before, one.after, one.between)
        ).values()
    ]
    if changes:
        header = ("axis", "between", "by", "fastest", "curves", "with")
        title = "Where the fastest program changes"
        answers.append(Answer(title, header, changes[:LISTED], (0, 2, 3, 5), _more(len(changes))))
    return answers


def _won(one: Winner | None) -> str:
    if one is None:
        return NO_VALUE
    return f"{' = '.join(one.best)} (equal)" if one.lead is None else f"{one.best[0]} ({one.lead:.3g})"


def grouped(
    entries: Iterable[Entry], key: Callable[[Entry], tuple[object, ...]]
) -> dict[tuple[object, ...], list[Entry]]:
    """Entries by key, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups


def common(fixed: Iterable[Mapping[str, Value]]) -> str:
    """What the other axes are on some curves: a value, the list of a few, or from which to which."""
    curves = list(fixed)
    parts = []
    for name in dict.fromkeys(name for values in curves for name in values):
        there = list(dict.fromkeys(values[name] for values in curves if name in values))
        if len(there) <= NAMED:
            parts.append(f"{name}={','.join(map(plain, there))}")
        else:
            parts.append(f"{name}={plain(there[0])}..{plain(there[-1])} ({len(there)})")
    return ", ".join(parts)


def words(values: Mapping[str, Value]) -> str:
    """A point's values."""
    return ", ".join(f"{name}={plain(value)}" for name, value in values.items())


def plain(value: Value) -> str:
    """A value of an axis."""
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def brief(value: float) -> str:
    """A number of four digits."""
    return f"{value:.4g}" if abs(value) < 1e4 else number(value)


def two(value: float) -> str:
    """With two digits behind the point; what is nearly 0 has no sign."""
    return f"{round(value, 2) + 0.0:.2f}"


def span(between: tuple[float, float]) -> str:
    """From one point to another."""
    return f"{brief(between[0])} to {brief(between[1])}"


def round3(value: float) -> str:
    """To three digits, by which answers are the same; what is nearly 0 is 0."""
    return f"{value:.3g}" if abs(value) > 5e-4 else "0"


def _thresholds(thresholds: Mapping[str, Sequence[float]]) -> str:
    parts = [f"{label(model)} {', '.join(map(brief, places))}" for model, places in thresholds.items()]
    return "; ".join(parts) or NO_VALUE


def _more(there: int, curves: Mapping[str, int] | None = None) -> tuple[str, ...]:
    more = [f"and {there - LISTED:,} more: see --json"] if there > LISTED else []
    for axis, all_of_them in (curves or {}).items():
        more.append(f"{axis}: {MOST_CURVES:,} of {all_of_them:,} curves were examined, evenly spaced")
    return tuple(more)
