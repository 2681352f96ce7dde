"""A study as a person reads it: how many points, what mattered, where it is kept."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from rich.console import RenderableType
from rich.text import Text

from simtmm.machine.changed import suffix
from simtmm.machine.spelled import factor_of
from simtmm.model.series import label
from simtmm.report.text import NO_VALUE, number, seconds, table
from simtmm.study.design.axes import Value
from simtmm.study.findings import MOST_CURVES, Findings
from simtmm.study.forecast import Forecast
from simtmm.study.results import Results, Status

LISTED = 24  # rows of a table; the rest is in the document and in the exports


def describe_study(study: Results, found: Findings, store: str) -> Iterator[RenderableType]:
    """The parts of the report."""
    made = study.design
    changed = {key: value if factor_of(value) else f"= {value}" for key, value in made.changes.items()}
    yield Text(f"{made.subject.name} over {', '.join(made.axes) or 'nothing'}{suffix(changed)}", style="bold")
    yield Text(f"{_points(study)}; kept in {store}")
    rows: list[tuple[str, ...]]
    titles: tuple[tuple[str, Status], ...] = ("Skipped", "skipped"), ("Failed", "failed")
    for title, status in titles:
        reasons = study.reasons(status)
        if reasons:
            yield ""
            rows = [(str(times), reason) for reason, times in reasons.most_common(LISTED)]
            yield table(title, ("points", "reason"), rows, left=(1,))
    if len(study) <= LISTED:
        yield ""
        yield table("Cycles", (*made.axes, *(label(name) for name in made.compute)), list(_cycles(study)), ())
    if found.elasticities:
        yield ""
        yield table(
            "Elasticity of time: per cent for one per cent more",
            ("axis", "by", "median", "lowest", "highest", "curves"),
            [
                (made.axis, label(made.quantity), f"{made.value:.2f}", f"{made.low:.2f}", f"{made.high:.2f}",
                 str(made.curves) if made.curves else "sampled")
                for made in found.elasticities
            ],
            left=(0, 1),
        )  # fmt: skip
    if found.spreads:
        yield ""
        rows = [
            (made.axis, label(made.quantity), f"{made.ratio:.2f}", str(made.best), str(made.curves))
            for made in found.spreads
        ]
        yield table("Slowest over fastest", ("axis", "by", "ratio", "fastest", "curves"), rows, left=(0, 1, 3))
    if found.changes:
        yield ""
        rows = [
            (
                made.axis,
                _short(made.at),
                label(made.quantity),
                f"{made.before} to {made.after}",
                _words(made.fixed),
            )
            for made in found.changes[:LISTED]
        ]
        yield table("Where what binds changes", ("axis", "at", "by", "what binds", "with"), rows, left=(0, 2, 3, 4))
        yield from _more(len(found.changes), found.curves)
    if found.knees:
        yield ""
        rows = [
            (made.axis, label(made.quantity), _short(made.at), f"{made.before:.2f}", f"{made.after:.2f}",
             _thresholds(made.thresholds), _words(made.fixed))
            for made in found.knees[:LISTED]
        ]  # fmt: skip
        columns = ("axis", "by", "knee at", "before", "after", "models' thresholds", "with")
        yield table("Knees, and the elasticity on either side", columns, rows, left=(0, 1, 5, 6))
        yield from _more(len(found.knees), found.curves)
    if found.fastest:
        yield ""
        rows = [(label(quantity), _words(axes)) for quantity, axes in found.fastest.items()]
        yield table("Fastest", ("", ""), rows, left=(0, 1))


def describe_forecast(made: Forecast, store: str) -> Iterator[RenderableType]:
    """What a sweep would do."""
    yield Text(f"{made.points:,} points: {made.excluded:,} excluded, {made.stored:,} in {store}, "
               f"{made.to_compute:,} to compute")  # fmt: skip
    if not made.to_compute:
        yield Text("nothing is left to do")
        return
    if made.recordings:
        yield Text(f"{made.recordings:,} trace{'s' * (made.recordings != 1)} to record, where they are not yet kept")
    time = NO_VALUE if made.seconds is None else duration(made.seconds)
    yield Text(f"about {time} with {made.workers} worker{'s' * (made.workers != 1)}, from {made.estimate}")


def duration(time: float) -> str:
    """Seconds below two minutes, then minutes, hours, days."""
    for factor, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if time >= 2 * factor:
            return f"{time / factor:.3g} {unit}"
    return seconds(time)


def _points(study: Results) -> str:
    told = [f"{study.number(status):,} {status}" for status in get_args(Status)]
    there = [part for part in told if not part.startswith("0 ")] or ["none"]
    return f"{len(study):,} point{'s' * (len(study) != 1)}: {', '.join(there)}"


def _cycles(study: Results) -> Iterator[tuple[str, ...]]:
    for row in study.rows:
        times = (row.cycles(name) for name in study.design.compute)
        yield (
            *(_plain(row.point.axes[name]) for name in study.design.axes),
            *(NO_VALUE if time is None else number(time) for time in times),
        )


def _thresholds(thresholds: Mapping[str, Sequence[float]]) -> str:
    parts = [f"{label(model)} {', '.join(map(_short, places))}" for model, places in thresholds.items()]
    return "; ".join(parts) or NO_VALUE


def _words(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={_plain(value)}" for name, value in values.items())


def _plain(value: Value) -> str:
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _short(value: float) -> str:
    return f"{value:.4g}" if value < 1e4 else number(value)


def _more(there: int, curves: Mapping[str, int]) -> Iterator[RenderableType]:
    if there > LISTED:
        yield Text(f"and {there - LISTED:,} more: see --json")
    for axis, all_of_them in curves.items():
        yield Text(f"{axis}: of {all_of_them:,} curves {MOST_CURVES:,} were looked at, evenly spaced")
