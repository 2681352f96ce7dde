"""The picture of a paper's figure: its curves, each kind in a look of its own."""

from collections.abc import Sequence
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
from simtmm.validation.figures.figure import Curve
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
WIDTH, MARK = 1.5, 3.5  # points: of a line, of a marker
LETTERS = 45  # of a line of the title: the axes beside the widest legend
HIGH = 38  # of a line beside the axes, which are not as high as they are wide


@styled
def picture(figure: PaperFigure) -> "Figure":
    """Its curves: closed forms dashed, simulated ones with dots, fitted ones dotted, printed points as diamonds."""
    drawn = new_figure(*SIZE)
    axes = drawn.subplots()
    for place, curve in enumerate(figure.curves):
        turn, colour = divmod(place, len(COLOURS))
        marked = {"marker": MARKERS[turn % len(MARKERS)]} if turn else {}  # once around, the colour comes again
        look = LOOKS[curve.kind] | marked
        if hidden := covered(figure.curves, place):
            look = look | {"linewidth": WIDTH + 2.5 * hidden, "markersize": MARK + 3 * hidden, "alpha": 0.5}
        axes.plot(curve.x, curve.y, label=curve.label, color=COLOURS[colour], **look)
    if "x" in figure.logarithmic:
        doubled = all_powers_of_2([x for curve in figure.curves for x in curve.x])
        axes.set_xscale("log", base=2 if doubled else 10)
    if "y" in figure.logarithmic:
        axes.set_yscale("log")
    plain_ticks(axes)
    axes.set_xlabel(f"{figure.x}\n{wrapped(figure.shrunk, LETTERS)}" if figure.shrunk else figure.x)
    axes.set_ylabel("\n".join(wrapped(part, HIGH) for part in figure.y.split("; ")))
    axes.set_title(wrapped(figure.title, LETTERS))
    drawn.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize=7)
    return drawn


def covered(curves: Sequence[Curve], place: int) -> int:
    """How many later curves lie on that one at all its points, within a hundredth: it is drawn wider, to be seen."""
    own = dict(zip(curves[place].x, curves[place].y, strict=True))
    count = 0
    for later in curves[place + 1 :]:
        other = dict(zip(later.x, later.y, strict=True))
        count += own.keys() <= other.keys() and all(abs(other[x] - y) <= 0.01 * abs(y) for x, y in own.items())
    return count
