"""What is run: a kernel, a trace or a workload; or a user's own program, which is run at once and recorded."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from simtmm.errors import KernelError, one_line, shown
from simtmm.requests.completion import complete_kernel
from simtmm.requests.cuda_program import (
    BuildOption,
    ClockOption,
    HostTimeOption,
    ProgramRun,
    StopOption,
    WarpOption,
    is_cuda_program,
    own_clock,
    program_run,
    stop_after,
    warp_flags,
)
from simtmm.requests.kernel_file import LaunchOptions, named
from simtmm.requests.script import (
    Choice,
    CountOption,
    ElementwiseOption,
    LaunchOption,
    SampleOption,
    ScriptArguments,
    ScriptRun,
    SkipOption,
    is_script,
    script_run,
)

if TYPE_CHECKING:
    from simtmm.kernel import Kernel
    from simtmm.machine import Machine
    from simtmm.program import Program
    from simtmm.requests.machine import MachineOptions

OwnProgram: TypeAlias = ScriptRun | ProgramRun

SourceArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE",
        help="a kernel, a CUDA file (.cu), a Python script (.py), launches (.toml), a trace (.parquet) or a workload "
        "(.json); default: the shipped trace",
        autocompletion=complete_kernel,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ProgramOptions(LaunchOptions):
    """A program with all that can be given about it."""

    source: SourceArgument = None
    arguments: ScriptArguments = None
    launch: LaunchOption = None
    skip: SkipOption = 0
    count: CountOption = None
    sample_blocks: SampleOption = None
    record_elementwise: ElementwiseOption = False
    build: BuildOption = None
    clock: ClockOption = "virtual"
    host_time: HostTimeOption = None
    stop_after: StopOption = None
    warp: WarpOption = None

    @property
    def is_own(self) -> bool:
        """Whether it is a Python script or a CUDA program; with --grid, a kernel of a CUDA file is launched instead."""
        return is_script(self.source) or (not self.grid and is_cuda_program(self.source, self.arguments))

    def choice(self, most_events: int | None = None) -> Choice:
        """What of a user's own program is recorded.

        most_events: that a recording may have; no limit of its own if left out.
        """
        return Choice(
            self.kernel, self.launch, self.skip, self.count, self.sample_blocks, self.record_elementwise, most_events
        )

    def not_own(self, samples: bool = False) -> "str | Kernel | None":
        """The kernel, trace or workload; for what is no user's own program.

        samples: whether --sample-blocks is for kernels as well.

        Raises KernelError for options and arguments of programs.
        """
        what = named(self.source)
        kinds = "a Python script or a CUDA program"
        if self.arguments:
            why = f"{shown(self.arguments[0])}: arguments are for {kinds}, but {what} is neither"
            if str(self.source).endswith((".cu", ".ptx")):  # a file of kernels, without main
                why += f": give those of a kernel by --arg, as --arg {self.arguments[0]}"
            raise KernelError(one_line(why))
        given = {"--launch": self.launch, "--skip": self.skip, "--count": self.count, "--build": self.build,
                 "--sample-blocks": None if samples else self.sample_blocks,
                 "--record-elementwise": self.record_elementwise, "--host-time": self.host_time,
                 "--clock": self.clock != "virtual", "--stop-after": self.stop_after, "--warp": self.warp}  # fmt: skip
        for option, value in given.items():
            if value:
                raise KernelError(f"{option}: is for {kinds}, but {what} is neither")
        return self.launched(self.source)

    def run_own(
        self,
        machine: "Machine | None",
        *,
        as_json: bool = False,
        output: Path | None = None,
        most_events: int | None = None,
        foreign: dict[str, object] | None = None,
        again: bool = False,
    ) -> OwnProgram:
        """Run a user's own program and record what it launches.

        output: where the trace goes; else it is in memory. foreign: options that were given besides and that are not
        for programs, by name. again: whether one that fails is run in other orders of its warps, which shows a race.
        as_json: whether the result is printed as JSON.
        most_events: that a recording may have; no limit of its own if left out.

        Raises what `script_run` and `program_run` raise.
        """
        source, choice = str(self.source), self.choice(most_events)
        refused = {**self.of_kernels(), **(foreign or {})}
        if is_script(source):
            refused |= {"--build": self.build, "--warp": self.warp}
            clock = own_clock(self.clock, self.host_time, usual=False)
            return script_run(
                source, self.arguments, machine, choice, refused, output, as_json, clock, stop_after(self.stop_after),
                again,
            )  # fmt: skip
        refused["--record-elementwise"] = self.record_elementwise
        clock = own_clock(self.clock, self.host_time, usual=True)
        build = [*(self.build or []), *warp_flags(self.warp)]
        return program_run(
            source, self.arguments, machine, choice, refused, build, output, as_json, clock,
            stop_after(self.stop_after), again,
        )  # fmt: skip


@dataclass(frozen=True)
class Selected:
    """A program and the machine that it is for. A user's own program has not been run yet."""

    options: ProgramOptions
    machine: "Machine"
    kernel: "str | Kernel | None"
    is_own: bool

    def opened(self, as_json: bool, most_events: int | None = None, again: bool = False) -> "Opened":
        """What is simulated; a user's own program is run for it. most_events: that may be recorded of one.

        again: whether one that fails is run in other orders of its warps.
        """
        if not self.is_own:
            return Opened(self.kernel)
        own = self.options.run_own(self.machine, as_json=as_json, most_events=most_events, again=again)
        own.print(as_json)
        return Opened(own.program, {"script": own.to_dict()}, own)


@dataclass(frozen=True)
class Opened:
    """What is simulated. document: what a command's document holds of a user's own program."""

    program: "str | Kernel | Program | None"
    document: dict[str, Any] = field(default_factory=dict)
    own: OwnProgram | None = None

    def end(self) -> None:
        """End as the user's own program did, if there was one. Raises typer.Exit where it failed."""
        if self.own is not None:
            self.own.end()


def select(options: ProgramOptions, machine: "MachineOptions") -> Selected:
    """The program and the machine, checked as far as they can be before anything is run.

    Raises KernelError and MachineError.
    """
    if options.is_own:
        return Selected(options, machine.chosen_for_program(), None, True)
    kernel = options.not_own()
    return Selected(options, machine.chosen_for(kernel, options.form), kernel, False)
