"""What `run` is asked for: a program, a machine, and how the one is simulated on the other."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.errors import RecordingError
from simtmm.requests.machine import MachineOptions
from simtmm.requests.program import Opened, ProgramOptions, Selected, select
from simtmm.requests.sampling import SampleOptions
from simtmm.requests.study_options import engine_option
from simtmm.requests.values import parameters_of
from simtmm.watch import followed_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simtmm.analysis.run.outcome import Run
    from simtmm.watch import Watch

BY = ("line", "array", "launch", "reason")  # what a row of what takes the time is for
LONG = 2_000_000  # operations: a page of more is without what happens over time, which takes 50 bytes for each
WhatIfOption = Annotated[bool, typer.Option("--what-if/--no-what-if", help="test what would help, for at most 3 s")]
VariantsOption = Annotated[
    bool,
    typer.Option(
        "--variants",
        help="also compile a CUDA file otherwise (restrict, unrolling, launch bounds, fast math, other blocks)",
    ),
]


@dataclass(frozen=True, kw_only=True)
class RunRequest(ProgramOptions, MachineOptions, SampleOptions):
    """A program on a machine. Its fields are options of `simtmm run` and arguments of `simtmm.run`."""

    engine: Annotated[str, engine_option("fast (compiled), reference (SimPy), or auto: the faster one")] = "auto"
    what_if: WhatIfOption = True
    variants: VariantsOption = False

    def checked(self) -> "CheckedRun":
        """The request with all checked that can be before anything is run. Raises the errors of simtmm.errors."""
        return CheckedRun(self, self.part, select(self, self))


@dataclass(frozen=True)
class CheckedRun:
    """A request whose words are checked. error: as a part of the time."""

    request: RunRequest
    error: float
    selected: Selected

    def check_kernel(self) -> None:
        """Raise KernelError where the program is a kernel that is not there, or that does not take these parameters."""
        from simtmm.kernel import Kernel, load_kernel
        from simtmm.program import kind_of

        program = self.selected.kernel
        if program is None or self.selected.is_own or kind_of(program) != "kernel":
            return
        kernel = program if isinstance(program, Kernel) else load_kernel(program)
        kernel.resolve(parameters_of(self.request.parameters))

    def opened(self, as_json: bool = False) -> "OpenedRun":
        """The program that is simulated; a user's own program is run for it."""
        from simtmm.analysis.run.expected import after_recording

        with followed_by(partial(after_recording, what_if=self.request.what_if)):
            return OpenedRun(self, self.selected.opened(as_json, self.request.most_events, True))

    def opened_in_python(self) -> "OpenedRun":
        """Likewise, where nobody is at the command line. Raises RecordingError where the program left no trace."""
        try:
            return self.opened()
        except typer.Exit as end:
            raise RecordingError(
                f"{self.request.source}: ended with exit status {end.exit_code}, and launched nothing to simulate"
            ) from None


@dataclass(frozen=True)
class OpenedRun:
    """A program that only has to be simulated."""

    checked: CheckedRun
    opened: Opened
    is_recorded: bool = False

    def recorded(self) -> "OpenedRun":
        """Likewise, with its kernel recorded, so that its trace can be looked at."""
        from simtmm.analysis.run import DEFAULT_TRACE
        from simtmm.program import Program, open_program, shipped_trace

        program, request = self.opened.program, self.checked.request
        if isinstance(program, Program):
            return self
        chosen = shipped_trace(DEFAULT_TRACE) if program is None else program
        machine = self.checked.selected.machine
        opened = open_program(chosen, parameters_of(request.parameters), machine=machine, form=request.form)
        return replace(self, opened=replace(self.opened, program=opened), is_recorded=True)

    def run(
        self,
        watch: "Watch | None",
        timeline: bool = False,
        timeline_limit: int | None = None,
        models: "Sequence[str] | None" = None,
    ) -> "Run":
        """Simulate it. The arguments are those of simtmm.analysis.run.

        timeline, timeline_limit, models: as there.
        """
        from simtmm.analysis.run import DEFAULT_MODELS, run

        request = self.checked.request
        return run(
            self.opened.program,
            self.checked.selected.machine,
            {} if self.is_recorded else parameters_of(request.parameters),
            request.engine,
            watch,
            timeline,
            DEFAULT_MODELS if models is None else models,
            form=None if self.is_recorded else request.form,
            what_if=request.what_if,
            timeline_limit=timeline_limit,
            sample=request.sample,
            error=self.checked.error,
            variants=request.variants,
        )
