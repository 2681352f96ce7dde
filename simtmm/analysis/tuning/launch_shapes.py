"""Launch shapes: the values to try of a kernel's parameters with known names, on a machine."""

from collections.abc import Mapping

from simtmm.kernel import Parameter
from simtmm.machine import Machine
from simtmm.study.design.axes import Value

MOST_THREADS = 1024  # of a block, where the machine sets no limit
SUB_BLOCKS = (4, 8, 16, 24, 32, 48, 64, 96)
SIDES = (4, 8, 16, 24, 32)  # of a square block of threads
BLOCKS_A_GROUP = (1, 2, 4, 8, 16)
TUNED = ("threads", "blocks", "sub_block", "side")  # parameters of kernels that mean what their names say


def launch_shapes(parameters: Mapping[str, Parameter], machine: Machine) -> dict[str, list[Value]]:
    """What is tried where nobody says: for threads the warp's width and its doubles, for blocks some for each group.

    parameters: those of a kernel that may be chosen; of names that are not in TUNED nothing is tried.
    """
    width, groups = machine.cores.warp_width, machine.cores.groups
    most = min(machine.resources.threads_per_block or MOST_THREADS, MOST_THREADS)
    doubles = [max(width, 16) << power for power in range(11)]
    wanted = {
        "threads": [threads for threads in doubles if threads <= most],
        "blocks": [groups * blocks for blocks in BLOCKS_A_GROUP],
        "sub_block": list(SUB_BLOCKS),
        "side": [side for side in SIDES if side * side <= most],
    }
    found: dict[str, list[Value]] = {}
    for name in TUNED:
        values = [value for value in wanted[name] if name in parameters and _takes(parameters[name], value)]
        if values:
            found[name] = list(values)
    return found


def _takes(parameter: Parameter, value: int) -> bool:
    try:
        parameter.parse(value)
    except ValueError:
        return False
    return True
