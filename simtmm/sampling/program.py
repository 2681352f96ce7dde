"""A program's time from some blocks of some of its launches, with the interval in which it lies.

Launches that are alike are a stratum, of which some are simulated, and of each of these some stretches of blocks. More
of both are taken until the interval is as narrow as requested, or half of the program would be simulated:
then all of it is.
"""

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.sampling.extrapolation import Scaling, extrapolated_counts, extrapolated_result
from simtmm.sampling.interval import SYSTEMATIC, quantile
from simtmm.sampling.part_of_machine import by_part
from simtmm.sampling.sample import sample_of
from simtmm.sampling.simulation import LaunchTime, Plan, SimulatedSample, simulate_sample
from simtmm.sampling.sources import Source
from simtmm.sampling.steady import MOST_OPERATIONS, Steady, steady
from simtmm.sampling.stretches import HEAD, WORTH, stretches_of
from simtmm.trace.counts import Counts
from simtmm.trace.info import TraceInfo
from simtmm.trace.lower import lower_or_stream

DEFAULT_ERROR = 0.03  # of the time, 95 % of the time
LEAST_ERROR = SYSTEMATIC
TIMED, LAUNCHES = 8, 3  # stretches of a launch, and launches of a stratum, at first; then twice as many each time
COARSE = 0.1  # a requested error from which on a part of the machine is simulated, where that keeps within it
LONG = 2  # times MOST_OPERATIONS, beyond which a launch is simulated as far as its first wave goes
LATE_SYSTEMATIC = 0.03  # in the place of SYSTEMATIC, where the L2 is not as full in the sample as in the whole
FILLED = 1.2  # times the lines of the L2 that go into it before a pace is taken


@dataclass(frozen=True)
class Sampled:
    """What a program takes, by a sample of it.

    result, counts: as if all of it had been simulated and counted, extrapolated where it was not.
    error: half of the interval in which its time lies, 95 % of the time, as a part of the time; 0 where all was
        simulated. asked: the half that was requested.
    blocks, launches: of the program; simulated_blocks, simulated_launches: of these. rounds: samples that were taken.
    info: of a trace of the whole program, but for its events. sample: what was simulated, as it was. notes: what a
        reader must know, in words.
    counts_error: half of the interval in which the program's work lies, 95 % of the time, as a part of it.
    """

    result: Result
    counts: Counts
    error: float
    asked: float
    blocks: int
    simulated_blocks: int
    launches: int
    simulated_launches: int
    rounds: int
    info: TraceInfo
    sample: SimulatedSample
    notes: tuple[str, ...] = ()
    counts_error: float = 0.0

    @property
    def words(self) -> str:
        """Of how much it was simulated."""
        if self.simulated_blocks == self.blocks:
            return f"all {self.blocks:,} blocks were simulated"
        launches = f", in {self.simulated_launches:,} of {self.launches:,} launches" if self.launches > 1 else ""
        return f"of {self.blocks:,} blocks {self.simulated_blocks:,} were simulated{launches}"

    def _interval(self, time: float) -> list[float]:
        return [time * max(0.0, 1 - self.error), time * (1 + self.error)]

    def to_dict(self) -> dict[str, Any]:
        """All of it but result, counts, info and sample, for JSON."""
        seconds = self.result.seconds
        return {
            "error": self.error,
            "asked": self.asked,
            "counts_error": self.counts_error,
            "confidence": 0.95,
            "cycles": self._interval(self.result.cycles),
            "seconds": None if seconds is None else self._interval(seconds),
            "blocks": self.blocks,
            "simulated_blocks": self.simulated_blocks,
            "launches": self.launches,
            "simulated_launches": self.simulated_launches,
            "rounds": self.rounds,
            "notes": list(self.notes),
        }


