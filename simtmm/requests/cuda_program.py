"""CUDA C++ programs on the command line: run unmodified, with arguments after --, and recorded."""

import itertools
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import KernelError, RecordingError, escaped, shown
from simtmm.files import is_file

if TYPE_CHECKING:
    from simtmm.cuda.disagreement.order_trial import OrderFound
    from simtmm.device.own_clock import OwnClock
    from simtmm.machine import Machine
    from simtmm.program import Program
    from simtmm.programs.program import Outcome
    from simtmm.recorder.selection import StopAfter
    from simtmm.requests.script import Choice

BuildOption = Annotated[
    list[str] | None,
    typer.Option("--build", metavar="FLAGS", help="nvcc's options for a CUDA program, e.g. --build '-O3 -I include'"),
]
ClockOption = Annotated[
    str,
    typer.Option(
        "--clock",
        metavar="virtual|real",
        help="what a program's clocks read: the simulated machine's time, or this computer's",
    ),
]
HostTimeOption = Annotated[
    str | None,
    typer.Option(
        "--host-time",
        metavar="on|off",
        help="count the time of a program's own code on its clocks; off: runs repeat exactly",
        show_default="on for programs; off for scripts, in diff, and where the environment sets CI",
    ),
]
WarpOption = Annotated[
    int | None,
    typer.Option(
        "--warp",
        metavar="32|64",
        help="lanes of a warp in a HIP program's code; 64 on AMD's machines with waves of 64",
        show_default="32",
    ),
]
StopOption = Annotated[
    str | None,
    typer.Option(
        "--stop-after",
        metavar="N|SECONDS",
        help="end a program after N launches, e.g. 100, or seconds, e.g. 60s, and report what ran",
    ),
]


IN_DIFF = "off in diff"
"""What `own_clock` takes for a program whose two runs are compared."""


def own_clock(clock: str, host_time: str | None, usual: bool) -> "OwnClock":
    """The clock of a program.

    host_time: "on" or "off"; IN_DIFF; None where nobody says.
    usual: whether its own code's time counts where nobody says, unless the environment sets CI.

    Raises KernelError.
    """
    from simtmm.device.own_clock import CLOCKS, OwnClock

    if clock not in CLOCKS:
        raise KernelError(f"--clock {shown(clock)}: must be {' or '.join(CLOCKS)}")
    if host_time not in (None, "on", "off", IN_DIFF):
        raise KernelError(f"--host-time {shown(host_time)}: must be on or off")
    if host_time == "on" or (host_time is None and usual and not is_in_ci()):
        return OwnClock(clock)
    why = "" if host_time == "off" or not usual else "in diff" if host_time else "where the environment sets CI"
    return OwnClock(clock, False, why)


def is_in_ci() -> bool:
    """Whether a service for continuous integration says in the environment that it runs this process: `CI` is set."""
    return os.environ.get("CI", "").strip().lower() not in ("", "0", "false", "no", "off")


def warp_flags(lanes: int | None) -> list[str]:
    """The compiler's options for warps of so many lanes. Raises KernelError."""
    from simtmm.programs.building.flags import WAVE, WAVES

    if lanes not in (None, 32, WAVE):
        raise KernelError(f"--warp {shown(lanes)}: must be 32 or {WAVE}")
    return [f"-D{WAVES}"] if lanes == WAVE else []


def stop_after(text: str | None) -> "StopAfter":
    """When a program is ended. Raises KernelError."""
    from simtmm.recorder.selection import StopAfter

    if text is None:
        return StopAfter()
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)(s?)", text, re.ASCII)
    number = float(found[1]) if found else 0.0
    if not found or number <= 0 or (not found[2] and number != int(number)):
        raise KernelError(
            f"--stop-after {shown(text)}: must be a number of launches, such as 100, or of seconds, such as 60s"
        )
    return StopAfter(seconds=min(number, 1e6)) if found[2] else StopAfter(launches=int(number))


