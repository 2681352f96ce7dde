"""What Save gives: the study file, the command lines and the Python that do what the page shows."""

import pprint
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from simtmm.explorer.controls import BY_NAME, changed, changes_of
from simtmm.explorer.curve import values_of_control, values_of_parameter, with_control
from simtmm.explorer.programs import Programs
from simtmm.explorer.state import PARAMETER, Configuration, State
from simtmm.machine import Machine, as_toml
from simtmm.program import kind_of


def saved(programs: Programs, state: State) -> dict[str, str]:
    """Texts by name: study, command, python. Raises the errors of names and values (simtmm.errors).

    The study is of the first configuration, over what was dragged; a workload has none, as studies have no workloads.
    """
    tables = study(programs, state)
    each = [state.first, *([state.other] if state.other is not None else [])]
    commands = [command(programs, configuration) for configuration in each]
    if tables is not None:
        commands.append("simtmm sweep study.toml")
    return {
        "study": "" if tables is None else toml(tables),
        "command": "\n".join(commands),
        "python": python(programs, each, tables),
    }


def study(programs: Programs, state: State) -> dict[str, Any] | None:
    """The tables of a study file: the configuration, and the dragged value as an axis."""
    configuration = state.first
    if kind_of(programs.source(configuration.program)) == "workload":
        return None
    base = programs.machine(configuration.machine)
    axes = _axes(programs, configuration, state.drag, base)
    fixed = _fixed(configuration, state.drag, base)
    own = {name: value for name, value in fixed.items() if name not in axes}
    parameters = typed(programs, configuration)
    if state.drag.startswith(PARAMETER):
        parameters.pop(state.drag.removeprefix(PARAMETER), None)
    # Keys that one control moves together, or that follow from one another, go together in the study as well
    is_linked = len(axes) > 1
    tables: dict[str, Any] = {
        "program": programs.name_for_user(configuration.program),
        "machines": [programs.machine_name_for_user(configuration.machine)],
        "parameters": parameters,
        "set": {name: "none" if value is None else value for name, value in own.items()},
        "axes": {} if is_linked else axes,
        "linked": [axes] if is_linked else [],
        "compute": ["simulated", "tmm", "tmm-warps"],
    }
    return {name: value for name, value in tables.items() if value}


def _axes(programs: Programs, configuration: Configuration, drag: str, base: Machine) -> dict[str, list[Any]]:
    """The values of the parameter that is dragged, or of the keys that the dragged control changes."""
    if drag.startswith(PARAMETER):
        name = drag.removeprefix(PARAMETER)
        parameter = programs.parameters(configuration.program).get(name)
        if parameter is None:
            return {}
        present = parameter.parse(configuration.parameters.get(name, parameter.default))
        return {name: list(values_of_parameter(parameter, present))}
    if drag not in BY_NAME:
        return {}
    values = values_of_control(BY_NAME[drag], base, changed(base, configuration))
    changes = [changes_of(base, with_control(configuration, drag, value).controls) for value in values]
    moved = [key for key in changes[0] if any(change[key] != changes[0][key] for change in changes)]
    return {key: [change[key] for change in changes] for key in moved}


def _fixed(configuration: Configuration, drag: str, base: Machine) -> dict[str, Any]:
    """The keys that are changed wherever the dragged control stands: a bandwidth brings finer ticks, say."""
    if drag not in BY_NAME:
        return changes_of(base, configuration.controls)
    values = values_of_control(BY_NAME[drag], base, changed(base, configuration))
    return changes_of(base, with_control(configuration, drag, values[0]).controls)


def command(programs: Programs, configuration: Configuration) -> str:
    """The command line of a run of a configuration."""
    words = ["simtmm", "run", programs.name_for_user(configuration.program)]
    words += ["--machine", programs.machine_name_for_user(configuration.machine)]
    changes = changes_of(programs.machine(configuration.machine), configuration.controls)
    for key, value in changes.items():
        words += ["--set", f"{key}={_word(value)}"]
    for name, value in typed(programs, configuration).items():
        words += ["--param", f"{name}={value}"]
    return shlex.join(words)


def python(programs: Programs, configurations: Sequence[Configuration], tables: Mapping[str, Any] | None) -> str:
    """A script that simulates the configurations, and the study."""
    lines = ["import simtmm", ""]
    for place, configuration in enumerate(configurations):
        name = "ab"[place] if len(configurations) > 1 else "run"
        machine = f"simtmm.load_machine({programs.machine_name_for_user(configuration.machine)!r})"
        changes = changes_of(programs.machine(configuration.machine), configuration.controls)
        if changes:
            machine += f".replace({changes!r})"
        parameters = typed(programs, configuration)
        given = f", {parameters!r}" if parameters else ""
        lines += [
            f"machine = {machine}",
            f"{name} = simtmm.run({programs.name_for_user(configuration.program)!r}, machine{given})",
            f"print({name}.result.cycles, {name}.verdict)",
            "",
        ]
    if tables is not None:
        lines += [
            f"study = simtmm.sweep({pprint.pformat(dict(tables), sort_dicts=False, width=100)}, workers=1)",
            "print(study.to_table())",
            "",
        ]
    return "\n".join(lines)


def typed(programs: Programs, configuration: Configuration) -> dict[str, Any]:
    """The parameters that were given, as values. Raises KernelError for those that the kernel does not have."""
    from simtmm.parameter import resolved

    known = programs.parameters(configuration.program)
    values = resolved(configuration.program, known, configuration.parameters)
    return {name: values[name] for name in configuration.parameters}


def toml(tables: Mapping[str, Any]) -> str:
    """The text of a study file. Its values are texts, numbers and lists of these, which JSON writes as TOML does."""
    lines = [f"{name} = {_toml_value(value)}" for name, value in tables.items() if not isinstance(value, Mapping)]
    for name, table in tables.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{name}]"]
            lines += [f"{as_toml(key)} = {as_toml(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    """A value, or a list of tables in a line."""
    if isinstance(value, list):
        return f"[{', '.join(_toml_value(each) for each in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{as_toml(key)} = {_toml_value(each)}' for key, each in value.items())} }}"
    return as_toml(value)


def _word(value: Any) -> str:
    """A value as --set takes it."""
    return "none" if value is None else str(value) if isinstance(value, str) else f"{value:.17g}"
