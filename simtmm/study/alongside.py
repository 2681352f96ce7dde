"""What changes along with an axis: a key of a machine may carry others of its properties with it, unasked.

Twice the words of a chunk are twice the bandwidth where the cycles of a chunk are given, and twice the caches where
their lines are counted. A sweep of one then shows both.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from simtmm.errors import MachineError
from simtmm.machine import Machine
from simtmm.machine.levels import levels_of
from simtmm.study.design.axes import Value
from simtmm.study.design.design import Design, is_machine_key

SCHEDULER = "scheduling.scheduler"  # may be a rule's name, and carries nothing
SAME = 0.01  # relative, below which it is the rounding to whole ticks
# Properties and the keys that are about them: along these it is no surprise that they change
DIRECT = {
    "bandwidth of global memory": ("memory.bandwidth", "memory.service", "memory.partitions"),
    "bandwidth of the L2": ("memory.l2.service", "memory.l2.request_service", "memory.partitions"),
    "bandwidth of memory ports": (
        "memory.port_interval",
        "memory.pipe.tag_interval",
        "memory.ports",
        "memory.port_chunks",
        "cores.groups",
    ),
    "size of the L1": ("memory.l1.sets", "memory.l1.ways"),
    "size of the L2": ("memory.l2.sets", "memory.l2.ways"),
}
HELD_BY = {"bandwidth of global memory": "memory.bandwidth instead of memory.service"}


@dataclass(frozen=True)
class Carried:
    """A property that changes along an axis which is not about it.

    unit: "bytes/s", "bytes/cycle" or "bytes". first, last: at the ends of the axis, all else as at the first point.
    remedy: which key would hold it; empty where none would.
    """

    axis: str
    ends: tuple[Value, Value]
    what: str
    unit: str
    first: float
    last: float
    remedy: str


def carried_along(design: Design) -> tuple[Carried, ...]:
    """What changes along with each axis of a study, on its first machine. Closed forms use none of it."""
    if design.subject.kind == "algorithm":
        return ()
    machine = next(iter(design.machines.values()))
    ends = {entry.name: (entry.values[0], entry.values[-1]) for group in design.groups for entry in group}
    ends |= {entry.name: (entry.at(0.0), entry.at(1.0)) for entry in design.spans}
    first = {name: of[0] for name, of in ends.items() if is_machine_key(name)}
    found = []
    for axis, of in ends.items():
        if axis not in first:
            continue
        properties = [_properties(_replaced(machine, {**design.changes, **first, axis: value})) for value in of]
        for what, (before, unit) in properties[0].items():
            after = properties[1].get(what, (before, unit))[0]
            if axis not in DIRECT[what] and abs(after - before) > SAME * before:
                found.append(Carried(axis, of, what, unit, before, after, HELD_BY.get(what, "")))
    return tuple(found)


def _replaced(machine: Machine, changes: Mapping[str, Value]) -> Machine | None:
    try:
        own = {key: None if value == "none" else value for key, value in changes.items() if key != SCHEDULER}
        return machine.replace(own)
    except MachineError:
        return None


def _properties(machine: Machine | None) -> dict[str, tuple[float, str]]:
    """Of a machine what it has of them, and the unit; of a machine that was refused, nothing."""
    if machine is None:
        return {}
    clock, unit = (1.0, "bytes/cycle") if machine.clock_hz is None else (machine.clock_hz, "bytes/s")
    ports, l2, memory = levels_of(machine).peaks
    names = ("bandwidth of memory ports", "bandwidth of the L2", "bandwidth of global memory")
    limits = {name: (peak * clock, unit) for name, peak in zip(names, (ports, l2, memory), strict=True) if peak}
    for name, cache in (("size of the L1", machine.memory.l1), ("size of the L2", machine.memory.l2)):
        if cache is not None:
            limits[name] = (float(cache.sets * cache.ways * machine.chunk_bytes), "bytes")
    return limits
