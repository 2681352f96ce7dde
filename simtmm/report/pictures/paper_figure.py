"""The picture of a paper's figure: its curves, each kind in a look of its own."""

from typing import TYPE_CHECKING, Any

from simtmm.report.pictures.axes import all_powers_of_2, plain_ticks
from simtmm.report.pictures.looks import MARKERS
from simtmm.report.pictures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    new_figure,
    styled,
    wrapped,
)
from simtmm.validation.figures.figure import Figure as PaperFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, RED, GREEN, PURPLE, SKY, ORANGE, BLACK, GREY)
LOOKS: dict[str, dict[str, Any]] = {
    "simulated": {"linestyle": "-", "marker": "o", "markersize": 3.5},
    "model": {"linestyle": "--"},
    "fitted": {"linestyle": ":", "linewidth": 2.0},
    "printed": {"linestyle": "none", "marker": "D", "markersize": 5},
}
SIZE = 7.2, 3.8  # inches
LETTERS = 45  # of a line of the title: the axes beside the widest legend


@styled
def picture(figure: PaperFigure) -> "Figure":
    """Its curves: closed forms dashed, simulated ones with dots, fitted ones dotted, printed points as diamonds."""
    drawn = new_figure(*SIZE)
    axes = drawn.subplots()
    for place, curve in enumerate(figure.curves):
        turn, colour = divmod(place, len(COLOURS))
        marked = {"marker": MARKERS[turn % len(MARKERS)]} if turn else {}  # once around, the colour comes again
        axes.plot(curve.x, curve.y, label=curve.label, color=COLOURS[colour], **LOOKS[curve.kind] | marked)
    if "x" in figure.logarithmic:
        doubled = all_powers_of_2([x for curve in figure.curves for x in curve.x])
        axes.set_xscale("log", base=2 if doubled else 10)
    if "y" in figure.logarithmic:
        axes.set_yscale("log")
    plain_ticks(axes)
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    axes.set_title(wrapped(figure.title, LETTERS))
    drawn.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize=7)
    return drawn
