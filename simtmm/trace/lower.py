"""Trace -> Workload: threads to warps of W in lockstep, addresses to chunks of C words.

Of the threads of a warp that are at different sites, those at the lowest site go first, so that they meet again
behind a branch or a loop. Threads at a barrier wait until all living threads of their warp are at one. What
threads do at one site at once is one operation of the warp:

    work            compute, of as many instructions as the thread with most operations has; neighbours merge;
                    work of no operations is nothing
    load, async,
    store           the chunks that the threads touch, duplicates merged, in the order of their first thread
    atomic          a chunk for each thread, in order
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

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simtmm.errors import MachineError, TraceError, WorkloadError
from simtmm.machine import Machine
from simtmm.trace.coalescing import HALF_WARP, coalesce
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.local_memory import WORD, Regions, events_of, most_words, regions, word_addresses
from simtmm.trace.schema import BEYOND, Kind
from simtmm.trace.site_tables import SiteTables, says_something, site_tables
from simtmm.trace.spans import Span, name_of_block, spans
from simtmm.trace.specification import LoweringSpecification
from simtmm.workload import ATOMIC, LOAD, Workload

if TYPE_CHECKING:
    from simtmm.trace.lockstep import Output

Progress = Callable[[int, int], None]


def lower(trace: Trace, machine: Machine, progress: Progress | None = None) -> Workload:
    """The workload that a trace is on a machine.

    W, C, the width of a word, the rule of coalescing and the banks are the machine's. Each launch carries its
    occupancy: as many blocks as Eq (5.2) of the dissertation lets a group hold. progress: called with (events done,
    events in all).

    Raises WorkloadError where a block does not fit the machine or a warp's work does not fit 64 bits, TraceError where
    the trace is damaged.
    """
    _occupancy(trace.info, machine)  # refused before the work
    return fit(lower_with(trace, LoweringSpecification.of(machine), progress), trace.info, machine)


def lower_with(trace: Trace, specification: LoweringSpecification, progress: Progress | None = None) -> Workload:
    """The workload that a trace is on any machine of a specification; its launches carry no occupancy: see `fit`.

    Raises what `lower` raises, but that every block fits.
    """
    sites = trace.info.sites
    tables = site_tables(sites) if says_something(sites) else None
    pieces = []
    done = 0
    for span in spans(trace):
        pieces.append(_lower_span(span, trace.info, specification, tables))
        done += len(span.events)
        if progress:
            progress(done, trace.info.events)
    return _assemble(pieces, trace.info)


def fit(workload: Workload, info: TraceInfo, machine: Machine) -> Workload:
    """A workload that `lower_with` gave for a machine's specification, with the occupancy of that machine.

    Raises WorkloadError where a block does not fit.
    """
    limits = np.array(_occupancy(info, machine), dtype=np.int64)
    return replace(workload, launch_limits=limits, origin=f"{info.kernel} on {machine.name}")


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


@dataclass(frozen=True)
class _Piece:
    kind: npt.NDArray[np.uint8]
    amount: npt.NDArray[np.int64]
    chunks: npt.NDArray[np.int64]
    warp_operations: npt.NDArray[np.int64]  # operations of each warp
    warp_chunks: npt.NDArray[np.int64]  # chunks of each warp
    block_warps: npt.NDArray[np.int64]  # warps of each block


def _lower_span(span: Span, info: TraceInfo, specification: LoweringSpecification, tables: SiteTables | None) -> _Piece:
    # Late: it brings Numba along, which no model needs.
    from simtmm.trace.lockstep import NEEDS_TABLES, Rules, lockstep, lockstep_with_tables

    width, chunk_bytes = specification.warp_width, specification.chunk_bytes
    block_warps = -(-span.threads // width)
    rules = Rules(
        width, chunk_bytes, specification.banks, specification.bank_bytes, specification.lanes_together,
        specification.half_warp_segments,
    )  # fmt: skip
    local, refused = None, NEEDS_TABLES
    if tables is None:
        output = _output(span, int(block_warps.sum()), specification, None, None)
        operations, chunk_count, refused = lockstep(span.events, span.ends, span.threads, rules, output)
    if refused == NEEDS_TABLES:
        tables = tables or site_tables(())
        local = regions(info, width, span.first, len(span.ends))
        output = _output(span, int(block_warps.sum()), specification, tables, local)
        operations, chunk_count, refused = lockstep_with_tables(
            span.events, span.ends, span.threads, rules, output, tables, local
        )
    if refused >= 0:
        raise _refusal(span, refused, info, local)
    kind, amount = output.kind[:operations].copy(), output.amount[:operations].copy()
    chunks, warp_chunks = output.chunks[:chunk_count].copy(), output.warp_chunks
    if specification.half_warp_segments:
        chunks, warp_chunks = _by_half_warps(span, kind, amount, chunks, output.warp_operations, specification, local)
    return _Piece(kind, amount, chunks, output.warp_operations, warp_chunks, block_warps)


def _output(
    span: Span, warps: int, specification: LoweringSpecification, tables: SiteTables | None, local: Regions | None
) -> "Output":
    """Room for all that may come of events. tables, local: None where there are none."""
    from simtmm.trace.lockstep import Output

    events, chunk_bytes = span.events, specification.chunk_bytes
    most_operations = len(events)
    if tables is not None and len(tables.work):  # a join, work and a pause before each
        before = (tables.work > 0, tables.stall > 0, np.diff(tables.needs_end) > 0)
        most_operations *= 1 + int(np.sum(before, axis=0).max())
    if specification.half_warp_segments:
        most_chunks = len(events)
    else:
        touched = (events["bytes"].astype(np.int64) + chunk_bytes - 2) // chunk_bytes + 1  # at most
        most_chunks = int(touched.sum())
    if local is not None and local.bytes.any():
        words = int(most_words(events["bytes"][events["kind"] > Kind.BARRIER].astype(np.int64)).sum())
        most_chunks += words * (1 if specification.half_warp_segments else (WORD + chunk_bytes - 2) // chunk_bytes + 1)
    return Output(
        kind=np.empty(most_operations, dtype=np.uint8),
        amount=np.empty(most_operations, dtype=np.int64),
        chunks=np.empty(most_chunks, dtype=np.int64),
        warp_operations=np.empty(warps, dtype=np.int64),
        warp_chunks=np.empty(warps, dtype=np.int64),
    )


def _refusal(span: Span, block: int, info: TraceInfo, local: Regions | None) -> TraceError | WorkloadError:
    """What is wrong with a block that can't be lowered."""
    events = span.events[span.ends[block - 1] if block else 0 : span.ends[block]]
    most = int(events["value"][events["kind"] != Kind.BARRIER].max())
    where = name_of_block(info, span.first + block)
    own = events[(events["kind"] == Kind.LOCAL_LOAD) | (events["kind"] == Kind.LOCAL_STORE)]
    if local is not None and len(own):
        size = int(local.bytes[block])
        outside = own["value"][own["value"].astype(np.float64) + np.maximum(own["bytes"], 1) > size]
        if len(outside):
            return TraceError(
                f"{where}: local memory at byte {int(outside[0])}: must be within local_bytes_per_thread = {size}"
            )
    if most >= BEYOND:
        return TraceError(f"{where}: value {most}: addresses and counts must be below 2^62")
    return WorkloadError(f"{where}: a warp's work or stall without anything in between: must be below 2^63")


