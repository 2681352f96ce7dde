"""Axes: scales, ticks and units that suit the values."""

import itertools
import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from simtmm.errors import OutputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LOGS = ("x", "y", "xy", "none")  # which axes are logarithmic, as an option names them
LARGE, SMALL = 1e5, 1e-3  # from where and below which numbers on axes are scientific
EVEN = 4  # the largest distance between values is less than so many times the least: they were swept so


def set_scales(
    axes: "Axes", x: Sequence[float], y: Sequence[float], log: str | None = None, x_scale: str | None = None
) -> None:
    """An x axis is logarithmic where its values go in ratios, a y axis where they are above 0 and span more than a
    factor of 20; a linear y begins at 0.

    log: one of LOGS, which decides instead. x_scale: "log" or "linear", where it is known how x was swept. Raises
    OutputError where a logarithmic axis is requested that has values of 0 or less.
    """
    check_log(log)
    doubled = all_powers_of_2(x)
    by_itself = x_scale == "log" if x_scale else in_ratios(x) or (doubled and len(set(x)) > 2)
    if is_log("x", log, by_itself, x):
        axes.set_xscale("log", base=2 if doubled else 10)
    if is_log("y", log, wide(min(y), max(y)), y):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min(0, *y))


def check_log(log: str | None) -> None:
    """Raise OutputError for what says of no axes that they are logarithmic."""
    if log is not None and log not in LOGS:
        raise OutputError(f"log {log!r}: must be one of {', '.join(LOGS)}")


def is_log(which: str, log: str | None, by_itself: bool, values: Collection[float]) -> bool:
    """Whether an axis, x or y, is logarithmic. by_itself: its default."""
    if log is None:
        return by_itself and min(values) > 0
    if log == "none" or which not in log:
        return False
    if min(values) <= 0:
        raise OutputError(f"log {log}: {which} has values of 0 or less, which have no logarithm")
    return True


def in_ratios(values: Collection[float]) -> bool:
    """Whether values seem to be swept in ratios: those of neighbours are more alike than their distances. Where neither
    are alike, or values are two, whether they span more than a factor of 20.
    """
    there = sorted(set(values))
    if len(there) < 2 or there[0] <= 0:
        return False
    steps = [high - low for low, high in itertools.pairwise(there)]
    ratios = [math.log(high / low) for low, high in itertools.pairwise(there)]
    apart, ratio_apart = max(steps) / min(steps), max(ratios) / min(ratios)
    if len(there) < 3 or min(apart, ratio_apart) >= EVEN:
        return wide(there[0], there[-1])
    return ratio_apart < apart


def plain_ticks(axes: "Axes") -> None:
    """Numbers in full, 1,000, as far as 100,000, and scientific where they are large or very small; more of them on
    logarithmic axes that span less.
    """
    from matplotlib.ticker import FuncFormatter

    def numbers(digits: str) -> FuncFormatter:
        return FuncFormatter(lambda value, _: f"{value:,g}" if f"{value:.0e}"[0] in digits else "")

    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() != "log":
            _linear_ticks(axis, max(abs(low), abs(high)))
        elif low >= SMALL and high <= LARGE:
            axis.set_major_formatter(numbers("123456789"))
            axis.set_minor_formatter(numbers("" if high > 100 * low else "25" if high > 6 * low else "2357"))


def _linear_ticks(axis: "Axis", largest: float) -> None:
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    if SMALL <= largest < LARGE:
        axis.set_major_formatter(ScalarFormatter(useOffset=False))
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: scientific(value)))


def scientific(value: float, digits: int = 4) -> str:
    """A number as mathematical text of matplotlib: 2.5 x 10^6. digits: significant, at most."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return rf"$\mathdefault{{{float(mantissa):.{digits}g}\times10^{{{int(exponent)}}}}}$"


def time_axis(axes: "Axes", which: str, unit: str) -> None:
    """Ticks with their unit, on an axis of seconds; an axis of any other unit stays unchanged."""
    if unit == "s":
        prefixes(axes, which, "s")


def prefixes(axes: "Axes", which: str, unit: str) -> None:
    """Numbers with prefixes: 10 µs, 3 G."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(EngFormatter(unit=unit))
    low, high = axis.get_view_interval()
    if axis.get_scale() == "log" and high < 30 * low:  # few powers of ten: what is between them says its number, too
        axis.set_minor_formatter(_some(EngFormatter(unit=unit), "25" if high > 6 * low else "23571"))
    else:
        axis.set_minor_formatter(NullFormatter())


def _some(formatter: Any, digits: str) -> Any:
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, place: formatter(value, place) if f"{value:.0e}"[0] in digits else "")


def wide(low: float, high: float) -> bool:
    """Whether an axis over these values is to be logarithmic."""
    return low > 0 and high / low > 20


def all_powers_of_2(values: Collection[float]) -> bool:
    """Whether all are powers of two: then an axis has its ticks there."""
    return all(float(at).is_integer() and at > 0 and int(at) & (int(at) - 1) == 0 for at in values)


def is_number(value: Any) -> bool:
    """Whether it can be drawn; truth values can't."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def tick(value: Any) -> str:
    """A value as a name or a title shows it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def ticks(values: Sequence[Any]) -> list[str]:
    """Values as an axis shows them that has a place for each: scientific where a number is large, with as many digits
    as tell them apart.
    """
    if not any(is_number(value) and abs(value) >= LARGE for value in values):
        return [tick(value) for value in values]
    for digits in range(3, 17):
        shown = [
            scientific(value, digits) if is_number(value) and abs(value) >= LARGE else tick(value) for value in values
        ]
        if len(set(shown)) == len(set(values)):
            return shown
    return [str(value) for value in values]
