"""The programs of a comparison, with parameters, on machines, with the machines' scheduling rules and others."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.catalogue import named_kernel, refusal
from simtmm.errors import KernelError, MachineError, StudyError, nearest, shown
from simtmm.files import is_there
from simtmm.kernel import Kernel, kernel_in
from simtmm.machine import Machine, load_machine, machine_files
from simtmm.machine.changed import suffix
from simtmm.measurement.timings import Timing
from simtmm.program import Kind, architecture_for, kind_of, open_program
from simtmm.recorder import form_of
from simtmm.recorder.sources import opened_kernel
from simtmm.study.design.content import files_digest, kernel_digest, launches_digest
from simtmm.study.design.rules import KEY, Rule, built_in, rules_in
from simtmm.study.evaluation.cases import MachineCase, Ran

TRACED: tuple[Kind, ...] = ("kernel", "trace")


@dataclass(frozen=True)
class Wanted:
    """A program, recorded once for each architecture, on the machines where it is wanted. kernel: None for a trace."""

    source: str
    kernel: Kernel | None
    given: Mapping[str, Any]
    machines: Mapping[str, Machine]


def wanted_programs(
    sources: Sequence[str],
    machines: Mapping[str, Machine],
    parameters: Mapping[str, Sequence[object]],
    measured: Sequence[Timing],
) -> Iterator[Wanted]:
    """The programs that a comparison runs; those that were measured where none is named.

    Raises KernelError for parameters that no kernel has, and MachineError where there is no machine.
    """
    if not sources:
        if parameters:
            raise KernelError(
                f"parameters ({', '.join(parameters)}) can only be given to a kernel, but no kernel is named"
            )
        yield from _as_measured(machines, measured)
        return
    if not machines:
        raise MachineError("at least one machine must be given")
    kernels = {source: opened_kernel(source) for source in sources if kind_of(source) == "kernel"}
    taken = {name for kernel in kernels.values() for name in kernel.parameters}
    for name in parameters:
        if name not in taken:
            raise KernelError(f"parameter {name!r}: none of these kernels has it{nearest(name, taken)}")
    for source in sources:
        own = [name for name in parameters if source in kernels and name in kernels[source].parameters]
        for values in itertools.product(*(parameters[name] for name in own)):
            given = dict(zip(own, values, strict=True))
            if source in kernels:
                given = {name: kernels[source].resolve(given)[name] for name in own}
            yield Wanted(source, kernels.get(source), given, machines)


def _as_measured(machines: Mapping[str, Machine], measured: Sequence[Timing]) -> Iterator[Wanted]:
    """What was measured, each program once."""
    for (kernel, _), times in itertools.groupby(
        sorted(measured, key=lambda time: (time.kernel, str(time.parameters))),
        key=lambda time: (time.kernel, str(time.parameters)),
    ):
        those = list(times)
        names = list(dict.fromkeys(time.machine for time in those))
        on = {name: _called(name) for name in names} if not machines else dict(machines)
        opened = _measured_kernel(those[0])
        resolved = opened.resolve(those[0].parameters)
        yield Wanted(kernel, opened, {name: resolved[name] for name in those[0].parameters}, on)


def _measured_kernel(time: Timing) -> Kernel:
    """The kernel that a measured time is of. Raises KernelError for one that data can't name."""
    folder = named_kernel(time.kernel)
    if folder is None:
        raise KernelError(f"{time.origin or 'measured time'}: kernel = {shown(time.kernel)}: {refusal(time.kernel)}")
    return kernel_in(folder)


def _called(name: str) -> Machine:
    """The machine whose file or which itself has that name, whatever its capitals. Raises MachineError."""
    files = machine_files()
    file = next((known for known in files if known.lower() == name.lower()), None)
    if file is None and not name.endswith(".toml"):
        file = next((known for known in files if load_machine(known).name.lower() == name.lower()), None)
    return load_machine(file or name)


@dataclass(frozen=True)
class Planned:
    """A program on a machine, and how it is run.

    machine_name: with what is changed, and the scheduling rule where it is not the machine's own. measured_on: the
    names under which the machine may have been measured, as it is without its changes.
    """

    wanted: Wanted
    machine_name: str
    machine: Machine
    ran: Ran
    rule: Rule | None
    measured_on: tuple[str, str]

    @property
    def name(self) -> str:
        """Of the program, before anything has come of it."""
        return self.wanted.kernel.name if self.wanted.kernel else Path(self.wanted.source).stem

    @property
    def case(self) -> MachineCase:
        """What is computed of it."""
        return MachineCase(self.ran, self.machine, self.rule)


def planned_cases(
    wanted: Sequence[Wanted], form: str | None, rules: Sequence[str | Path] = ()
) -> tuple[list[Planned], list[str]]:
    """The cases, and notes on what kernels are compiled for where that is not the machine's own.

    rules: names of built-in scheduling rules, and Python files with others: each beside the machine's own.

    Raises the errors of opening programs, and StudyError for rules.
    """
    beside = _rules(rules)
    planned: list[Planned] = []
    warnings: dict[str, None] = {}
    digests: dict[str, str] = {}
    files: dict[str, str] = {}
    for one in wanted:
        kernel = one.kernel
        source = one.source if kernel is None or kernel.sources else str(kernel.folder)
        if source not in digests:
            digests[source] = _digest(source, kernel, form)
            files[source] = files_digest(kernel.folder) if kernel and not kernel.sources else ""
        for name, machine in one.machines.items():
            if kernel is None:
                ran = Ran(source, digests[source], None)
            else:
                architecture, notes = architecture_for(kernel, machine, form)
                warnings |= dict.fromkeys(notes)
                own = form if form not in (None, form_of(kernel)) else None
                ran = Ran(source, digests[source], kernel.resolve(one.given), architecture, own, files[source])
            changed = suffix(machine.changes)  # measured times are of the machine as it is
            measured_on = (name.removesuffix(changed), machine.name.removesuffix(changed))
            for called, scheduled, rule in [(name, machine, None), *_scheduled(name, machine, beside)]:
                planned.append(Planned(one, called, scheduled, ran, rule, measured_on))
    return planned, list(warnings)


def _rules(given: Sequence[str | Path]) -> dict[str, Rule | None]:
    """By name, those of files; None for one that is built in. Raises StudyError."""
    known = built_in()
    named = [str(one) for one in given if str(one) in known]
    files = [one for one in given if str(one) not in known]
    for one in files:
        if not is_there(one):
            raise StudyError(f"--rule {one}: neither a file nor a built-in rule{nearest(str(one), known)}")
    return {**dict.fromkeys(named), **rules_in(files)}


def _scheduled(
    name: str, machine: Machine, rules: Mapping[str, Rule | None]
) -> Iterator[tuple[str, Machine, Rule | None]]:
    """The machine by each rule that is not its own, with the name that says so."""
    for called, rule in rules.items():
        if called != machine.scheduling.scheduler:
            yield f"{name}, {called}", machine if rule else machine.replace({KEY: called}), rule


def _digest(source: str, kernel: Kernel | None, form: str | None) -> str:
    """Of the content of a program."""
    if kernel is None:
        trace = open_program(source, None, None, TRACED, None, form).trace
        assert trace is not None
        return trace.info.digest
    return launches_digest(Path(source), kernel) if kernel.sources else kernel_digest(kernel.folder)
