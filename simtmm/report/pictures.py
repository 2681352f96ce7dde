"""Pictures for papers and slides, as PNG, SVG or PDF: scatter, curves, heat map, roofline, zigzag, stacks.

matplotlib is imported when a picture is made, and nowhere else; it is the extra `plot`. Figures are made without
pyplot, so nothing is shown and no state is shared. Colours are those of Okabe and Ito, which are told apart by people
with any of the common forms of colour blindness; series also differ by marker.
"""

import contextlib
import functools
import io
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
import numpy.typing as npt

from simtmm.errors import OutputError
from simtmm.files import check_writable, written_whole
from simtmm.model import MODELS
from simtmm.model.calibrated import CALIBRATED
from simtmm.model.scheduling import Zigzag
from simtmm.model.series import MEASURED, SIMULATED, all_series, label
from simtmm.provenance import VERSION
from simtmm.result import WHERE_TIME_GOES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
BLACK, GREY, FAINT = "#000000", "#777777", "#e3e3e3"
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, RED, PURPLE = "#0072b2", "#d55e00", "#cc79a7"
PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, YELLOW)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")

# Of the families of models, in the order of `_family`; the calibrated one is first, so that those that are added to
# MODELS change no other's look.
FAMILY_COLOURS = (SKY, GREY, BLUE, GREEN, ORANGE, RED, PURPLE, YELLOW)
FAMILY_MARKERS = ("P", "x", "o", "s", "^", "D", "v", "X")
STATES = {"issuing": BLUE, "memory": ORANGE, "barrier": PURPLE, "start": GREY, "empty": FAINT}

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
METADATA: dict[str, dict[str, str | None]] = {  # no dates: the same picture gives the same file
    "png": {"Software": f"simtmm {VERSION}"},
    "pdf": {"Creator": f"simtmm {VERSION}", "CreationDate": None},
    "svg": {"Creator": f"simtmm {VERSION}", "Date": None},
}

P = ParamSpec("P")


def check(path: str | Path) -> None:
    """Raise OutputError if a picture can't be made there: to be asked before long work, not after it."""
    if Path(path).suffix.lower() not in FORMATS:
        raise OutputError(f"{path}: a picture's name must end in {', '.join(FORMATS)}")
    check_writable(path)
    check_installed()


def check_installed() -> None:
    """Raise OutputError where matplotlib is not there."""
    if find_spec("matplotlib") is None:
        raise OutputError("pictures need matplotlib, which is not installed: pip install 'simtmm[plot]'")


def write(path: str | Path, figure: "Figure") -> None:
    """Write a picture, in the format of its suffix. Raises OutputError."""
    check(path)
    kind = Path(path).suffix.lower()[1:]
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every glyph of a PDF
    with written_whole(path) as temporary, _style():
        figure.savefig(temporary, format=kind, metadata=METADATA[kind])


def png(figure: "Figure", description: str, dots: int) -> bytes:
    """A picture as the bytes of a PNG file, with a description among its metadata. dots: to an inch."""
    held = io.BytesIO()
    with _style():
        figure.savefig(held, format="png", dpi=dots, metadata={**METADATA["png"], "Description": description})
    return held.getvalue()


@contextlib.contextmanager
def _style() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]  # its keys are a Literal of all
        yield


def styled(function: "Callable[P, Figure]") -> "Callable[P, Figure]":
    """A function that draws a figure, in this module's style; refused in one line without matplotlib."""

    @functools.wraps(function)
    def styled(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        check_installed()
        with _style():
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


def look(series: str) -> dict[str, Any]:
    """How a series is drawn, the same in every picture: what `Axes.plot` takes.

    Forms of one model share a colour, and every other one is open. Raises KeyError for a name that is no series.
    """
    if series == SIMULATED:
        return _marked(BLACK, "o")
    if series == MEASURED:
        return _marked(BLACK, "*") | {"linestyle": "--"}
    family, form = _family(series)
    turns, place = divmod(family, len(FAMILY_COLOURS))  # once around, a colour gets another marker
    marker = FAMILY_MARKERS[(place + turns + form // 2) % len(FAMILY_MARKERS)]
    return _marked(FAMILY_COLOURS[place], marker, filled=form % 2 == 0)


def _family(model: str) -> tuple[int, int]:
    """The place of a model's family among all, and of the model among the forms of its family."""
    families: dict[str, list[str]] = {}
    for made in (CALIBRATED, *MODELS.values()):
        families.setdefault(made.family, []).append(made.name)
    return {name: (family, form) for family, forms in enumerate(families.values()) for form, name in enumerate(forms)}[
        model
    ]


def _marked(colour: str, marker: str, filled: bool = True) -> dict[str, Any]:
    return {
        "color": colour,
        "marker": marker,
        "markerfacecolor": colour if filled else "white",
        "markeredgecolor": colour,
    }


def look_of(place: int) -> dict[str, Any]:
    """The same for what is no series of a comparison, by its place among the lines."""
    return {"color": PALETTE[place % len(PALETTE)], "marker": MARKERS[place % len(MARKERS)]}


def set_scales(axes: "Axes", x: Sequence[float], y: Sequence[float]) -> None:
    """An axis is logarithmic where its values are above 0 and span more than a factor of 20, as is an x of powers of 2;
    a linear y begins at 0.
    """
    doubled = all(float(at).is_integer() and _power_of_2(int(at)) for at in x)
    if wide(min(x), max(x)) or (doubled and len(set(x)) > 2):
        axes.set_xscale("log", base=2 if doubled else 10)
    if wide(min(y), max(y)):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min(0, *y))


def plain_ticks(axes: "Axes") -> None:
    """Numbers in full, 1,000, on logarithmic axes that show none which is long; more of them where they span less."""
    from matplotlib.ticker import FuncFormatter

    def numbers(digits: str) -> FuncFormatter:
        return FuncFormatter(lambda value, _: f"{value:,g}" if f"{value:.0e}"[0] in digits else "")

    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() == "log" and low >= 0.001 and high < 1e5:
            axis.set_major_formatter(numbers("123456789"))
            axis.set_minor_formatter(numbers("" if high > 100 * low else "25" if high > 6 * low else "2357"))


def time_axis(axes: "Axes", which: str, unit: str) -> None:
    if unit == "s":
        prefixes(axes, which, "s")


def prefixes(axes: "Axes", which: str, unit: str) -> None:
    """Numbers with prefixes: 10 µs, 3 G."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(EngFormatter(unit=unit))
    axis.set_minor_formatter(NullFormatter())


def wide(low: float, high: float) -> bool:
    """Whether an axis over these values is to be logarithmic."""
    return low > 0 and high / low > 20


def _power_of_2(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def is_number(value: Any) -> bool:
    """Whether it can be drawn; truth values can't."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def tick(value: Any) -> str:
    """A value as an axis shows it."""
    return f"{value:g}" if isinstance(value, float) else str(value)
