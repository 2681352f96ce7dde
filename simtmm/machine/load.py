"""Machines by name or file."""

import logging
from pathlib import Path

from simtmm.errors import MachineError, shown
from simtmm.files import is_file, is_there
from simtmm.machine.family import read_tables, with_family
from simtmm.machine.known import machine_files, named_machine
from simtmm.machine.spec import Machine
from simtmm.renamed import MACHINE_KEYS, old_names, tell, with_new_keys, with_new_names

logger = logging.getLogger("simtmm")


def readable_machines() -> dict[str, Machine]:
    """The machines that are known by name, but for files that can't be understood, each of which a warning names."""
    found = {}
    for name, path in machine_files().items():
        try:
            if is_there(path) and not is_file(path):  # a pipe, which nobody may ever write to
                raise MachineError(f"{path}: is not a file")
            found[name] = load_machine(path)
        except MachineError as error:
            logger.warning("warning: %s: skipped", error)
    return found


def load_machine(machine: str | Path) -> Machine:
    """Load a machine by name, or from a TOML file, with the values of its family.

    machine: a machine's name, as `simtmm machines` lists them (simtmm.machine.known), in any case of letters; or a
        path, which has the suffix .toml or a path separator.

    Raises MachineError.
    """
    if not isinstance(machine, (str, Path)):
        raise MachineError(f"machine = {shown(machine)}: must be a machine's name, or a path to its file (.toml)")
    path = Path(machine)
    if path.suffix.lower() != ".toml" and path.name == str(machine):
        path = named_machine(str(machine))
    tables = read_tables(path)
    for old in old_names(tables, MACHINE_KEYS):
        tell(str(path), old, MACHINE_KEYS[old])
    try:
        tables = dict(with_new_keys(tables, MACHINE_KEYS))
        if isinstance(tables.get("sources"), dict):
            tables["sources"] = with_new_names(tables["sources"], MACHINE_KEYS)
    except ValueError as error:
        raise MachineError(f"{path}: {error}") from None
    return Machine.from_dict(with_family(tables, str(path), path), origin=str(path))


def opened_machine(machine: Machine | str | Path) -> Machine:
    """The machine itself, or the one of that name or file. Raises MachineError."""
    if isinstance(machine, Machine):
        return machine
    if isinstance(machine, (str, Path)):
        return load_machine(machine)
    raise MachineError(
        f"machine = {shown(machine)}: must be a Machine, a machine's name, or a path to its file (.toml)"
    )
