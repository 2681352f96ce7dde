"""Measured times as a person reads them."""

from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from simtmm.measurement.campaign import Outcome
from simtmm.report.text import number, seconds, table
from simtmm.result import LaunchTime, Measurement, Quartiles

LAUNCHES_SHOWN = 20


def describe_measurement(measured: Measurement) -> Iterator[RenderableType]:
    """The heading, the program's times and those of its launches.

    measured: what was timed.
    """
    parameters = ", ".join(f"{name}={value}" for name, value in measured.parameters.items())
    yield Text(f"{measured.kernel} ({parameters}) on {measured.device['device']}", style="bold")
    yield ""
    caches = "empty caches" if measured.cold else "caches as the previous run left them"
    rows = [
        ("launches together", *_three(measured.total), "without the gaps between them"),
        ("first to last", *_three(measured.elapsed), "from the first launch's start to the last one's end"),
    ]
    yield table(f"Time, {measured.repeat} runs, {caches}", ("", "quarter", "median", "three", ""), rows, left=(0, 4))
    yield ""
    columns = ("", "launches", "grid", "block", "registers", "shared memory", "blocks a group", "median of each")
    groups = [list(same) for _, same in groupby(measured.launches, key=_shape)]
    yield table("Launches", columns, [_launches(same) for same in groups[:LAUNCHES_SHOWN]])
    if len(groups) > LAUNCHES_SHOWN:
        more = sum(len(same) for same in groups[LAUNCHES_SHOWN:])
        yield f"and {more} more launch{'es' * (more != 1)}"
    yield ""
    yield f"core clock {measured.device['clock_hz'] / 1e9:.3f} GHz, measured; the answer is right"


def _three(quartiles: Quartiles) -> tuple[str, str, str]:
    return seconds(quartiles.low), seconds(quartiles.median), seconds(quartiles.high)


def _shape(launch: LaunchTime) -> tuple[object, ...]:
    return launch.kernel, launch.grid, launch.block, launch.shared_memory_bytes


def _launches(same: list[LaunchTime]) -> tuple[str, ...]:
    one, medians = same[0], sorted(launch.seconds.median for launch in same)
    span = seconds(medians[0]) if len(same) == 1 else f"{seconds(medians[0])} to {seconds(medians[-1])}"
    return (
        one.kernel,
        number(len(same)),
        " x ".join(str(size) for size in one.grid),
        " x ".join(str(size) for size in one.block),
        number(one.registers_per_thread),
        number(one.shared_memory_bytes),
        number(one.blocks_per_core_group),
        span,
    )


def describe_all(outcomes: list[Outcome]) -> Iterator[RenderableType]:
    """What came of each kind of item, and the items that went wrong or differ."""
    rows = []
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        of_kind = [outcome.status for outcome in outcomes if outcome.kind == kind]
        rows.append(
            (kind, *(number(of_kind.count(status)) for status in ("done", "there", "differs", "failed", "left")))
        )
    yield table("Measured", ("", "done", "already there", "differ", "failed", "no time left"), rows)
    for outcome in outcomes:
        if outcome.status in ("differs", "failed"):
            yield f"{outcome.kind}/{outcome.name}: {outcome.status}: {outcome.note}"
