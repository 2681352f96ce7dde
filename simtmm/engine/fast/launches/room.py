"""Whether the arrays of a launch fit in memory, checked before any of them is allocated."""

from collections.abc import Iterable
from dataclasses import dataclass

from simtmm.engine.fast import layout as at
from simtmm.engine.fast.launches.part import Part, Room, outstanding_of, takes_partitions
from simtmm.engine.fast.launches.tables import has_slices, pipes_of
from simtmm.engine.mbarriers import MOST_MBARRIERS
from simtmm.engine.own_rule.columns import Seen
from simtmm.engine.room import key_of_ports, refuse_without_room
from simtmm.machine import Machine
from simtmm.stalls import CLASSES
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload
from simtmm.workload import MOST_UNFINISHED, MOST_UNSETTLED

NUMBER = 8  # bytes
SMALL = 1 << 26  # bytes that no computer lacks
QUEUED = 4  # numbers of a queue of requests for each warp, at most


@dataclass(frozen=True)
class Needs:
    """What a launch keeps state of, as far as that decides how large arrays are.

    partitioned: whether its partitions take time. outstanding: the limit on asyncs in flight of a warp, 0 for none.
    mbarriers, products, registers: whether it has any. streamed: whether operations come window by window. lists: of a
    user's rule that schedules, None without one.
    """

    partitioned: bool
    outstanding: int
    mbarriers: bool
    products: bool
    registers: bool
    streamed: bool
    lists: int | None

    @classmethod
    def of(cls, machine: Machine, part: Part, streamed: bool, lists: int | None) -> "Needs":
        """Those of a launch on a machine."""
        counts = part.tally.mbarriers > 0, part.tally.products > 0, part.tally.registers > 0
        return cls(takes_partitions(machine, part), outstanding_of(machine, part), *counts, streamed, lists)


def check_room(machine: Machine, workload: AnyWorkload, lists: int | None = None) -> None:
    """Refuse a machine whose state does not fit in memory, the key named that takes most of it. Raises EngineError.

    lists: that a user's rule has, which schedules; None without one.
    """
    slots = max(1, min(machine.warps_per_group, workload.warps))
    at_most = Room(slots, max(1, min(slots, workload.blocks)), workload.blocks)
    streamed = isinstance(workload, StreamedWorkload)
    everything = Needs(True, machine.memory.outstanding or 0, True, True, True, streamed, lists)
    if sum(_tables(machine, at_most, everything).values()) <= SMALL:
        return
    parts = (Part.of(workload, launch) for launch in _unlike(workload))
    for room, needs in {(Room.of(machine, part), Needs.of(machine, part, streamed, lists)) for part in parts}:
        refuse_without_room(machine, workload.origin, _tables(machine, room, needs))


def _unlike(workload: AnyWorkload) -> Iterable[int]:
    """Launches of which no other one is known to be the same."""
    if isinstance(workload, StreamedWorkload):
        return range(workload.launches)
    clusters = [workload.cluster_of(launch) for launch in range(workload.launches)]
    does = zip(workload.launch_limits.tolist(), workload.kinds.tolist(), clusters, strict=True)
    return {each: launch for launch, each in enumerate(does)}.values()


def _tables(machine: Machine, room: Room, needs: Needs) -> dict[str, int]:
    """Bytes of the largest arrays that launches/launch.py makes, by the key that makes them large."""
    groups, memory, takes = machine.cores.groups, machine.memory, machine.durations
    ring = 1 << (room.slots - 1).bit_length()
    of_a_warp = (
        len(at.Warp) + (at.STORED_ROW if memory.stores == "at-end" else 0) + needs.streamed * (len(at.Request) + QUEUED)
    )
    of_a_warp += (MOST_UNSETTLED + 1) * len(at.Shared) if memory.pipe else 0
    of_a_warp += (MOST_UNFINISHED + 1) * len(at.Product) if needs.products else 0
    of_a_block = len(at.Block) + (MOST_MBARRIERS * len(at.Mbarrier) if needs.mbarriers else 0)
    of_a_block += machine.ports if needs.registers else 0
    of_a_group = len(at.Group) + at.RINGS * ring + room.slots * of_a_warp + room.places * of_a_block
    of_a_port = len(at.Port)
    if needs.lists is not None:
        of_a_group += int(at.Asked.last) + room.slots * (len(Seen) + 1)
        of_a_port += len(Seen) + 2
    of_slices = has_slices(machine) * (memory.l2.dies if memory.l2 else 1)
    of_a_partition = needs.partitioned + (takes.turnaround > 0) + of_slices
    numbers = {
        "cores.groups": groups * of_a_group + (needs.lists or 0) * room.slots,
        key_of_ports(machine): groups * machine.ports * of_a_port,
        "memory.ports": groups * memory.ports,
        **{
            f"pipes.{name}.count": groups * count
            for name, count in zip(CLASSES, pipes_of(machine)[:, at.Pipe.count].tolist(), strict=True)
        },
        "memory.partitions": memory.partitions * of_a_partition,
        "memory.outstanding": groups * room.slots * needs.outstanding,
    }
    if memory.pipe and memory.pipe.misses:
        numbers["memory.pipe.misses"] = groups * memory.pipe.misses
    if memory.rows and needs.partitioned:
        numbers["memory.rows.open"] = memory.partitions * memory.rows.open * len(at.Line)
    if memory.tlb:
        numbers["memory.tlb.entries"] = groups * memory.tlb.entries * len(at.Line)
    if memory.l1:
        numbers["memory.l1.sets"] = groups * memory.l1.sets * memory.l1.ways * len(at.Line)
    if memory.l2:
        numbers["memory.l2.sets"] = memory.l2.sets * memory.l2.ways * len(at.Line)
    if memory.shared_l1:
        numbers["memory.shared_l1.sets"] = (
            machine.shared_l1s * memory.shared_l1.sets * memory.shared_l1.ways * len(at.Line)
        )
    if memory.last_level:
        numbers["memory.last_level.sets"] = memory.last_level.sets * memory.last_level.ways * len(at.Line)
    return {key: NUMBER * number for key, number in numbers.items()}
