"""Trace -> Workload: threads to warps of W in lockstep, addresses to chunks of C words.

Of the threads of a warp that are at different sites, those at the lowest site go first, so that they meet again
behind a branch or a loop. Threads at a barrier wait until all living threads of their warp are at one. What
threads do at one site at once is one operation of the warp:

    work            compute, of as many instructions as the thread with most operations has; neighbours merge;
                    work of no operations is nothing
    load, async,
    store           the chunks that the threads touch, duplicates merged, in the order of their first thread
    atomic          a chunk for each thread, in order; with memory.atomics = "by-word" each chunk as often as its most
                    updated word is updated
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
from queue import SimpleQueue
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from simtmm.computer import cores
from simtmm.errors import MachineError, TraceError, WorkloadError
from simtmm.machine import Machine
from simtmm.stalls import Places
from simtmm.trace.blocks_of_launches import check_launches
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.schema import BEYOND, Kind
from simtmm.trace.site_tables import places_of
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload, TraceLowering
from simtmm.trace.warps.lowering import Lowered, Lowering, RefusedError
from simtmm.workload import Tally, Tallying, Workload

Progress = Callable[[int, int], None]

Lowerable = TypeVar("Lowerable", Workload, StreamedWorkload, AnyWorkload)

MOST_HELD = 1 << 28  # bytes of the operations that are held rather than made anew for each simulation


def lower(trace: Trace, machine: Machine, progress: Progress | None = None, places: bool = False) -> Workload:
    """The workload that a trace is on a machine, every operation of it.

    W, C, the width of a word, the rule of coalescing and the banks are the machine's. Each launch carries its
    occupancy: as many blocks as Eq (5.2) of the dissertation lets a group hold. progress: called with (events done,
    events in all). places: whether operations say where in the program they come from, as stalls by line need it.

    Raises WorkloadError where a block does not fit the machine or a warp's work does not fit 64 bits, TraceError where
    the trace is damaged.
    """
    check_fits(trace.info, machine)  # refused before the work
    return fit(lower_with(trace, LoweringSpecification.of(machine, places), progress), trace.info, machine)


def lower_or_stream(
    trace: Trace,
    machine: Machine,
    progress: Progress | None = None,
    tallying: Tallying | None = None,
    most_held: int | None = None,
    places: bool = False,
) -> tuple[AnyWorkload, tuple[Tally, ...]]:
    """What `lower` gives, or, where that is too much to hold, what makes its operations as an engine asks for them.

    tallying: adds up the operations of each launch; how is its own. most_held: bytes of the operations held;
    MOST_HELD if left out. places: whether operations say where in the program they come from.

    Gives that as well. Raises what `lower` raises.
    """
    check_fits(trace.info, machine)  # refused before the work
    specification = LoweringSpecification.of(machine, places)
    workload, tallies = lower_or_stream_with(trace, specification, progress, tallying, most_held)
    return fit(workload, trace.info, machine), tallies


def lower_or_stream_with(
    trace: Trace,
    specification: LoweringSpecification,
    progress: Progress | None = None,
    tallying: Tallying | None = None,
    most_held: int | None = None,
) -> tuple[AnyWorkload, tuple[Tally, ...]]:
    """Likewise on any machine of a specification; launches carry no occupancy: see `fit`."""
    tallying = tallying or Tallying(len(trace.info.launches))
    most = MOST_HELD if most_held is None else most_held
    pieces: list[tuple[Runs, Lowered]] = []
    held = 0
    counted: list[Lowering] = []
    for runs, lowered in _lowered(trace, specification, progress, counted):
        tallying.add(runs.launch, lowered.kind, lowered.amount, lowered.warp_operations)
        held += lowered.bytes
        if held <= most:
            pieces.append((runs, lowered))
        else:
            pieces.clear()
    tallies = tallying.finish()
    places = _places(trace.info, specification, counted)
    if held <= most:
        return _assemble(pieces, trace.info, specification.warp_width, places), tallies
    limits = np.zeros(len(trace.info.launches), dtype=np.int64)
    return StreamedWorkload(trace, specification, limits, tallies, trace.info.kernel, places), tallies


def lower_with(trace: Trace, specification: LoweringSpecification, progress: Progress | None = None) -> Workload:
    """The workload that a trace is on any machine of a specification; its launches carry no occupancy: see `fit`.

    Raises what `lower` raises, but that every block fits.
    """
    counted: list[Lowering] = []
    pieces = list(_lowered(trace, specification, progress, counted))
    places = _places(trace.info, specification, counted)
    return _assemble(pieces, trace.info, specification.warp_width, places)


def _places(info: TraceInfo, specification: LoweringSpecification, counted: list[Lowering]) -> Places | None:
    """Where operations come from, with the threads that were counted while they were lowered."""
    if not specification.places:
        return None
    return places_of(info, np.sum([lowering.threads for lowering in counted], axis=0))


def _lowered(
    trace: Trace, specification: LoweringSpecification, progress: Progress | None, counted: list[Lowering]
) -> Iterator[tuple[Runs, Lowered]]:
    """The operations of some blocks after others, lowered on all cores. counted: gets what lowers them."""
    info = trace.info
    check_launches(info)
    of_trace = TraceLowering(info, specification)
    count = cores()
    free: SimpleQueue[Lowering] = SimpleQueue()
    for _ in range(count):
        counted.append(of_trace.lowering())
        free.put(counted[-1])

    def lowered(runs: Runs) -> Lowered:
        own = free.get()
        try:
            return own.lower(runs, *of_trace.of_launch(runs.launch))
        finally:
            free.put(own)

    under_way: deque[tuple[Runs, Future[Lowered]]] = deque()
    done = 0
    pieces = iter(trace.runs())
    with ThreadPoolExecutor(count, "simtmm-lower") as threads:
        while True:
            runs = next(pieces, None)
            if runs is not None:
                under_way.append((runs, threads.submit(lowered, runs)))
            if not under_way:
                return
            if runs is None or len(under_way) > count:
                first, future = under_way.popleft()
                try:
                    made = future.result()
                except RefusedError as error:
                    raise _refusal(first, error.block, info) from None
                yield first, made
                done += int(first.events.sum())
                if progress:
                    progress(done, info.events)


def fit(workload: Lowerable, info: TraceInfo, machine: Machine) -> Lowerable:
    """A workload that was made for a machine's specification, with the occupancy of that machine.

    Raises WorkloadError where a block does not fit.
    """
    return workload.limited(np.array(_occupancy(info, machine), dtype=np.int64), f"{info.kernel} on {machine.name}")


def check_fits(info: TraceInfo, machine: Machine) -> None:
    """Raise WorkloadError where a block does not fit a core group of the machine."""
    _occupancy(info, machine)


def _occupancy(info: TraceInfo, machine: Machine) -> list[int]:
    """Blocks of each launch that a group holds at once."""
    limits = []
    for number, launch in enumerate(info.launches):
        try:
            limits.append(
                machine.active_blocks(launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes)
            )
        except MachineError as error:
            raise WorkloadError(f"{info.kernel}: launch {number} of {launch.kernel}: {error}") from None
    return limits


def _refusal(runs: Runs, block: int, info: TraceInfo) -> TraceError | WorkloadError:
    """What is wrong with a block that can't be lowered."""
    events = runs.of_blocks(runs.block[block : block + 1]).to_batch().events
    most = int(events["value"][events["kind"] != Kind.BARRIER].max())
    launch = info.launches[runs.launch]
    where = f"{info.kernel}: launch {runs.launch} of {launch.kernel}, block {int(runs.block[block])}"
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


