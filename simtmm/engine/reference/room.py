"""Whether the objects of a launch fit in memory, checked before any of them is built."""

from simtmm.engine.room import key_of_ports, refuse_without_room
from simtmm.machine import Machine
from simtmm.workload import Workload

# Bytes that an object takes with all that it holds, on CPython of 64 bits
GROUP = 2200  # with its process and pipes
PORT = 8  # a place in the list of those that are free; below 257 the numbers are there anyway
SMALL_NUMBERS, NUMBER = 257, 32
CACHE = 400  # without the lines, which come with stalls
ROWS = 270
LARGE = 1 << 27  # bytes that no computer lacks


def check_room(machine: Machine, workload: Workload) -> None:
    """Refuse a machine whose groups and partitions do not fit in memory, naming the key. Raises EngineError."""
    objects = _objects(machine)
    if sum(objects.values()) > LARGE:
        refuse_without_room(machine, workload.origin, objects)


def _objects(machine: Machine) -> dict[str, int]:
    """Bytes of what is allocated for each launch, by the key that says how many there are."""
    groups, memory = machine.cores.groups, machine.memory
    return {
        "cores.groups": groups * (GROUP + (CACHE if memory.l1 else 0)),
        key_of_ports(machine): groups * machine.ports * (PORT if machine.ports <= SMALL_NUMBERS else PORT + NUMBER),
        "memory.partitions": memory.partitions * ROWS if memory.rows else 0,
    }
