"""Which machine a command is for."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import MachineError, nearest, shown
from simtmm.files import is_folder
from simtmm.requests.completion import complete_changes, complete_machine
from simtmm.requests.values import Words, changes_of

if TYPE_CHECKING:
    from simtmm.machine import Machine

DEFAULT_MACHINE, DEFAULT_GPU = "gtx280", "h100-sxm"  # for what the papers measured, and for compiled kernels


def machine_option(what: str, metavar: str = "NAME|FILE", *, flag: str = "--machine") -> Any:
    """An option that names a machine. what: it is for.

    metavar: what its help calls the value.
    flag: how it is spelled.
    """
    short = ("-m",) if flag == "--machine" else ()
    return typer.Option(flag, *short, metavar=metavar, help=what, autocompletion=complete_machine)


DefaultMachineOption = Annotated[
    str | None,
    machine_option(
        f"a machine (see `machines`); default: {DEFAULT_MACHINE}, or {DEFAULT_GPU} for a kernel recorded as compiled"
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="change a machine's key, e.g. memory.latency=800, =x0.5 or memory.l2=40MiB; repeatable",
        autocompletion=complete_changes,
    ),
]


class Start(StrEnum):
    """How the L2 is when a launch begins."""

    WARM = "warm"
    COLD = "cold"
    KEPT = "kept"


StartOption = Annotated[
    Start | None,
    typer.Option(
        "--start",
        metavar="warm|cold|kept",
        help="the L2 at a launch: as an earlier run of it leaves it, empty, or as the launch before leaves it; "
        "default: the machine's (warm for today's GPUs), kept for programs and scripts",
    ),
]


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """A machine and its changes."""

    machine: DefaultMachineOption = None
    set: SetOption = None
    start: StartOption = None

    def name_for(self, source: object, form: str | None) -> "str | Path | Machine":
        """The machine's name or file: the one given, or what suits the program.

        source: the program that runs on it.
        form: how a kernel is recorded, where that was given.
        """
        return self.machine or default_machine(source, form)

    def chosen_for(self, source: object, form: str | None = None) -> "Machine":
        """The machine given, or what suits the program, with its changes.

        source: the program that runs on it.
        form: how a kernel is recorded, where that was given.
        """
        return chosen_machine(self.name_for(source, form), self.set, self.start)

    def chosen_for_program(self) -> "Machine":
        """The machine given, or a GPU of today, with its changes, for a program, whose launches follow one another."""
        machine = chosen_machine(self.machine or DEFAULT_GPU, self.set, self.start)
        changed = "memory.l2.start" in (machine.changes or {})
        if changed or self.start is not None or machine.memory.l2 is None or machine.memory.l2.start != "warm":
            return machine
        kept = machine.replace({"memory.l2.start": Start.KEPT.value})
        return kept.model_copy(update={"name": machine.name, "changes": machine.changes, "sources": machine.sources})


def chosen_machine(name: "str | Path | Machine", changes: Words = None, start: Start | None = None) -> "Machine":
    """The machine of that name or file, with KEY=VALUE words applied, and with an L2 that is warm or cold at first.

    name: a machine's name or file, or itself.
    changes: KEY=VALUE words, or values by dotted key.

    Raises MachineError.
    """
    from simtmm.machine.load import opened_machine

    machine = opened_machine(name)
    values = changes_of(changes)
    if start is not None and start not in list(Start):
        raise MachineError(f"start = {shown(start)}: must be {', '.join(Start)}{nearest(str(start), list(Start))}")
    changed = machine.replace(values) if values else machine
    if start is None or changed.memory.l2 is None or changed.memory.l2.start == start:
        return changed
    return changed.replace({"memory.l2.start": str(start)})


def default_machine(source: object, form: str | None) -> str:
    """The machine where none is named: a GPU of today for what is recorded as compiled.

    form: how the kernel is recorded, where that was given.
    source: the program that runs on it.
    """
    from simtmm.recorder.sources import is_plain_folder

    named = source if isinstance(source, str) else None
    compiled = form in ("compiled", "ptx") or _is_plain(source) or str(source).endswith(".toml")
    if named is not None and form is None and is_folder(Path(named)):
        compiled = is_plain_folder(Path(named))
    return DEFAULT_GPU if compiled else DEFAULT_MACHINE


def _is_plain(source: object) -> bool:
    """Whether that is a launch of a file of device code, which is recorded as compiled."""
    from simtmm.kernel import Kernel

    return isinstance(source, Kernel) and bool(source.sources)
