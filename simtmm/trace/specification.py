"""What lowering and counting read of a machine: frozen, with a digest that two machines share if all of it is equal."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from simtmm.machine import Machine
from simtmm.stalls import CLASSES, class_among
from simtmm.trace.schema import FENCES, RESULT_CLASSES


class _Specification:
    @property
    def digest(self) -> str:
        """A hash of all values, but for later keys whose value keeps the earlier behaviour."""
        values: dict[str, Any] = asdict(self)  # type: ignore[call-overload]  # those derived from this are dataclasses
        for table in (values, values.get("lowering", {})):
            for later in (
                "atomics_by_word", "places", "shared_latency", "instruction_holds", "shared_interval", "shared_ports",
                "reduces", "pipes", "pipe", "stalls", "hides", "barrier",
                "atomic_passes", "sector_bytes", "latencies", "operands", "grid_barriers", "pass_bytes",
                "cluster_barrier", "remote_latency", "fences", "remote_ways",
            ):  # fmt: skip
                if not table.get(later, True):
                    del table[later]
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class LoweringSpecification(_Specification):
    """What decides the workload that a trace is lowered to, the blocks that a core group holds apart."""

    warp_width: int
    """Threads in lockstep, W."""
    chunk_bytes: int
    """Bytes of a chunk of global memory."""
    half_warp_segments: bool
    """Whether accesses are coalesced by segments of half-warps (machine rules, section 9), else by chunks."""
    banks: int
    """Banks of shared memory."""
    bank_bytes: int
    """Bytes of a word of a bank."""
    lanes_together: int
    """Lanes of a warp whose shared accesses are served in a pass."""
    atomics_by_word: bool = False
    """Whether an atomic lists a chunk as often as its most updated word is updated, else for each update."""
    reduces: bool = False
    """Whether a warp does not wait for an atomic whose value nobody uses, where a trace says so."""
    shared_latency: int = 0
    """Cycles from a shared load's leaving its port to the use of its value, where a trace names its uses."""
    instruction_holds: tuple[tuple[str, float], ...] = ()
    """By class of work, cycles that an instruction holds its warp beyond its issue where a trace says no stalls."""
    pipes: tuple[str, ...] = ()
    """Classes of work that have a pipe, whose instructions are apart from others."""
    shared_interval: int = 0
    """Instructions of a port, at least, from one shared access of its warps to the next; 0 where none is enforced."""
    shared_ports: int = 0
    """Instructions of a port that one pass through the banks takes: of a port's share of them where an interval is
    enforced; 0 where it is one, as without `banks.service`."""
    pipe: tuple[int, ...] = ()
    """Of the pipe that accesses of global and shared memory pass: lanes of a global access that are served together,
    likewise where they access neighbouring words, bytes that those access at most, its banks of 4 bytes, 0 where
    these are those of shared memory, and banks of the tags of their rows, 0 where rows don't matter; empty where there
    is no pipe."""
    stalls: str = ""
    """What becomes of the stalls of sites: "overlap" with what instructions take their pipe, "none", "" each beyond."""
    hides: tuple[float, ...] = ()
    """Where stalls overlap: cycles beyond its issue that an instruction takes its pipe, for each of `pipes`."""
    barrier: tuple[int, ...] = ()
    """Thousandths of cycles that a warp waits behind a barrier, and for each warp of its block; empty where none."""
    atomic_passes: int = 0
    """Passes over the banks of a pipe that an atomic of shared memory takes for each; 0 for one."""
    sector_bytes: int = 0
    """Bytes of a sector of a chunk, of each of which accesses say how many they access; 0 where chunks have none."""
    latencies: tuple[tuple[str, int], ...] = ()
    """By class of results, cycles from an instruction to the use of its value, where a trace names its uses."""
    operands: tuple[tuple[str, float], ...] = ()
    """Where reading registers of one bank takes cycles: by class of work, cycles beyond its issue that an instruction
    takes its pipe, which are enough for as many registers; empty where reading takes none."""
    grid_barriers: bool = False
    """Whether an atomic at a grid's workspace is where its blocks wait for one another."""
    pass_bytes: int = 0
    """Bytes of shared memory that a pass over the banks gives to a product that a pipe does beside its warp; 0 where
    warps do products themselves."""
    cluster_barrier: tuple[int, ...] = ()
    """Thousandths of cycles of a barrier of a cluster beyond one of a block; where it orders memory, besides; and then
    for each warp of the block; empty where none."""
    fences: tuple[tuple[str, int], ...] = ()
    """Cycles that a fence holds its warp, by kind, none left out that is above 0."""
    remote_latency: int = 0
    """Cycles from an access to another block's shared memory to the use of its value; 0 where it is as of the own."""
    remote_ways: bool = False
    """Whether an access to another block's shared memory waits for the way there."""
    places: bool = False
    """Whether each operation has its place in the program; else computes of several places are one."""

    @classmethod
    def of(cls, machine: Machine, places: bool = False) -> "LoweringSpecification":
        """That of a machine.

        places: whether operations have their place in the program.
        """
        return cls(
            warp_width=machine.cores.warp_width,
            chunk_bytes=machine.chunk_bytes,
            half_warp_segments=machine.memory.coalescing == "half-warp-segments",
            banks=machine.banks.count,
            bank_bytes=machine.banks.word_bytes,
            lanes_together=machine.banks.lanes or machine.cores.warp_width,
            atomics_by_word=machine.memory.atomics == "by-word",
            reduces=machine.memory.reductions == "posted",
            shared_latency=0 if machine.memory.pipe else math.floor(machine.banks.latency + 0.5),
            instruction_holds=_instruction_holds(machine),
            pipes=tuple(name for name, ticks in zip(CLASSES, machine.durations.pipes, strict=False) if ticks),
            shared_interval=math.ceil(machine.banks.interval * machine.ports / machine.issue_cycles),
            shared_ports=0 if machine.memory.pipe else _pass_of_the_banks(machine),
            pipe=_group_pipe(machine),
            stalls="" if machine.scheduling.stalls == "add" else machine.scheduling.stalls,
            hides=tuple(hidden_by_pipes(machine).values()),
            barrier=_barrier(machine),
            atomic_passes=machine.banks.atomic_passes if machine.memory.pipe and machine.banks.atomic_passes > 1 else 0,
            sector_bytes=machine.sector_bytes if machine.memory.sectors > 1 else 0,
            latencies=_latencies(machine),
            operands=_operands(machine),
            grid_barriers=machine.scheduling.grid_barrier is not None,
            pass_bytes=machine.banks.pass_bytes if machine.durations.product_step else 0,
            cluster_barrier=_cluster_barrier(machine),
            fences=_fences(machine),
            remote_latency=math.floor(machine.banks.remote_latency + 0.5),
            remote_ways=machine.durations.remote_interval > 0,
            places=places,
        )


