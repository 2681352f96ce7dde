"""How many blocks of a launch a machine holds at once."""

from simtmm.machine import Machine
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import Workload


def in_waves(machine: Machine, workload: AnyWorkload, launch: int) -> tuple[int, int]:
    """How many blocks a launch has, and how many the machine holds at once: a wave."""
    first, last = (int(block) for block in workload.launch_blocks[launch : launch + 2])
    return last - first, machine.cores.groups * resident_blocks(machine, workload, launch)


def resident_blocks(machine: Machine, workload: AnyWorkload, launch: int) -> int:
    """Blocks of a launch that a core group holds at once, by their mean size; 1 at least."""
    if isinstance(workload, Workload):
        first, last = (int(block) for block in workload.launch_blocks[launch : launch + 2])
        warps = -(-int(workload.block_warps[last] - workload.block_warps[first]) // max(1, last - first))
    else:
        warps = int(workload.warps_of_blocks[launch])
    limits = (
        int(workload.launch_limits[launch]),
        machine.limits.blocks_per_group,
        max(1, machine.warps_per_group // max(1, warps)),
    )
    return min(int(limit) for limit in limits if limit)
