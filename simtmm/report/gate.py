"""Kernels beside a baseline, as a person reads it on a terminal, and under a pull request."""

import re
from collections.abc import Iterator
from math import isinf

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.gate import Comparison, Row, Timed
from simtmm.errors import one_line
from simtmm.report.text import NO_VALUE, number, seconds, table

COLUMNS = ("kernel", "before", "after", "change", "cause")
_MARKS = re.compile(r"([\\`*_\[\]<>|~&])")  # which Markdown takes for its own


def describe_gate(found: Comparison, written: str = "") -> Iterator[RenderableType]:
    """The sentence, the table and the notes. written: the baseline's file, where it was written now.

    found: what came of the gate.
    """
    yield Text(gate_words(found, written), style="bold")
    yield ""
    yield table("", COLUMNS, [_cells(found, row) for row in found.rows], left=(0, 4))
    if found.notes:
        yield ""
    for note in found.notes:
        yield Text(f"Note: {note}")


def gate_markdown(found: Comparison, written: str = "") -> str:
    """The same in Markdown, for a comment of a pull request.

    found: what came of the gate.
    written: the baseline's file, where it was written now.
    """
    lines = [f"**{_plain(gate_words(found, written))}**", ""]
    lines += [f"| {' | '.join(COLUMNS)} |", "|---|--:|--:|--:|---|"]
    for row in found.rows:
        name, *times, change, cause = (_plain(cell) for cell in _cells(found, row))
        change = f"**{change}**" if row.failed else change
        lines.append(f"| {' | '.join((name, *times, change, cause))} |")
    if found.notes:
        lines.append("")
    lines += [f"- {_plain(note)}" for note in found.notes]
    return "\n".join(lines)


def gate_words(found: Comparison, written: str = "") -> str:
    """One sentence on all kernels.

    found: what came of the gate.
    written: the baseline's file, where it was written now.
    """
    machines = {timed.machine for row in found.rows if (timed := row.after or row.before) is not None}
    on = f" on {machines.pop()}" if len(machines) == 1 else ""
    if written:
        count = len(found.rows)
        return f"{written} is written: the simulated time of {count} kernel{'s' * (count != 1)}{on}. Commit it."
    count = sum(row.change is not None for row in found.rows)
    failed = len(found.failed)
    part = f"{100 * found.fail_above:.12g} %"
    if count == 1 and not failed:
        return f"The kernel did not grow by more than {part} in simulated time{on}."
    return f"{failed or 'None'} of {count} kernel{'s' * (count != 1)} grew by more than {part} in simulated time{on}."


def _cells(found: Comparison, row: Row) -> tuple[str, str, str, str, str]:
    several = len({timed.machine for each in found.rows for timed in (each.before, each.after) if timed}) > 1
    timed = row.after or row.before
    assert timed is not None
    before, after, unit = row.times
    name = f"{row.name} on {timed.machine}" if several else row.name
    return name, _time(before, unit), _time(after, unit), _change(row.change), _cause(row)


def _time(value: float | None, unit: str) -> str:
    if value is None:
        return NO_VALUE
    return seconds(value) if unit == "s" else f"{number(value)} cycles"


def _change(change: float | None) -> str:
    if change is None:
        return NO_VALUE
    return "from nothing" if isinf(change) else "0 %" if change == 0 else f"{100 * change:+.2f} %"


def _cause(row: Row) -> str:
    """What binds it, and where; what bound it before, if that was something else."""
    before, after = row.before, row.after
    now = _at(after or before)
    is_new = before and after and (before.cause, before.behind) != (after.cause, after.behind)
    return f"{now} (was {_at(before)})" if is_new else now


def _at(timed: Timed | None) -> str:
    if timed is None or not timed.cause:
        return NO_VALUE
    cause = f"{timed.cause}, behind that {timed.behind}" if timed.behind else timed.cause
    return f"{cause} at {timed.line}" if timed.line else cause


def _plain(text: str) -> str:
    """A text in which Markdown finds nothing of its own."""
    return _MARKS.sub(r"\\\1", one_line(text))
