"""Axes: scales, ticks and units that suit the values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
