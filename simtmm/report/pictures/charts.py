"""Charts of numbers: curves, heat map, zigzag, stacks."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import OutputError
from simtmm.model.launch.scheduling import Zigzag
from simtmm.model.series import label
from simtmm.report.pictures.axes import plain_ticks, set_scales, ticks, time_axis, wide
from simtmm.report.pictures.looks import looks_of
from simtmm.report.pictures.style import BLUE, FAINT, GREY, ORANGE, PURPLE, RED, new_axes, set_title, styled
from simtmm.result import WHERE_TIME_GOES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTER = 0.07  # inches: width of one, of a tick's label
MOST_LETTERS = 8  # of a label that lies flat below a cell
NO_VALUE = "no value: skipped, failed or not computed"
MOST_TICKS = 40  # of an axis of a heat map; of more values some are named
STATES = {"issuing": BLUE, "memory": ORANGE, "barrier": PURPLE, "start": GREY, "empty": FAINT}


@styled
def curves(  # noqa: PLR0913, PLR0917 - each is a part of the picture
    x: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    x_label: str,
    y_label: str,
    title: str = "",
    unit: str = "",
    log: str | None = None,
    x_scale: str | None = None,
    drawn_as: Mapping[str, Mapping[str, Any]] | None = None,
) -> "Figure":
    """Lines over x. An axis is logarithmic where x goes in ratios, and where y is above 0 and spans more than a factor
    of 20.

    series: values by name; names of models get their looks. unit: "s" for times in seconds, "ratio" for what has a line
    at 1. log: which axes are logarithmic, "x", "y", "xy" or "none"; this is found out if left out. x_scale: "log" or
    "linear", where it is known how x was swept. drawn_as: what `Axes.plot` takes, by name, instead of the usual looks.
    Raises OutputError for more lines than can be distinguished.
    """
    looks = drawn_as or looks_of(list(series), "curves")
    figure, axes = new_axes(6.4, 3.8)
    lows, highs = [], []
    for name, values in series.items():
        points = [(at, value) for at, value in zip(x, values, strict=True) if value is not None and isfinite(value)]
        if points:
            axes.plot(*zip(*points, strict=True), label=label(name), **looks[name])
            lows.append(min(value for _, value in points))
            highs.append(max(value for _, value in points))
    if not lows:
        raise OutputError("curves: there are no numbers to draw")
    if unit == "ratio":
        axes.axhline(1, color=GREY, linewidth=1, zorder=1)
        lows.append(1)
        highs.append(1)
    set_scales(axes, x, [*lows, *highs], log, x_scale)
    plain_ticks(axes)
    time_axis(axes, "y", unit)
    axes.set(xlabel=x_label, ylabel=y_label)
    set_title(figure, title)
    if len(series) > 1:
        figure.legend(loc="outside right center")
    return figure


@styled
def heat_map(
    x: Sequence[Any],
    y: Sequence[Any],
    values: npt.ArrayLike,
    x_label: str,
    y_label: str,
    value_label: str,
    title: str = "",
    unit: str = "",
) -> "Figure":
    """Values over two axes, as colours. values: [y, x]; nan where there is none, which is hatched, with a key.

    unit: "s" for times in seconds, which are then shown in the unit that suits the largest; "ratio" for ratios: 1 is
    white, what is above it orange and below it purple, alike for a ratio and its inverse, and what is none is grey.
    """
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.patches import Patch

    table = np.asarray(values, dtype=np.float64)
    if table.shape != (len(y), len(x)):
        raise OutputError(f"a heat map: values of shape {table.shape}: must be {(len(y), len(x))}, as y and x")
    known = table[np.isfinite(table)]
    if not known.size:
        raise OutputError("a heat map: there are no numbers to draw")
    factor, prefixed = _prefix(float(np.abs(known).max())) if unit == "s" else (1.0, "")
    table, known = table / factor, known / factor
    if prefixed:
        value_label = f"{value_label.removesuffix(' (s)')} ({prefixed})"
    ratios = unit == "ratio" and float(known.min()) > 0
    beside, below = (max(_letters(text) for text in ticks(along)) for along in (y, x))
    figure, axes = new_axes(
        1.5 + 0.55 * min(max(len(x), 6), MOST_TICKS) + LETTER * beside,
        1.2 + 0.42 * min(max(len(y), 5), MOST_TICKS) + (LETTER * below if below > MOST_LETTERS else 0),
    )
    least, most = float(known.min()), float(known.max())
    if ratios:
        most = max(most, 1 / least, 1.1)
        least = 1 / most
        axes.set_facecolor(FAINT)
    norm = (LogNorm if ratios or wide(least, most) else Normalize)(least, most)
    mesh = axes.imshow(table, origin="lower", cmap="PuOr_r" if ratios else "cividis", norm=norm, aspect="auto")
    for axis, values_along in ((axes.xaxis, x), (axes.yaxis, y)):
        every = -(-len(values_along) // MOST_TICKS)
        axis.set_ticks(range(0, len(values_along), every), ticks(values_along[::every]))
    axes.tick_params(axis="x", rotation=45 if below > MOST_LETTERS else 0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set(xlabel=x_label, ylabel=y_label)
    set_title(figure, title)
    if table.size <= 150:
        for (row, column), value in np.ndenumerate(table):
            if np.isfinite(value):
                dark = abs(norm(value) - 0.5) > 0.35 if ratios else norm(value) < 0.5
                axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=7, color="w" if dark else "k")
    if known.size < table.size:
        blank: dict[str, Any] = {"facecolor": FAINT, "edgecolor": GREY, "hatch": "////", "linewidth": 0}
        axes.patch.set(**blank)
        figure.legend(handles=[Patch(label=NO_VALUE, **blank)], loc="outside lower center")
    bar = figure.colorbar(mesh, ax=axes, label=value_label)
    if ratios:
        marks = np.geomspace(least, most, 5)
        bar.set_ticks(list(marks), labels=[f"{mark:.3g}" for mark in marks])
        bar.minorticks_off()
    return figure


def _letters(text: str) -> int:
    """How wide a tick's label is, in letters: of a scientific one without what says how it is set."""
    return len(re.sub(r"\\\w+|[{}$^]", "", text))


