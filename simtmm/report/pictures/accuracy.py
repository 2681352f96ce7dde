"""The picture of an accuracy table: measured and simulated values along what varies, and all series over measured."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simtmm.model.series import SIMULATED, all_series, label
from simtmm.report.pictures.axes import plain_ticks, set_scales, wide
from simtmm.report.pictures.looks import MARKERS, look
from simtmm.report.pictures.style import GREY, ORANGE, new_figure, styled
from simtmm.validation.accuracy import Accuracy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

PANEL = 2.2, 1.75  # inches: width and height of a group's axes
SCATTER = 3.7  # inches: width without its legend, and least height of the picture
LETTER = 0.075  # inches: width of one, in a legend
MOST_ACROSS = 4  # panels in a row


@styled
def picture(accuracy: Accuracy) -> "Figure":
    """Left, for each group, measured values as markers and simulated ones as a line, where the points have an `at`;
    right, each series over the measured values, with the diagonal on which it would be exact.
    """
    groups = [group for group in accuracy.groups if len(_curve(accuracy, group)) > 1]
    right_width = SCATTER + LETTER * max(len(label(series)) for series in accuracy.series)
    if not groups:
        figure = new_figure(right_width, SCATTER)
        _scatter(figure, accuracy)
        return figure
    across = _across(len(groups))
    rows = -(-len(groups) // across)
    width = max(PANEL[0] * across, SCATTER if len(groups) == 1 else 0)
    figure = new_figure(width + right_width, max(PANEL[1] * rows + 0.8, SCATTER))
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(width, right_width))[0]
    _curves(left, accuracy, groups, rows, across)
    _scatter(right, accuracy)
    return figure


def _curves(figure: "SubFigure", accuracy: Accuracy, groups: Sequence[str], rows: int, across: int) -> None:
    grid = figure.subplots(rows, across, sharex=True, sharey=True, squeeze=False)
    seen: list[tuple[float, float]] = []
    for place, panel in enumerate(grid.flat):
        if place >= len(groups):
            panel.set_visible(False)
            continue
        points = _curve(accuracy, groups[place])
        measured = [(at, value) for at, value, _ in points]
        simulated = [(at, time) for at, _, time in points if time is not None]
        panel.plot(*zip(*measured, strict=True), "o", color=ORANGE, markersize=5, label=accuracy.reference)
        if simulated:
            small = look(SIMULATED) | {"linewidth": 1.2, "markersize": 2}  # to hide no measured one
            panel.plot(*zip(*simulated, strict=True), label="simulated", **small)
        seen += [*measured, *simulated]
        panel.set_title(groups[place], fontsize=9)
        if place + across >= len(groups):  # nothing below it
            panel.tick_params(labelbottom=True)
            panel.set_xlabel(accuracy.along)
    set_scales(grid[0, 0], [at for at, _ in seen], [value for _, value in seen])
    plain_ticks(grid[0, 0])
    figure.supylabel(_label(accuracy, accuracy.quantity), fontsize=9)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)


def _scatter(figure: "Figure | SubFigure", accuracy: Accuracy) -> None:
    axes: Axes = figure.subplots()
    across: list[float] = []
    up: list[float] = []
    others = [series for series in accuracy.series if series not in all_series()]
    for series in reversed(accuracy.series):  # the simulated one above the others, and smaller, to hide none
        measured, simulated = (values.tolist() for values in accuracy.values(series))
        looks = look(series) if series in all_series() else _look_of_other(others.index(series))
        own = {"markersize": 3, "zorder": 3} if series == SIMULATED else {"markersize": 4, "zorder": 2}
        axes.plot(measured, simulated, label=label(series), **(looks | own | {"linestyle": "none"}))
        across += measured
        up += simulated
    if wide(min([*across, *up]), max([*across, *up])):  # by one rule, so that the diagonal is straight
        axes.set(xscale="log", yscale="log")
        plain_ticks(axes)
    line = np.array([min(across), max(across)])
    axes.plot(line, line, color=GREY, linewidth=1, zorder=1)
    axes.set_xlabel(_label(accuracy, accuracy.reference))
    axes.set_ylabel(_label(accuracy, "simulated and modelled"))
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside right center")


def _look_of_other(place: int) -> dict[str, Any]:
    """How a series is drawn that no other picture knows: grey and open, distinguished by its marker."""
    return {"color": GREY, "marker": MARKERS[place % len(MARKERS)], "markerfacecolor": "white"}


def _curve(accuracy: Accuracy, group: str) -> list[tuple[float, float, float | None]]:
    """A group's points along `at`: at, measured, simulated."""
    points = [
        (point.at, point.measured, point.said.get(SIMULATED))
        for point in accuracy.points
        if point.group == group and point.at is not None
    ]
    return sorted(points, key=lambda point: point[0])


def _across(panels: int) -> int:
    """Panels in a row, so that rows are few and full: 6 as two rows of 3."""
    rows = max(-(-panels // MOST_ACROSS), 2 if panels > 3 else 1)
    return -(-panels // rows)


def _label(accuracy: Accuracy, name: str) -> str:
    return f"{name} ({accuracy.unit})" if accuracy.unit else name
