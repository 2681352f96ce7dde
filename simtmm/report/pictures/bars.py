"""Bars: a few numbers of one unit beside one another."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from simtmm.errors import OutputError
from simtmm.report.pictures.style import BLUE, GREY, new_axes, set_title, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTER = 0.07  # inches: width of one, of a bar's name


@styled
def bars(values: Mapping[str, float], unit: str, title: str = "", marked: Collection[str] = ()) -> "Figure":
    """A bar a value, with the number at its end. marked: the names whose bars are blue; the others are grey.

    Raises OutputError for no values.
    """
    if not values:
        raise OutputError("bars: there is nothing to draw")
    names, lengths = list(values), list(values.values())
    figure, axes = new_axes(4.4 + LETTER * max(map(len, names)), 1.1 + 0.3 * len(names))
    colours = [BLUE if name in marked else GREY for name in names]
    drawn = axes.barh(names, lengths, color=colours, height=0.7)
    axes.bar_label(
        drawn, labels=[f"{length:,.4g}" if length < 1000 else f"{length:,.0f}" for length in lengths], padding=3
    )
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.margins(x=0.18, y=0.02)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(unit)
    axes.set_xlim(left=0)
    set_title(figure, title)
    return figure
