"""Lower bounds of a run's time: the traffic of each unit of a machine, over the unit's rate.

Each follows from docs/machine.md and from what a workload lists or a run has counted, never from an engine. A time
below one of them is a fault of simtmm.
"""

from collections.abc import Mapping

from simtmm.analysis.units import ISSUE_PORTS, L2_SLICES, LAST_LEVEL, PARTITIONS, SHARED_L1S, traffic
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import CLASSES
from simtmm.trace.counts import Counts
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import COPY, LISTED, LOAD, OF_CLASS, PASSES_SHIFT, SHARED, Workload


def floors(machine: Machine, workload: AnyWorkload, result: Result, counts: Counts | None = None) -> Mapping[str, int]:
    """The least ticks of a run, without the overheads of its launches, by the unit that asks for them.

    Of a workload that is lowered as it is simulated those alone that follow from what the run has counted. counts: of
    the trace, where the run has no stalls.
    """
    groups, durations, launches = machine.cores.groups, machine.durations, len(result.launch_ticks)
    found = {ISSUE_PORTS: -(-result.port_busy // (groups * machine.ports))}
    if isinstance(workload, Workload):
        found |= _of_pipes(machine, workload, launches)
        if machine.memory.pipe:
            found |= _of_the_group_pipe(machine, workload)
    if machine.memory.transfers == "pipelined" and (passed := traffic(machine, result, counts)):
        # The last one only has to start: its finish counts from there. Stores may end when nobody waits for them
        sectors, fetched = machine.memory.sectors, machine.memory.fetch_sectors
        slices, partitions = -(-durations.l2_service // sectors), -(-durations.service * fetched // sectors)
        if sectors > 1:
            slices = max(slices, durations.l2_request_service)
        shared = -(-durations.shared_l1_service // sectors)
        found[SHARED_L1S] = _served(passed.behind_l1, shared, max(1, machine.shared_l1s), launches)
        loads = passed.behind_l1 - min(passed.behind_l1, passed.shared_l1_hits)
        asked = loads - min(loads, passed.l2_hits)
        read = asked - min(asked, passed.last_level_hits or 0)
        of_l2s = machine.memory.partitions * (machine.memory.l2.dies if machine.memory.l2 else 1)
        found[L2_SLICES] = _served(loads, slices, of_l2s, launches)
        last_level = -(-durations.last_level_service * fetched // sectors)
        found[LAST_LEVEL] = _served(asked, last_level, machine.memory.partitions, launches)
        found[PARTITIONS] = _served(read, partitions, machine.memory.partitions, launches)
    return found


def below(machine: Machine, workload: AnyWorkload, result: Result, counts: Counts | None = None) -> tuple[str, ...]:
    """Floors that a run is below, in words: faults of simtmm, each."""
    ticks = result.ticks - machine.durations.overheads(len(result.launch_ticks), result.launches_in_graph)
    return tuple(
        f"simulated are {ticks} ticks, and what goes through its {unit} takes {least} at the least"
        for unit, least in floors(machine, workload, result, counts).items()
        if ticks < least
    )


def _served(chunks: int, each: int, units: int, launches: int) -> int:
    return max(0, -(-chunks * each // units) - launches * each)


def _of_pipes(machine: Machine, workload: Workload, launches: int) -> dict[str, int]:
    """Of the pipes of classes of instructions, whose last instruction only starts."""
    found = {}
    for number, (name, interval) in enumerate(zip(CLASSES, machine.durations.pipes, strict=False)):
        if interval:
            instructions = int(workload.amount[workload.kind == OF_CLASS + number].sum())
            units = machine.cores.groups * getattr(machine.pipes, name).count
            found[f"{name} pipes"] = _served(instructions, interval, units, launches)
    return found


def _of_the_group_pipe(machine: Machine, workload: Workload) -> dict[str, int]:
    """Of the pipe of L1 and shared memory, which warps' ends wait for: entries and tags come before the last pass."""
    durations, groups = machine.durations, machine.cores.groups
    assert machine.memory.pipe is not None
    lists_chunks = (workload.kind >= LOAD) & (workload.kind <= COPY)
    shared, listing = workload.amount[workload.kind == SHARED], workload.amount[lists_chunks]
    of_shared = int((shared & LISTED).sum()) * durations.shared_pass
    of_global = int(((listing >> PASSES_SHIFT) + 1).sum()) * durations.pass_interval
    if machine.memory.pipe.shared == "apart":
        return {"banks of shared memory": -(-of_shared // groups), "banks of the L1": -(-of_global // groups)}
    return {"banks": -(-(of_shared + of_global) // groups)}
