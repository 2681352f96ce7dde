"""A program's time from some blocks of some of its launches, with the interval in which it lies.

Launches that are alike are a stratum, of which some are simulated, and of each of these some stretches of blocks. More
of both are taken until the interval is as narrow as requested, or half of the program would be simulated:
then all of it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from simtmm.machine import Machine
from simtmm.sampling import DEFAULT_ERROR
from simtmm.sampling.differing.looks import OPERATIONS, looked_at
from simtmm.sampling.long.steady import MOST_OPERATIONS, Steady, steady
from simtmm.sampling.outcome import Sampled
from simtmm.sampling.part_of_machine import by_part
from simtmm.sampling.sample import sample_of
from simtmm.sampling.simulation import LaunchTime, Plan, Profiled, SimulatedSample, simulate_sample
from simtmm.sampling.sources import Source
from simtmm.sampling.strata import LAUNCHES, Stratum, strata_of
from simtmm.sampling.stretches import HEAD, WORTH, Stretches, form_of, stretches_of
from simtmm.sampling.total import COARSE, Estimate, blocks_of, sampled_of, total
from simtmm.trace.lower import lower_or_stream

TIMED = 8  # stretches of a launch, at first; then as many more as the interval says
QUICK = 1_000_000  # operations of warps of a program, up to which simulating all of it takes no longer than a sample
LONG = 60_000_000  # operations, beyond which a launch is simulated as far as its first wave goes
FILLED = 1.2  # times the lines of the L2 that go into it before a pace is taken
AGAIN, MOST_AGAIN = 1.5, 4.0  # times as many stretches and launches as before, at least and at most
SPARE = 1.2  # times as many as the interval says


@dataclass
class _Asked:
    """What is asked of the next sample. head: waves at the beginning of launches, by stratum. longer: waves more that
    each stretch has before its pace is taken, likewise. late: strata whose L2 the sample does not fill.
    """

    timed: int = TIMED
    launches: int = LAUNCHES
    head: dict[int, int] = field(default_factory=dict)
    longer: dict[int, int] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)


def sampled(source: Source, machine: Machine, error: float = DEFAULT_ERROR, seed: int = 0) -> Sampled | None:
    """A program's time on a machine from a sample; None where it is not worth it, and all is to be simulated.

    So it is on a machine with `first_launch`, which holds for one launch and none that is like it, and where all of it
    is soon simulated. What a run's first accesses alone wait for, translations that outlive launches, is left out.

    source: the program. error: half of the requested interval, as a part of the time. seed: of what is drawn.

    Raises the errors of lowering and simulating.
    """
    if machine.durations.first_launch:
        return None
    warm = machine.after_its_first_launch
    machine = _beginning(source, warm)
    written_back = _written_back(warm, machine)
    strata = strata_of(source)
    waves = {launch: _wave(source, machine, launch) for stratum in strata for launch in stratum.launches}
    if error >= COARSE and (rough := _by_parts(source, machine, strata, waves, error)):
        return rough
    operations = _operations(source, machine, strata)
    if _all_operations(source, strata, operations) <= QUICK:
        return None
    long = _long_launches(source, machine, strata, waves, operations)
    asked, rounds = _Asked(), 0
    profiles: dict[int, Profiled] = {}
    while True:
        random = np.random.default_rng(seed)
        plans: dict[int, Plan] = {}
        for number, stratum in enumerate(strata):
            if own := [launch for launch in stratum.launches if launch in long]:
                plans |= {launch: long[launch] for launch in own}
                continue
            of_block = operations[stratum.launches[0]]
            taken = stratum.spread(asked.launches, random)
            needed = [each for each in taken if each not in profiles and _planned(source, waves, each, asked, number)]
            profiles |= looked_at(source, waves, dict.fromkeys(needed, of_block), needed)
            plans |= {each: _planned(source, waves, each, asked, number, random, profiles.get(each)) for each in taken}
        if _share(source, plans) > WORTH and not long:
            return None
        rounds += 1
        found = simulate_sample(source, machine, plans, profiles, written_back)
        if _deepened(source, machine, strata, waves, operations, found, asked):
            continue
        estimate = total(strata, found.launches, asked.late)
        is_met = estimate.half <= error * estimate.ticks
        if is_met or (long and (len(long) == len(plans) or rounds > 1)):
            return sampled_of(source, machine, strata, plans, found, estimate, error, rounds, is_met, bool(asked.late))
        if not _asks_for_more(asked, estimate, error, strata, found.launches):
            return None


def _planned(
    source: Source,
    waves: Mapping[int, int],
    launch: int,
    asked: _Asked,
    number: int,
    random: np.random.Generator | None = None,
    profiled: Profiled | None = None,
) -> Stretches | None:
    """The stretches of a launch; None where all of it is simulated. number: of its stratum."""
    described, wave = source.launches[launch], waves[launch]
    parts = [] if profiled is None or profiled[0].is_even else [each[:2] for each in profiled[0].segments()]
    return stretches_of(
        described.blocks, wave, asked.timed, asked.head.get(number, HEAD), random or np.random.default_rng(0),
        form_of(described.grid, wave, asked.longer.get(number, 0)), parts if len(parts) <= asked.timed else (),
    )  # fmt: skip


def _deepened(
    source: Source,
    machine: Machine,
    strata: Sequence[Stratum],
    waves: Mapping[int, int],
    operations: Mapping[int, int],
    found: SimulatedSample,
    asked: _Asked,
) -> bool:
    """Whether beginnings of launches must be longer, so that the L2 is full; then they are asked for."""
    deeper = {
        number: needed
        for number, needed in _heads(found, machine, strata).items()
        if needed > asked.head.get(number, HEAD) and number not in asked.late
    }
    for number, needed in deeper.items():
        launch = strata[number].launches[0]
        is_late = needed > WORTH * source.launches[launch].blocks / waves[launch]
        if is_late and operations[launch] * source.launches[launch].blocks > LONG:
            asked.late.add(number)
        else:
            asked.head[number] = needed
    return bool(deeper.keys() - asked.late)


def _asks_for_more(
    asked: _Asked, estimate: Estimate, error: float, strata: Sequence[Stratum], times: Mapping[int, LaunchTime]
) -> bool:
    """Ask for as much more as narrows the interval to what is requested; whether that can be."""
    wanted = error * estimate.ticks - estimate.rest
    if wanted <= 0:
        return False
    of_strata = [[times[each] for each in stratum.launches if each in times] for stratum in strata]
    is_deeper = False
    if estimate.settling > wanted / 2:  # the pace still changes behind the beginning
        for number, own in enumerate(of_strata):
            if any(time.settling for time in own):
                asked.head[number], is_deeper = 2 * asked.head.get(number, HEAD), True
    if estimate.warming > wanted / 4:
        for number, own in enumerate(of_strata):
            if any(time.warming for time in own):
                asked.longer[number], is_deeper = 2 * asked.longer.get(number, 0) + 1, True
    if is_deeper:
        return True
    more = SPARE * (estimate.chance / (wanted - estimate.settling - estimate.warming)) ** 2
    more = min(max(more, AGAIN), MOST_AGAIN)
    asked.timed, asked.launches = math.ceil(more * asked.timed), math.ceil(more * asked.launches)
    return True


def _by_parts(
    source: Source, machine: Machine, strata: Sequence[Stratum], waves: Mapping[int, int], error: float
) -> Sampled | None:
    """A launch or two of each stratum on a part of the machine; None where that does not do, as where blocks differ
    along a launch, of which only the middle would be simulated.
    """
    plans: dict[int, Plan] = {}
    random = np.random.default_rng(0)
    for stratum in strata:
        for each in stratum.few(random):
            launch = by_part(source, machine, each)
            if launch is None:
                return None
            plans[each] = Steady(launch)
    profiles = looked_at(source, waves, dict.fromkeys(plans, OPERATIONS), list(plans))
    if not all(profile.is_even for profile, _ in profiles.values()):
        return None
    found = simulate_sample(source, machine, plans, {})
    estimate = total(strata, found.launches, ())
    is_met = estimate.half <= error * estimate.ticks
    return sampled_of(source, machine, strata, plans, found, estimate, error, 1, is_met, False)


def _wave(source: Source, machine: Machine, launch: int) -> int:
    """Blocks of a launch that the machine holds at once."""
    own = source.launches[launch]
    of_group = machine.active_blocks(own.threads_per_block, own.registers_per_thread, own.shared_memory_bytes)
    return max(1, of_group * machine.cores.groups)


def _share(source: Source, plans: Mapping[int, Plan]) -> float:
    """The part of the program's blocks that is simulated."""
    blocks = sum(launch.blocks for launch in source.launches)
    return sum(blocks_of(source, launch, plan) for launch, plan in plans.items()) / blocks


