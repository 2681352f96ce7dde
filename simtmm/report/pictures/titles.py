"""Titles and names: what all of a picture has in common, and what tells its points apart."""

from collections.abc import Mapping, Sequence
from typing import Any

from simtmm.analysis.comparison.case import Case
from simtmm.machine import Machine
from simtmm.machine.changed import suffix
from simtmm.report.pictures.axes import is_number, tick

MOST_NAMED = 3  # programs and machines in a title
NOT_TOLD = ("seed",)  # parameters that a title shows only if they were requested


def titled(what: str, values: Mapping[str, Any], machine: str = "") -> str:
    """A title: what is drawn, the values that all of it has, and the machine with its changes.

    what: is drawn.
    values: that all of it has, by name.
    machine: with its changes.
    """
    parts = [what, *(f"{name} = {tick(value)}" for name, value in values.items())]
    return ", ".join(filter(None, parts)) + (f" on {machine}" if machine else "")


def of_cases(cases: Sequence[Case]) -> str:
    """The title of a picture of these cases: programs, sizes, machines with their changes."""
    shared, varying = _parameters(cases)
    given = {name for case in cases for name in case.given}
    values = {name: value for name, value in shared.items() if name in given or name not in NOT_TOLD}
    for name in varying:
        there = [case.parameters[name] for case in cases if name in case.parameters]
        if all(map(is_number, there)):
            values[name] = f"{tick(min(there))} to {tick(max(there))}"
    return titled(
        _some([case.program for case in cases], "programs"),
        values,
        _machines([case.machine for case in cases]),
    )


def short_names(machines: Sequence[Machine]) -> list[str]:
    """The names of machines, without their changes where all have the same: a title says them."""
    changes = {suffix(machine.changes) for machine in machines}
    same = changes.pop() if len(changes) == 1 else ""
    return [machine.name.removesuffix(same) for machine in machines]


def _machines(machines: Sequence[Machine]) -> str:
    machine_names = _some(short_names(machines), "machines")
    changes = {suffix(machine.changes) for machine in machines}
    if len(changes) > 1 or changes == {""}:
        return machine_names
    (same,) = changes
    return (
        f"{machine_names}{same}"
        if len({machine.name for machine in machines}) == 1
        else f"{machine_names}, all with {same[2:-1]}"
    )


def point_names(cases: Sequence[Case], told: bool = False) -> list[str]:
    """A short name for each case: what tells it from the others.

    told: whether programs and machines are shown elsewhere, so that they are left out where parameters vary.
    """
    _, varying = _parameters(cases)
    programs = len({case.program for case in cases}) > 1
    machines = len({case.machine_name for case in cases}) > 1
    names = []
    for case in cases:
        values = [f"{name}={tick(case.parameters[name])}" for name in varying if name in case.parameters]
        machine = case.machine_name.removesuffix(suffix(case.machine.changes))  # the title has the changes
        most = [case.program] * programs + values + [machine] * machines
        names.append(", ".join(values if told and values else most) or case.label)
    return names


def _parameters(cases: Sequence[Case]) -> tuple[dict[str, Any], list[str]]:
    """The parameters that all cases have alike, and the names of those that vary within a program."""
    names = list(dict.fromkeys(name for case in cases for name in case.parameters))
    shared = {
        name: cases[0].parameters[name]
        for name in names
        if all(name in case.parameters and case.parameters[name] == cases[0].parameters[name] for case in cases)
    }
    by_program: dict[tuple[str, str], set[Any]] = {}
    for case in cases:
        for name, value in case.parameters.items():
            by_program.setdefault((case.program, name), set()).add(str(value))
    varying = {name for (_, name), values in by_program.items() if len(values) > 1}
    return shared, [name for name in names if name in varying]


def _some(names: Sequence[str], many: str) -> str:
    """Names, each once; their number where they are many."""
    there = list(dict.fromkeys(names))
    return ", ".join(there) if len(there) <= MOST_NAMED else f"{len(there)} {many}"
