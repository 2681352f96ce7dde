"""Machine: what a program runs on."""

from simtmm.machine.load import load_machine, machine_files
from simtmm.machine.spec import Machine, units

__all__ = ["Machine", "load_machine", "machine_files", "units"]
