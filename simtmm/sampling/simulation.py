"""A sample simulated: what each of its launches takes as a whole, with an interval."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from simtmm.engine import simulate
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.sampling.differing.profile import Profile
from simtmm.sampling.differing.signature import Places, joined, signatures
from simtmm.sampling.extrapolation import Scaling
from simtmm.sampling.interval import half_width, quantile
from simtmm.sampling.long.steady import Steady, SteadyLaunch
from simtmm.sampling.paces import Timed, hidden, left_out
from simtmm.sampling.sample import sample_of
from simtmm.sampling.sources import Source
from simtmm.sampling.stretches import Stretches
from simtmm.stalls import LAUNCH_COUNTS
from simtmm.trace.counts import Counts, lower_and_count
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.streamed import AnyWorkload
from simtmm.watch import telling

Plan: TypeAlias = Stretches | Steady | None
"""How a launch is simulated: in stretches, its first wave alone, or all of it."""


Profiled: TypeAlias = tuple[Profile, Places]
"""What the blocks of a launch do along it, and the places of its program that are distinguished."""


@dataclass(frozen=True)
class LaunchTime:
    """What a launch takes, by its sample.

    ticks: of the whole launch, its overhead included. half: half of the interval in which they lie, so far as chance
    makes it. left_out: of them, those that were not simulated. scaling: how it follows from the sample. simulated:
    blocks. misses: chunks that pass the caches, or are stored, in a wave of a launch that was simulated in stretches.
    settling, warming: see `paces.LeftOut`. rest: half of the interval so far as nothing narrows it. kinds: of blocks
    that were distinguished.
    """

    ticks: float
    half: float
    left_out: float
    scaling: Scaling
    simulated: int
    misses: float = 0.0
    settling: float = 0.0
    warming: float = 0.0
    rest: float = 0.0
    kinds: int = 1


@dataclass(frozen=True)
class SimulatedSample:
    """A sample, simulated.

    info: of its trace. workload: what was simulated, of launches of which only a part was, the one that takes longest.
    part: its result, on `machine`, and of less than the workload where it `is_left`. result, counts: of all that was
    simulated, launch by launch. launches: by their numbers in the program.
    """

    info: TraceInfo
    workload: AnyWorkload
    part: Result
    result: Result
    counts: Counts
    launches: Mapping[int, LaunchTime]
    counted: Mapping[int, LaunchTime]
    machine: Machine
    is_left: bool


def simulate_sample(
    source: Source,
    machine: Machine,
    plans: Mapping[int, Plan],
    profiles: Mapping[int, Profiled],
    written_back: float = 0.0,
) -> SimulatedSample:
    """Simulate some launches of a program, each as it is planned.

    profiles: of those in stretches. written_back: ticks that an earlier run's stores, which the sample's L2 lacks at
    first, keep memory busy at most.
    """
    long = {launch: plan.launch for launch, plan in plans.items() if isinstance(plan, Steady)}
    short = {launch: plan for launch, plan in sorted(plans.items()) if not isinstance(plan, Steady)}
    parts: list[tuple[float, TraceInfo, AnyWorkload, Result, Counts]] = []
    launches: dict[int, LaunchTime] = {}
    counted: dict[int, LaunchTime] = {}
    if short:
        info, workload, result, counts, launches, counted = _in_stretches(
            source, machine, short, profiles, written_back
        )
        parts.append((sum(each.ticks for each in launches.values()), info, workload, result, counts))
    for launch, launch_time in long.items():
        number = sum(len(part[3].launch_ticks) for part in parts)
        launches[launch] = own = _of_steady(launch_time, number, source, launch)
        work = launch_time.counts.launches[0].work
        more = own.scaling.counted
        counted[launch] = LaunchTime(work * more, 0.0, work * (more - 1), own.scaling, own.simulated)
        parts.append(
            (launch_time.ticks, launch_time.info, launch_time.workload, launch_time.result, launch_time.counts)
        )
    _, info, workload, longest, _ = max(parts, key=lambda part: part[0])
    merged = _merged([part[3] for part in parts], longest)
    together = Counts.of_launches(
        [launch for part in parts for launch in part[4].launches],
        {
            name: sum(part[4].work_by_class.get(name, 0) for part in parts)
            for name in dict.fromkeys(name for part in parts for name in part[4].work_by_class)
        },
    )
    steady = next((own for own in long.values() if own.result is longest), None)
    on, is_left = (steady.machine, steady.is_left) if steady else (machine, False)
    return SimulatedSample(info, workload, longest, merged, together, launches, counted, on, is_left)


def _in_stretches(
    source: Source,
    machine: Machine,
    plans: Mapping[int, Stretches | None],
    profiles: Mapping[int, Profiled],
    written_back: float,
) -> tuple[TraceInfo, AnyWorkload, Result, Counts, dict[int, LaunchTime], dict[int, LaunchTime]]:
    chosen = {
        launch: plan.chosen if plan else np.arange(source.launches[launch].blocks, dtype=np.int64)
        for launch, plan in plans.items()
    }
    trace = sample_of(source.trace_of(chosen), chosen)
    workload, counts = lower_and_count(trace, machine, telling("lowering a sample"), places=True)
    begun = np.zeros(workload.blocks, np.int64)
    result = simulate(machine, workload, "fast", stalls=True, progress=telling("simulating a sample"), begun=begun)
    assert result.stalls is not None
    launches, counted = {}, {}
    events = _events(trace, [len(blocks) for blocks in chosen.values()])
    first = 0
    for number, (launch, blocks) in enumerate(chosen.items()):
        plan, ticks = plans[launch], result.launch_ticks[number]
        own = begun[first : first + len(blocks)]
        first += len(own)
        work = counts.launches[number].work
        if plan is None:
            all_of_it = Scaling(number, 1.0, 1.0, 1.0)
            launches[launch] = LaunchTime(ticks, 0.0, 0.0, all_of_it, len(blocks))
            counted[launch] = LaunchTime(work, 0.0, 0.0, all_of_it, len(blocks))
            continue
        profile, places = profiles[launch]
        timed, done = _timed(trace, number, plan, profile, places)
        left = left_out(plan, own, profile, timed)
        counted_more, counted_half = _counted(plan, events[number], profile, done)
        behind = hidden(plan, own, ticks - machine.durations.launch_overhead) / 2
        earlier = plan.sooner_at_first(own, written_back) if profile.is_even else 0.0
        whole = ticks + earlier + left.ticks - behind
        scaling = Scaling(number, counted_more, whole / ticks, counted_more)
        there = dict(zip(LAUNCH_COUNTS, result.stalls.launch_counts[number].tolist(), strict=True))
        in_caches = there["l1_hits"] + there["l2_hits"] + there["l1_stores"] + there["last_level_hits"]
        in_caches += there["shared_l1_hits"]
        misses = (there["chunks"] - in_caches) / (plan.simulated / plan.wave)
        launches[launch] = LaunchTime(
            whole, left.chance, left.ticks, scaling, plan.simulated, misses, left.settling, left.warming, behind,
            left.kinds,
        )  # fmt: skip
        work_of_all = work * counted_more
        counted[launch] = LaunchTime(
            work_of_all, work_of_all * counted_half, work_of_all - work, scaling, plan.simulated
        )
    return trace.info, workload, result, counts, launches, counted


def _events(trace: Trace, blocks: Sequence[int]) -> list[npt.NDArray[np.float64]]:
    """Events of each block of each launch. blocks: of each launch."""
    events = [np.zeros(number) for number in blocks]
    for runs in trace.runs():
        events[runs.launch][runs.block] = runs.events
    return events


def _timed(trace: Trace, number: int, plan: Stretches, profile: Profile, places: Places) -> tuple[Timed, float]:
    """What the waves do whose pace was taken, and the work of all blocks. number: of the launch in the sample."""
    if profile.is_even:
        return Timed(np.zeros(0), np.zeros((0, 0))), 0.0
    found = joined(part for _, part in signatures(trace, {number: places}))
    work, by_place = np.zeros(plan.simulated), np.zeros((plan.simulated, found.places.shape[1]))
    work[found.block], by_place[found.block] = found.work, found.places
    return Timed(plan.timed_of(work), plan.timed_of(by_place)), float(found.work.sum())


def _counted(plan: Stretches, events: npt.NDArray[np.float64], profile: Profile, work: float) -> tuple[float, float]:
    """How many times as much a launch counts as its sample, and half of the interval of that, as a part of it.

    events: of each block that was simulated. work: of all of them together, as the profile has it.
    """
    if profile.is_even:
        return plan.blocks / plan.simulated, _counted_half(plan, events)
    blocks = sum((profile.within(*each) for each in plan.left_out()), np.zeros(len(profile.work)))
    left_out = float((blocks * profile.work).sum())
    error = float(np.sqrt(((blocks * profile.error) ** 2).sum()))
    half = quantile(profile.seen - len(profile.work)) * error / (work + left_out) if error else 0.0
    return 1 + left_out / work, half


def _counted_half(plan: Stretches, events: npt.NDArray[np.float64]) -> float:
    """Half of the interval of what a launch counts, as a part of it, where blocks count as many as their events say.

    It is that of the stretches' means for what is left out, and by how much these differ from the mean of all that was
    simulated, which stands for it.

    events: of each block that was simulated.
    """
    ends = np.cumsum(plan.ends - plan.begins)
    means = np.array([events[begin:end].mean() for begin, end in itertools.pairwise(ends[:-1])])
    blocks = plan.waves_left_out_around() * plan.wave
    apart = abs(float((means * blocks).sum()) - float(events.mean() * blocks.sum()))
    whole = float(events.mean()) * plan.blocks
    return (half_width(means, blocks) + apart) / whole if whole else 0.0


def _of_steady(steady: SteadyLaunch, number: int, source: Source, launch: int) -> LaunchTime:
    """What was simulated once: its interval is what it is, and what is left out of it is part of that."""
    simulated = steady.result.launch_ticks[0]
    scaling = Scaling(
        number, 1 / steady.share, steady.ticks / simulated, source.launches[launch].blocks / steady.counted
    )
    return LaunchTime(steady.ticks, steady.half, 0.0, scaling, steady.simulated)


def _merged(results: Sequence[Result], longest: Result) -> Result:
    """Results of launches after one another; by place, stalls are those of the longest."""
    stalls = [result.stalls for result in results if result.stalls is not None]
    assert longest.stalls is not None
    if len(results) == 1:
        return longest
    known = [each.places.launches for each in stalls]
    known_of_all = [each for each in known if each is not None]
    of_launches = np.concatenate(known_of_all) if len(known_of_all) == len(known) else None
    together = dataclasses.replace(
        longest.stalls,
        places=dataclasses.replace(longest.stalls.places, launches=of_launches),
        launches=np.concatenate([each.launches for each in stalls]),
        launch_counts=np.concatenate([each.launch_counts for each in stalls]),
        active=np.concatenate([each.active for each in stalls]),
    )
    times = [result.time for result in results if result.time is not None]
    return dataclasses.replace(
        longest,
        port_busy=sum(result.port_busy for result in results),
        time={name: sum(time[name] for time in times) for name in times[0]} if times else None,
        launch_ticks=tuple(ticks for result in results for ticks in result.launch_ticks),
        stalls=together,
    )
