"""`simtmm run`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from simtmm.cli.options.checks import CheckOptions
from simtmm.cli.options.contention import ContentionOptions
from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.models_only import ModelsOptions
from simtmm.cli.options.nsight import NsightOptions
from simtmm.cli.options.output import JsonOption, output_option, show
from simtmm.cli.options.rows import RowOptions, checked_output
from simtmm.cli.options.timeline import TimelineOptions
from simtmm.errors import EngineError
from simtmm.requests.files import printing
from simtmm.requests.run import LONG, RunRequest

if TYPE_CHECKING:
    from simtmm.cli.options.checks import Checking


@grouped
def run(  # noqa: PLR0913 - each is an option of the command
    *,
    request: RunRequest,
    rows: RowOptions,
    timelines: TimelineOptions,
    models: ModelsOptions,
    nsight: NsightOptions,
    contention: ContentionOptions,
    checks: CheckOptions,
    environment: EnvironmentOptions,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None,
        output_option(
            "the JSON document there, a page (.html), or one CSV row per line (.csv)", callback=checked_output
        ),
    ] = None,
) -> None:
    """Say how long a program takes on a machine, why, and what would help.

    A program is a kernel, a CUDA file or program, a Python script, launches, a trace or a workload.
    """
    with checks.begun() as checking:
        request = checking.applied(request)
        if models.models_only:
            others = {
                **dict.fromkeys(rows.given(), True),
                "--timeline": timelines.timeline,
                "--nsight": nsight.nsight,
                "--keep-row": nsight.keep_row,
                "--check": checks.check,
                "--contention": contention.contention,
                "--engine": request.engine != "auto",
            }
            models.show(request, others, as_json, output)
            return
        models.refuse()
        contention.check(request.sample)
        _simulate(request, rows, timelines, nsight, contention, checking, as_json, output)
        checking.end()


def _simulate(
    request: RunRequest,
    rows: RowOptions,
    timelines: TimelineOptions,
    nsight: NsightOptions,
    contention: ContentionOptions,
    checking: "Checking",
    as_json: bool,
    output: Path | None,
) -> None:
    checked = request.checked()
    part = timelines.part(checked.selected.machine)
    measured = nsight.loaded()
    if checking.is_on and request.sample is not None:
        raise EngineError("--sample: simulates some blocks, but --check needs all: leave one of them out")
    from simtmm.report.command_time import timed

    makes_page = rows.makes_page(output)
    limit = LONG if makes_page and timelines.timeline is None else None
    with timed("run", request):
        opened = checked.opened(as_json)
        from simtmm.report.progress import watching

        with watching() as watch, printing(as_json):
            opened = contention.recorded(opened)
            done = opened.run(watch, timelines.timeline is not None or makes_page, limit)
    report, of_rows = rows.report(done)
    meetings, of_meetings = contention.found(opened)
    beside = nsight.beside(done, measured)
    report += [*meetings, *beside.tables]
    of_timeline: dict[str, Any] = {}
    if timelines.timeline is not None:
        from simtmm.report.trace_events import write_timeline_of_run

        assert part is not None
        written = write_timeline_of_run(timelines.timeline, done, timelines.timeline_events, part)
        report += ["", f"Timeline: {written}"]
        of_timeline["timeline"] = written.to_dict()
    left = rows.write(done, output, beside.lines)

    def document() -> dict[str, Any]:
        more = of_rows | beside.document | of_meetings | opened.opened.document | of_timeline
        return done.to_dict() | more | checking.to_dict()

    show([*report, *checking.parts()], document, as_json, left)
    opened.opened.end()
