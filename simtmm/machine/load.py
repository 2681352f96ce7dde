"""Machines by name or file."""

import tomllib
from pathlib import Path

from simtmm.errors import MachineError, nearest, shown, shown_error
from simtmm.files import data_folders
from simtmm.machine.spec import Machine
from simtmm.renamed import MACHINE_KEYS, old_names, tell


def load_machine(machine: str | Path) -> Machine:
    """The machine of that name, or from the TOML file at that path. Raises MachineError.

    machine: a word without a suffix .toml and without a path separator is a name: machines/NAME.toml in the folders
        of `simtmm.files.data_folders`; all else is a path.
    """
    if not isinstance(machine, (str, Path)):
        raise MachineError(f"machine = {shown(machine)}: must be a machine's name, or a path to its file (.toml)")
    path = Path(machine)
    if path.suffix != ".toml" and path.name == str(machine):
        known = machine_files()
        if str(machine) not in known:
            raise MachineError(f"machine {str(machine)!r}: unknown{nearest(str(machine), known)}")
        path = known[str(machine)]
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MachineError(f"{path}: can't be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise MachineError(f"{path}: is not TOML ({shown_error(error)})") from None
    for old in old_names(tables, MACHINE_KEYS):
        tell(str(path), old, MACHINE_KEYS[old])
    return Machine.from_dict(tables, origin=str(path))


def opened_machine(machine: Machine | str | Path) -> Machine:
    """The machine itself, or the one of that name or file. Raises MachineError."""
    if isinstance(machine, Machine):
        return machine
    if isinstance(machine, (str, Path)):
        return load_machine(machine)
    raise MachineError(
        f"machine = {shown(machine)}: must be a Machine, a machine's name, or a path to its file (.toml)"
    )


def machine_files() -> dict[str, Path]:
    """The machines that are known by name, and their files."""
    found: dict[str, Path] = {}
    for folder in data_folders("machines"):
        for path in sorted(folder.glob("*.toml")):
            found.setdefault(path.stem, path)
    return dict(sorted(found.items()))
