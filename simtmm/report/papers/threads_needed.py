"""How many threads hide the latency, as a person reads it."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.threads_needed import ThreadsNeeded
from simtmm.report.text import number, table


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
    if needed.by_simulation is None and needed.without_latency:
        yield ""
        yield Text(_not_hidden(needed))
    yield ""
    times = [
        ("memory answers in a cycle", needed.without_latency),
        ("all threads at once", needed.with_all),
        ("the unmodified machine", needed.as_it_is),
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


def _not_hidden(needed: ThreadsNeeded) -> str:
    """What all threads together leave of the latency, and what to try."""
    return (
        f"Not hidden: with all {number(needed.all_threads)} threads per core that the program has, it takes "
        f"{needed.with_all / needed.without_latency:.2f} times as long as without latency. "
        "Try a larger size (--param), which has more threads, or allow more time (--tolerance)."
    )
