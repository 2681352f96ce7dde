"""Machine: what a program runs on."""

from simtmm.machine.durations import Durations
from simtmm.machine.known import machine_files
from simtmm.machine.load import load_machine, readable_machines
from simtmm.machine.new import new_machine
from simtmm.machine.spec import Machine, units
from simtmm.machine.toml_text import as_toml, machine_toml

__all__ = [
    "Durations",
    "Machine",
    "as_toml",
    "load_machine",
    "machine_files",
    "machine_toml",
    "new_machine",
    "readable_machines",
    "units",
]
