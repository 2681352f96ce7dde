"""Pictures of a comparison: scatter with the diagonal, curves, roofline, ratios, stacks of where time went."""

from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from simtmm.analysis.comparison.case import Case
from simtmm.analysis.comparison.comparison import Comparison
from simtmm.errors import OutputError
from simtmm.model.roofline import bandwidth
from simtmm.model.series import MEASURED, SIMULATED, label
from simtmm.report.pictures.axes import check_log, is_log, is_number, plain_ticks, prefixes, time_axis
from simtmm.report.pictures.charts import curves, heat_map, stacks
from simtmm.report.pictures.labels import name_points
from simtmm.report.pictures.looks import MARKERS, PALETTE, STYLES, check_apart, look
from simtmm.report.pictures.style import FAINT, GREY, new_axes, set_title, styled, wrapped
from simtmm.report.pictures.titles import of_cases, point_names, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND = 28  # letters of a line in a legend


@styled
def scatter(made: Comparison, log: str | None = None) -> "Figure":
    """Each series' times over the reference's, with the diagonal, and a name at a point of each case.

    log: which axes are logarithmic, "x", "y", "xy" or "none"; both if left out. Names that find no room are left out
    and counted.
    """
    figure, axes = new_axes(6.4, 4.4)
    across: list[float] = []
    up: list[float] = []
    points: dict[int, list[tuple[float, float]]] = {}
    for series in made.series:
        pairs = made.pairs(series) if series != made.reference else []
        if pairs:
            reference, times = [pair[1] for pair in pairs], [pair[2] for pair in pairs]
            across += reference
            up += times
            for case, at, time in pairs:
                points.setdefault(id(case), []).append((at, time))
            axes.plot(reference, times, label=label(series), **(look(series) | {"linestyle": "none"}))
    if not across:
        raise OutputError("a scatter: no time to compare with the reference's")
    line = np.geomspace(min(across) / 1.5, max(across) * 1.5, 2 if log in (None, "xy", "none") else 100)
    axes.fill_between(line, line / 2, line * 2, color=FAINT, linewidth=0, zorder=0, label="within a factor of 2")
    axes.plot(line, line, color=GREY, linewidth=1, zorder=1)
    _set_scales(axes, log, across, up)
    axes.set(xlim=(line[0], line[-1]), ylim=(min(*up, *across) / 1.5, max(*up, *across) * 1.5))
    plain_ticks(axes)
    time_axis(axes, "x", made.unit)
    time_axis(axes, "y", made.unit)
    axes.set_xlabel(_time_label(made, f"{label(made.reference)} time"))
    axes.set_ylabel(_time_label(made, "time"))
    set_title(figure, of_cases(made.cases))
    figure.legend(loc="outside right center")
    names = zip(made.cases, point_names(made.cases), strict=True)
    named = [
        (name, sorted(points[id(case)], key=lambda point: -point[1])) for case, name in names if id(case) in points
    ]
    name_points(figure, axes, named)
    return figure


def _set_scales(axes: "Axes", log: str | None, x: Sequence[float], y: Sequence[float]) -> None:
    """Both axes are logarithmic, by default."""
    check_log(log)
    for which, values in (("x", x), ("y", y)):
        if is_log(which, log, True, values):
            (axes.set_xscale if which == "x" else axes.set_yscale)("log")


def curves_of(made: Comparison, over: str | None = None, log: str | None = None) -> "Figure":
    """Times over a parameter, a line for each series, for one program on one machine.

    over: the parameter; the one that varies if left out. log: which axes are logarithmic, as in `charts.curves`. Raises
    OutputError where that is not given, and where several cases have the same value.
    """
    cases = made.cases
    numbers = [name for name in cases[0].parameters if all(is_number(case.parameters.get(name)) for case in cases)]
    varying = [name for name in numbers if len({case.parameters[name] for case in cases}) > 1]
    if over is None and len(varying) != 1:
        raise OutputError(
            f"curves: name the parameter for the horizontal axis; {', '.join(varying) or 'none'} of the cases vary"
        )
    name = varying[0] if over is None else over
    if name not in varying:
        raise OutputError(f"curves: {name}: does not vary; {', '.join(varying) or 'none of the numbers'} varies")
    ordered = sorted(cases, key=lambda case: float(case.parameters[name]))
    x = [float(case.parameters[name]) for case in ordered]
    if len(set(x)) < len(x):
        raise OutputError(f"curves: several cases have the same {name}: choose one program, one machine, one parameter")
    series = {each: [made.time(case, each) for case in ordered] for each in made.series}
    return curves(x, series, name, _time_label(made, "time"), of_cases(cases), made.unit, log)


