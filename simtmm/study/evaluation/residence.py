"""Residence: which limit decides how many blocks of a program a core group holds at once."""

from simtmm.machine import Machine
from simtmm.trace.info import TraceInfo

GRID = "the grid"  # there are no more blocks than would fit
HELD_BY = "held_by"  # of a simulated result
X = "cores.max_threads_per_core"
KEYS = {
    "shared memory": "resources.shared_memory",
    "registers": "resources.registers",
    "blocks": "limits.blocks_per_group",
    "threads": X,
}
LIMITS = (*KEYS.values(), "limits.warps_per_group")  # keys of machines that can be that limit


def held_by(info: TraceInfo, machine: Machine) -> str:
    """The machine's keys that hold a group's resident blocks down, of the launch with most threads; or the grid."""
    launch = max(info.launches, key=lambda each: each.blocks * each.threads_per_block, default=None)
    if launch is None:
        return GRID
    limits = machine.block_limits(launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes)
    least = min(limit for limit in limits.values() if limit is not None)
    if -(-launch.blocks // machine.cores.groups) <= least:
        return GRID
    # Warps are X's, rounded to whole ones, unless a limit of their own says less
    own = machine.limits.warps_per_group
    warps = X if own is None or own > machine.warps_per_group else "limits.warps_per_group"
    binding = [{**KEYS, "warps": warps}[name] for name, limit in limits.items() if limit == least]
    return " and ".join(dict.fromkeys(binding))
