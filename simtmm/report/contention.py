"""Contention as a person reads it."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.report.text import number, table
from simtmm.trace.contention import Contention, Meeting

MOST_ROWS = 10


def describe_contention(found: Contention) -> Iterator[RenderableType]:
    """The PRAM that the trace needs, what its queues come to, and the places where most threads meet.

    found: what `simtmm run --contention` found.
    """
    why = " by atomic updates alone" if found.by_atomics_alone else ""
    yield ""
    yield Text(
        f"Contention: {found.model}{why}; {number(found.steps)} steps, and queues of {number(found.queue)} (QRQW)"
    )
    met = [meeting for meeting in found.meetings if meeting.most > 1]
    if not met:
        yield Text("No two threads touch one word in one step.")
        return
    rows = [_row(meeting) for meeting in met[:MOST_ROWS]]
    yield table("Where threads meet", ("most", "queues", "steps", "place", "access", "needs"), rows, left=(3, 4, 5))
    if len(met) > MOST_ROWS:
        yield Text(f"... and {len(met) - MOST_ROWS:,} more places")


def _row(meeting: Meeting) -> tuple[str, ...]:
    what = f"{'shared ' if meeting.shared else ''}{meeting.access} {meeting.source}".strip()
    return (
        number(meeting.most), number(meeting.queue), number(meeting.steps), meeting.where, what,
        f"{meeting.model}: {meeting.at}",
    )  # fmt: skip
