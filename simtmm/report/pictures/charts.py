"""Charts of numbers: curves, heat map, zigzag, stacks."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import OutputError
from simtmm.model.launch.scheduling import Zigzag
from simtmm.model.series import all_series, label
from simtmm.report.pictures.axes import set_scales, tick, time_axis, wide
from simtmm.report.pictures.looks import look, look_of
from simtmm.report.pictures.style import BLUE, FAINT, GREY, ORANGE, PURPLE, RED, new_axes, styled
from simtmm.result import WHERE_TIME_GOES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = {"issuing": BLUE, "memory": ORANGE, "barrier": PURPLE, "start": GREY, "empty": FAINT}


@styled
def curves(
    x: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    x_label: str,
    y_label: str,
    title: str = "",
    unit: str = "",
) -> "Figure":
    """Lines over x. An axis is logarithmic where its values are above 0 and span more than a factor of 20.

    series: values by name; names of models get their looks. unit: "s" for times in seconds.
    """
    figure, axes = new_axes(6.4, 3.8)
    lows, highs = [], []
    known = all_series()
    for place, (name, values) in enumerate(series.items()):
        points = [(at, value) for at, value in zip(x, values, strict=True) if value is not None and isfinite(value)]
        if points:
            own = look(name) if name in known else look_of(place)
            axes.plot(*zip(*points, strict=True), label=label(name), **own)
            lows.append(min(value for _, value in points))
            highs.append(max(value for _, value in points))
    if not lows:
        raise OutputError("curves: there are no numbers to draw")
    set_scales(axes, x, [*lows, *highs])
    time_axis(axes, "y", unit)
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    if len(lows) > 1:
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
    """Values over two axes, as colours. values: [y, x]; nan where there is none, which stays white.

    unit: "s" for times in seconds, which are then told in the unit that suits the largest.
    """
    from matplotlib.colors import LogNorm, Normalize

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
    figure, axes = new_axes(1.6 + 0.55 * max(len(x), 6), 1.2 + 0.42 * max(len(y), 5))
    log = wide(float(known.min()), float(known.max()))
    norm = (LogNorm if log else Normalize)(float(known.min()), float(known.max()))
    mesh = axes.imshow(table, origin="lower", cmap="cividis", norm=norm, aspect="auto")
    axes.set_xticks(range(len(x)), [tick(value) for value in x])
    axes.set_yticks(range(len(y)), [tick(value) for value in y])
    axes.tick_params(axis="x", rotation=45 if max(len(tick(value)) for value in x) > 5 else 0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    if table.size <= 150:
        for (row, column), value in np.ndenumerate(table):
            if np.isfinite(value):
                dark = norm(value) < 0.5
                axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=7, color="w" if dark else "k")
    figure.colorbar(mesh, ax=axes, label=value_label)
    return figure


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
    axes.set(xlabel="requested blocks", ylabel="throughput, of the best", title=title, ylim=(0, 1.08))
    figure.legend(loc="outside lower center")
    return figure


@styled
def stacks(times: Mapping[str, Mapping[str, float]], title: str = "") -> "Figure":
    """Where the time of core groups went: a bar a run, 100 % each. times: ticks by state, by the run's name."""
    figure, axes = new_axes(6.4, 1.3 + 0.3 * len(times))
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
    axes.set(xlabel="time of core groups (%)", xlim=(0, 100), title=title)
    figure.legend(loc="outside lower center", ncols=len(WHERE_TIME_GOES))
    return figure
