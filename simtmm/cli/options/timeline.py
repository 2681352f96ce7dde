"""Options of a timeline: a file of what each warp did when."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.errors import OutputError
from simtmm.requests.files import checked_form

if TYPE_CHECKING:
    from simtmm.machine import Machine
    from simtmm.report.trace_events import Choice


def _checked_form(path: Path | None) -> Path | None:
    return checked_form(path, "--timeline", (".json", ".json.gz"))


@dataclass(frozen=True, kw_only=True)
class TimelineOptions:
    """A file of what each warp did when, and which part of it."""

    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            metavar="FILE",
            help="write what each warp did when, for Perfetto or chrome://tracing; .json or .json.gz",
            callback=_checked_form,
        ),
    ] = None
    timeline_events: Annotated[
        int | None,
        typer.Option("--timeline-events", min=1, metavar="N", help="sample beyond N events; default: what fits 50 MB"),
    ] = None
    timeline_groups: Annotated[
        str | None,
        typer.Option(
            "--timeline-groups", metavar="NUMBERS", help="core groups in the timeline, e.g. 0,1,5-7; default: all"
        ),
    ] = None
    timeline_from: Annotated[
        float | None, typer.Option("--timeline-from", metavar="CYCLE", help="first cycle of the timeline")
    ] = None
    timeline_to: Annotated[
        float | None, typer.Option("--timeline-to", metavar="CYCLE", help="last cycle of the timeline")
    ] = None

    def part(self, machine: "Machine") -> "Choice | None":
        """The part of the timeline that is written, checked as far as it can be before the run; None without one."""
        if self.timeline is None:
            given = {
                "--timeline-events": self.timeline_events,
                "--timeline-groups": self.timeline_groups,
                "--timeline-from": self.timeline_from,
                "--timeline-to": self.timeline_to,
            }
            for option, value in given.items():
                if value is not None:
                    raise OutputError(f"{option} {value}: needs --timeline FILE")
            return None
        from simtmm.report.trace_events import Choice, groups_of

        groups = None if self.timeline_groups is None else groups_of(self.timeline_groups)
        part = Choice(groups, 0 if self.timeline_from is None else self.timeline_from, self.timeline_to)
        part.mask(machine)
        return part
