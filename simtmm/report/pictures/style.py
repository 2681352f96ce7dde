"""The style of all pictures: colours, fonts, and figures of one kind.

Colours are those of Okabe and Ito, which are distinguished by people with any of the common forms of colour blindness;
series also differ by marker.
"""

import contextlib
import functools
import textwrap
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, ParamSpec

from simtmm.errors import OutputError
from simtmm.extras import install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, GREY, FAINT = "#000000", "#777777", "#e3e3e3"
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, RED, PURPLE = "#0072b2", "#d55e00", "#cc79a7"

STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "savefig.dpi": 200,
    "svg.hashsalt": "simtmm",  # for names within the file, which are drawn at random without it
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
}

LETTERS = 12.5  # of a title, to an inch

P = ParamSpec("P")


def check_installed() -> None:
    """Raise OutputError where matplotlib is not there."""
    if find_spec("matplotlib") is None:
        raise OutputError("pictures need matplotlib, which is not installed: " + install("plot"))


@contextlib.contextmanager
def style() -> Iterator[None]:
    """While it lasts, matplotlib draws in this style."""
    import matplotlib

    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]  # its keys are a Literal of all
        yield


def styled(function: "Callable[P, Figure]") -> "Callable[P, Figure]":
    """A function that draws a figure, in this style; refused in one line without matplotlib."""

    @functools.wraps(function)
    def styled(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        check_installed()
        with style():
            return function(*args, **kwargs)

    return styled


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of that size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def new_axes(width: float, height: float) -> "tuple[Figure, Axes]":
    """An empty figure of that size in inches, and its axes."""
    figure = new_figure(width, height)
    return figure, figure.add_subplot()


def set_title(figure: "Figure", title: str) -> None:
    """Write a title over the whole width of a figure, on as many lines as it takes."""
    if title:
        lines = wrapped(title, int(figure.get_figwidth() * LETTERS))
        figure.suptitle(lines, x=0.01, ha="left", fontsize=STYLE["axes.titlesize"], parse_math=False)


def wrapped(text: str, letters: int) -> str:
    """A text on as many lines as it takes. letters: of a line, at most, but of one long word."""
    return "\n".join(textwrap.wrap(text, letters, break_long_words=False, break_on_hyphens=False))
