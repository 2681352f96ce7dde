"""The least time that launches take on a machine, by what each thread of them does at least.

Each term is what one rule of docs/machine.md alone takes, and the largest holds: none is ever above what is simulated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from simtmm.machine import Machine
from simtmm.stalls import CLASSES, class_among
from simtmm.trace.schema import TraceLaunch
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.warps.load_store_units import MOST_WAITING


@dataclass(frozen=True)
class LeastWork:
    """What some blocks of a launch do at least, each thread of them.

    blocks: how many. instructions: those that take an issue port, accesses among them. shared_accesses, loads, stores:
    of these; loads are of global and local memory, with atomics. stall: cycles that the instructions hold their warp
    beyond one each. of_class: instructions, by CLASSES.
    """

    blocks: int
    instructions: int = 0
    shared_accesses: int = 0
    loads: int = 0
    stores: int = 0
    stall: int = 0
    of_class: tuple[int, ...] = (0,) * len(CLASSES)


@dataclass(frozen=True)
class LeastTime:
    """ticks: of all launches. terms: of each launch what each rule takes, its overhead apart."""

    ticks: int
    terms: tuple[dict[str, int], ...]

    @property
    def bound(self) -> str:
        """The term that is largest in the launch that takes longest."""
        longest = max(self.terms, key=lambda terms: max(terms.values()), default={})
        return max(longest, key=longest.__getitem__, default="")


def least_time(machine: Machine, launches: Sequence[tuple[TraceLaunch, Sequence[LeastWork]]]) -> LeastTime:
    """The least that launches take one after another.

    launches: each with the least work of its blocks, in the order in which they run.

    Raises MachineError where a block of one does not fit.
    """
    terms = tuple(_terms(machine, launch, work) for launch, work in launches)
    durations = machine.durations
    ticks = sum(
        max(each.values()) + durations.before_launch(1, launch.in_graph)
        for each, (launch, _) in zip(terms, launches, strict=True)
    )
    return LeastTime(ticks + (durations.first_launch if terms else 0), terms)


def _terms(machine: Machine, launch: TraceLaunch, parts: Sequence[LeastWork]) -> dict[str, int]:
    durations, groups = machine.durations, machine.cores.groups
    warps = -(-launch.threads_per_block // machine.cores.warp_width)
    blocks = -(-launch.blocks // groups)  # of the group that has most
    active = machine.active_blocks(launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes)
    residence = durations.warp_launch + durations.block_launch + min(_duration(machine, part) for part in parts)
    by_warps = warps * durations.warp_launch
    by_blocks = (blocks - 1) * durations.block_interval - durations.block_burst
    issued = sum(part.blocks * warps * _issued(machine, part) for part in parts)
    terms = {
        "instruction issue": -(-issued * durations.issue // (groups * machine.ports)),
        "latency": -(-blocks // active) * residence,
        "launching blocks": max((blocks - 1) * by_warps, by_blocks) + (warps - 1) * durations.warp_launch + residence,
    }

    def passing(of_block: Sequence[int], interval: int, units: int) -> int:
        """What it takes to go through units of a group, the last one's time apart."""
        everything = sum(part.blocks * warps * each for part, each in zip(parts, of_block, strict=True))
        return max(0, -(-everything // (groups * units)) - 1) * interval

    if machine.memory.transfers == "pipelined":
        has_own = machine.memory.store_interval is not None
        through = [part.loads + (0 if has_own else part.stores) for part in parts]
        terms["memory ports"] = passing(through, durations.port_interval, machine.memory.ports)
        if has_own:
            terms["store port"] = passing([part.stores for part in parts], durations.store_interval, 1)
    intervals = {name: ticks for name, ticks in zip(CLASSES, durations.pipes, strict=False) if ticks}
    for name, interval in intervals.items():
        taking = [place for place, each in enumerate(CLASSES) if class_among(each, intervals) == name]
        of_parts = [sum(part.of_class[place] for place in taking) for part in parts]
        terms[f"{name} pipe"] = passing(of_parts, interval, getattr(machine.pipes, name).count)
    return terms


def _issued(machine: Machine, part: LeastWork) -> int:
    """How many instructions' time a warp holds a port: also while the load/store units are behind (section 9)."""
    interval = LoweringSpecification.of(machine).shared_interval
    return max(part.instructions, (part.shared_accesses - MOST_WAITING) * interval)


def _duration(machine: Machine, part: LeastWork) -> int:
    """How long a warp lives from its first instruction on: what it issues, and what holds it."""
    durations = machine.durations
    accesses = part.shared_accesses + part.loads + part.stores
    each = durations.issue
    if machine.scheduling.switch == "every-instruction":
        each = max(each, durations.pipeline_depth)
    own = max(0, part.instructions - accesses - 1)  # the last one may not be waited out
    return own * each + (part.instructions - own) * durations.issue + machine.ticks(part.stall)