@dataclass(frozen=True)
class ProgramRun:
    """A CUDA program that was run. program: what it launched. order: what it does in other orders of its warps, if it
    failed. clock: that it read.
    """

    program: "Program"
    outcome: "Outcome"
    order: "OrderFound | None" = None
    clock: "OwnClock | None" = None

    def lines(self) -> list[str]:
        """What stands beside the report."""
        found, name = self.outcome, self.program.name
        lines = [f"{found.recorded} of {found.launched} launches of {name} are recorded"]
        if found.status:
            lines.append(f"{name} ended with exit status {found.status}")
        if self.clock and self.clock.kind == "virtual" and self.clock.why_off:
            why = f"--host-time off, the default {self.clock.why_off}"
            lines.append(f"its clocks leave out the time of its own code: {why}")
        if self.order and self.order.tried:
            lines.append(self.order.words)
        return lines

    def print(self, as_json: bool) -> None:
        """Print them, to standard error where standard output is for one document alone."""
        print(*map(escaped, self.lines()), "", sep="\n", file=sys.stderr if as_json else sys.stdout)

    def to_dict(self) -> dict[str, Any]:
        """The program in a JSON document."""
        order = {"order": self.order.to_dict()} if self.order and self.order.tried else {}
        found = self.outcome
        return {"status": found.status, "launched": found.launched, "recorded": found.recorded, **order}

    def end(self) -> None:
        """End as the program did."""
        if self.outcome.status:
            raise typer.Exit(self.outcome.status)


END_OF_FILES = "--"


def is_cuda_program(source: object, arguments: list[str] | None) -> bool:
    """Whether that is a CUDA program: files of which one has a main."""
    from simtmm.programs.building.main_function import is_program

    return isinstance(source, str) and is_program(files_and_words(source, arguments)[0])


def files_and_words(source: str, arguments: list[str] | None) -> tuple[list[str], list[str]]:
    """The files of a program, and its own words.

    source: its first file. arguments: the others, then the words; END_OF_FILES between them, where the first word is a
    source file itself.
    """
    from simtmm.programs.building.main_function import SOURCES

    given = arguments or []
    others = list(itertools.takewhile(lambda word: Path(word).suffix in SOURCES and is_file(word), given))
    words = given[len(others) :]
    return [source, *others], words[1:] if words[:1] == [END_OF_FILES] else words


def program_run(  # noqa: PLR0913, PLR0917 - each is an option of the verb
    source: str,
    arguments: list[str] | None,
    machine: "Machine | None",
    choice: "Choice",
    foreign: Mapping[str, object],
    build: list[str] | None,
    output: Path | None = None,
    as_json: bool = False,
    clock: "OwnClock | None" = None,
    stop: "StopAfter | None" = None,
    again: bool = False,
) -> ProgramRun:
    """Run a program and record what it launches.

    arguments: files of the same program, and the program's words. foreign: options that were given and that are not
    for programs. output: where the trace goes. clock: that it reads. stop: when it is ended. again: whether one that
    fails is run in other orders of its warps.

    Raises typer.Exit, with the program's status, where it failed or launched nothing and left no trace;
    RecordingError where there is none.
    """
    from simtmm.program import Program
    from simtmm.programs.building.flags import split_flags
    from simtmm.programs.program import cuda_program
    from simtmm.recorder.selection import Selection
    from simtmm.report.progress import watching
    from simtmm.requests.launch_count import launches_of

    for name, value in foreign.items():
        if value:
            raise KernelError(f"{name}: is not for a CUDA program such as {source}")
    paths, words = files_and_words(source, arguments)
    selection = Selection(choice.kernel, choice.launch, choice.skip, choice.count)
    program = cuda_program(
        paths, words, split_flags(build or []), selection, choice.sample_blocks, choice.most_events, clock, stop
    )
    launches = None if choice.takes_some or len(paths) > 1 else launches_of(paths[0])
    with watching(in_lines=True, launches=launches):
        outcome = program.run_printing(machine, output, sys.stderr if as_json else None)
        order = program.in_other_orders(machine, outcome) if again else None
    if outcome.trace is None:
        if order is not None and order.tried:
            print(escaped(f"simtmm: {order.words}"), file=sys.stderr)
        if outcome.status or (outcome.is_idle and output is None):
            print(escaped(f"simtmm: {outcome.why_none}"), file=sys.stderr)
            raise typer.Exit(outcome.status)
        raise RecordingError(outcome.why_none)
    found = Program(program.name, {}, outcome.trace, sources=program.sources(outcome.trace))
    return ProgramRun(found, outcome, order, program.clock)
