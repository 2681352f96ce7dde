"""`simtmm run`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.cli.checks import CheckOptions
from simtmm.cli.environment import EnvironmentOptions
from simtmm.cli.explain import CountsOption, TopOption, WhatIfOption, by_option
from simtmm.cli.grouped import grouped
from simtmm.cli.machine import MachineOptions
from simtmm.cli.output import DocumentOptions, checked_form, printing
from simtmm.cli.program import ProgramOptions, select
from simtmm.cli.sampling import SampleOptions
from simtmm.cli.study_options import engine_option
from simtmm.cli.values import parameters_of
from simtmm.errors import EngineError, OutputError, TraceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simtmm.analysis.run import Run
    from simtmm.machine import Machine
    from simtmm.measurement.nsight import NsightLaunch
    from simtmm.program import Program
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
        typer.Option(
            "--timeline-events", min=1, metavar="N", help="beyond so many events, a sample; as fits 50 MB if left out"
        ),
    ] = None
    timeline_groups: Annotated[
        str | None,
        typer.Option(
            "--timeline-groups", metavar="NUMBERS", help="core groups of the timeline, as 0,1,5-7; all if left out"
        ),
    ] = None
    timeline_from: Annotated[
        float | None, typer.Option("--timeline-from", metavar="CYCLE", help="where the timeline begins")
    ] = None
    timeline_to: Annotated[float | None, typer.Option("--timeline-to", metavar="CYCLE", help="where it ends")] = None

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
                    raise OutputError(f"{option} {value}: is for --timeline FILE, which is not given")
            return None
        from simtmm.report.trace_events import Choice, groups_of

        groups = None if self.timeline_groups is None else groups_of(self.timeline_groups)
        part = Choice(groups, 0 if self.timeline_from is None else self.timeline_from, self.timeline_to)
        part.mask(machine)
        return part


@dataclass(frozen=True, kw_only=True)
class HottestOptions:
    """What takes most of the time, in place of the report."""

    by: Annotated[str | None, by_option("instead of the report what takes most of the time, by")] = None
    top: TopOption = None
    counts: CountsOption = False

    @property
    def rows(self) -> str | None:
        """What a row is for; None for the report."""
        return "line" if self.by is None and (self.top is not None or self.counts) else self.by

    def report(self, done: "Run") -> tuple[list[Any], dict[str, Any]]:
        """The report of a run, and what is added to its document."""
        from simtmm.report.explain import document, explained
        from simtmm.report.run import describe
        from simtmm.report.stalls import MOST_LINES

        by = self.rows
        if by is None:
            return [*describe(done)], {}
        rows = explained(done, by, self.top or MOST_LINES, counts=self.counts)
        return [*rows], {"by": by, "rows": document(done, by)}


@dataclass(frozen=True, kw_only=True)
class ContentionOptions:
    """Where threads meet, and which PRAM the program takes."""

    contention: Annotated[
        bool, typer.Option("--contention", help="tell EREW, CREW or CRCW, and where threads meet at a word")
    ] = False

    def found(self, program: "Program") -> "tuple[list[Any], dict[str, Any]]":
        """What is added to the report and to the document; nothing where it was not asked for."""
        if not self.contention:
            return [], {}
        from simtmm.report.contention import describe_contention

        if program.trace is None:
            raise TraceError("--contention: is for what has a trace, and a workload has none")
        found = program.trace.contention()
        return [*describe_contention(found)], {"contention": found.to_dict()}


@dataclass(frozen=True, kw_only=True)
class NsightOptions:
    """What a GPU's counters say of the same launches."""

    nsight: Annotated[
        Path | None,
        typer.Option(
            "--nsight",
            metavar="FILE",
            help="set beside it what Nsight Compute measured: ncu --csv --page raw or details",
        ),
    ] = None

    def beside(self, done: "Run", launches: "Sequence[NsightLaunch]") -> tuple[list[Any], dict[str, Any]]:
        """The tables, and what is added to a document; nothing without a file."""
        if not launches:
            return [], {}
        from simtmm.analysis.nsight import beside
        from simtmm.report.nsight import describe_beside

        found = beside(done, launches)
        return describe_beside(found), {"nsight": found.to_dict()}

    def loaded(self) -> "Sequence[NsightLaunch]":
        """The launches of the file, read before the run; none without one."""
        if self.nsight is None:
            return ()
        from simtmm.measurement.nsight import load_nsight

        return load_nsight(self.nsight)


@grouped
def run(
    *,
    machine: MachineOptions,
    program: ProgramOptions,
    engine: Annotated[
        str, engine_option("fast (compiled), reference (SimPy), or auto: whichever is done sooner")
    ] = "auto",
    what_if: WhatIfOption = True,
    sampling: SampleOptions,
    timelines: TimelineOptions,
    hottest: HottestOptions,
    nsight: NsightOptions,
    contention: ContentionOptions,
    checks: CheckOptions,
    environment: EnvironmentOptions,
    result: DocumentOptions,
) -> None:
    """Simulate a program on a machine, beside the models.

    A program is a kernel, a CUDA file or program, a Python script, launches, a trace or a workload.
    """
    with checks.begun() as checking:
        program = checking.applied(program)
        selected = select(program, machine)
        part = timelines.part(selected.machine)
        error = sampling.part
        measured = nsight.loaded()
        if checking.is_on and sampling.sample is not None:
            raise EngineError("--sample: simulates some blocks, and --check looks at all: leave one of them out")
        if contention.contention and sampling.sample is not None:
            raise EngineError("--sample: simulates some blocks, and --contention looks at all: leave one of them out")
        opened = selected.opened(result.as_json, sampling.most_events)
        from simtmm.analysis.run import DEFAULT_TRACE
        from simtmm.analysis.run import run as run_study
        from simtmm.program import Program, open_program, shipped_trace
        from simtmm.report.progress import watching

        with watching() as watch, printing(result.as_json):
            chosen = opened.program
            if contention.contention and not isinstance(chosen, Program):
                kernel = shipped_trace(DEFAULT_TRACE) if chosen is None else chosen
                given = parameters_of(program.param)
                chosen = open_program(kernel, given, machine=selected.machine, form=program.form)
            done = run_study(
                chosen,
                selected.machine,
                parameters_of(program.param),
                engine,
                watch,
                timelines.timeline is not None,
                form=program.form,
                what_if=what_if,
                sample=sampling.sample,
                error=error,
            )
            meetings, of_meetings = contention.found(chosen) if isinstance(chosen, Program) else ([], {})
        report, rows = hottest.report(done)
        report += meetings
        tables, beside = nsight.beside(done, measured)
        report += tables
        document = done.to_dict() | rows | beside | of_meetings | opened.document
        if timelines.timeline is not None:
            from simtmm.report.trace_events import write_timeline_of_run

            assert part is not None
            written = write_timeline_of_run(timelines.timeline, done, timelines.timeline_events, part)
            report += ["", f"Timeline: {written}"]
            document["timeline"] = written.to_dict()
        result.show([*report, *checking.parts()], document | checking.to_dict())
        opened.end()
        checking.end()
