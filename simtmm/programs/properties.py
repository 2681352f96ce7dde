"""What programs see of the device: the numbers of the machine that is simulated."""

from simtmm.computer import available_memory
from simtmm.machine import Machine

MOST_MEMORY = 1 << 35  # bytes of a device, where the computer has them
LEAST_MEMORY = 1 << 28
DYNAMIC_SHARED = 48 << 10  # bytes of a block that need no asking for
OF_TODAY = 90


def properties_of(machine: Machine | None, architecture: int) -> dict[str, int]:
    """Numbers by the names that simtmm/programs/runtime asks for.

    machine: None for a program that is recorded for none; what is not known of one is as on GPUs of today.
    architecture: that kernels are compiled for.
    """
    major, minor = divmod(architecture, 10)
    found = {
        "memory": max(LEAST_MEMORY, min(MOST_MEMORY, available_memory() // 2)),
        "major": major,
        "minor": minor,
    }
    if machine is None:
        return found
    resources = machine.resources
    shared, reserved = resources.shared_memory, resources.shared_memory_reserved or 0
    values = {
        "multiprocessors": machine.cores.groups,
        "warps": machine.warps_per_group,
        "blocks": machine.limits.blocks_per_group,
        "registers": resources.registers,
        "shared_multiprocessor": shared,
        "register_unit": resources.register_unit or 0,
        "register_files": resources.register_files or 1,
        "shared_unit": resources.shared_memory_unit or 1,
        "shared_reserved": reserved,
        "threads_per_block": resources.threads_per_block,
        "clock_khz": int(machine.clock_hz / 1e3) if machine.clock_hz else None,
        "l2": machine.memory.l2.sets * machine.memory.l2.ways * machine.chunk_bytes if machine.memory.l2 else None,
    }
    if shared is not None:
        values["shared_optin"] = max(min(shared, DYNAMIC_SHARED), shared - reserved)
        values["dynamic_shared"] = min(DYNAMIC_SHARED, shared)
    if machine.peak_bandwidth:  # as a bus of 64 bytes at twice its clock would have it
        values["bus_bits"], values["memory_clock_khz"] = 512, int(machine.peak_bandwidth / 64 / 2 / 1e3)
    return found | {name: value for name, value in values.items() if value is not None}