def sampled(source: Source, machine: Machine, error: float = DEFAULT_ERROR, seed: int = 0) -> Sampled | None:
    """A program's time on a machine from a sample; None where it is not worth it, and all is to be simulated.

    So it is on a machine with `first_launch`, which holds for one launch and none that is like it.

    source: the program. error: half of the requested interval, as a part of the time. seed: of what is drawn.

    Raises the errors of lowering and simulating.
    """
    if machine.durations.first_launch:
        return None
    strata = _strata(source)
    waves = {launch: _wave(source, machine, launch) for stratum in strata for launch in stratum}
    if error >= COARSE and (rough := _by_parts(source, machine, strata, error)):
        return rough
    head: dict[int, int] = {}  # waves, by stratum
    timed, taken, rounds = TIMED, LAUNCHES, 0
    operations = _operations(source, machine, strata)
    long = _long_launches(source, machine, strata, waves, operations)
    late: set[int] = set()  # strata whose L2 the sample does not fill
    while True:
        random = np.random.default_rng(seed)
        plans: dict[int, Plan] = {}
        for number, stratum in enumerate(strata):
            if stratum[0] in long:
                plans[stratum[0]] = long[stratum[0]]
                continue
            for launch in _spread(stratum, taken):
                blocks = source.launches[launch].blocks
                plans[launch] = stretches_of(blocks, waves[launch], timed, head.get(number, HEAD), random)
        if _share(source, plans) > WORTH and not long:
            return None
        rounds += 1
        found = simulate_sample(source, machine, plans)
        deeper = {
            number: needed
            for number, needed in _heads(found, machine, strata).items()
            if needed > head.get(number, HEAD) and number not in late
        }
        for number, needed in deeper.items():
            launch = strata[number][0]
            is_late = needed > WORTH * source.launches[launch].blocks / waves[launch]
            if is_late and operations[launch] * source.launches[launch].blocks > LONG * MOST_OPERATIONS:
                late.add(number)
            else:
                head[number] = needed
        if deeper.keys() - late:
            continue
        ticks, half = _total(strata, found.launches, late)
        is_met = half <= error * ticks
        if is_met or (long and (len(long) == len(plans) or rounds > 1)):
            return _sampled(source, machine, strata, plans, found, half / ticks, error, rounds, is_met, bool(late))
        timed, taken = 2 * timed, 2 * taken


def _by_parts(source: Source, machine: Machine, strata: Sequence[Sequence[int]], error: float) -> Sampled | None:
    """The first launch of each stratum on a part of the machine; None where that does not do."""
    plans: dict[int, Plan] = {}
    for stratum in strata:
        launch = by_part(source, machine, stratum[0])
        if launch is None:
            return None
        plans[stratum[0]] = Steady(launch)
    found = simulate_sample(source, machine, plans)
    ticks, half = _total(strata, found.launches, ())
    return _sampled(source, machine, strata, plans, found, half / ticks, error, 1, half <= error * ticks, False)


def _strata(source: Source) -> list[list[int]]:
    """Launches that are alike, in the order of the first of each."""
    found: dict[object, list[int]] = {}
    for launch, alike in enumerate(source.alike):
        found.setdefault(alike, []).append(launch)
    return list(found.values())


