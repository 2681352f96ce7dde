"""A launch whose blocks are long: the pace that it keeps, by a few million operations of it.

A wave of long blocks has more operations than can be simulated in a minute; what its warps issue a tick settles long
before. It is not the same while all blocks are at the same place of what they do, as they are when a launch begins and
as they reach for the same memory, and later when they are at different places. Both are simulated: the first wave, and
blocks of the launch's middle that are under way (phases.py), which others follow as they end. Blocks are not recorded
but made of a few that are (translation.py).
"""

import dataclasses
import hashlib
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.engine import simulate
from simtmm.engine.known_results import Found, found
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.sampling import PART
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
CHECKS = 6  # blocks that are recorded beside those from which others are derived
BEGINNING = 0.2  # of the most that is issued, before the pace is taken
PACES = 16  # that are taken, one after another
KNOWN = 0.25  # of what no simulation of a pace can show, half of a pace's interval: more work would narrow little
LEAST_OPERATIONS, LEAST = 3_000_000, 0.4  # before it is asked whether a pace is known, and as a part of the most
NEXT = 1.25  # times as many, until it is asked again
_DECIDE = BEGINNING, PACES, NEXT  # when a part ends, beside what it is asked for
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
    systematic = STEADY_SYSTEMATIC if len(cuts) == 1 else PHASES_SYSTEMATIC
    enough = _Enough(
        max(LEAST * most, LEAST_OPERATIONS * tally.instructions / tally.operations),
        KNOWN * (systematic + _last_wave(blocks / wave) / 2),
    )
    parts = _Parts((1 + is_twice) * len(cuts) * most)
    foresee({PART: parts.whole * tally.operations / tally.instructions / A_SECOND})
    each = [
        _pace(
            machine,
            streamed,
            _begun(trace, begun_after(together, phases, [cut] * len(first)), launch, first),
            parts,
            most,
            enough,
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
        later = _pace(machine, streamed, _begun(trace, spread, launch, middle), parts, len(cuts) * most, enough)
    # Where blocks have phases it is not known for how long they are in the same one.
    at_first = min(1.0, TOGETHER / 2 / (blocks / wave)) if len(cuts) == 1 else 0.5
    ticks, half = _whole(begun, later, of_block * blocks, blocks / wave, at_first, 1.0 if len(cuts) > 1 else at_first)
    differing = _spread_of_blocks(probed) * quantile(len(probes) - 1) if len(probes) > 1 else 0.0
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


@dataclass(frozen=True)
class _Enough:
    """When a pace is known well. issued: that it takes at least. half: of its interval, as a part of it, at most."""

    issued: float
    half: float


def _pace(machine: Machine, like: StreamedWorkload, trace: Trace, parts: _Parts, most: float, enough: _Enough) -> _Pace:
    """Simulate blocks until they have issued so much, or less where their pace is known before.

    like: the workload of other blocks of the launch.
    """
    workload = dataclasses.replace(like, trace=trace)
    seen = [(0, 0)]
    asked_at = min(most, enough.issued)

    def until(tick: int, issued: int) -> bool:
        nonlocal asked_at
        seen.append((tick, issued))
        parts.tell(min(issued, most))
        if issued < asked_at:
            return False
        asked_at = min(most, issued * NEXT)
        return issued >= most or _is_known(_paces_of(seen, most), enough.half)

    def simulated() -> Found:
        result = simulate(machine, workload, "fast", stalls=True, until=until)
        assert result.stalls is not None
        issued = int(result.stalls.launch_counts[0][LAUNCH_COUNTS.index("instructions")])
        seen.append((result.launch_ticks[0] - machine.durations.launch_overhead, issued))
        return Found(result, np.array(seen, np.int64))

    known = found(machine, workload, most, simulated, repr((most, enough, _DECIDE)))
    parts.end(most)
    return _Pace(workload, known.result, int(known.seen[-1, 1]), _paces_of(known.seen, most))


def _paces_of(seen: npt.ArrayLike, most: float) -> Floats:
    """float64[PACES]: ticks an instruction, one after another, after a beginning that does not depend on where it ends.

    seen: ticks, and what had been issued by then. most: that may be issued.
    """
    tick, done = np.array(seen, float).T
    at = np.linspace(min(BEGINNING * max(most, done[-1]), done[-1] / 2), done[-1], PACES + 1)
    paces: Floats = np.diff(np.interp(at, done, tick)) / np.diff(at)
    return paces


def _is_known(paces: Floats, most: float) -> bool:
    """Whether half of the interval of a pace is no more than so much of it, and its halves differ by no more: one that
    changes still takes more of the launch.
    """
    first, second = paces.reshape(2, -1).mean(axis=1)
    half = half_width(paces, np.full(PACES, 1 / PACES))
    return bool(max(half, abs(first - second)) <= most * paces.mean())


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
    ends = ticks * _last_wave(waves)
    return ticks + ends / 2, spread + between + ends / 2


def _last_wave(waves: float) -> float:
    """By how much of a launch's time it may be longer, as its last wave takes as long as a full one."""
    return math.ceil(waves) / waves - 1 if waves > 1 else 0.0


def _spread_of_blocks(probed: Trace) -> float:
    """The standard error of what a block does, as a part of it, from how many events each has."""
    events = np.concatenate([runs.events for runs in probed.runs()]).astype(float)
    return float(events.std(ddof=1) / events.mean() / math.sqrt(len(events))) if len(events) > 1 else 0.0


def _begun(trace: Trace, runs: Runs, launch: int, blocks: Integers) -> Trace:
    """Blocks of a launch that are under way as the only launch of a trace, whose digest says how far they are."""
    digest = hashlib.sha256(trace.info.digest.encode())
    for array in (runs.structure, runs.values, runs.value_ends, *runs.structures):
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    info = dataclasses.replace(trace.info, digest=digest.hexdigest()[: len(trace.info.digest) or 20])
    return _alone(Trace(info, [runs]), launch, blocks)


def _alone(trace: Trace, launch: int, blocks: Integers) -> Trace:
    """Blocks of a launch as the only launch of a trace."""
    return sample_of(trace, {launch: blocks})
