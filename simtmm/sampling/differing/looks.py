"""A look at what a program's blocks do, before any of them is simulated: at all that are there, or at probes."""

from collections.abc import Mapping, Sequence

import numpy as np

from simtmm.sampling.differing.profile import Look, probes
from simtmm.sampling.differing.signature import Floats, Places, signatures, widened
from simtmm.sampling.simulation import Profiled
from simtmm.sampling.sources import Source

OPERATIONS = 200_000  # of warps, about, that are recorded of a program for a look at it
LEAST, MOST = 64, 512  # blocks of a launch that are looked at
OF_LAUNCH = 8  # blocks of a launch by which it is told apart from others of its kernel


def looked_at(
    source: Source, waves: Mapping[int, int], operations: Mapping[int, int], launches: Sequence[int]
) -> dict[int, Profiled]:
    """What blocks do along launches. waves: blocks that run at once. operations: of a block of each launch."""
    if not launches:
        return {}
    random = np.random.default_rng(0)
    chosen = {}
    for launch in launches:
        blocks = source.launches[launch].blocks
        most = OPERATIONS // (max(1, operations[launch]) * len(launches))
        chosen[launch] = probes(blocks, blocks if source.is_whole else min(max(most, LEAST), MOST), random)
    places = {launch: Places() for launch in launches}
    looks = {each: Look(len(chosen[each]), source.launches[each].blocks, waves[each]) for each in launches}
    trace = source.trace_of(chosen)
    for launch, part in signatures(trace, places):
        looks[launch].add(part)
    return {launch: (look.profile(), places[launch]) for launch, look in looks.items()}


def work_of(source: Source, launches: Sequence[int]) -> tuple[Floats, Floats]:
    """float64[launches], float64[launches, places]: the work of launches, and events of their blocks by place."""
    random = np.random.default_rng(0)
    chosen = {each: probes(source.launches[each].blocks, OF_LAUNCH, random) for each in launches}
    trace, places = source.trace_of(chosen), Places()
    number = {launch: at for at, launch in enumerate(launches)}
    work, seen, events = np.zeros(len(launches)), np.zeros(len(launches)), np.zeros((len(launches), 0))
    for launch, part in signatures(trace, dict.fromkeys(launches, places)):
        at = number[launch]
        work[at] += part.work.sum()
        seen[at] += len(part.block)
        events = widened(events, part.places.shape[1])
        events[at, : part.places.shape[1]] += part.places.sum(axis=0)
    blocks = np.array([source.launches[each].blocks for each in launches])
    return work * blocks / np.maximum(1, seen), events
