"""How many blocks a core group holds at once: Eq (5.2), and the units that GPUs hand their resources out in."""

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from simtmm.errors import MachineError

if TYPE_CHECKING:
    from simtmm.machine.spec import Machine

Whole = TypeVar("Whole", int, npt.NDArray[np.float64])


def blocks_by_shared_memory(machine: "Machine", shared_memory_bytes: Whole) -> Whole:
    """Blocks that a group's shared memory has room for, of so many bytes each, which are not 0.

    A block's are rounded up to whole units, and what is reserved for it comes on top (machine rules, section 6).

    shared_memory_bytes: bytes of shared memory of a block.
    """
    resources = machine.resources
    assert resources.shared_memory is not None
    unit = resources.shared_memory_unit or 1
    return resources.shared_memory // (-(-shared_memory_bytes // unit) * unit + (resources.shared_memory_reserved or 0))


def blocks_by_registers(machine: "Machine", threads: Whole, registers_per_thread: Whole) -> Whole:
    """Blocks that a group's registers have room for; registers_per_thread is not 0.

    As printed where there is no `register_unit`; else a warp's are rounded up to whole units, and lie in one of the
    register files (machine rules, section 6).

    threads: of a block.
    registers_per_thread: 32-bit registers of each thread.
    """
    resources, warp_width = machine.resources, machine.cores.warp_width
    assert resources.registers is not None
    unit, files = resources.register_unit, resources.register_files or 1
    if unit is None:
        return resources.registers // (registers_per_thread * threads)
    of_a_warp = -(-registers_per_thread * warp_width // unit) * unit
    return resources.registers // files // of_a_warp * files // -(-threads // warp_width)


def least_shared_memory(machine: "Machine", blocks: int) -> int:
    """The fewest bytes of a block's shared memory with which a group has room for no more than `blocks`, at least 1."""
    resources = machine.resources
    assert resources.shared_memory is not None
    unit = resources.shared_memory_unit or 1
    taken = resources.shared_memory // (blocks + 1) + 1  # the least that does so
    taken -= resources.shared_memory_reserved or 0
    return max(1, (-(-taken // unit) - 1) * unit + 1)


def block_limits(
    machine: "Machine", threads: int, registers_per_thread: int, shared_memory_bytes: int
) -> dict[str, int | None]:
    """`Machine.block_limits`."""
    cores, resources = machine.cores, machine.resources
    limits: dict[str, int | None] = {"shared memory": None, "registers": None}
    if resources.shared_memory is not None and shared_memory_bytes > 0:
        limits["shared memory"] = blocks_by_shared_memory(machine, shared_memory_bytes)
    if resources.registers is not None and registers_per_thread > 0:
        limits["registers"] = blocks_by_registers(machine, threads, registers_per_thread)
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
    kept, unit = resources.shared_memory_reserved, resources.register_unit
    wanted = {
        "shared memory": f"{shared_memory_bytes} bytes of shared memory"
        + (f", and {kept} reserved for it," if kept else ""),
        "registers": f"{registers_per_thread * threads} registers"
        + (f", a warp's in units of {unit} in one of {resources.register_files or 1} files," if unit else ""),
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
