"""Launches that are alike: strata, of each of which some launches are simulated and stand for the others.

Launches of one kernel with blocks of one shape are distinguished by what they do: at which places of the program, and
how
much, within a factor of the square root of 2. What a launch takes is then a mean of those that were simulated, or goes
up with its work.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simtmm.sampling.differing.looks import work_of
from simtmm.sampling.differing.profile import APART, clustered
from simtmm.sampling.interval import quantile
from simtmm.sampling.simulation import LaunchTime
from simtmm.sampling.sources import Source
from simtmm.sampling.trend import trend

LAUNCHES = 3  # of a stratum that are simulated at first; all where these would be half of them
ROUGH_LAUNCHES = 2  # where a launch takes long and is known no better than to some percent
IN_OCTAVE = 2  # strata, of launches whose work is within a factor of 2


@dataclass(frozen=True)
class Stratum:
    """Launches that are alike.

    launches: their numbers, ascending. work: of each, in any unit. is_same: whether all do the very same.
    """

    launches: tuple[int, ...]
    work: Mapping[int, float]
    is_same: bool

    def spread(self, most: int, random: np.random.Generator) -> list[int]:
        """At most so many launches, one drawn from each equal part in the order of their work; all where few would be
        left out.
        """
        if len(self.launches) <= 2 * most:
            return list(self.launches)
        order = sorted(self.launches, key=lambda launch: (self.work[launch], launch))
        bounds = np.arange(most + 1) * len(order) // most
        return sorted(order[at] for at in random.integers(bounds[:-1], bounds[1:]).tolist())

    def few(self, random: np.random.Generator) -> list[int]:
        """The launches that are simulated where each takes long."""
        return [self.launches[0]] if self.is_same else self.spread(ROUGH_LAUNCHES, random)

    def apart(self, launch: int, other: int) -> tuple[float, int]:
        """How much two launches differ: in work, and in their numbers."""
        return abs(self.work[launch] - self.work[other]), abs(launch - other)

    def estimated(self, times: Mapping[int, LaunchTime]) -> tuple[dict[int, float], float]:
        """Ticks of each launch, and half of the interval of those that were not simulated together.

        times: of launches that were simulated, one of these at least.
        """
        own = [launch for launch in self.launches if launch in times]
        ticks, work = np.array([times[each].ticks for each in own]), np.array([self.work[each] for each in own])
        others = [launch for launch in self.launches if launch not in times]
        by = trend(work, ticks)
        found = {each: times[each].ticks for each in own}
        found |= {each: by.base + by.slope * self.work[each] for each in others}
        if not others or (self.is_same and len(own) == 1):
            return found, 0.0
        if len(own) <= by.parameters:
            return found, math.inf
        spread = math.sqrt(float(((ticks - by.base - by.slope * work) ** 2).sum()) / (len(own) - by.parameters))
        return found, quantile(len(own) - by.parameters) * spread * math.sqrt(
            len(others) * len(self.launches) / len(own)
        )  # fmt: skip


def strata_of(source: Source) -> list[Stratum]:
    """The strata of a program's launches, in the order of the first launch of each."""
    groups: dict[object, list[int]] = {}
    for launch, described in enumerate(source.launches):
        key = described.kernel, described.block, described.registers_per_thread, described.shared_memory_bytes
        groups.setdefault(key, []).append(launch)
    found = []
    for launches in groups.values():
        found += _told_apart(source, launches)
    return sorted(found, key=lambda stratum: stratum.launches[0])


def _told_apart(source: Source, launches: Sequence[int]) -> list[Stratum]:
    """Launches of one kernel with blocks of one shape, by what they do."""
    of_kind: dict[object, list[int]] = {}
    for launch in launches:
        of_kind.setdefault(source.same[launch], []).append(launch)
    if len(of_kind) == 1 or len(launches) <= 2 * LAUNCHES:
        return [Stratum(tuple(each), dict.fromkeys(each, 1.0), True) for each in of_kind.values()]
    firsts = [each[0] for each in of_kind.values()]
    work, places = work_of(source, firsts)
    kind, _ = clustered(places, APART)
    strata: dict[object, list[int]] = {}
    of_launch: dict[int, float] = {}
    for number, each in enumerate(of_kind.values()):
        octave = round(IN_OCTAVE * math.log2(work[number] + 1))
        strata.setdefault((int(kind[number]), octave), []).extend(each)
        of_launch |= dict.fromkeys(each, float(work[number]))
    return [
        Stratum(
            tuple(sorted(each)),
            {launch: of_launch[launch] for launch in each},
            len({source.same[launch] for launch in each}) == 1,
        )
        for each in strata.values()
    ]
