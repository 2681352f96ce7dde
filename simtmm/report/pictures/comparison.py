"""Pictures of a comparison: scatter with the diagonal, curves, roofline, stacks of where time went."""

import itertools
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from simtmm.analysis.comparison import Case, Comparison
from simtmm.errors import OutputError
from simtmm.model.roofline import bandwidth
from simtmm.model.series import MEASURED, SIMULATED, label
from simtmm.report.pictures.axes import is_number, prefixes, time_axis
from simtmm.report.pictures.charts import curves, stacks
from simtmm.report.pictures.looks import MARKERS, PALETTE, look
from simtmm.report.pictures.style import FAINT, GREY, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def scatter(made: Comparison) -> "Figure":
    """Each series' times over the reference's, on log axes, with the diagonal."""
    figure, axes = new_axes(6.4, 4.4)
    across: list[float] = []
    up: list[float] = []
    for series in made.series:
        pairs = made.pairs(series) if series != made.reference else []
        if pairs:
            reference, times = [pair[1] for pair in pairs], [pair[2] for pair in pairs]
            across += reference
            up += times
            axes.plot(reference, times, label=label(series), **(look(series) | {"linestyle": "none"}))
    if not across:
        raise OutputError("a scatter: there is no time to be held against the reference's")
    line = np.array([min(across) / 1.5, max(across) * 1.5])
    axes.fill_between(line, line / 2, line * 2, color=FAINT, linewidth=0, zorder=0, label="within a factor of 2")
    axes.plot(line, line, color=GREY, linewidth=1, zorder=1)
    axes.set(xscale="log", yscale="log", xlim=line, ylim=(min(*up, *across) / 1.5, max(*up, *across) * 1.5))
    time_axis(axes, "x", made.unit)
    time_axis(axes, "y", made.unit)
    axes.set_xlabel(_time_label(made, f"{label(made.reference)} time"))
    axes.set_ylabel(_time_label(made, "time"))
    figure.legend(loc="outside right center")
    return figure


def curves_of(made: Comparison, over: str | None = None) -> "Figure":
    """Times over a parameter, a line a series, for one program on one machine.

    over: the parameter; the one that varies if left out. Raises OutputError where that is not told, and where several
    cases have the same value.
    """
    cases = made.cases
    numbers = [name for name in cases[0].parameters if all(is_number(case.parameters.get(name)) for case in cases)]
    varying = [name for name in numbers if len({case.parameters[name] for case in cases}) > 1]
    if over is None and len(varying) != 1:
        raise OutputError(f"curves: name the parameter to go along; {', '.join(varying) or 'none'} of the cases vary")
    name = varying[0] if over is None else over
    if name not in varying:
        raise OutputError(f"curves: {name}: must vary, as does {', '.join(varying) or 'none of the numbers'}")
    ordered = sorted(cases, key=lambda case: float(case.parameters[name]))
    x = [float(case.parameters[name]) for case in ordered]
    if len(set(x)) < len(x):
        raise OutputError(f"curves: several cases have the same {name}: take one program, one machine, one parameter")
    series = {each: [made.time(case, each) for case in ordered] for each in made.series}
    title = f"{ordered[0].program} on {ordered[0].machine.name}"
    return curves(x, series, name, _time_label(made, "time"), title, made.unit)


@styled
def roofline(made: Comparison) -> "Figure":
    """Operations a second over operations a byte: roofs of the machines, and where each case was simulated or timed.

    Bytes are those that the program asks for, as the roofline of simtmm.model has them.
    """
    figure, axes = new_axes(6.4, 4.2)
    machines = {case.machine_name: case.machine for case in made.cases}
    points = [point for case in made.cases if (point := _roofline_point(made, case))]
    if not points:
        raise OutputError("a roofline: no case moves bytes and does work in a time above 0")
    programs = list(dict.fromkeys(case.program for case, _, _ in points))
    intensities = [intensity for _, intensity, _ in points]
    ridges = [machine.processors / bandwidth(machine) for machine in machines.values() if isfinite(bandwidth(machine))]
    span = np.geomspace(min(intensities + ridges) / 4, max([*intensities, *ridges]) * 4, 200)
    hertz = {name: (machine.clock_hz or 1.0) if made.unit == "s" else 1.0 for name, machine in machines.items()}
    for place, (name, machine) in enumerate(machines.items()):
        colour = PALETTE[place % len(PALETTE)]
        roof = np.minimum(machine.processors, bandwidth(machine) * span) * hertz[name]
        axes.plot(span, roof, color=colour, label=machine.name)
        for program, marker in zip(programs, itertools.cycle(MARKERS)):  # as many as there are
            ours = [(at, rate) for case, at, rate in points if (case.machine_name, case.program) == (name, program)]
            if ours:
                axes.plot(*zip(*ours, strict=True), linestyle="none", color=colour, marker=marker)
    for program, marker in zip(programs, itertools.cycle(MARKERS)):
        axes.plot([], [], linestyle="none", color=GREY, marker=marker, label=program)
    axes.set(xscale="log", yscale="log", xlabel="operations a byte")
    which = label(_timed(made))
    axes.set_ylabel(f"operations a {'second' if made.unit == 's' else 'cycle'}, {which}")
    if made.unit == "s":
        prefixes(axes, "y", "")
    figure.legend(loc="outside right center")
    return figure


def _roofline_point(made: Comparison, case: Case) -> tuple[Case, float, float] | None:
    counts = case.counts
    moved = sum(launch.bytes_read + launch.bytes_written for launch in counts.launches)
    time = made.time(case, _timed(made))
    return (case, counts.work / moved, counts.work / time) if moved and counts.work and time else None


def _timed(made: Comparison) -> str:
    """The series whose times are no model's."""
    return MEASURED if made.reference == MEASURED else SIMULATED


def stacks_of(made: Comparison) -> "Figure":
    """Where the simulated time of each case went."""
    one = len({case.machine_name for case in made.cases}) == 1
    names = [case.label if one else f"{case.label}, {case.machine_name}" for case in made.cases]
    title = made.cases[0].machine.name if one else ""
    return stacks({name: case.result.time or {} for name, case in zip(names, made.cases, strict=True)}, title)


COMPARED: "dict[str, Callable[[Comparison], Figure]]" = {
    "scatter": scatter,
    "curves": curves_of,
    "stacks": stacks_of,
    "roofline": roofline,
}


def compared(kind: str) -> "Callable[[Comparison], Figure]":
    """The function that draws a comparison so. Raises OutputError for an unknown kind."""
    if kind not in COMPARED:
        raise OutputError(f"picture {kind!r}: must be one of {', '.join(COMPARED)}")
    return COMPARED[kind]


def _time_label(made: Comparison, name: str) -> str:
    return name if made.unit == "s" else f"{name} (cycles)"  # ticks of seconds say their unit
