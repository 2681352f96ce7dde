"""CUDA C++ programs on the command line: run as they are, with arguments behind --, and recorded."""

import itertools
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import KernelError, RecordingError, escaped
from simtmm.files import is_file

if TYPE_CHECKING:
    from simtmm.cli.script import Choice
    from simtmm.machine import Machine
    from simtmm.program import Program
    from simtmm.programs.program import Outcome

BuildOption = Annotated[
    list[str] | None,
    typer.Option("--build", metavar="FLAGS", help="options of nvcc for a CUDA program, as --build '-O3 -I include'"),
]


@dataclass(frozen=True)
class ProgramRun:
    """A CUDA program that was run. program: what it launched."""

    program: "Program"
    outcome: "Outcome"

    def lines(self) -> list[str]:
        """What stands beside the report."""
        found, name = self.outcome, self.program.name
        lines = [f"{found.recorded} of {found.launched} launches of {name} are recorded"]
        if found.status:
            lines.append(f"{name} ended with exit status {found.status}")
        return lines

    def print(self, as_json: bool) -> None:
        """Print them, to standard error where standard output is for one document alone."""
        print(*map(escaped, self.lines()), "", sep="\n", file=sys.stderr if as_json else sys.stdout)

    def to_dict(self) -> dict[str, Any]:
        """The program in a JSON document."""
        return {"status": self.outcome.status, "launched": self.outcome.launched, "recorded": self.outcome.recorded}

    def end(self) -> None:
        """End as the program did."""
        if self.outcome.status:
            raise typer.Exit(self.outcome.status)


def is_cuda_program(source: object, arguments: list[str] | None) -> bool:
    """Whether that is a CUDA program: files of which one has a main."""
    from simtmm.programs.main_function import is_program

    return isinstance(source, str) and is_program(_files(source, arguments))


def _files(source: str, arguments: list[str] | None) -> list[str]:
    """The files of a program, which lead its arguments."""
    from simtmm.programs.main_function import SOURCES

    return [source, *itertools.takewhile(lambda word: Path(word).suffix in SOURCES and is_file(word), arguments or [])]


def program_run(
    source: str,
    arguments: list[str] | None,
    machine: "Machine | None",
    choice: "Choice",
    foreign: Mapping[str, object],
    build: list[str] | None,
    output: Path | None = None,
    as_json: bool = False,
) -> ProgramRun:
    """Run a program and record what it launches.

    arguments: files of the same program, and the program's words. foreign: options that were given and that are not
    for programs. output: where the trace goes.

    Raises typer.Exit, with the program's status, where it failed and left no trace; RecordingError where there is none.
    """
    from simtmm.program import Program
    from simtmm.programs.flags import split_flags
    from simtmm.programs.program import cuda_program
    from simtmm.recorder.selection import Selection
    from simtmm.report.progress import watching

    for name, value in foreign.items():
        if value:
            raise KernelError(f"{name}: is not for a CUDA program, and {source} is one")
    paths = _files(source, arguments)
    words = (arguments or [])[len(paths) - 1 :]
    selection = Selection(choice.kernel, choice.launch, choice.skip, choice.count)
    program = cuda_program(paths, words, split_flags(build or []), selection, choice.sample_blocks, choice.most_events)
    with watching(in_lines=True):
        outcome = program.run_printing(machine, output, sys.stderr if as_json else None)
    if outcome.trace is None:
        if outcome.status:
            print(escaped(f"simtmm: {outcome.why_none}"), file=sys.stderr)
            raise typer.Exit(outcome.status)
        raise RecordingError(outcome.why_none)
    return ProgramRun(Program(program.name, {}, outcome.trace, sources=program.sources(outcome.trace)), outcome)
