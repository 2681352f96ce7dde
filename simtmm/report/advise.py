"""Advice on launch configurations, and on threads per core, as a person reads it."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.threads_needed import ThreadsNeeded
from simtmm.analysis.tune import Advice, Choice
from simtmm.model.series import SIMULATED, label
from simtmm.report.answers import LISTED
from simtmm.report.text import NO_VALUE, number, table


def describe_advice(advice: Advice) -> Iterator[RenderableType]:
    """The choices, then the configurations from the fastest on."""
    study, rows = advice.study, advice.ranked()
    axes, first = study.design.axes, study.rows[0].point
    fixed = ", ".join(f"{name}={value}" for name, value in first.parameters.items() if name not in axes)
    machine = rows[0].point.machine
    assert machine is not None
    yield Text(f"{study.design.subject.name}{f' ({fixed})' if fixed else ''} on {machine.name}", style="bold")
    yield ""
    columns = ("by", *axes, "its cycles", "simulated", "of the best", "")
    yield table(
        "Best configuration", columns, [_choice(choice, axes) for choice in advice.choices], left=(0, len(axes) + 4)
    )
    yield ""
    best = advice.choices[0].simulated
    listed = [
        (
            *(str(row.point.axes[name]) for name in axes),
            *(NO_VALUE if (cycles := row.cycles(name)) is None else number(cycles) for name in study.design.compute),
            f"{(row.cycles(SIMULATED) or 0.0) / best:.2f}" if best else "",
        )
        for row in rows[:LISTED]
    ]
    names = (*axes, *(label(name) for name in study.design.compute), "of the best")
    yield table("Configurations, in cycles", names, listed, left=())
    if len(rows) > LISTED:
        yield Text(f"and {len(rows) - LISTED:,} more: see --json")
    left = study.number("open")
    refused = len(study.rows) - len(rows) - left
    if refused:
        yield ""
        reason = next(row.reason for row in study.rows if row.cycles(SIMULATED) is None and row.status != "open")
        yield Text(f"{refused:,} configuration{'s' * (refused != 1)} left out, the first because: {reason}")
    if left:
        yield ""
        yield Text(f"{left:,} configuration{'s' * (left != 1)} not run yet")


def describe_threads(needed: ThreadsNeeded) -> Iterator[RenderableType]:
    """What hides the latency, by simulation and by the model."""
    parameters = ", ".join(f"{name}={value}" for name, value in needed.parameters.items())
    yield Text(f"{needed.program}{f' ({parameters})' if parameters else ''} on {needed.machine.name}", style="bold")
    for warning in needed.warnings:
        yield Text(f"Warning: {warning}", style="yellow")
    yield ""
    simulated = "not hidden" if needed.by_simulation is None else number(needed.by_simulation)
    within = f"to within {100 * needed.tolerance:g} % of a run in which memory answers in a cycle"
    rows = [
        ("by simulation", simulated, within),
        ("by the TMM", number(needed.model.needed), f"T with M L / (T P) no larger than the rest, L = "
                                                  f"{needed.machine.memory.latency:g}"),
        ("", number(needed.model.needed_warps), "if a warp's threads wait together"),
        ("in use", number(needed.model.in_use), "T, with the machine's limits"),
        ("limit of the machine", number(needed.model.limit), "X, and what shared memory allows"),
        ("the program has", number(needed.all_threads), "if a core could hold them all"),
    ]  # fmt: skip
    yield table("Threads per core that hide the latency", ("", "", ""), rows, left=(0, 2))
    yield ""
    times = [
        ("memory answers in a cycle", needed.without_latency),
        ("all threads at once", needed.with_all),
        ("the machine as it is", needed.as_it_is),
    ]
    base = needed.without_latency
    yield table(
        "Simulated time",
        ("", "cycles", "of the first"),
        [(name, number(cycles), f"{cycles / base:.2f}" if base else "") for name, cycles in times],
    )
    yield ""
    probes = [
        (number(threads), number(cycles), f"{cycles / base:.2f}" if base else "") for threads, cycles in needed.probes
    ]
    yield table("Tried", ("threads per core", "cycles", "of the first"), probes, left=())


def _choice(choice: Choice, axes: tuple[str, ...]) -> tuple[str, ...]:
    tied = f"as fast as {choice.ties - 1} more" if choice.ties > 1 else ""
    values = (str(choice.configuration[name]) for name in axes)
    return (
        label(choice.by), *values, number(choice.cycles), number(choice.simulated), f"{choice.slowdown:.2f}", tied,
    )  # fmt: skip
