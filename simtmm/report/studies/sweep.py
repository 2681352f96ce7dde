"""A study as a person reads it: how many points, what mattered, where it is stored."""

from collections.abc import Iterator
from typing import get_args

from rich.console import RenderableType
from rich.text import Text

from simtmm.machine.changed import suffix
from simtmm.machine.spelled import factor_of
from simtmm.model.series import SIMULATED, label
from simtmm.report.studies.answers import LISTED, Answer, answers, earlier, plain, reasons
from simtmm.report.text import NO_VALUE, number, seconds, table
from simtmm.study.evaluation.sampled_cases import SAMPLED
from simtmm.study.findings import Findings
from simtmm.study.forecast import Forecast
from simtmm.study.results import Results, Row, Status


def describe_study(study: Results, found: Findings, store: str) -> Iterator[RenderableType]:
    """The parts of the report.

    study: its rows.
    found: what stands out of them.
    store: its path.
    """
    design = study.design
    changed = {key: value if factor_of(value) else f"= {value}" for key, value in design.changes.items()}
    over = f" over {', '.join(design.axes)}" if design.axes else ", one point: --vary KEY=RANGE adds an axis"
    yield Text(f"{design.subject.name}{over}{suffix(changed)}", style="bold")
    yield Text(f"{_points(study)}; stored in {store}")
    yield from _sampled(study)
    yield from map(Text, earlier(study))
    for reason in reasons(study):
        yield from _table(reason)
    if len(study) <= LISTED:
        yield ""
        yield table("Cycles", (*design.axes, *(label(name) for name in design.compute)), list(_cycles(study)), ())
    for answer in answers(study, found):
        yield from _table(answer)


def _table(answer: Answer) -> Iterator[RenderableType]:
    yield ""
    yield table(answer.title, answer.header, answer.rows, left=answer.left)
    yield from map(Text, answer.more)


def describe_forecast(made: Forecast, store: str) -> Iterator[RenderableType]:
    """What a sweep would do.

    made: what was counted and estimated.
    store: its path.
    """
    yield Text(f"{made.points:,} points: {made.excluded:,} excluded, {made.stored:,} in {store}, "
               f"{made.to_compute:,} to compute")  # fmt: skip
    if not made.to_compute:
        yield Text("nothing left to compute")
        return
    if made.recordings:
        yield Text(f"{made.recordings:,} trace{'s' * (made.recordings != 1)} to record, unless they are cached")
    time = NO_VALUE if made.seconds is None else duration(made.seconds)
    if made.interval is not None:
        time += f" ({duration(made.interval[0])} to {duration(made.interval[1])})"
    yield Text(f"about {time} with {made.workers} worker{'s' * (made.workers != 1)}, from {made.estimate}")


def duration(time: float) -> str:
    """Seconds below two minutes, then minutes, hours, days."""
    for factor, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if time >= 2 * factor:
            return f"{time / factor:.3g} {unit}"
    return seconds(time)


def _points(study: Results) -> str:
    counts = [f"{study.number(status):,} {status}" for status in get_args(Status)]
    there = [part for part in counts if not part.startswith("0 ")] or ["none"]
    return f"{len(study):,} point{'s' * (len(study) != 1)}: {', '.join(there)}"


def _cycles(study: Results) -> Iterator[tuple[str, ...]]:
    for row in study.rows:
        times = [(name, row.cycles(name)) for name in study.design.compute]
        yield (
            *(plain(row.point.axes[name]) for name in study.design.axes),
            *(NO_VALUE if time is None else f"{number(time)}{_interval(row, name)}" for name, time in times),
        )


def _interval(row: Row, quantity: str) -> str:
    """Half of the interval of a sampled time."""
    half = row.results.get(quantity, {}).get(SAMPLED, {}).get("error")
    return f" ± {100 * half:.2g} %" if half else ""


def _sampled(study: Results) -> Iterator[RenderableType]:
    """How far off sampled times and counts may be; nothing where all was simulated whole."""
    column = f"{SIMULATED}.{SAMPLED}"
    if f"{column}.error" in study.table.column_names:
        halves = [max(study.table[f"{column}.{name}"].to_pylist(), key=_or_0) for name in ("error", "counts_error")]
        time, counts = (f"± {100 * _or_0(half):.2g} %" for half in halves)
        yield Text(f"Sampled: simulated times are known to within {time}, counts to within {counts}, at worst")


def _or_0(half: float | None) -> float:
    return half or 0.0
