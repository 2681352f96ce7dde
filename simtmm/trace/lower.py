"""Trace -> Workload: threads to warps of W in lockstep, addresses to chunks of C words.

Of the threads of a warp that are at different sites, those at the lowest site go first, so that they meet again
behind a branch or a loop. Threads at a barrier wait until all living threads of their warp are at one. What
threads do at one site at once is one operation of the warp:

    work            compute, of as many instructions as the thread with most operations has; neighbours merge;
                    work of no operations is nothing
    load, async,
    store           the chunks that the threads touch, duplicates merged, in the order of their first thread
    atomic          a chunk for each thread, in order; with memory.atomics = "by-word" each chunk as often as its most
                    updated word is updated; a reduce with memory.reductions = "posted" where nobody uses its value
    shared_*        shared, with the conflict degree of the banks
    join            join, leaving out as many asyncs as the thread that leaves out fewest

    local_load,     load (or async, if its site says which values it loads) and store: the chunks in which the threads'
    local_store     words lie (simtmm/trace/local_memory.py)
    constant_load   compute, of as many instructions as the threads read words of 4 bytes

Before that, where the site says so: a join of the values that it needs, as far as the warp has not waited for them;
compute, of the instructions of its work; and pause, of the cycles of its stall. Of work itself, both as often as the
thread with most does it. Neighbouring pauses merge, as neighbouring computes do; neither does across the other.

With memory.coalescing = "half-warp-segments" a load, async or store lists instead, for each half-warp, a chunk for
each transaction that serves it, the chunk in which its segment lies (simtmm/trace/coalescing.py); so a chunk may be
listed several times.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from queue import SimpleQueue
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from simtmm.computer import cores
from simtmm.errors import MachineError, TraceError, WorkloadError
from simtmm.launch import bare_name
from simtmm.machine import Machine
from simtmm.trace.blocks_of_launches import check_launches, check_room, tables_of_warps
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.lowered_pieces import CountedThreads, LoweredPieces, Small
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.known import MOST_VALUES, Known
from simtmm.trace.schema import BEYOND, Kind, TraceLaunch
from simtmm.trace.site_tables import has_places
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload, TraceLowering
from simtmm.trace.warps.lowering import Lowered, Lowering, RefusedError
from simtmm.workload import Tally, Tallying, Workload

Progress = Callable[[int, int], None]

Lowerable = TypeVar("Lowerable", Workload, StreamedWorkload, AnyWorkload)

MOST_EVENTS, MOST_KNOWN = 1 << 13, 256  # of blocks that others may repeat, and how many such are known at once
MOST_HELD = 1 << 29  # bytes of the operations that are held, not generated for each simulation: 40 million of them


def lower(trace: Trace, machine: Machine, progress: Progress | None = None, places: bool = False) -> Workload:
    """The workload that a trace is on a machine, every operation of it.

    W, C, the width of a word, the rule of coalescing and the banks are the machine's. Each launch carries its
    occupancy: as many blocks as Eq (5.2) of the dissertation lets a group hold. progress: called with (events done,
    events in all). places: whether operations have their place in the program, as stalls by line need it.

    Raises WorkloadError where a block does not fit the machine or a warp's work does not fit 64 bits, TraceError where
    the trace is damaged.
    """
    check_fits(trace.info, machine)  # refused before the work
    return fit(
        lower_with(trace, LoweringSpecification.of(machine, places and has_places(trace.info)), progress),
        trace.info,
        machine,
    )


def lower_or_stream(
    trace: Trace,
    machine: Machine,
    progress: Progress | None = None,
    tallying: Tallying | None = None,
    most_held: int | None = None,
    places: bool = False,
) -> tuple[AnyWorkload, tuple[Tally, ...]]:
    """The result of `lower`, or, where that is too large to hold, what lowers operations as an engine asks for them.

    tallying: adds up the operations of each launch; how is its own. most_held: bytes of the operations held;
    MOST_HELD if left out. places: whether operations have their place in the program.

    Gives that as well. Raises what `lower` raises.

    progress: told how many events are done, and of how many.
    """
    check_fits(trace.info, machine)  # refused before the work
    specification = LoweringSpecification.of(machine, places and has_places(trace.info))
    workload, tallies = lower_or_stream_with(trace, specification, progress, tallying, most_held)
    return fit(workload, trace.info, machine), tallies


def lower_or_stream_with(
    trace: Trace,
    specification: LoweringSpecification,
    progress: Progress | None = None,
    tallying: Tallying | None = None,
    most_held: int | None = None,
) -> tuple[AnyWorkload, tuple[Tally, ...]]:
    """Likewise on any machine of a specification; launches carry no occupancy: see `fit`.

    progress: told how many events are done, and of how many.
    most_held: bytes of the operations held; MOST_HELD if left out.
    """
    tallying = tallying or Tallying(len(trace.info.launches))
    most = MOST_HELD if most_held is None else most_held
    check_launches(trace.info)
    tables = tables_of_warps(trace.info, specification.warp_width)
    pieces = LoweredPieces(trace.info, specification.warp_width) if tables <= most else None
    threads = CountedThreads(trace.info, specification)
    for runs, lowered in _lowered(trace, specification, progress, threads):
        tallying.add(runs.launch, lowered.kind, lowered.amount, lowered.warp_operations, lowered.goes_on)
        if pieces is not None:
            pieces.add(runs, lowered)
            if tables + pieces.bytes > most:
                pieces = None
    tallies = tallying.finish()
    places = threads.places()
    if pieces is not None:
        return pieces.workload(places), tallies
    limits = np.zeros(len(trace.info.launches), dtype=np.int64)
    return StreamedWorkload(trace, specification, limits, tallies, trace.info.kernel, places), tallies


def lower_with(trace: Trace, specification: LoweringSpecification, progress: Progress | None = None) -> Workload:
    """The workload that a trace is on any machine of a specification; its launches carry no occupancy: see `fit`.

    Raises what `lower` raises, but that every block fits.
    """
    threads = CountedThreads(trace.info, specification)
    check_launches(trace.info)
    check_room(trace.info, specification.warp_width)
    pieces = LoweredPieces(trace.info, specification.warp_width)
    for runs, lowered in _lowered(trace, specification, progress, threads):
        pieces.add(runs, lowered)
    return pieces.workload(threads.places())


def _is_small(runs: Runs) -> bool:
    """Whether to look for blocks that do the same is less work than to lower these."""
    return len(runs.values) <= MOST_VALUES and int(runs.events.sum()) <= MOST_EVENTS


def _lowered(
    trace: Trace, specification: LoweringSpecification, progress: Progress | None, counted: CountedThreads
) -> Iterator[tuple[Runs, Lowered]]:
    """The operations of some blocks after others, lowered on all cores. counted: counts what threads do there."""
    info = trace.info
    check_launches(info)
    of_trace = TraceLowering(info, specification)
    count = cores()
    free: SimpleQueue[Lowering] = SimpleQueue()
    for _ in range(count + 1):  # as many as runs are under way at once
        free.put(counted.count(of_trace.lowering()))

    def lowered(runs: Runs) -> Iterator[Lowered]:
        own = free.get()
        try:
            before = counted.so_far(own)
            yield from own.lower(runs, *of_trace.of_launch(runs.launch))
            counted.add(runs.launch, counted.so_far(own) - before)
        finally:
            free.put(own)

    alone = of_trace.lowering()

    def lowered_alone(runs: Runs, *of_launch: int) -> Small:
        before = alone.threads.copy()
        parts = tuple(alone.lower(runs, *of_launch))
        threads: npt.NDArray[np.int64] = alone.threads - before
        return Small(parts, threads, counted.of_launch(threads))

    known = Known(lowered_alone, MOST_KNOWN)
    under_way: deque[tuple[Runs, Iterator[Lowered], Future[Lowered | None] | None]] = deque()
    done = 0
    pieces = iter(trace.runs())
    with ThreadPoolExecutor(count, "simtmm-lower") as threads:
        while True:
            runs = next(pieces, None)
            if runs is not None:
                lowering, is_small = lowered(runs), _is_small(runs)
                under_way.append((runs, lowering, None if is_small else threads.submit(next, lowering, None)))
            if not under_way:
                return
            if runs is None or len(under_way) > count:
                first, lowering, future = under_way.popleft()
                try:
                    if future is None:
                        small = known.of(first, *of_trace.of_launch(first.launch))
                        counted.add_known(first.launch, small)
                        yield from ((first, part) for part in small.parts)
                    while future is not None and (part := future.result()) is not None:
                        future = threads.submit(next, lowering, None)
                        yield first, part
                except RefusedError as error:
                    raise _refusal(first, error.block, info) from None
                done += int(first.events.sum())
                if progress:
                    progress(done, info.events)


def fit(workload: Lowerable, info: TraceInfo, machine: Machine) -> Lowerable:
    """A workload that was lowered for a machine's specification, with the occupancy of that machine.

    workload: what was lowered.

    Raises WorkloadError where a block does not fit.
    """
    in_graph = np.array([launch.in_graph for launch in info.launches], bool)
    clusters = np.array([launch.cluster for launch in info.launches], np.int64)
    fitted = workload.limited(np.array(_occupancy(info, machine), dtype=np.int64), info.kernel)
    fitted = fitted.with_graphs(in_graph) if in_graph.any() else fitted
    return fitted.with_clusters(clusters) if (clusters > 1).any() else fitted


def check_fits(info: TraceInfo, machine: Machine) -> None:
    """Raise WorkloadError where a block does not fit a core group of the machine."""
    _occupancy(info, machine)


def _occupancy(info: TraceInfo, machine: Machine) -> list[int]:
    """Blocks of each launch that a group holds at once."""
    active = cache(machine.active_blocks)  # launches of a program are few different ones
    limits = []
    for number, launch in enumerate(info.launches):
        try:
            limits.append(active(launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes))
        except MachineError as error:
            hint = _smaller_blocks(launch, machine)
            raise WorkloadError(
                f"{info.kernel}: launch {number} of {bare_name(launch.kernel)}: {error}{hint}"
            ) from None
    return limits


def _smaller_blocks(launch: TraceLaunch, machine: Machine) -> str:
    """How a launch could be cut into blocks that fit; empty where none would, however small."""
    width = machine.cores.warp_width
    fitting, too_many = 0, -(-launch.threads_per_block // width)  # warps
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        try:
            machine.active_blocks(middle * width, launch.registers_per_thread, launch.shared_memory_bytes)
            fitting = middle
        except MachineError:
            too_many = middle
    if not fitting:
        return ""
    threads = fitting * width
    times = -(-launch.threads_per_block // threads)
    return (
        f"; {times} blocks of at most {threads} threads instead of each block would fit: launch and trace it that way"
    )


def _refusal(runs: Runs, block: int, info: TraceInfo) -> TraceError | WorkloadError:
    """What is wrong with a block that can't be lowered."""
    events = runs.of_blocks(runs.block[block : block + 1]).to_batch().events
    most = int(events["value"][events["kind"] != Kind.BARRIER].max())
    launch = info.launches[runs.launch]
    where = f"{info.kernel}: launch {runs.launch} of {bare_name(launch.kernel)}, block {int(runs.block[block])}"
    own = events[(events["kind"] == Kind.LOCAL_LOAD) | (events["kind"] == Kind.LOCAL_STORE)]
    size = launch.local_bytes_per_thread
    outside = own["value"][own["value"].astype(np.float64) + np.maximum(own["bytes"], 1) > size]
    if len(outside):
        return TraceError(
            f"{where}: local memory at byte {int(outside[0])}: must be within local_bytes_per_thread = {size}"
        )
    if most >= BEYOND:
        return TraceError(f"{where}: value {most}: addresses and counts must be below 2^62")
    return WorkloadError(f"{where}: a warp's work or stall without anything in between: must be below 2^63")
