"""How busy a machine's units were in a run, and their throughput compared with the maximum (docs/machine.md, section
4).

All of it follows from what the engines count, without simulating anything again.
"""

from dataclasses import dataclass

import numpy as np

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import ATOMICS, STORES, Count, Stalls
from simtmm.trace.counts import Counts

ISSUE_PORTS, MEMORY_PORTS, L2_SLICES, PARTITIONS = "issue ports", "memory ports", "L2 slices", "memory partitions"
SHARED_L1S, LAST_LEVEL = "shared L1s", "last-level slices"
UNITS = (ISSUE_PORTS, MEMORY_PORTS, SHARED_L1S, L2_SLICES, LAST_LEVEL, PARTITIONS)


@dataclass(frozen=True)
class Traffic:
    """Chunks on their way from core groups to global memory.

    loads, stores, atomics: what instructions list; an atomic lists an entry for each update.
    requests: instructions that list any.
    l1_hits, shared_l1_hits: of the loads. l2_hits: of the loads, and of atomics that end in the L2.
    stores_stay, atomics_stay: whether they end in the L2. What it writes back later is counted nowhere.
    last_level_hits: of what comes to the last-level cache to be read; None without one. All else ends there.
    """

    loads: int
    stores: int
    atomics: int
    requests: int
    l1_hits: int
    l2_hits: int
    stores_stay: bool
    atomics_stay: bool = False
    last_level_hits: int | None = None
    shared_l1_hits: int = 0

    @property
    def through_ports(self) -> int:
        """What leaves core groups: everything. Stores may have a path of their own, the rest passes memory ports."""
        return self.loads + self.stores + self.atomics

    @property
    def behind_l1(self) -> int:
        """Loads that the L1 does not have."""
        return self.loads - self.l1_hits

    @property
    def into_l2(self) -> int:
        """What takes a slice of the L2: what looks into it, and stores that stay there."""
        return self.looking_into_l2 + (self.stores if self.stores_stay else 0)

    @property
    def looking_into_l2(self) -> int:
        """Loads that neither the L1 nor a shared one has, and atomics that end in the L2."""
        return self.behind_l1 - self.shared_l1_hits + (self.atomics if self.atomics_stay else 0)

    @property
    def read(self) -> int:
        """What is read from global memory: by loads, and for atomics that end before it."""
        return self.read_below_l2 - (self.last_level_hits or 0)

    @property
    def read_below_l2(self) -> int:
        """Likewise, or from the last-level cache before it."""
        ends_there = self.last_level_hits is not None and not self.atomics_stay
        return self.looking_into_l2 - self.l2_hits + (self.atomics if ends_there else 0)

    @property
    def updated(self) -> int:
        """Updates that reach global memory."""
        return 0 if self.atomics_stay or self.last_level_hits is not None else self.atomics

    @property
    def written(self) -> int:
        """Stores that reach global memory, without what caches write back."""
        return 0 if self.stores_stay or self.last_level_hits is not None else self.stores

    @property
    def is_least(self) -> bool:
        """Whether global memory may get more than is counted: what caches write back."""
        if self.last_level_hits is not None:
            return self.stores + self.atomics > 0
        return (self.stores_stay and self.stores > 0) or (self.atomics_stay and self.atomics > 0)


@dataclass(frozen=True)
class Unit:
    """The units of one kind.

    name: one of UNITS.
    number: how many there are.
    busy: the part of the run in which one is taken, on average, from 0 to 1; 0 where nothing limits it.
    achieved, peak: in `unit`; no peak where nothing limits it.
    unit: "bytes/s" or "instructions/s"; per cycle where the machine has no clock.
    is_least: whether it may have been more, as what the L2 writes back is not counted, nor how long stores that pass
        the memory ports wait for what was loaded, nor for how long single sectors take a slice.
    """

    name: str
    number: int
    busy: float
    achieved: float
    peak: float | None
    unit: str
    is_least: bool = False


def traffic(machine: Machine, result: Result, counts: Counts | None = None) -> Traffic | None:
    """The chunks of a run, by what is counted at places, else by a trace's counts; None where neither is there."""
    l2 = machine.memory.l2
    stays = l2 is not None and l2.writes == "back"
    atomics_stay = l2 is not None and l2.atomics == "here"
    if result.stalls is not None:
        of_kinds = chunks_of_kinds(result.stalls)
        stores, atomics = (sum(of_kinds.get(kind, 0) for kind in kinds) for kinds in (STORES, ATOMICS))
        requests = int(result.stalls.counts[:, Count.REQUESTS].sum())
    elif counts is not None:
        stores = sum(launch.store_operations for launch in counts.launches)
        atomics = sum(launch.atomic_operations for launch in counts.launches)
        requests = counts.memory_instructions
    else:
        return None
    loads = result.transactions - stores - atomics
    hits = None if machine.memory.last_level is None else result.last_level_hits
    return Traffic(
        loads, stores, atomics, requests, result.l1_hits, result.l2_hits, stays, atomics_stay, hits,
        result.shared_l1_hits,
    )  # fmt: skip


def chunks_of_kinds(stalls: Stalls, what: Count = Count.CHUNKS) -> dict[str, int]:
    """Chunks that instructions list, or what else is counted of them, by the kind of place.

    what: what is counted.
    """
    of_sites = stalls.counts[:-1, what].reshape(len(stalls.places.sites), len(stalls.places.arrays)).sum(axis=1)
    found: dict[str, int] = {}
    for site in np.flatnonzero(of_sites).tolist():
        kind = stalls.places.sites[site].kind
        found[kind] = found.get(kind, 0) + int(of_sites[site])
    return found


