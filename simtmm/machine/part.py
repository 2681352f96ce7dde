"""A machine of some of another one's core groups, with their share of what groups have in common."""

from typing import Any

from simtmm.machine.spec import Machine
from simtmm.machine.sustained import OF_PARTITIONS


def part_of(machine: Machine, taken: int) -> Machine:
    """So many groups of a machine, with their share of all that groups have in common.

    taken: how many of the machine's core groups there are in the part.
    """
    groups, memory = machine.cores.groups, machine.memory
    partitions = whole(memory.partitions * taken / groups)
    slower = partitions * groups / (memory.partitions * taken)  # so that they move their share together
    changes: dict[str, Any] = {"cores.groups": taken, "memory.partitions": partitions}
    for key in OF_PARTITIONS:
        changes[f"memory.{key}"] = getattr(memory, key) * slower
    if memory.shared_l1 is not None:  # of groups that are as many, if that comes out even: what each group has of them
        shared = memory.shared_l1
        each = -(-taken // shared.groups) * groups / (taken * machine.shared_l1s)
        changes["memory.shared_l1.sets"] = whole(shared.sets / each)
        changes["memory.shared_l1.service"] = shared.service * each
    if memory.l2 is not None:
        changes["memory.l2.sets"] = whole(memory.l2.sets * taken / groups)
        for key in ("service", "store_service", "request_service", "store_request_service"):
            if (taken_by := getattr(memory.l2, key)) is not None:
                changes[f"memory.l2.{key}"] = taken_by * slower
        if memory.l2.far_service:
            changes["memory.l2.far_service"] = memory.l2.far_service * groups / taken
    if memory.last_level is not None:
        changes["memory.last_level.sets"] = whole(memory.last_level.sets * taken / groups)
        if memory.last_level.bandwidth is None:
            changes["memory.last_level.service"] = memory.last_level.service * slower
        else:
            changes["memory.last_level.bandwidth"] = memory.last_level.bandwidth * taken / groups
    return machine.replace(changes)


def whole(share: float) -> int:
    """The whole number nearest to a share of what comes in whole ones; 1 at least.

    share: of how many there are.
    """
    return max(1, round(share))
