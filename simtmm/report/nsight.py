"""A run compared with measurements of Nsight Compute and Nsight Systems, as tables."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from rich.table import Table

from simtmm.analysis.nsight import LINES, Beside, Compared, KernelBeside, LineBeside
from simtmm.measurement.nsight import COUNTED, SAMPLES
from simtmm.report.text import table

MOST_LINES = 20  # of a kernel, that a terminal shows
LONGEST = 40  # characters of a line's text
_TIMES = {"total": "total, us", "mean": "mean, us", "median": "median, us", "least": "least, us", "most": "most, us"}
_HEAD = ("", "simulated", "measured", "difference")


def difference(compared: Compared) -> str:
    """By how much the simulated value differs: in per cent of the measured one, or in points of a share.

    compared: the two values.
    """
    if compared.difference is None:
        return ""
    if compared.is_share:
        return f"{100 * compared.difference:+.0f} points"
    return f"{100 * compared.difference:+.1f} %"


def describe_beside(found: Beside) -> list[str | Table]:
    """A table for each launch, each kernel's launches together and each kernel's lines.

    found: a run compared with exports.
    """
    parts: list[str | Table] = []
    for launch in found.launches:
        rows = [
            (COUNTED[each.name].words, *_shown(each, COUNTED[each.name].show), difference(each))
            for each in launch.compared
        ]
        title = f"Launch {launch.number} of {launch.kernel}, compared with {launch.tool or 'Nsight Compute'}"
        parts += ["", table(title, _HEAD, rows)]
    for each in found.sums:
        parts += ["", _of_times(each.kernel, ("launches", each.launches, each.measured_launches), each.compared)]
    for copy in found.copies:
        parts += ["", _of_times(copy.operation, ("copies", copy.copies, copy.measured_copies), copy.compared)]
    for kernel in found.kernels:
        parts += ["", *_of_lines(kernel)]
    parts += ["", *found.warnings] if found.warnings else []
    if found.left_out:
        parts += ["", f"Measured, but not launched here: {', '.join(found.left_out)}."]
    return parts


def _shown(compared: Compared, show: Callable[[float], str]) -> tuple[str, str]:
    return show(compared.simulated), show(compared.measured)


def _of_times(name: str, numbers: tuple[str, int, int], compared: Sequence[Compared]) -> Table:
    """numbers: of what, how many are simulated, and how many were measured."""
    words, simulated, measured = numbers
    rows = [(words, f"{simulated:,}", f"{measured:,}", "")]
    rows += [
        (_TIMES[each.name], *_shown(each, lambda value: f"{value * 1e6:,.2f}"), difference(each)) for each in compared
    ]
    return table(f"{name}, compared with Nsight Systems", _HEAD, rows)


def show_line(compared: Compared) -> Callable[[float], str]:
    """How a value of a line is written: a share in per cent, a count whole.

    compared: the quantity.
    """
    return (lambda value: f"{100 * value:.1f} %") if compared.is_share else (lambda value: f"{value:,.0f}")


def _of_lines(kernel: KernelBeside) -> list[str | Table]:
    """A row for each line and quantity, the lines with most samples or instructions first."""
    ordered = sorted(kernel.lines, key=_weight, reverse=True)
    rows = []
    for line in ordered[:MOST_LINES]:
        place = f"{PurePath(line.file).name}:{line.line}"
        text = line.text.strip()
        for number, each in enumerate(line.compared):
            code = (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026") if number == 1 else ""
            first = place if number == 0 else code
            rows.append((first, LINES[each.name], *_shown(each, show_line(each)), difference(each)))
    title = f"Lines of {kernel.kernel}, compared with Nsight Compute"
    parts: list[str | Table] = [table(title, ("line", *_HEAD), rows)]
    if kernel.launches != kernel.measured_launches:
        parts.append(
            f"Measured in {kernel.measured_launches} of {kernel.launches} launches; counts are scaled to all of them."
        )
    if len(ordered) > MOST_LINES:
        parts.append(f"{len(ordered) - MOST_LINES} more lines are in --json, in --html and, in Python, in .to_frame().")
    if kernel.left_out:
        parts.append(f"Measured, but not among the lines here: {', '.join(kernel.left_out[:MOST_LINES])}.")
    return parts


def _weight(line: LineBeside) -> tuple[float, float]:
    """Samples first, then the other counts."""
    largest = {each.name: max(each.simulated, each.measured) for each in line.compared}
    return largest.pop(SAMPLES, 0.0), max(largest.values(), default=0.0)


def measured_lines(found: Beside) -> Mapping[tuple[str, int], list[list[str]]]:
    """Of each line (file, number) what the page shows: (quantity, simulated, measured, difference).

    found: a run compared with exports.
    """
    lines: dict[tuple[str, int], list[list[str]]] = {}
    several = len(found.kernels) > 1
    for kernel in found.kernels:
        for line in kernel.lines:
            lines.setdefault((line.file, line.line), []).extend(
                [f"{kernel.kernel}: {LINES[each.name]}" if several else LINES[each.name],
                 *_shown(each, show_line(each)), difference(each)]
                for each in line.compared
            )  # fmt: skip
    return lines
