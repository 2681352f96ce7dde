"""The available kernels and machines, by name."""

from simtmm.catalogue import describe, known_kernels
from simtmm.machine import readable_machines


def kernels() -> dict[str, str]:
    """List the kernels that are known by name, each with a line about what it does. No kernel is run.

    These are the kernels of the folders in $SIMTMM_KERNEL_PATH and $SIMTMM_PATH, the shipped ones, and those of
    ./kernels.
    The line is empty if only running host.py would produce it.
    """
    return {name: describe(name, known.path).summary for name, known in known_kernels().items()}


def machines() -> dict[str, str]:
    """List the machines that are known by name, each with a description.

    These are the machines of the folders in $SIMTMM_MACHINE_PATH and $SIMTMM_PATH, the shipped ones, and those of
    ./machines.
    An invalid file is skipped, with a warning.
    """
    return {name: machine.description for name, machine in readable_machines().items()}
