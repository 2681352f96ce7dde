"""The levels of a machine's memory, and what could pass them (docs/machine.md, section 4)."""

from simtmm.machine.spec import Machine
from simtmm.stalls import Levels


def levels_of(machine: Machine) -> Levels:
    """What rows of stalls need of a machine."""
    memory, durations = machine.memory, machine.durations

    def peak(number: int, of_a_chunk: float) -> float | None:
        """Of so many units, each of which a chunk takes for so many ticks at the least."""
        return number * machine.chunk_bytes / of_a_chunk * machine.ticks_per_cycle if of_a_chunk else None

    ports = peak(machine.cores.groups * memory.ports, durations.leaving_interval / memory.port_chunks)
    if memory.store_interval is not None and ports is not None:  # stores have a path of their own beside
        stores = peak(machine.cores.groups, durations.store_interval / memory.port_chunks)
        ports = None if stores is None else ports + stores
    return Levels(
        chunk_bytes=machine.chunk_bytes,
        sector_bytes=machine.sector_bytes,
        issue=durations.issue,
        l1=memory.l1 is not None,
        l2=memory.l2 is not None,
        stores_stay=memory.l2 is not None and memory.l2.writes == "back",
        most_warps=machine.warps_per_group,
        peaks=(
            ports,
            peak(memory.partitions * memory.l2.dies, durations.l2_service) if memory.l2 else None,
            peak(memory.partitions, durations.service),
        ),
        atomics_stay=memory.l2 is not None and memory.l2.atomics == "here",
        shared_l1=memory.shared_l1 is not None,
        shared_l1_peak=peak(machine.shared_l1s, durations.shared_l1_service),
        last_level=memory.last_level is not None,
        last_level_peak=peak(memory.partitions, durations.last_level_service),
    )