def units(machine: Machine, result: Result, counts: Counts | None = None) -> tuple[Unit, ...]:
    """The units of a machine in the order in which an access goes through them, the L2 only where there is one.

    Without stalls and counts the issue ports alone; none of a run that takes no time.
    """
    if not result.ticks:
        return ()
    memory, durations = machine.memory, machine.durations
    issue_ports = machine.ports * machine.cores.groups
    per, rate = _rate(machine)
    instructions = Unit(
        ISSUE_PORTS,
        issue_ports,
        min(1.0, result.port_busy / (issue_ports * result.ticks)),
        result.issued / result.ticks * rate,
        issue_ports / durations.issue * rate,
        f"instructions/{per}",
    )
    found = traffic(machine, result, counts)
    if found is None:
        return (instructions,)

    # Chunks of an aligned run pass a port together, and so do an atomic's entries of a chunk where it ends in the L2.
    # How many do is not counted, but each instruction takes a port once, stores with a path of their own apart
    updates_here = found.atomics if found.atomics_stay else 0
    apart = memory.store_interval is not None
    through = passes = found.through_ports - (found.stores if apart else 0)
    if memory.port_chunks > 1 or updates_here:
        requests = 0 if apart and found.stores else found.requests
        passes = max(min(requests, passes), -(-(passes - updates_here) // memory.port_chunks))

    def moving(name: str, number: int, moved: int, taken: int, of_a_chunk: float, is_least: bool = False) -> Unit:
        """moved: bytes. taken: ticks for which units are. of_a_chunk: ticks that a chunk takes one at the least."""
        achieved = moved / result.ticks * rate
        if not of_a_chunk:
            return Unit(name, number, 0.0, achieved, None, f"bytes/{per}", is_least)
        # Units may be taken beyond the end of a run, by chunks that nobody waits for: that is no part of it
        busy = min(1.0, taken / (number * result.ticks))
        peak = number * machine.chunk_bytes / of_a_chunk * rate
        return Unit(name, number, busy, min(achieved, peak), peak, f"bytes/{per}", is_least)

    ports = moving(
        MEMORY_PORTS,
        machine.cores.groups * memory.ports,
        through * machine.chunk_bytes,
        passes * durations.leaving_interval,
        durations.leaving_interval / memory.port_chunks,
        # How long stores wait for what was loaded is not counted either
        (passes < through and durations.leaving_interval > 0)
        or (durations.return_interval + durations.return_delay > 0 and found.stores > 0 and not apart),
    )
    shared_l1s = moving(
        SHARED_L1S,
        machine.shared_l1s,
        result.shared_l1_sectors * machine.sector_bytes,
        result.shared_l1_sectors * durations.shared_l1_service // memory.sectors,
        durations.shared_l1_service,
    )
    stored_here = found.stores if found.stores_stay else 0
    loaded = found.into_l2 - updates_here - stored_here
    of_loads, of_stores = loaded * durations.l2_service, stored_here * durations.l2_store_service
    if memory.sectors > 1:  # whose those are that moved is not counted, and a store's take longer
        least = (result.l2_sectors - updates_here * memory.sectors) * durations.l2_service // memory.sectors
        of_loads, of_stores = max(loaded * durations.l2_request_service, least), 0
    slices = moving(
        L2_SLICES,
        memory.partitions * (memory.l2.dies if memory.l2 else 1),
        result.l2_sectors * machine.sector_bytes,
        of_loads + of_stores + updates_here * durations.atomic_service,
        durations.l2_service
        or (durations.l2_store_service if stored_here else 0)
        or (durations.atomic_service if updates_here else 0),
        memory.sectors > 1,
    )
    # How many of the sectors are written is not counted: no more than stores have, unless an L2 has older ones
    each, moved = durations.service, result.memory_sectors - found.updated
    of_writes = durations.write_service if found.stores else each
    most = moved if found.stores_stay else min(moved, found.stores * memory.sectors)
    written = most if of_writes < each else 0
    partitions = moving(
        PARTITIONS,
        memory.partitions,
        result.memory_sectors * machine.sector_bytes,
        ((moved - written) * each + written * of_writes) // memory.sectors + found.updated * durations.atomic_service,
        min(each, of_writes) or (durations.atomic_service if found.updated else 0),
        found.is_least or of_writes != each,
    )
    updates_below = found.atomics - found.updated - updates_here  # in the last-level cache
    sectors_below = result.last_level_sectors - updates_below * (memory.sectors if memory.sectors > 1 else 1)
    last_level = moving(
        LAST_LEVEL,
        memory.partitions,
        result.last_level_sectors * machine.sector_bytes,
        max(0, sectors_below) * durations.last_level_service // memory.sectors
        + updates_below * durations.atomic_service,
        durations.last_level_service or (durations.atomic_service if updates_below else 0),
        True,  # what the L2 writes back comes on top
    )
    below = (last_level, partitions) if memory.last_level else (partitions,)
    caches = (shared_l1s,) * (memory.shared_l1 is not None) + (slices,) * (memory.l2 is not None)
    return (instructions, ports, *caches, *below)


def _rate(machine: Machine) -> tuple[str, float]:
    """The unit of rates, and ticks in it."""
    if machine.clock_hz is None:
        return "cycle", float(machine.ticks_per_cycle)
    return "s", machine.clock_hz * machine.ticks_per_cycle
