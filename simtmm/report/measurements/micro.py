"""Micro-kernels beside their limits, as a person reads them."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.micro import Micro, MicroResult
from simtmm.report.text import NO_VALUE, table


def describe_micro(found: Micro) -> Iterator[RenderableType]:
    """A row each, and where the limits come from.

    found: what micro-kernels took.
    """
    yield Text(f"Micro-kernels on {found.machine.name}, one block on one multiprocessor", style="bold")
    for note in found.notes:
        yield Text(note)
    yield ""
    measured = any(each.measured is not None for each in found.results)
    columns = ("", "counted", "limit", "simulated", "over limit", "bytes a cycle", *(["measured"] * measured), "")
    rows = [_row(each, measured) for each in found.results]
    yield table("Cycles of each", columns, rows, left=(0, 1, len(columns) - 1))
    if found.left_out:
        yield ""
        yield from (f"left out: {each}" for each in found.left_out)
    yield ""
    yield Text("Limits", style="bold")
    for source in dict.fromkeys(each.kernel.limit.source for each in found.results):
        names = [each.kernel.name for each in found.results if each.kernel.limit.source == source]
        span = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        yield f"{span}: {source}"


def _row(each: MicroResult, measured: bool) -> tuple[str, ...]:
    kernel = each.kernel
    moved = f"{kernel.bytes / each.simulated:.0f}" if kernel.bytes else ""
    known = [NO_VALUE if each.measured is None else f"{each.measured:.2f}"] if measured else []
    return (
        kernel.name,
        kernel.repetition,
        f"{each.limit:.2f}",
        f"{each.simulated:.2f}",
        f"{each.times:.2f}",
        moved,
        *known,
        _verdict(each),
    )


def _verdict(each: MicroResult) -> str:
    if each.is_below:
        return "below its limit"
    if each.is_far:
        return f"should be within {each.kernel.limit.within:g} of its limit"
    return "" if each.kernel.limit.within is not None else "a floor alone"
