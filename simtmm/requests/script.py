"""Python scripts on the command line: run unmodified, with arguments after --, and recorded."""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import KernelError, RecordingError, escaped
from simtmm.requests.files import printing

if TYPE_CHECKING:
    from simtmm.cuda.disagreement.order_trial import OrderFound
    from simtmm.device.own_clock import OwnClock
    from simtmm.machine import Machine
    from simtmm.program import Program
    from simtmm.recorder.selection import StopAfter
    from simtmm.scripts.run import Outcome

SUFFIX = ".py"
LAUNCHES_SHOWN = 20

ScriptArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- ARGUMENT...]", help="arguments of a program or script, after --", show_default=False),
]
LaunchOption = Annotated[
    str | None,
    typer.Option("--launch", metavar="NUMBERS", help="record only these launches of a script, e.g. 3 or 0,4-7"),
]
SkipOption = Annotated[
    int, typer.Option("--skip", metavar="N", min=0, help="skip the first N matching launches of a script")
]
CountOption = Annotated[
    int | None, typer.Option("--count", metavar="N", min=1, help="record at most N launches of a script")
]
SampleOption = Annotated[
    int | None,
    typer.Option("--sample-blocks", metavar="N", min=1, help="record only N blocks of a launch, evenly spread"),
]
ElementwiseOption = Annotated[
    bool,
    typer.Option("--record-elementwise", help="record CuPy's own elementwise functions and reductions as kernels, too"),
]


@dataclass(frozen=True)
class Choice:
    """What of a script is recorded.

    kernel, launch, skip, count: as simtmm.recording has them. sample_blocks: of each launch. elementwise: whether
    functions of CuPy become kernels. most_events: more are an error.
    """

    kernel: str | None = None
    launch: str | None = None
    skip: int = 0
    count: int | None = None
    sample_blocks: int | None = None
    elementwise: bool = False
    most_events: int | None = None

    @property
    def takes_some(self) -> bool:
        """Whether launches are chosen of all of them."""
        return bool(self.kernel or self.launch or self.skip) or self.count is not None


@dataclass(frozen=True)
class ScriptRun:
    """A script that was run. program: what it launched. order: what it does in other orders of its warps, if it
    failed.
    """

    program: "Program"
    outcome: "Outcome"
    order: "OrderFound | None" = None

    def lines(self) -> list[str]:
        """What stands beside the report: its launches, and what was not recorded."""
        assert self.program.trace is not None
        launches = [
            f"{launch.kernel}  grid {_sizes(launch.grid)}  block {_sizes(launch.block)}"
            for launch in self.program.trace.info.launches
        ]
        groups: list[tuple[str, int]] = []
        for each in launches:
            if groups and groups[-1][0] == each:
                groups[-1] = each, groups[-1][1] + 1
            else:
                groups.append((each, 1))
        shown = [f"  {count:>4}x {each}" for each, count in groups[:LAUNCHES_SHOWN]]
        if groups[LAUNCHES_SHOWN:]:
            shown.append(f"  and {sum(count for _, count in groups[LAUNCHES_SHOWN:])} more")
        return [f"{len(launches)} launch{'es' * (len(launches) != 1)} of {self.program.name}:", *shown,
                *self.outcome.lines(), *([self.order.words] if self.order and self.order.tried else [])]  # fmt: skip

    def print(self, as_json: bool) -> None:
        """Print them, to standard error where standard output is for one document alone."""
        for line in self.lines():
            print(escaped(line), file=sys.stderr if as_json else sys.stdout)
        if not as_json:
            print()

    def to_dict(self) -> dict[str, Any]:
        """The script in a JSON document."""
        return {
            "status": self.outcome.status,
            "not_recorded": dict(self.outcome.unrecorded),
            "notes": list(self.outcome.notes),
            **({"order": self.order.to_dict()} if self.order and self.order.tried else {}),
        }

    def end(self) -> None:
        """End as the script did."""
        if self.outcome.status:
            raise typer.Exit(self.outcome.status)


def is_script(source: object) -> bool:
    """Whether that is a Python script."""
    return isinstance(source, str) and Path(source).suffix == SUFFIX


def script_run(  # noqa: PLR0913, PLR0917 - each is an option of the verb
    source: str,
    arguments: list[str] | None,
    machine: "str | Machine | None",
    choice: Choice,
    foreign: Mapping[str, object],
    output: Path | None = None,
    as_json: bool = False,
    clock: "OwnClock | None" = None,
    stop: "StopAfter | None" = None,
    again: bool = False,
) -> ScriptRun:
    """Run a script and record what it launches.

    foreign: options that were given and that are not for scripts. output: where the trace goes; else it is in memory.
    clock: that it reads. stop: when it is ended. again: whether one that fails is run in other orders of its warps.

    Raises typer.Exit, with the script's status, where it ended with an exception or launched nothing and failed;
    RecordingError where there is nothing to have; and whatever of simtmm's errors ended it.
    """
    from simtmm.program import Program
    from simtmm.report.progress import watching
    from simtmm.requests.launch_count import launches_of
    from simtmm.scripts.options import options
    from simtmm.scripts.other_orders import script_in_other_orders
    from simtmm.scripts.recording import recording
    from simtmm.scripts.run import FAILED, check_script, run_script
    from simtmm.watch import tell

    check_script(source)
    for name, value in foreign.items():
        if value:
            raise KernelError(f"{name}: is not for a Python script such as {source}")
    name = Path(source).stem
    under_way = recording(
        machine, output=output, most_events=choice.most_events, sample_blocks=choice.sample_blocks,
        name=name if name.isprintable() else "script", kernel=choice.kernel, launch=choice.launch, skip=choice.skip,
        count=choice.count,
    )  # fmt: skip
    if stop is not None:
        under_way.stop_after(stop.launches, stop.seconds)
    launches = None if choice.takes_some else launches_of(source)
    began = time.monotonic()
    with watching(in_lines=True, launches=launches), printing(as_json), options(elementwise=choice.elementwise):
        tell("running the script", 0)
        outcome = run_script(source, arguments or [], under_way, clock)
        sys.stdout.flush()
    order = None
    if again and outcome.status == FAILED and not outcome.is_of_code and under_way.launched:
        took = time.monotonic() - began
        order = script_in_other_orders(source, arguments or [], under_way.machine, choice.elementwise, clock, took)
    if outcome.status and not under_way.has_trace:
        if under_way.launches:
            print(escaped(f"simtmm: {source} ended with an exception: there is no trace"), file=sys.stderr)
        if order is not None and order.tried:
            print(escaped(f"simtmm: {order.words}"), file=sys.stderr)
        raise typer.Exit(outcome.status)
    if not under_way.has_trace and not under_way.launched:
        for line in outcome.lines():
            print(escaped(line), file=sys.stderr)
        none = (
            f"{source}: launched no kernel, so there is nothing to record"
            f"{' (--record-elementwise makes kernels of array functions)' if outcome.unrecorded else ''}"
        )
        if output is not None:
            raise RecordingError(none)
        print(escaped(f"simtmm: {none}"), file=sys.stderr)
        raise typer.Exit(outcome.status)
    if outcome.why_none is not None:
        raise outcome.why_none
    return ScriptRun(Program(name, {}, under_way.trace, sources=under_way.sources), outcome, order)


def _sizes(sizes: tuple[int, ...]) -> str:
    used = sizes[: 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1]
    return " x ".join(map(str, used))