def _group_pipe(machine: Machine) -> tuple[int, ...]:
    pipe, width = machine.memory.pipe, machine.cores.warp_width
    if pipe is None:
        return ()
    lanes = min(pipe.lanes or width, width)
    return lanes, max(lanes, pipe.run or 0), pipe.phase_bytes, pipe.banks or 0, pipe.tag_banks or 0


def _barrier(machine: Machine) -> tuple[int, ...]:
    costs = machine.scheduling.barrier_latency, machine.scheduling.barrier_interval
    return tuple(round(1000 * cycles) for cycles in costs) if any(costs) else ()


def _cluster_barrier(machine: Machine) -> tuple[int, ...]:
    of = machine.scheduling
    costs = of.cluster_barrier, of.cluster_fence, of.cluster_fence_interval
    return tuple(round(1000 * cycles) for cycles in costs) if any(costs) else ()


def _fences(machine: Machine) -> tuple[tuple[str, int], ...]:
    of = machine.scheduling
    each = of.fence_device, of.fence_sequential, of.fence_system
    cycles = (math.floor(latency + 0.5) for latency in each)
    return tuple((name, held) for name, held in zip(FENCES, cycles, strict=True) if held)


def hidden_by_pipes(machine: Machine) -> dict[str, float]:
    """By class that has a pipe, the cycles that an instruction takes it beyond its issue; empty where stalls do not
    overlap with that.
    """
    if machine.scheduling.stalls != "overlap":
        return {}
    taken = zip(CLASSES, machine.durations.pipes, strict=False)
    cycles = {name: ticks / machine.ticks_per_cycle - machine.issue_cycles for name, ticks in taken if ticks}
    return {name: max(0.0, beyond) for name, beyond in cycles.items()}


def _pass_of_the_banks(machine: Machine) -> int:
    if machine.banks.interval:
        return machine.ports * machine.banks.service
    return machine.banks.service if machine.banks.service > 1 else 0


def _operands(machine: Machine) -> tuple[tuple[str, float], ...]:
    if machine.scheduling.operands != "banks":
        return ()
    ticks = dict(zip(CLASSES, machine.durations.pipes, strict=False))
    piped = [name for name, each in ticks.items() if each]
    found = {name: ticks.get(class_among(name, piped), 0) / machine.ticks_per_cycle for name in CLASSES}
    return tuple((name, max(0.0, cycles - machine.issue_cycles)) for name, cycles in found.items())


def _latencies(machine: Machine) -> tuple[tuple[str, int], ...]:
    if machine.results is None:
        return ()
    cycles = {name: getattr(machine.results, name) or 0.0 for name in RESULT_CLASSES}
    return tuple((name, math.floor(each + 0.5)) for name, each in cycles.items() if each >= 0.5)


def _instruction_holds(machine: Machine) -> tuple[tuple[str, float], ...]:
    """What is left of each class's latency behind the grant of an instruction, and behind what it takes its pipe; none
    left out that is above 0.
    """
    if machine.instructions is None:
        return ()
    scheduling = machine.scheduling
    granted = float(machine.issue_cycles)
    if scheduling.switch == "every-instruction":
        granted = max(granted, scheduling.pipeline_depth)
    pipes = machine.pipes.model_dump(exclude_none=True) if machine.pipes else {}
    latencies = machine.instructions.model_dump(exclude_none=True)
    taken = {name: max(granted, pipes[name]["interval"] if name in pipes else 0) for name in latencies}
    return tuple((name, latency - taken[name]) for name, latency in latencies.items() if latency > taken[name])


@dataclass(frozen=True)
class CountingSpecification(_Specification):
    """What decides the counts of a workload beside the workload itself."""

    lowering: LoweringSpecification
    groups: int
    """Core groups."""
    processors: int
    """Cores of the whole machine, P."""
    waits_for_stores: bool
    """Whether a warp waits for a store as long as for a load."""

    @classmethod
    def of(cls, machine: Machine) -> "CountingSpecification":
        """That of a machine."""
        return cls(
            lowering=LoweringSpecification.of(machine),
            groups=machine.cores.groups,
            processors=machine.processors,
            waits_for_stores=machine.waits_for_stores,
        )