def _assemble(
    pieces: list[tuple[Runs, Lowered]], info: TraceInfo, width: int, places: Places | None = None
) -> Workload:
    """The operations of all blocks, and of those that have none."""
    blocks = np.array([launch.blocks for launch in info.launches], dtype=np.int64)
    warps = np.array([-(-launch.threads_per_block // width) for launch in info.launches], dtype=np.int64)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(blocks * warps)])  # the first warp of each launch
    of_warps = np.zeros((2, int(begins[-1])), dtype=np.int64)
    for runs, lowered in pieces:
        own = warps[runs.launch]
        chosen = begins[runs.launch] + (runs.block[:, None].astype(np.int64) * own + np.arange(own)).reshape(-1)
        of_warps[0, chosen], of_warps[1, chosen] = lowered.warp_operations, lowered.warp_chunks

    def offsets(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])

    def joined(arrays: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *arrays])

    return Workload(
        kind=np.concatenate([np.empty(0, np.uint8), *(lowered.kind for _, lowered in pieces)]),
        amount=joined([lowered.amount for _, lowered in pieces]),
        chunks=joined([lowered.chunks for _, lowered in pieces]),
        warp_operations=offsets(of_warps[0]),
        warp_chunks=offsets(of_warps[1]),
        block_warps=offsets(np.repeat(warps, blocks)),
        launch_blocks=offsets(blocks),
        launch_limits=np.zeros(len(info.launches), dtype=np.int64),
        origin=info.kernel,
        place=np.concatenate([np.empty(0, np.int32), *(lowered.place for _, lowered in pieces)]),
        places=places,
    )
