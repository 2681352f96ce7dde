"""A launch whose blocks are long: the pace that it keeps, by a few million operations of it.

A wave of long blocks has more operations than can be simulated in a minute; what its warps issue a tick settles long
before. It is not the same while all blocks are at the same place of what they do, as they are when a launch begins and
as they reach for the same memory, and later when they are at different places. Both are simulated: the first wave, and
blocks of the launch's middle that are under way (phases.py), which others follow as they end. Blocks are not recorded
but made of a few that are (translation.py).
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.engine import simulate
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.sampling.differing.signature import Floats
from simtmm.sampling.interval import half_width, quantile
from simtmm.sampling.long.cuts import Phases, phases_of
from simtmm.sampling.long.cuts import begun as begun_after
from simtmm.sampling.long.phases import under_way
from simtmm.sampling.long.translation import corners, translated
from simtmm.sampling.sample import Integers, sample_of
from simtmm.sampling.sources import Source
from simtmm.stalls import LAUNCH_COUNTS
from simtmm.trace.counts import Counts, lower_and_count
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower_or_stream
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload
from simtmm.watch import foresee, telling

MOST_OPERATIONS = 16_000_000  # that are simulated: some seconds
A_SECOND = 1e6  # of them
PART = "simulating a part of a wave"
CHECKS = 6  # blocks that are recorded beside those from which others are derived
BEGINNING = 0.2  # of what is issued, before the pace is taken
PACES = 16  # that are taken, one after another
NEARLY = 0.8  # of the first wave, so that none of its blocks ends
PHASES = 32  # places in what a block does at which blocks begin that are under way
STEADY_SYSTEMATIC = 0.03  # of the time, beside what the two paces differ by
PHASES_SYSTEMATIC = 0.1  # the same, of blocks with phases: how long they are in the same one is not known
TOGETHER = 4  # waves, about, for which blocks stay at the same place


@dataclass(frozen=True)
class SteadyLaunch:
    """What came of it.

    ticks, half: of the whole launch, its overhead included, and half of the interval in which they lie.
    workload, result: of what was simulated last. simulated: blocks of which a part was. counts: of the `counted` blocks
    that were recorded. share: of the launch's instructions, those that were issued. machine: that it was simulated on.
    is_left: whether the simulation was left before its end.
    """

    ticks: float
    half: float
    workload: AnyWorkload
    result: Result
    simulated: int
    counts: Counts
    counted: int
    share: float
    info: TraceInfo
    machine: Machine
    is_left: bool


@dataclass(frozen=True)
class Steady:
    """That a launch is simulated by its pace. launch: what came of it."""

    launch: SteadyLaunch


def steady(source: Source, machine: Machine, launch: int, wave: int, operations: int) -> SteadyLaunch | None:
    """A launch by so many operations of it.

    wave: blocks that the machine holds at once.

    Gives None where blocks do not all do the same at addresses that go up evenly over the grid, where their threads
    part and have several long loops, or where warps wait for one another at mbarriers, which no cut leaves whole.
    """
    described = source.launches[launch]
    blocks = described.blocks
    checks = np.random.default_rng(0).choice(blocks, min(blocks, CHECKS), replace=False)
    probes = np.unique(np.concatenate([np.array(corners(described.grid)), checks, [blocks // 2]])).astype(np.int64)
    trace = source.trace_of({launch: probes})
    if any(site.kind == "mbarrier" for site in trace.info.sites):
        return None
    probed = _alone(trace, launch, probes)
    is_twice = blocks >= 2 * wave
    first = np.arange(min(wave, blocks), dtype=np.int64)
    middle = (blocks - 2 * wave) // 2 + np.arange(2 * wave, dtype=np.int64)
    together = translated(trace, launch, first)
    if together is None:
        return None
    _, counts = lower_and_count(probed, machine, telling("lowering a sample"), places=True)
    streamed, (tally,) = lower_or_stream(probed, machine, most_held=0, places=True)
    assert isinstance(streamed, StreamedWorkload)
    streamed = dataclasses.replace(streamed, resident=_resident(machine, trace.info))
    of_block = tally.instructions / len(probes)
    if not of_block:
        return None
    phases = phases_of(together, trace.info)
    cuts = phases.cuts
    if not phases.can_cut:
        return None
    issued = _instructions(machine, trace, together, launch, phases)
    most = min(operations / 2 / len(cuts) * tally.instructions / tally.operations, NEARLY * issued.min() * len(first))
    parts = _Parts((1 + is_twice) * len(cuts) * most)
    foresee({PART: parts.whole * tally.operations / tally.instructions / A_SECOND})
    each = [
        _pace(
            machine,
            streamed,
            _alone(Trace(trace.info, [begun_after(together, phases, [cut] * len(first))]), launch, first),
            parts,
            most,
        )
        for cut in cuts
    ]
    begun = dataclasses.replace(each[-1], paces=np.average([pace.paces for pace in each], axis=0, weights=issued))
    later = begun
    if is_twice:
        apart = translated(trace, launch, middle)
        assert apart is not None  # the same checks
        ahead = 1 - (np.arange(2 * wave) + 0.5) / wave  # the blocks that began first are furthest
        phase = np.where(ahead > 0, np.floor(ahead * PHASES) / PHASES, 0.0)
        if len(cuts) == 1:
            spread = under_way(apart, phase.tolist())
        else:  # so far in time
            time = np.concatenate([[0.0], np.cumsum(issued * [pace.paces.mean() for pace in each])])
            done = np.interp(phase * time[-1], time, [*cuts, phases.whole])
            spread = begun_after(apart, phases, done.tolist())
        later = _pace(machine, streamed, _alone(Trace(trace.info, [spread]), launch, middle), parts, len(cuts) * most)
    # Where blocks have phases it is not known for how long they are in the same one.
    at_first = min(1.0, TOGETHER / 2 / (blocks / wave)) if len(cuts) == 1 else 0.5
    ticks, half = _whole(begun, later, of_block * blocks, blocks / wave, at_first, 1.0 if len(cuts) > 1 else at_first)
    differing = _spread_of_blocks(probed) * quantile(len(probes) - 1) if len(probes) > 1 else 0.0
    systematic = STEADY_SYSTEMATIC if len(cuts) == 1 else PHASES_SYSTEMATIC
    ticks += machine.durations.launch_overhead
    blocks_later = (1 + is_twice) * len(first)
    workload = dataclasses.replace(later.workload, tallies=(tally.times(blocks_later / len(probes)),))
    return SteadyLaunch(
        ticks, half + (differing + systematic) * ticks, workload, later.result,
        blocks_later, counts, len(probes), later.issued / (of_block * blocks), trace.info,
        machine, True,
    )  # fmt: skip


def _resident(machine: Machine, info: TraceInfo) -> Integers | None:
    """The chunks of all arrays, if the L2 begins warm and holds them: lowering whole blocks to find those that they
    access takes as long as simulating a part of them. None otherwise.
    """
    l2 = machine.memory.l2
    arrays = [array for array in info.arrays if array.space == "global" and array.bytes]
    size = machine.chunk_bytes
    needed = sum(array.bytes for array in arrays)
    if l2 is None or l2.dies > 1 or l2.start != "warm" or needed > l2.used_sets * l2.ways * size:
        return None
    chunks = [np.arange(array.base // size, (array.base + array.bytes - 1) // size + 1) for array in arrays]
    return np.concatenate(chunks).astype(np.int64) if chunks else None


@dataclass(frozen=True)
class _Pace:
    """What a part of a launch took. paces: float64[PACES], ticks an instruction, one after another."""

    workload: StreamedWorkload
    result: Result
    issued: int
    paces: npt.NDArray[np.float64]


class _Parts:
    """How far parts of a launch are, together. whole: instructions of all of them."""

    def __init__(self, whole: float) -> None:
        self.whole, self._before = whole, 0.0
        self._tell = telling(PART)

    def tell(self, issued: float) -> None:
        """Report on the part under way."""
        self._tell(int(self._before + issued), int(self.whole))

    def end(self, most: float) -> None:
        """The part of so many instructions is done."""
        self._before += most


def _pace(machine: Machine, like: StreamedWorkload, trace: Trace, parts: _Parts, most: float) -> _Pace:
    """Simulate blocks until they have issued so much. like: the workload of other blocks of the launch."""
    workload = dataclasses.replace(like, trace=trace)
    seen = [(0, 0)]

    def until(tick: int, issued: int) -> bool:
        seen.append((tick, issued))
        parts.tell(min(issued, most))
        return issued >= most

    result = simulate(machine, workload, "fast", stalls=True, until=until)
    parts.end(most)
    assert result.stalls is not None
    issued = int(result.stalls.launch_counts[0][LAUNCH_COUNTS.index("instructions")])
    tick, done = (np.array([*each, last], float) for each, last in zip(
        zip(*seen, strict=True), (result.launch_ticks[0] - machine.durations.launch_overhead, issued), strict=True
    ))  # fmt: skip
    at = np.linspace(BEGINNING * issued, issued, PACES + 1)
    return _Pace(workload, result, issued, np.diff(np.interp(at, done, tick)) / np.diff(at))


def _instructions(machine: Machine, trace: Trace, blocks: Runs, launch: int, phases: Phases) -> Floats:
    """float64[phases]: instructions of a block in each of its phases."""
    one = blocks.of_blocks(blocks.block[:1])
    left = []
    for cut in phases.cuts:
        begun = _alone(Trace(trace.info, [begun_after(one, phases, [cut])]), launch, one.block.astype(np.int64))
        _, (tally,) = lower_or_stream(begun, machine, most_held=0)
        left.append(float(tally.instructions))
    return np.asarray(-np.diff([*left, 0.0]))


def _whole(
    begun: _Pace, later: _Pace, issued: float, waves: float, at_first: float, unknown: float
) -> tuple[float, float]:
    """Ticks of a launch that issues so much in so many waves, and half of their interval.

    at_first: the part of it that goes at the pace of blocks that are at the same place. unknown: the part of which it
    is not known whether it does.
    """
    ticks = issued * (at_first * begun.paces.mean() + (1 - at_first) * later.paces.mean())
    weights = np.full(PACES, issued / PACES)
    spread = math.hypot(at_first * half_width(begun.paces, weights), (1 - at_first) * half_width(later.paces, weights))
    between = unknown * abs(begun.paces.mean() - later.paces.mean()) * issued
    # Waves that stay together end with one that takes as long as a full one; others with as much of one as it has.
    ends = ticks * (math.ceil(waves) / waves - 1) if waves > 1 else 0.0
    return ticks + ends / 2, spread + between + ends / 2


def _spread_of_blocks(probed: Trace) -> float:
    """The standard error of what a block does, as a part of it, from how many events each has."""
    events = np.concatenate([runs.events for runs in probed.runs()]).astype(float)
    return float(events.std(ddof=1) / events.mean() / math.sqrt(len(events))) if len(events) > 1 else 0.0


def _alone(trace: Trace, launch: int, blocks: Integers) -> Trace:
    """Blocks of a launch as the only launch of a trace."""
    return sample_of(trace, {launch: blocks})