@styled
def roofline(made: Comparison, log: str | None = None) -> "Figure":
    """Operations a second over operations a byte: roofs of the machines, and where each case was simulated or timed,
    with its name. Bytes are those that the program asks for, as the roofline of simtmm.model has them.

    log: which axes are logarithmic, "x", "y", "xy" or "none"; both if left out. Names that find no room are left out
    and counted. Raises OutputError for more machines or programs than can be distinguished.
    """
    figure, axes = new_axes(6.4, 4.2)
    machines = {case.machine_name: case.machine for case in made.cases}
    points = [point for case in made.cases if (point := _roofline_point(made, case))]
    if not points:
        raise OutputError("a roofline: no case moves bytes and does work in a time above 0")
    programs = list(dict.fromkeys(case.program for case, _, _ in points))
    check_apart(len(machines), STYLES, "machines", "a roofline")
    check_apart(len(programs), len(MARKERS), "programs", "a roofline")
    intensities = [intensity for _, intensity, _ in points]
    ridges = [machine.processors / bandwidth(machine) for machine in machines.values() if isfinite(bandwidth(machine))]
    span = np.geomspace(min(intensities + ridges) / 4, max([*intensities, *ridges]) * 4, 200)
    hertz = {name: (machine.clock_hz or 1.0) if made.unit == "s" else 1.0 for name, machine in machines.items()}
    labels = [wrapped(name, LEGEND) for name in short_names(list(machines.values()))]
    for place, (name, machine) in enumerate(machines.items()):
        colour, dash = PALETTE[place % len(PALETTE)], "--" if place >= len(PALETTE) else "-"
        filled = colour if dash == "-" else "white"
        roof = np.minimum(machine.processors, bandwidth(machine) * span) * hertz[name]
        axes.plot(span, roof, color=colour, linestyle=dash, label=labels[place])
        for program, marker in zip(programs, MARKERS, strict=False):
            ours = [(at, rate) for case, at, rate in points if (case.machine_name, case.program) == (name, program)]
            if ours:
                axes.plot(
                    *zip(*ours, strict=True), linestyle="none", color=colour, marker=marker, markerfacecolor=filled
                )
    for program, marker in zip(programs, MARKERS, strict=False):
        axes.plot([], [], linestyle="none", color=GREY, marker=marker, label=program)
    _set_scales(axes, log, intensities, [rate for _, _, rate in points])
    axes.set_xlabel("operations a byte")
    plain_ticks(axes)
    which = label(_timed(made))
    axes.set_ylabel(f"operations a {'second' if made.unit == 's' else 'cycle'}, {which}")
    if made.unit == "s":
        prefixes(axes, "y", "")
    set_title(figure, of_cases(made.cases))
    figure.legend(loc="outside right center")
    shown = [case for case, _, _ in points]
    names = point_names(shown, told=True)
    name_points(figure, axes, [(name, [point[1:]]) for name, point in zip(names, points, strict=True)])
    return figure


def _roofline_point(comparison: Comparison, case: Case) -> tuple[Case, float, float] | None:
    counts = case.counts
    moved = sum(launch.bytes_read + launch.bytes_written for launch in counts.launches)
    time = comparison.time(case, _timed(comparison))
    return (case, counts.work / moved, counts.work / time) if moved and counts.work and time else None


def _timed(comparison: Comparison) -> str:
    """The series whose times are no model's."""
    return MEASURED if comparison.reference == MEASURED else SIMULATED


def stacks_of(made: Comparison) -> "Figure":
    """Where the simulated time of each case went."""
    one = len({case.machine_name for case in made.cases}) == 1
    names = [case.label if one else f"{case.label}, {case.machine_name}" for case in made.cases]
    times = {name: case.result.time or {} for name, case in zip(names, made.cases, strict=True)}
    return stacks(times, of_cases(made.cases))


def ratios_of(made: Comparison) -> "Figure":
    """Each series' time over the reference's, by colour: a row for each case, 1 in white. Raises OutputError for
    none.
    """
    series = [name for name in made.series if name != made.reference]
    cells = np.array([[made.ratio(case, name) for name in series] for case in made.cases], dtype=np.float64)
    if not np.isfinite(cells).any():
        raise OutputError("ratios: no time to compare with the reference's")
    there = [place for place in range(len(series)) if np.isfinite(cells[:, place]).any()]
    names = point_names(made.cases)
    rows = [f"{name} #{place + 1}" if names.count(name) > 1 else name for place, name in enumerate(names)]
    what = f"time / {label(made.reference)} time"
    titles = [label(series[place]) for place in there]
    return heat_map(titles, rows[::-1], cells[::-1, there], "", "", what, of_cases(made.cases), "ratio")


COMPARED: "dict[str, Callable[..., Figure]]" = {
    "scatter": scatter,
    "curves": curves_of,
    "stacks": stacks_of,
    "roofline": roofline,
    "ratios": ratios_of,
}
WITH_SCALES = ("scatter", "curves", "roofline")


def compared(kind: str, log: str | None = None) -> "Callable[[Comparison], Figure]":
    """The function that draws a comparison so. Raises OutputError for an unknown kind.

    log: which axes are logarithmic, of those pictures that have two axes of numbers.
    """
    if kind not in COMPARED:
        raise OutputError(f"picture {kind!r}: must be one of {', '.join(COMPARED)}")
    check_log(log)
    if log is None:
        return COMPARED[kind]
    if kind not in WITH_SCALES:
        raise OutputError(f"log {log}: is for {', '.join(WITH_SCALES)}, not for {kind}")
    return partial(COMPARED[kind], log=log)


def _time_label(comparison: Comparison, name: str) -> str:
    return name if comparison.unit == "s" else f"{name} (cycles)"  # ticks of seconds say their unit