def _heads(found: SimulatedSample, machine: Machine, strata: Sequence[Stratum]) -> dict[int, int]:
    """Waves that fill the L2, at the beginning of the launches of each stratum that is sampled in stretches.

    An L2 that takes written lines up writes none of them on until it is full, and hits in it grow until then.
    """
    if machine.memory.l2 is None:
        return {}
    lines = machine.memory.l2.used_sets * machine.memory.l2.ways
    waves = {}
    for number, stratum in enumerate(strata):
        misses = [found.launches[launch].misses for launch in stratum.launches if launch in found.launches]
        least = min((each for each in misses if each), default=0.0)
        if least:
            waves[number] = math.ceil(FILLED * lines / least)
    return waves


def _beginning(source: Source, machine: Machine) -> Machine:
    """The machine as a launch of which only some blocks run finds it: its L2 empty, unless it holds all arrays.

    A warm one would hold whatever these few blocks need. A last-level cache that holds all arrays begins warm; one that
    does not is left out, as these few blocks would not fill it.
    """
    l2 = machine.memory.l2
    if l2 is None or l2.start != "warm" or not source.launches:
        return machine
    arrays = source.trace_of({0: np.array([source.launches[0].blocks // 2], np.int64)}).info.arrays
    needed, last_level = sum(array.bytes for array in arrays), machine.memory.last_level
    if needed <= l2.used_sets * l2.ways * machine.chunk_bytes:
        return machine
    if last_level and needed <= last_level.sets * last_level.ways * machine.chunk_bytes:
        return machine.replace({"memory.l2.start": "cold", "memory.last_level.start": "warm"})
    return machine.without_last_level.replace({"memory.l2.start": "cold"})


def _written_back(warm: Machine, machine: Machine) -> float:
    """Ticks that memory takes for all that an earlier run may have left written in the L2, which is empty here instead.

    A launch that stores more than the L2 holds would wait for that; in an empty one its first stores wait for nothing.
    """
    l2 = warm.memory.l2
    if l2 is None or l2.writes == "through" or l2.start != "warm" or machine is warm:
        return 0.0
    return l2.used_sets * l2.ways * machine.durations.service / machine.memory.partitions


def _operations(source: Source, machine: Machine, strata: Sequence[Stratum]) -> dict[int, int]:
    """Operations of a block in the middle of the first launch of each stratum."""
    firsts = sorted(stratum.launches[0] for stratum in strata)
    middles = {launch: np.array([source.launches[launch].blocks // 2], np.int64) for launch in firsts}
    _, tallies = lower_or_stream(sample_of(source.trace_of(middles), middles), machine)
    return {launch: tally.operations for launch, tally in zip(middles, tallies, strict=True)}


def _all_operations(source: Source, strata: Sequence[Stratum], operations: Mapping[int, int]) -> int:
    """Operations of the program, about. operations: of a block of the first launch of each stratum."""
    return sum(
        operations[stratum.launches[0]] * source.launches[launch].blocks
        for stratum in strata
        for launch in stratum.launches
    )


def _long_launches(
    source: Source,
    machine: Machine,
    strata: Sequence[Stratum],
    waves: Mapping[int, int],
    operations: Mapping[int, int],
) -> dict[int, Steady]:
    """The launches of which less than a wave can be simulated, with what came of that; one or two of each stratum."""
    found: dict[int, Steady] = {}
    random = np.random.default_rng(0)
    for stratum in strata:
        launch = stratum.launches[0]
        blocks, wave = source.launches[launch].blocks, waves[launch]
        plan = stretches_of(blocks, wave, TIMED, HEAD, np.random.default_rng(0))
        if (plan.simulated if plan else blocks) * operations[launch] > LONG:
            made = {each: steady(source, machine, each, waves[each], MOST_OPERATIONS) for each in stratum.few(random)}
            found |= {each: Steady(own) for each, own in made.items() if own is not None}
    return found
