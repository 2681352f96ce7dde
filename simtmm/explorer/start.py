"""With what a page starts: the programs and machines that it may name, and its first state."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from simtmm.catalogue import current_name, kernel_folders
from simtmm.errors import MachineError
from simtmm.explorer.programs import Opened, Programs
from simtmm.explorer.state import MACHINE, PARAMETER, PROGRAM, State
from simtmm.explorer.stories import find_story, stories
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.machine.known import known_machines
from simtmm.machine.load import opened_machine
from simtmm.program import Source, kind_of, open_program
from simtmm.provenance import VERSION
from simtmm.recorder import form_of
from simtmm.recorder.sources import opened_kernel

DEFAULT_PROGRAM, DEFAULT_MACHINE, DEFAULT_GPU = "list-ranking-wyllie", "gtx480", "h100-sxm"


@dataclass(frozen=True)
class Start:
    """program, machine: where a state names none. state: the first one's text."""

    programs: Programs
    program: str
    machine: str
    state: str

    def to_dict(self) -> dict[str, Any]:
        """What a page receives at its start."""
        return {
            "version": VERSION,
            "state": self.state,
            "program": self.program,
            "machine": self.machine,
            "programs": self.programs.names(),
            "machines": self.programs.machine_names(),
            "stories": [asdict(story) for story in stories().values()],
        }


def start(
    source: Source | None = None,
    machine: Machine | str | Path | None = None,
    parameters: Mapping[str, object] | None = None,
    story: str | None = None,
    state: str | None = None,
) -> Start:
    """Open what is named. Raises the errors of opening it (simtmm.errors), before anything is served.

    story: begins there. state: the text of an address, or the address; begins there.
    parameters: values of some of the kernel's parameters, as texts or numbers.
    """
    opened: dict[str, Opened] = {}
    machines: dict[str, tuple[Machine, str]] = {}
    program = DEFAULT_PROGRAM if source is None else _program(source, opened)
    named = _default_machine(program, opened) if machine is None else _machine(machine, machines)
    programs = Programs(opened, machines)
    if parameters:
        from simtmm.parameter import resolved

        resolved(program, programs.parameters(program), parameters)
    given = {f"{PARAMETER}{name}": str(value) for name, value in (parameters or {}).items()}
    text = urlencode({PROGRAM: program, MACHINE: named, **given})
    if story is not None:
        text = find_story(story).state
    elif state is not None:
        text = state.partition("?")[2] if "?" in state else state
    first = State.of(text, program, named)
    for configuration in (first.first, first.other):
        if configuration is not None:
            programs.machine(configuration.machine)
            programs.source(configuration.program)
    return Start(programs, program, named, text)


def _program(source: Source, opened: dict[str, Opened]) -> str:
    """The name of a program, under which it is opened if it is not known by one."""
    if isinstance(source, str) and current_name(source) in kernel_folders():
        return current_name(source)
    kind = kind_of(source)
    loaded: Source = source
    if isinstance(source, str | Path):
        loaded = opened_kernel(source) if kind == "kernel" else source
    if kind != "kernel":
        program = open_program(loaded)
        loaded = program.trace if program.trace is not None else program.workload  # type: ignore[assignment]
        name = Path(str(source)).stem if isinstance(source, str | Path) else program.name
    else:
        assert isinstance(loaded, Kernel)
        name = loaded.name
    text = str(source) if isinstance(source, str | Path) else name
    name = name if name not in kernel_folders() else f"{name} (opened)"
    opened[name] = Opened(loaded, text)
    return name


def _default_machine(program: str, opened: Mapping[str, Opened]) -> str:
    """A GPU of today for a kernel that is recorded as compiled."""
    source = opened[program].source if program in opened else None
    return DEFAULT_GPU if isinstance(source, Kernel) and form_of(source) != "written" else DEFAULT_MACHINE


def _machine(machine: Machine | str | Path, machines: dict[str, tuple[Machine, str]]) -> str:
    """The name of a machine, under which it is opened if it is not known by one."""
    on = opened_machine(machine)
    known = known_machines()
    if isinstance(machine, str):
        name = next((each for each in known if each.casefold() == machine.casefold()), None)
        if name is not None and known[name].origin != "here":
            return name
    text = str(machine) if isinstance(machine, str | Path) else on.name
    name = Path(text).stem if isinstance(machine, str | Path) else on.name
    if not name:
        raise MachineError("machine: has no name")
    machines[name] = on, text
    return name
