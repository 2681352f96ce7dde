"""What there is: kernels and machines by name."""

from simtmm.catalogue import describe, known_kernels
from simtmm.machine import readable_machines


def kernels() -> dict[str, str]:
    """The kernels that are known by name, each with a line that says what it does; none is run.

    They are those of the folders in $SIMTMM_KERNEL_PATH and $SIMTMM_PATH, the shipped ones, and those of ./kernels.
    The line is empty where only running host.py would tell it.
    """
    return {name: describe(name, known.path).summary for name, known in known_kernels().items()}


def machines() -> dict[str, str]:
    """The machines that are known by name, each with a line that says what it is.

    They are those of the folders in $SIMTMM_MACHINE_PATH and $SIMTMM_PATH, the shipped ones, and those of ./machines.
    A file that can't be understood is left out, with a warning.
    """
    return {name: machine.description for name, machine in readable_machines().items()}
