"""Whether what an engine keeps of a machine fits in memory, told before any of it is made."""

from collections.abc import Mapping

from simtmm.computer import available_memory
from simtmm.errors import EngineError
from simtmm.machine import Machine

# What multiplies a table beside the key that it goes by
_ALSO = {
    "cores.cores_per_group": ("cores.groups",),
    "cores.issue_ports": ("cores.groups",),
    "memory.ports": ("cores.groups",),
    "memory.pipe.misses": ("cores.groups",),
    "memory.rows.open": ("memory.partitions",),
    "memory.tlb.entries": ("cores.groups",),
    "memory.l1.sets": ("memory.l1.ways", "cores.groups"),
    "memory.l2.sets": ("memory.l2.ways",),
    "memory.shared_l1.sets": ("memory.shared_l1.ways", "cores.groups"),
    "memory.last_level.sets": ("memory.last_level.ways",),
}


def key_of_ports(machine: Machine) -> str:
    """The key that says how many issue ports a group has."""
    return "cores.cores_per_group" if machine.cores.issue_ports is None else "cores.issue_ports"


def refuse_without_room(machine: Machine, origin: str, state: Mapping[str, int]) -> None:
    """Refuse a machine whose state does not fit in memory, naming the largest key of the table that takes most of it.

    origin: of the workload, for the message. state: bytes of the machine's state, by the key that makes it large.
    Raises EngineError.
    """
    needed, available = sum(state.values()), available_memory()
    if needed <= available:
        return
    table, values = max(state, key=lambda each: state[each]), machine.values()
    key = max((table, *_ALSO.get(table, ())), key=lambda each: values[each])
    raise EngineError(
        f"{origin} on {machine.name}: {key} = {values[key]}: the machine's state takes "
        f"{needed / 2**30:,.1f} GiB of memory, which has room for {available / 2**30:,.1f} GiB: must be smaller"
    )
