"""Winner maps: which of several programs is fastest over two axes, by each series, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simtmm.errors import OutputError
from simtmm.model.series import label
from simtmm.report.pictures.axes import ticks
from simtmm.report.pictures.looks import PALETTE, check_apart
from simtmm.report.pictures.style import FAINT, GREY, new_figure, set_title, styled
from simtmm.study.winners import Winner, winner

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCHES = ("////", "....", "xxxx", "----", "||||", "oooo")  # of programs that take the same time
NO_WINNER = "no winner: fewer than two programs have a time"
MOST_MAPS = 3  # in a row
MOST_TICKS = 20  # of an axis; of more values some are named

Place = tuple[Any, Any]  # values of the axes across and up


@dataclass(frozen=True)
class WinnerMap:
    """Who is fastest where, by a series. best: by place, the fastest programs; several where they are equal."""

    series: str
    best: Mapping[Place, tuple[str, ...]]


def winner_map(
    series: str, programs: Sequence[str], places: Sequence[Place], times: Sequence[float | None]
) -> WinnerMap:
    """The fastest programs by place. programs, places, times: of each point; None for a missing time."""
    at_place: dict[Place, dict[str, float]] = {}
    for program, place, time in zip(programs, places, times, strict=True):
        if time is not None and np.isfinite(time):
            at_place.setdefault(place, {})[program] = time
    found: dict[Place, Winner | None] = {place: winner({}, series, each) for place, each in at_place.items()}
    return WinnerMap(series, {place: one.best for place, one in found.items() if one})


@styled
def winner_maps(
    maps: Sequence[WinnerMap],
    programs: Sequence[str],
    x: Sequence[Any],
    y: Sequence[Any],
    x_label: str,
    y_label: str,
    title: str = "",
) -> "Figure":
    """A map a series: a colour for each program, a hatch where several are equal, and blank where nobody competes.

    programs: all of them, in the order of their colours. x, y: the values along the axes, in their order.

    Raises OutputError for more programs, or sets of equal ones, than can be distinguished, and where nobody competes.
    """
    from matplotlib.patches import Patch

    ties = sorted({best for each in maps for best in each.best.values() if len(best) > 1})
    check_apart(len(programs), len(PALETTE), "programs", "a winner map")
    check_apart(len(ties), len(HATCHES), "sets of programs that take the same time", "a winner map")
    if not any(each.best for each in maps):
        raise OutputError("a winner map: no point has times of two programs in the same series")
    looks: dict[tuple[str, ...], dict[str, Any]] = {
        (name,): {"facecolor": colour, "edgecolor": "white"} for name, colour in zip(programs, PALETTE, strict=False)
    }
    equal = {"facecolor": FAINT, "edgecolor": GREY}
    looks |= {best: {**equal, "hatch": hatch} for best, hatch in zip(ties, HATCHES, strict=False)}
    columns = min(len(maps), MOST_MAPS)
    rows = -(-len(maps) // columns)
    width, height = 0.9 + 0.3 * min(max(len(x), 6), MOST_TICKS), 0.7 + 0.3 * min(max(len(y), 5), MOST_TICKS)
    figure = new_figure(columns * width, rows * height + 0.9)
    for axes, drawn in zip(figure.subplots(rows, columns, squeeze=False).flat, maps, strict=False):
        _draw(axes, drawn, x, y, looks)
    for place, axes in enumerate(figure.axes[: len(maps)]):
        axes.set_xlabel(x_label)
        axes.set_ylabel("" if place % columns else y_label)
    for unused in figure.axes[len(maps) :]:
        unused.remove()
    set_title(figure, title)
    keys = [Patch(label=" = ".join(best), **look) for best, look in looks.items()]
    if any(len(each.best) < len(x) * len(y) for each in maps):
        keys.append(Patch(label=NO_WINNER, facecolor="white", edgecolor=GREY))
    figure.legend(handles=keys, loc="outside lower center", ncols=min(len(keys), 2 * columns))
    return figure


def _draw(
    axes: "Axes", drawn: WinnerMap, x: Sequence[Any], y: Sequence[Any], looks: Mapping[tuple[str, ...], dict[str, Any]]
) -> None:
    """A cell for each place that has a winner."""
    from matplotlib.patches import Rectangle

    for row, up in enumerate(y):
        for column, across in enumerate(x):
            best = drawn.best.get((across, up))
            if best:
                axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, linewidth=0.5, **looks[best]))
    for axis, values in ((axes.xaxis, x), (axes.yaxis, y)):
        every = -(-len(values) // MOST_TICKS)
        axis.set_ticks(range(0, len(values), every), ticks(values[::every]))
    axes.set(xlim=(-0.5, len(x) - 0.5), ylim=(-0.5, len(y) - 0.5))
    axes.tick_params(axis="x", rotation=45)
    axes.grid(visible=False)
    axes.set_title(label(drawn.series))
