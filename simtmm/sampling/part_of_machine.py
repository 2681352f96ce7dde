"""A launch by a few waves of its middle, on a part of the machine: a rough time, many times sooner than a sample's.

All groups of a machine are alike and share what is below them evenly. So a few groups, with their share of the L2 and
of the memory's bandwidth, take as long for their share of a launch's blocks as all groups take for all of them, but for
what neighbours at the part's edges would have brought into the L2, and for how evenly few groups use few partitions.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from simtmm.engine import simulate
from simtmm.machine import Machine
from simtmm.sampling.interval import half_width
from simtmm.sampling.sample import Integers, sample_of
from simtmm.sampling.sources import Source
from simtmm.sampling.steady import SteadyLaunch
from simtmm.trace.counts import lower_and_count
from simtmm.watch import telling

GROUPS = range(2, 5)  # of a part: that number of these by which its partitions come nearest to their share
WARM = 2  # waves before the pace is taken
PACED = 4  # waves, at least, in each of which it is taken; more where blocks are short:
EVENTS = 20_000_000  # that are recorded for more waves than that,
MOST_PACED = 20  # up to so many
TAIL = 1  # waves behind, so that none of those before is the last
SYSTEMATIC = 0.08  # of the time: what repetition does not show; from the pairs of docs/scaling.md


def part_of(machine: Machine) -> Machine:
    """Some groups of a machine, with their share of all that groups have in common; itself where it has few groups."""
    groups, memory = machine.cores.groups, machine.memory
    if groups <= GROUPS[-1]:
        return machine

    def unevenness(taken: int) -> float:
        share = memory.partitions * taken / groups
        return abs(max(1, round(share)) / share - 1)

    taken = min(GROUPS, key=unevenness)
    partitions = max(1, round(memory.partitions * taken / groups))
    slower = partitions * groups / (memory.partitions * taken)  # so that they move their share together
    changes: dict[str, float] = {"cores.groups": taken, "memory.partitions": partitions}
    for key in ("service", "atomic_service", "turnaround"):
        changes[f"memory.{key}"] = getattr(memory, key) * slower
    if memory.l2 is not None:
        changes["memory.l2.sets"] = max(1, round(memory.l2.sets * taken / groups))
        changes["memory.l2.service"] = memory.l2.service * slower
    return machine.replace(changes)


def strip(grid: Sequence[int], share: float, wanted: int) -> Integers:
    """Blocks of the middle of a grid, ascending: of each of its rows the same share, so that neighbours in all
    directions run as near to one another in time as in the whole launch. share: of a row. wanted: how many.
    """
    across, down, deep = grid
    width = max(1, round(across * share)) if down * deep > 1 else across
    if width < across:
        rows = min(-(-wanted // width), down * deep)
        first = (down * deep - rows) // 2
        numbers = (first + np.arange(rows))[:, None] * across + (across - width) // 2 + np.arange(width)
        return np.asarray(numbers.reshape(-1)[:wanted])
    return np.asarray((across * down * deep - wanted) // 2 + np.arange(wanted))


def by_part(source: Source, machine: Machine, launch: int) -> SteadyLaunch | None:
    """A launch by some waves of its middle, on a part of the machine.

    Gives None where the launch has hardly more blocks than that, or the machine few groups.
    """
    part = part_of(machine)
    if part is machine:
        return None
    described = source.launches[launch]
    blocks = described.blocks
    active = machine.active_blocks(
        described.threads_per_block, described.registers_per_thread, described.shared_memory_bytes
    )
    wave = max(1, active * part.cores.groups)
    waves = blocks / max(1, active * machine.cores.groups)
    if waves < 2 * (WARM + PACED + TAIL):
        return None
    middle = {launch: np.array([blocks // 2], np.int64)}
    of_block = max(1, sample_of(source.trace_of(middle), middle).info.events)
    paced = min(MOST_PACED, max(PACED, EVENTS // (of_block * wave)), int(waves / 2) - WARM - TAIL)
    taken = (WARM + paced + TAIL) * wave
    chosen = {launch: strip(described.grid, part.cores.groups / machine.cores.groups, taken)}
    if len(chosen[launch]) < taken:
        return None
    trace = sample_of(source.trace_of(chosen), chosen)
    workload, counts = lower_and_count(trace, part, telling("lowering a sample"), places=True)
    begun = np.zeros(workload.blocks, np.int64)
    result = simulate(part, workload, "fast", stalls=True, progress=telling("simulating a sample"), begun=begun)
    assert result.stalls is not None
    begins = begun.reshape(-1, wave).mean(axis=1)  # of the blocks of each wave
    paces = np.diff(begins[WARM - 1 : -TAIL])
    overhead = machine.durations.launch_overhead
    ticks = result.launch_ticks[0] + paces.mean() * (waves - len(begins))
    half = half_width(paces, np.full(len(paces), (waves - len(begins)) / len(paces)))
    share = taken / blocks
    groups = machine.cores.groups / part.cores.groups
    grown = dataclasses.replace(
        result, time=None if result.time is None else {name: round(groups * own) for name, own in result.time.items()}
    )
    return SteadyLaunch(
        float(ticks), half + SYSTEMATIC * (ticks - overhead), workload, grown, taken, counts, taken, share, trace.info
    )
