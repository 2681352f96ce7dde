"""The picture of all accuracy tables at a glance: a bar for each kind of kernel and what was known of the GPU."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simtmm.report.pictures.style import new_figure, styled
from simtmm.validation.glance import CALIBRATED, FITTED, RELATIVES, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {FITTED: "#b8b8b8", CALIBRATED: "#0072b2", RELATIVES: "#c75b00"}
HEIGHT = 0.3  # inches for each bar


@styled
def picture(rows: Sequence[Row]) -> "Figure":
    """Mean errors as bars, medians as marks upon them; what was fitted is grey."""
    figure = new_figure(7.2, max(2.0, HEIGHT * len(rows) + 1.0))
    axes = figure.subplots()
    places = range(len(rows), 0, -1)
    for place, row in zip(places, rows, strict=True):
        axes.barh(place, 100 * row.mean, height=0.7, color=COLOURS[row.decided])
        axes.plot([100 * row.median] * 2, [place - 0.35, place + 0.35], color="black", linewidth=1.5)
        words = f" {100 * row.mean:.1f} %, {row.points:,} points"
        axes.annotate(words, (100 * max(row.mean, row.median), place), va="center", fontsize=8)
    axes.set_yticks(list(places), [row.kind for row in rows], fontsize=8)
    axes.set_xlabel("mean error of simulated times [%]; black: median")
    axes.margins(x=0.22)
    axes.set_ylim(0.3, len(rows) + 0.7)
    shown = [decided for decided in COLOURS if any(row.decided == decided for row in rows)]
    handles = [axes.barh([1], [0], color=COLOURS[decided])[0] for decided in shown]
    figure.legend(handles, shown, loc="outside lower center", ncols=len(shown))
    return figure
