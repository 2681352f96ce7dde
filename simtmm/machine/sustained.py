"""A machine at the clock that it holds while all of its pipes multiply matrices, which is below its boost.

What stands in the profile in cycles of the boost, and passes by other clocks, takes fewer cycles of a slower one:
global memory, from behind the L2 on, and what the host and its connection make of launches.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simtmm.errors import MachineError
from simtmm.machine.changed import named_with

if TYPE_CHECKING:
    from simtmm.machine.spec import Machine

CLOCK, HELD, SUSTAINED = "clock_hz", "sustained_clock_hz", "sustained"
OF_THE_HOST = ("launch_overhead", "first_launch", "graph_launch_overhead")
OF_PARTITIONS = ("service", "atomic_service", "turnaround")


def at_sustained_clock(machine: "Machine", others: Mapping[str, Any]) -> "Machine":
    """The machine at its sustained clock, with other changes: `machine.replace({"clock_hz": "sustained"})`.

    others: further changes, by dotted key, in cycles of the sustained clock; a `sustained_clock_hz` among them is that
        clock, such as the base clock at which a profiler holds a GPU.

    Raises MachineError where the profile has no such clock, or is at it.
    """
    if HELD in others:
        machine = machine.replace({HELD: others[HELD]})
        others = {key: value for key, value in others.items() if key != HELD}
    boost, clock = machine.clock_hz, machine.sustained_clock_hz
    if boost is None or clock is None:
        raise MachineError(f"machine {machine.name}: {CLOCK} = {SUSTAINED!r}: it has no sustained_clock_hz")
    if clock >= boost:
        raise MachineError(
            f"machine {machine.name}: {CLOCK} = {SUSTAINED!r}: sustained_clock_hz = {clock:g} must be below its "
            f"{CLOCK} = {boost:g}"
        )
    slower, memory, scheduling = clock / boost, machine.memory, machine.scheduling
    values: dict[str, Any] = {CLOCK: clock}
    near = memory.l2.latency if memory.l2 else 0.0
    values["memory.latency"] = near + (memory.latency - near) * slower if memory.latency > near else memory.latency
    for key in OF_PARTITIONS:
        # A bandwidth in bytes a second stays as it is, and service follows from it
        if (taken := getattr(memory, key)) and (memory.bandwidth is None or key == "turnaround"):
            values[f"memory.{key}"] = taken * slower
    for key in OF_THE_HOST:
        if taken := getattr(scheduling, key):
            values[f"scheduling.{key}"] = taken * slower
    changed = machine.replace(values)
    changes = {**(machine.changes or {}), CLOCK: f"= {SUSTAINED}"}
    name = named_with(machine.name, machine.changes or {}, changes)
    named = changed.model_copy(update={"changes": changes, "name": name})
    return named.replace(others) if others else named