def _prefix(largest: float) -> tuple[float, str]:
    """The unit in which so many seconds are a number of few digits, and what it is in seconds."""
    units = ((1.0, "s"), (1e-3, "ms"), (1e-6, "\N{MICRO SIGN}s"), (1e-9, "ns"))
    return next((unit for unit in units if largest >= unit[0]), units[-1])


@styled
def zigzag(swept: Zigzag, title: str = "") -> "Figure":
    """Relative throughput over requested blocks, with the peaks where waves are full."""
    figure, axes = new_axes(6.4, 3.4)
    axes.plot(swept.blocks, swept.relative_throughput, color=BLUE, linewidth=1.2)
    full = np.isin(swept.blocks, swept.local_maxima)
    label = f"whole waves: multiples of {swept.period} blocks"
    axes.plot(swept.blocks[full], swept.relative_throughput[full], "o", color=RED, label=label)
    axes.set(xlabel="requested blocks", ylabel="throughput, of the best", ylim=(0, 1.08))
    set_title(figure, title)
    plain_ticks(axes)
    figure.legend(loc="outside lower center")
    return figure


@styled
def stacks(times: Mapping[str, Mapping[str, float]], title: str = "") -> "Figure":
    """Where the time of core groups went: a bar a run, 100 % each. times: ticks by state, by the run's name."""
    figure, axes = new_axes(4.4 + LETTER * max(map(len, times), default=0), 1.3 + 0.3 * len(times))
    names = list(times)
    left = np.zeros(len(names))
    for state in WHERE_TIME_GOES:
        shares = np.array([100 * of[state] / sum(of.values()) if sum(of.values()) else 0.0 for of in times.values()])
        axes.barh(names, shares, left=left, color=STATES[state], label=state, height=0.7)
        left += shares
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.margins(y=0.02)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="time of core groups (%)", xlim=(0, 100))
    set_title(figure, title)
    figure.legend(loc="outside lower center", ncols=len(WHERE_TIME_GOES))
    return figure
