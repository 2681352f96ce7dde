"""What a sample says of a program: the time of all its launches, with its interval, and what came of it."""

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from simtmm.machine import Machine
from simtmm.sampling.extrapolation import Scaling, extrapolated_counts, extrapolated_result
from simtmm.sampling.interval import SYSTEMATIC
from simtmm.sampling.long.steady import Steady
from simtmm.sampling.outcome import Sampled
from simtmm.sampling.simulation import LaunchTime, Plan, SimulatedSample
from simtmm.sampling.sources import Source
from simtmm.sampling.strata import Stratum

COARSE = 0.1  # a requested error from which on a part of the machine is simulated, where that keeps within it
LATE_SYSTEMATIC = 0.03  # in the place of SYSTEMATIC, where the L2 is not as full in the sample as in the whole


@dataclass(frozen=True)
class Estimate:
    """Of all launches together. ticks; chance: half of their interval, so far as more of a sample narrows it;
    settling: so far as longer beginnings of launches do; warming: so far as longer stretches do; rest: so far as
    nothing does.
    """

    ticks: float
    chance: float
    settling: float
    warming: float
    rest: float

    @property
    def half(self) -> float:
        """Half of the interval."""
        return self.chance + self.settling + self.warming + self.rest


def total(strata: Sequence[Stratum], times: Mapping[int, LaunchTime], late: Collection[int]) -> Estimate:
    """Of all launches. late: strata whose L2 the sample leaves."""
    ticks = variance = systematic = settling = warming = 0.0
    for number, stratum in enumerate(strata):
        own = [launch for launch in stratum.launches if launch in times]
        each, half = stratum.estimated(times)
        simulated = sum(times[launch].ticks for launch in own)
        whole = sum(each.values())
        times_as_much = whole / simulated if simulated else 1.0
        ticks += whole
        left_out = sum(times[launch].left_out for launch in own) + whole - simulated
        systematic += (LATE_SYSTEMATIC if number in late else SYSTEMATIC) * left_out
        settling += sum(times[launch].settling for launch in own) * times_as_much
        warming += sum(times[launch].warming for launch in own) * times_as_much
        systematic += sum(times[launch].rest for launch in own) * times_as_much
        variance += half**2 + sum((times[launch].half * times_as_much) ** 2 for launch in own)
    return Estimate(ticks, math.sqrt(variance), settling, warming, systematic)


def sampled_of(  # noqa: PLR0913, PLR0917 - all that a sample is made of
    source: Source,
    machine: Machine,
    strata: Sequence[Stratum],
    plans: Mapping[int, Plan],
    found: SimulatedSample,
    estimate: Estimate,
    asked: float,
    rounds: int,
    is_met: bool,
    is_late: bool,
) -> Sampled:
    """What came of a program by its sample.

    plans: of the launches that were simulated. asked: half of the requested interval. rounds: samples that were taken.
    is_met: whether the interval is as narrow as requested. is_late: whether the L2 fills later than in the sample.
    """
    scalings: list[Scaling] = [Scaling(0, 1.0, 1.0, 1.0)] * len(source.launches)
    ticks = [0] * len(source.launches)
    for stratum in strata:
        own = [launch for launch in stratum.launches if launch in found.launches]
        each, _ = stratum.estimated(found.launches)
        counted, _ = stratum.estimated(found.counted)
        for launch in stratum.launches:
            by = launch if launch in found.launches else min(own, key=lambda other: stratum.apart(launch, other))
            time, whole = found.launches[by], each[launch]
            longer = time.scaling.time * whole / time.ticks if time.ticks else 1.0
            more = counted[launch] / found.counted[by].ticks if found.counted[by].ticks else 1.0
            scalings[launch] = Scaling(
                time.scaling.launch, time.scaling.blocks * more, longer, time.scaling.counted * more
            )
            ticks[launch] = round(whole)
    work = total(strata, found.counted, ())
    return Sampled(
        extrapolated_result(found.result, scalings, ticks),
        extrapolated_counts(found.counts, scalings, source.launches, machine),
        estimate.half / estimate.ticks,
        asked,
        sum(launch.blocks for launch in source.launches),
        sum(blocks_of(source, launch, plan) for launch, plan in plans.items()),
        len(source.launches),
        len(plans),
        rounds,
        dataclasses.replace(found.info, launches=source.launches),
        found,
        (*source.notes, *_notes(plans, found, estimate, asked, is_met, is_late)),
        work.half / work.ticks if work.ticks else 0.0,
    )


def _notes(
    plans: Mapping[int, Plan],
    found: SimulatedSample,
    estimate: Estimate,
    asked: float,
    is_met: bool,
    is_late: bool,
) -> list[str]:
    notes = []
    if asked >= COARSE and all(isinstance(plan, Steady) for plan in plans.values()):
        notes.append("a part of the machine was simulated, with its share of the blocks and of the memory")
    elif any(isinstance(plan, Steady) for plan in plans.values()):
        notes.append(
            "its blocks are long: parts of a few waves were simulated, and the rest is assumed to keep their pace"
        )
    if (kinds := max(time.kinds for time in found.launches.values())) > 1:
        notes.append(f"blocks differ: {kinds} kinds of them were told apart, each with a pace of its own")
    if is_late:
        notes.append("its L2 fills later than the sample's, which may affect the result")
    if not is_met:
        error = estimate.half / estimate.ticks
        notes.append(f"the time is known to {100 * error:.2g} %, and not to the {100 * asked:.2g} % asked for")
    return notes


def blocks_of(source: Source, launch: int, plan: Plan) -> int:
    """How many blocks are simulated, of some only a part."""
    if isinstance(plan, Steady):
        return plan.launch.simulated
    return plan.simulated if plan else source.launches[launch].blocks
