"""How many blocks a core group holds at once: Eq (5.2)."""

import math
from typing import TYPE_CHECKING

from simtmm.errors import MachineError

if TYPE_CHECKING:
    from simtmm.machine.spec import Machine


def block_limits(
    machine: "Machine", threads: int, registers_per_thread: int, shared_memory_bytes: int
) -> dict[str, int | None]:
    """`Machine.block_limits`."""
    cores, resources = machine.cores, machine.resources
    limits: dict[str, int | None] = {"shared memory": None, "registers": None}
    if resources.shared_memory is not None and shared_memory_bytes > 0:
        limits["shared memory"] = resources.shared_memory // shared_memory_bytes
    if resources.registers is not None and registers_per_thread > 0:
        limits["registers"] = resources.registers // (registers_per_thread * threads)
    limits["blocks"] = machine.limits.blocks_per_group
    limits["threads"] = _threads_of_group(machine) // threads
    limits["warps"] = machine.warps_per_group // -(-threads // cores.warp_width)
    return limits


def active_blocks(machine: "Machine", threads: int, registers_per_thread: int, shared_memory_bytes: int) -> int:
    """`Machine.active_blocks`."""
    cores, resources = machine.cores, machine.resources
    if resources.threads_per_block is not None and threads > resources.threads_per_block:
        raise MachineError(
            f"machine {machine.name}: a block of {threads} threads does not fit: "
            f"at most {resources.threads_per_block} threads a block (resources.threads_per_block)"
        )
    limits = block_limits(machine, threads, registers_per_thread, shared_memory_bytes)
    wanted = {
        "shared memory": f"{shared_memory_bytes} bytes of shared memory",
        "registers": f"{registers_per_thread * threads} registers",
        "threads": f"{threads} threads",
        "warps": f"{-(-threads // cores.warp_width)} warps",
    }
    available = {
        "shared memory": f"{resources.shared_memory} bytes (resources.shared_memory)",
        "registers": f"{resources.registers} registers (resources.registers)",
        "threads": f"{_threads_of_group(machine)} threads (cores.max_threads_per_core * cores.cores_per_group)",
        "warps": f"{machine.warps_per_group} warps of {cores.warp_width} threads",
    }
    for resource, blocks in limits.items():
        if blocks == 0:
            raise MachineError(
                f"machine {machine.name}: a block that needs {wanted[resource]} does not fit: "
                f"a core group has {available[resource]}"
            )
    return min(blocks for blocks in limits.values() if blocks is not None)


def _threads_of_group(machine: "Machine") -> int:
    return math.floor(machine.cores.max_threads_per_core * machine.cores.cores_per_group)
