"""A calibration as a person reads it."""

from collections.abc import Iterator

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from simtmm.calibration.streams.occupancy_curve import OccupancyCurve
from simtmm.calibration.values import Calibration
from simtmm.report.text import NO_VALUE, number, table


def describe(calibration: Calibration) -> Iterator[RenderableType]:
    """Values and where they come from, levels, errors for each point, and what is ill-determined."""
    yield Text(f"{calibration.machine.name}, calibrated", style="bold")
    yield ""
    rows = [
        (
            value.key,
            str(value.value),
            NO_VALUE if value.error is None else f"{value.error:.2g}",
            value.unit,
            "" if value.determined else "ill-determined",
            value.measurement,
            value.note,
        )
        for value in calibration.values
    ]
    yield table("Values", ("", "", "+-", "", "", "measurement", "how"), rows, left=(0, 3, 4, 5, 6))
    if calibration.levels:
        yield ""
        yield from _describe_chase(calibration)
    if calibration.curve is not None:
        yield ""
        yield from describe_curve(calibration.curve)
    if calibration.sets:
        yield ""
        yield _describe_sets(calibration)
    yield ""
    ill = ", ".join(value.key for value in calibration.undetermined)
    yield Text(f"Ill-determined: {ill or 'nothing'}")
    for note in calibration.notes:
        yield Text(f"Note: {note}")


def _describe_chase(calibration: Calibration) -> Iterator[RenderableType]:
    levels = [
        (
            f"{level.latency:.1f}",
            _size(level.first),
            _size(level.last),
            f"{100 * level.spread:.0f} %",
            str(level.points),
        )
        for level in calibration.levels
    ]
    yield table("Levels of the pointer chase", ("cycles", "from", "to", "spread", "points"), levels, left=())
    yield ""
    off = np.abs([error for _, _, error in calibration.latency_errors])
    yield Text(f"Pointer chase: mean absolute error {100 * off.mean():.1f} % over {len(off)} points")


def describe_curve(curve: OccupancyCurve) -> Iterator[RenderableType]:
    """Bandwidth over occupancy, measured and simulated: the mean of the errors, and the error at each point."""
    names = curve.operations
    means = [f"{100 * curve.mean_error(name):.1f}" for name in names]
    rows = [("mean absolute error", "", "", *means, f"{100 * curve.mean_error():.1f}")]
    for entry in curve.points:
        errors = [f"{100 * entry.error(name):+.1f}" for name in names]
        point = entry.point
        rows.append(
            (
                f"{point.block_size} threads a block",
                str(point.blocks_per_group),
                f"{100 * point.occupancy:.1f}",
                *errors,
                "",
            )
        )
    columns = ("", "blocks", "occupancy", *names, "all")
    yield table("Bandwidth over occupancy: simulated over measured - 1, per cent", columns, rows)


def _describe_sets(calibration: Calibration) -> RenderableType:
    rows = [
        (
            f"{each.kind}: {each.called}",
            str(each.rows),
            _per_cent(each.before),
            _per_cent(each.after),
            _per_cent(each.left_out),
            "; ".join(f"{why} ({count:,})" for why, count in each.others.items()),
        )
        for each in calibration.sets
    ]
    columns = ("", "rows", "before", "after", "left out", "rows not fitted")
    return table("Hierarchy: mean error, per cent", columns, rows, left=(0, 5))


def _per_cent(error: float) -> str:
    return f"{100 * error:.1f}"


def _size(size: float) -> str:
    return f"{number(size / 1024)} KiB"
