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
from simtmm.sampling.long.steady import SteadyLaunch
from simtmm.sampling.sample import Integers, sample_of
from simtmm.sampling.sources import Source
from simtmm.trace.counts import lower_and_count
from simtmm.watch import telling

GROUPS = range(2, 5)  # of a part: that number of these by which its partitions come nearest to their share
LEAST = 2  # waves that a launch has,
SMALL = 20_000_000  # and events: what has fewer is soon simulated as it is
WARM = 2  # waves before the pace is taken
PACED = 4  # waves, at least, in each of which it is taken; more where blocks are short:
EVENTS = 20_000_000  # that are recorded for more waves than that,
MOST_PACED = 20  # up to so many
TAIL = 1  # waves behind, so that none of those before is the last
SYSTEMATIC = 0.08  # of the time: what repetition does not show; assumed, and kept in tests/sampling alone


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
    if width < across and wanted <= width * down * deep:
        rows = min(-(-wanted // width), down * deep)
        first = (down * deep - rows) // 2
        numbers = (first + np.arange(rows))[:, None] * across + (across - width) // 2 + np.arange(width)
        return np.asarray(numbers.reshape(-1)[:wanted])
    return np.asarray((across * down * deep - wanted) // 2 + np.arange(wanted))


def by_part(source: Source, machine: Machine, launch: int) -> SteadyLaunch | None:
    """A launch by some waves of its middle on a part of the machine; a short one by the part's share of its blocks.

    Gives None where the machine has few groups, or the launch few events, or fewer blocks than fill the machine twice.
    """
    part = part_of(machine)
    described = source.launches[launch]
    active = machine.active_blocks(
        described.threads_per_block, described.registers_per_thread, described.shared_memory_bytes
    )
    wave = max(1, active * part.cores.groups)
    waves = described.blocks / max(1, active * machine.cores.groups)
    if part is machine or waves < LEAST:
        return None
    middle = {launch: np.array([described.blocks // 2], np.int64)}
    events = max(1, sample_of(source.trace_of(middle), middle).info.events)  # of a block
    if events * described.blocks < SMALL:
        return None
    paced = min(MOST_PACED, int(waves / 2) - WARM - TAIL, max(PACED, EVENTS // (events * wave)))
    paced = paced if paced >= PACED else 0
    taken = (WARM + paced + TAIL) * wave if paced else round(waves * wave)
    chosen = {launch: strip(described.grid, part.cores.groups / machine.cores.groups, taken)}
    trace = sample_of(source.trace_of(chosen), chosen)
    workload, counts = lower_and_count(trace, part, telling("lowering a sample"), places=True)
    begun = np.zeros(workload.blocks, np.int64)
    result = simulate(part, workload, "fast", stalls=True, progress=telling("simulating a sample"), begun=begun)
    ticks, half = float(result.launch_ticks[0]), 0.0
    if paced:
        begins = begun.reshape(-1, wave).mean(axis=1)  # of the blocks of each wave
        paces = np.diff(begins[WARM - 1 : -TAIL])
        left_out = waves - len(begins)
        ticks += paces.mean() * left_out
        half = half_width(paces, np.full(len(paces), left_out / len(paces)))
    half += SYSTEMATIC * (ticks - machine.durations.launch_overhead)
    more = machine.cores.groups / part.cores.groups
    if result.time is not None:  # of as many groups as the machine has
        result = dataclasses.replace(result, time={name: round(more * own) for name, own in result.time.items()})
    share = taken / described.blocks
    return SteadyLaunch(ticks, half, workload, result, taken, counts, taken, share, trace.info)