def _spread(launches: Sequence[int], most: int) -> list[int]:
    """At most so many of them, the middles of equal parts; all where few would be left out."""
    if len(launches) <= 2 * most:
        return list(launches)
    return [launches[(2 * part + 1) * len(launches) // (2 * most)] for part in range(most)]


def _wave(source: Source, machine: Machine, launch: int) -> int:
    """Blocks of a launch that the machine holds at once."""
    own = source.launches[launch]
    of_group = machine.active_blocks(own.threads_per_block, own.registers_per_thread, own.shared_memory_bytes)
    return max(1, of_group * machine.cores.groups)


def _share(source: Source, plans: Mapping[int, Plan]) -> float:
    """The part of the program's blocks that is simulated."""
    blocks = sum(launch.blocks for launch in source.launches)
    return sum(_blocks(source, launch, plan) for launch, plan in plans.items()) / blocks


def _blocks(source: Source, launch: int, plan: Plan) -> int:
    """How many blocks are simulated, of some only a part."""
    if isinstance(plan, Steady):
        return plan.launch.simulated
    return plan.simulated if plan else source.launches[launch].blocks


def _heads(found: SimulatedSample, machine: Machine, strata: Sequence[Sequence[int]]) -> dict[int, int]:
    """Waves that fill the L2, at the beginning of the launches of each stratum that is sampled in stretches.

    An L2 that takes written lines up writes none of them on until it is full, and hits in it grow until then.
    """
    if machine.memory.l2 is None:
        return {}
    lines = machine.memory.l2.sets * machine.memory.l2.ways
    waves = {}
    for number, stratum in enumerate(strata):
        misses = [found.launches[launch].misses for launch in stratum if launch in found.launches]
        least = min((each for each in misses if each), default=0.0)
        if least:
            waves[number] = math.ceil(FILLED * lines / least)
    return waves


def _total(
    strata: Sequence[Sequence[int]], times: Mapping[int, LaunchTime], late: Collection[int]
) -> tuple[float, float]:
    """Ticks of all launches, and half of the interval in which they lie. late: strata whose L2 the sample leaves."""
    ticks = variance = systematic = 0.0
    for number, stratum in enumerate(strata):
        own = [times[launch] for launch in stratum if launch in times]
        each = np.array([time.ticks for time in own])
        times_as_many = len(stratum) / len(own)
        ticks += each.sum() * times_as_many
        left_out = sum(time.left_out for time in own) + each.sum() * (times_as_many - 1)
        systematic += (LATE_SYSTEMATIC if number in late else SYSTEMATIC) * left_out
        variance += sum((time.half * times_as_many) ** 2 for time in own)
        if 1 < len(own) < len(stratum):
            others = len(stratum) - len(own)
            spread = float(each.std(ddof=1)) * math.sqrt(others * len(stratum) / len(own))
            variance += (quantile(len(own) - 1) * spread) ** 2
    return ticks, math.sqrt(variance) + systematic


def _sampled(
    source: Source,
    machine: Machine,
    strata: Sequence[Sequence[int]],
    plans: Mapping[int, Plan],
    found: SimulatedSample,
    error: float,
    asked: float,
    rounds: int,
    is_met: bool,
    is_late: bool,
) -> Sampled:
    scalings: list[Scaling] = [Scaling(0, 1.0, 1.0, 1.0)] * len(source.launches)
    ticks = [0] * len(source.launches)
    for stratum in strata:
        own = [launch for launch in stratum if launch in found.launches]
        mean = sum(found.launches[launch].ticks for launch in own) / len(own)
        for launch in stratum:
            by = launch if launch in found.launches else min(own, key=lambda other: abs(other - launch))
            time = found.launches[by]
            whole = time.ticks if by == launch else mean
            longer = time.scaling.time * whole / time.ticks if time.ticks else 1.0
            scalings[launch], ticks[launch] = dataclasses.replace(time.scaling, time=longer), round(whole)
    work, half = _total(strata, found.counted, ())
    return Sampled(
        extrapolated_result(found.result, scalings, ticks),
        extrapolated_counts(found.counts, scalings, source.launches, machine),
        error,
        asked,
        sum(launch.blocks for launch in source.launches),
        sum(_blocks(source, launch, plan) for launch, plan in plans.items()),
        len(source.launches),
        len(plans),
        rounds,
        dataclasses.replace(found.info, launches=source.launches),
        found,
        (*source.notes, *_notes(plans, error, asked, is_met, is_late)),
        half / work if work else 0.0,
    )


def _notes(plans: Mapping[int, Plan], error: float, asked: float, is_met: bool, is_late: bool) -> list[str]:
    notes = []
    if asked >= COARSE and all(isinstance(plan, Steady) for plan in plans.values()):
        notes.append("a part of the machine was simulated, with its share of the blocks and of the memory")
    elif any(isinstance(plan, Steady) for plan in plans.values()):
        notes.append(
            "its blocks are long: parts of a few waves were simulated, and all of it is taken to keep their pace"
        )
    if is_late:
        notes.append("the L2 fills later in it than in its sample, which may show")
    if not is_met:
        notes.append(f"the time is known to {100 * error:.2g} %, and not to the {100 * asked:.2g} % asked for")
    return notes


def _operations(source: Source, machine: Machine, strata: Sequence[Sequence[int]]) -> dict[int, int]:
    """Operations of a block in the middle of the first launch of each stratum."""
    firsts = sorted(stratum[0] for stratum in strata)
    middles = {launch: np.array([source.launches[launch].blocks // 2], np.int64) for launch in firsts}
    _, tallies = lower_or_stream(sample_of(source.trace_of(middles), middles), machine)
    return {launch: tally.operations for launch, tally in zip(middles, tallies, strict=True)}


def _long_launches(
    source: Source,
    machine: Machine,
    strata: Sequence[Sequence[int]],
    waves: Mapping[int, int],
    operations: Mapping[int, int],
) -> dict[int, Steady]:
    """The launches of which less than a wave can be simulated, with what came of that; the first of each stratum."""
    found = {}
    for launch in sorted(stratum[0] for stratum in strata):
        blocks, wave = source.launches[launch].blocks, waves[launch]
        plan = stretches_of(blocks, wave, TIMED, HEAD, np.random.default_rng(0))
        if (plan.simulated if plan else blocks) * operations[launch] > LONG * MOST_OPERATIONS:
            steady_launch = steady(source, machine, launch, wave, MOST_OPERATIONS)
            if steady_launch is not None:
                found[launch] = Steady(steady_launch)
    return found