def _by_half_warps(
    span: Span,
    kind: npt.NDArray[np.uint8],
    amount: npt.NDArray[np.int64],
    accesses: npt.NDArray[np.int64],
    warp_operations: npt.NDArray[np.int64],
    specification: LoweringSpecification,
    local: Regions | None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The chunks of memory operations, and how many each warp has; `amount` is set to how many each operation has.

    accesses: for each memory operation the events of the threads that take part, or words of local memory, `amount` of
    them.
    """
    memory = np.flatnonzero((kind >= LOAD) & (kind <= ATOMIC))
    numbers = accesses if local is None else events_of(accesses)
    event = span.events[numbers]
    operation = np.repeat(memory, amount[memory])
    half_warp = event["thread"].astype(np.int64) % specification.warp_width // HALF_WARP
    begins = np.ones(len(accesses), dtype=bool)
    # Updates of one word are not served together, so each thread of an atomic is on its own.
    begins[1:] = (np.diff(operation) != 0) | (np.diff(half_warp) != 0) | (kind[operation[1:]] == ATOMIC)
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(accesses)) if len(accesses) else starts
    address, sizes = event["value"].astype(np.int64), np.maximum(event["bytes"], 1).astype(np.int64)
    words = np.flatnonzero(accesses < 0)
    if local is not None and len(words):
        block = np.searchsorted(span.ends, numbers[words], side="right")
        warp, lane = np.divmod(event["thread"][words].astype(np.int64), specification.warp_width)
        region = local.base[block] + warp * local.stride[block]
        address[words] = word_addresses(accesses[words], address[words], lane, region, specification.warp_width)
        sizes[words] = WORD
    found = coalesce(address, sizes, ends)
    transfers = np.bincount(operation[starts], weights=found.counts, minlength=len(kind)).astype(np.int64)
    amount[memory] = transfers[memory]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(transfers, dtype=np.int64)])
    of_warps = np.diff(before[np.concatenate([np.zeros(1, np.int64), np.cumsum(warp_operations)])])
    return found.addresses // specification.chunk_bytes, of_warps


def _assemble(pieces: list[_Piece], info: TraceInfo) -> Workload:
    def offsets(counts: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        return np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]), dtype=np.int64)

    def joined(arrays: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *arrays])

    return Workload(
        kind=np.concatenate([np.empty(0, np.uint8), *(piece.kind for piece in pieces)]),
        amount=joined([piece.amount for piece in pieces]),
        chunks=joined([piece.chunks for piece in pieces]),
        warp_operations=offsets([piece.warp_operations for piece in pieces]),
        warp_chunks=offsets([piece.warp_chunks for piece in pieces]),
        block_warps=offsets([piece.block_warps for piece in pieces]),
        launch_blocks=offsets([np.array([launch.blocks for launch in info.launches], dtype=np.int64)]),
        launch_limits=np.zeros(len(info.launches), dtype=np.int64),
        origin=info.kernel,
    )
