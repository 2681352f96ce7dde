"""The arrays that a launch begins with."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.engine.fast import layout as at
from simtmm.machine import Machine
from simtmm.machine.tables.memory import Cache
from simtmm.stalls import CLASSES

LINE = 8  # integers of a cache line of this computer's

Integers = npt.NDArray[np.int64]

SCHEDULERS = {
    "fifo": at.FIFO,
    "oldest": at.OLDEST,
    "greedy-oldest": at.GREEDY_OLDEST,
    "round-robin": at.ROUND_ROBIN,
}


def parameters_of(machine: Machine) -> Integers:  # noqa: PLR0915 - a statement for each parameter
    """What stays the same over launches; see layout.P_*."""
    memory, takes = machine.memory, machine.durations
    parameters = np.zeros(at.PARAMETERS, dtype=np.int64)
    parameters[at.P_GROUPS] = machine.cores.groups
    parameters[at.P_PORTS] = machine.ports
    parameters[at.P_ROOM] = machine.warps_per_group
    parameters[at.P_ISSUE] = takes.issue
    parameters[at.P_DEPTH] = takes.pipeline_depth
    parameters[at.P_CYCLE] = machine.ticks_per_cycle
    parameters[at.P_BLOCK_LAUNCH] = takes.block_launch
    parameters[at.P_BLOCK_INTERVAL] = takes.block_interval
    parameters[at.P_BLOCK_BURST] = takes.block_burst
    parameters[at.P_GRID_BARRIER] = takes.grid_barrier
    parameters[at.P_GRID_BARRIER_BLOCK] = takes.grid_barrier_block
    parameters[at.P_WARP_LAUNCH] = takes.warp_launch
    parameters[at.P_LATENCY] = takes.latency
    parameters[at.P_STORE_LATENCY] = takes.store_latency
    parameters[at.P_FIRST_ACCESS] = takes.first_access
    parameters[at.P_TURNAROUND] = takes.turnaround
    parameters[at.P_STORE_BUFFER] = takes.store_buffer
    parameters[at.P_DROPS] = memory.l1 is not None and memory.l1_after_store == "drop"
    parameters[at.P_PORT_INTERVAL] = takes.port_interval
    parameters[at.P_MEMORY_PORTS] = memory.ports
    parameters[at.P_STORES_APART] = memory.store_interval is not None
    parameters[at.P_STORE_INTERVAL] = takes.store_interval
    parameters[at.P_FETCH_INTERVAL] = takes.fetch_interval
    parameters[at.P_RETURN_INTERVAL] = takes.return_interval
    parameters[at.P_RETURN_DELAY] = takes.return_delay
    parameters[at.P_RETURNS] = takes.return_interval + takes.return_delay > 0
    parameters[at.P_PORT_CHUNKS] = memory.port_chunks
    parameters[[at.P_SECTORS, at.P_FETCH_SECTORS]] = memory.sectors, memory.fetch_sectors
    parameters[at.P_SECTOR_BYTES] = machine.sector_bytes
    parameters[at.P_READS_PARTS] = memory.partial_writes == "read"
    if memory.pipe:
        parameters[at.P_PIPED] = 1
        parameters[at.P_ACCESS_INTERVAL] = takes.access_interval
        parameters[at.P_TAG_INTERVAL] = takes.tag_interval
        parameters[at.P_PASS_INTERVAL] = takes.pass_interval
        parameters[at.P_FILL_INTERVAL] = takes.fill_interval
        parameters[at.P_DRAIN_INTERVAL] = takes.drain_interval
        parameters[at.P_MOST_MISSES] = memory.pipe.misses or 0
        parameters[at.P_SHARED_PASS] = takes.shared_pass
        parameters[at.P_SHARED_LATENCY] = takes.shared_latency
        parameters[at.P_SHARED_APART] = memory.pipe.shared == "apart"
    parameters[at.P_COPY_INTERVAL] = takes.copy_interval
    parameters[at.P_DRAIN_LATENCY] = takes.drain_latency
    parameters[[at.P_MBARRIER_LATENCY, at.P_CLUSTER_LATENCY]] = takes.mbarrier_latency, takes.cluster_latency
    parameters[[at.P_PRODUCT_STEP, at.P_PRODUCT_LATENCY]] = takes.product_step, takes.product_latency
    parameters[at.P_PRODUCT_PIPES] = machine.products.count if machine.products else 1
    parameters[at.P_PIPES] = sum(pipes_of(machine)[:, at.PIPE_COUNT])
    parameters[at.P_OWN_PORTS] = machine.scheduling.ports == "own"
    parameters[at.P_SERVICE] = takes.service
    parameters[at.P_ATOMIC_SERVICE] = takes.atomic_service
    parameters[at.P_SCHEDULER] = SCHEDULERS[machine.scheduling.scheduler]
    parameters[at.P_PARTITIONS] = memory.partitions
    parameters[at.P_HASHED] = memory.interleave == "hash"
    parameters[at.P_BLOCKING] = memory.stores == "blocking"
    parameters[at.P_AT_END] = memory.stores == "at-end"
    parameters[at.P_SERIAL] = memory.transfers == "serial"
    if memory.rows:
        parameters[at.P_ROW_CHUNKS] = memory.rows.chunks * memory.partitions
        parameters[at.P_OPEN_ROWS] = memory.rows.open
        parameters[at.P_ROW_OPENING] = takes.row_opening
    if memory.tlb:
        parameters[at.P_TLB_ENTRIES] = memory.tlb.entries
        parameters[at.P_TLB_PAGE] = memory.tlb.page // machine.chunk_bytes
        parameters[at.P_TLB_MISS] = takes.tlb_miss
    if memory.l1:
        parameters[[at.P_L1_SETS, at.P_L1_WAYS]] = memory.l1.sets, memory.l1.ways
        parameters[at.P_L1_SKEWED] = memory.l1.index == "skewed"
        parameters[at.P_L1_LATENCY] = takes.l1_latency
        parameters[at.P_LOCAL_BACK] = machine.keeps_local_stores
        parameters[at.P_FIRST_LOCAL] = machine.first_local_chunk
    if memory.l2:
        parameters[[at.P_L2_SETS, at.P_L2_WAYS]] = memory.l2.used_sets, memory.l2.ways
        parameters[at.P_L2_LATENCY] = takes.l2_latency
        parameters[at.P_L2_SERVICE] = takes.l2_service
        parameters[at.P_L2_STORE_SERVICE] = takes.l2_store_service
        if memory.sectors > 1:
            parameters[at.P_L2_REQUEST] = takes.l2_request_service
            parameters[at.P_L2_STORE_REQUEST] = takes.l2_store_request_service
        parameters[at.P_L2_RANDOM] = memory.l2.replacement == "random"
        parameters[at.P_VICTIMS_WAITED] = memory.l2.victims == "waited"
        parameters[at.P_WAITING_STORES] = memory.l2.waiting_stores or 0
        parameters[at.P_WRITES_BACK] = memory.l2.writes == "back"
        parameters[at.P_ATOMICS_HERE] = memory.l2.atomics == "here"
        parameters[at.P_ATOMIC_LATENCY] = takes.atomic_latency
        parameters[at.P_SLICED] = has_slices(machine)
    return parameters


def has_slices(machine: Machine) -> bool:
    """Whether anything takes a slice of the L2 for any time."""
    l2, takes = machine.memory.l2, machine.durations
    if l2 is None:
        return False
    of_stores = takes.l2_store_service if l2.writes == "back" else 0
    of_atomics = takes.atomic_service if l2.atomics == "here" else 0
    of_requests = takes.l2_request_service + takes.l2_store_request_service if machine.memory.sectors > 1 else 0
    return bool(takes.l2_service or of_stores or of_atomics or of_requests)


def pipes_of(machine: Machine) -> Integers:
    """A row for each class of instructions; see layout.PIPE_*."""
    pipes = np.zeros((len(CLASSES), at.PIPE_ROW), dtype=np.int64)
    if machine.pipes:
        pipes[:, at.PIPE_INTERVAL] = machine.durations.pipes
        pipes[:, at.PIPE_COUNT] = [pipe.count if pipe and pipe.interval else 0 for pipe in machine.pipes.each()]
        pipes[:, at.PIPE_FIRST] = np.cumsum(pipes[:, at.PIPE_COUNT]) - pipes[:, at.PIPE_COUNT]
    return pipes


def table(*shape: int) -> Integers:
    """Zeros, from the beginning of a cache line on, so that what fits one lies in one."""
    size = math.prod(shape)
    zeros = np.zeros(size + LINE, dtype=np.int64)
    begin = -(zeros.__array_interface__["data"][0] // zeros.itemsize) % LINE
    return zeros[begin : begin + size].reshape(shape)


def free_ports(count: int) -> Integers:
    """Ports that nobody has, and that were granted to nobody so far."""
    ports = np.full((count, at.PORT_ROW), at.NEVER, dtype=np.int64)
    ports[:, [at.PORT_LAST_SLOT, at.PORT_LAST_AGE]] = -1
    return ports


def empty_groups(groups: int) -> Integers:
    """Groups that have granted no port so far."""
    group = table(groups, at.GROUP_ROW)
    group[:, [at.GROUP_GRANTED_SLOT, at.GROUP_GRANTED_AGE]] = -1
    return group


def empty_clock(groups: int) -> Integers:
    """A clock by which nothing is to happen."""
    clock = table(3, -(-groups // at.LISTED_AT_ONCE) * at.LISTED_AT_ONCE)
    clock[at.NEXT] = at.NEVER
    return clock


def closed_rows(machine: Machine, partitioned: bool) -> Integers:
    """The rows of all partitions, none of them open."""
    rows = machine.memory.rows
    shape = (machine.memory.partitions, rows.open) if rows and partitioned else (1, 1)
    return np.full((*shape, at.LINE_ROW), -1, dtype=np.int64)


def no_translations(machine: Machine) -> Integers:
    """The TLBs of all groups, with no page in them."""
    tlb = machine.memory.tlb
    shape = (machine.cores.groups, tlb.entries) if tlb else (1, 1)
    return np.full((*shape, at.LINE_ROW), -1, dtype=np.int64)


def empty_lines(caches: int, cache: Cache | None, sectors: int) -> tuple[Integers, Integers]:
    """The lines of some caches, a row for each set, and their sectors; no chunk has the number -1."""
    shape = (caches * cache.used_sets, cache.ways) if cache else (1, 1)
    lines = table(*shape, at.LINE_ROW)
    lines[:] = -1
    return lines, table(*(shape if sectors > 1 else (1, 1)), sectors + 1)


def words_of(count: int) -> npt.NDArray[Any]:
    """Words of so many bits, none of them set."""
    return np.zeros(-(-count // 64), dtype=np.uint64)


def all_free(groups: int, slots: int, places: int) -> npt.NDArray[Any]:
    """Bits of each group: no slot is ready, all slots and all places are free."""
    words = -(-max(slots, places) // 64)
    bits = np.zeros((groups, at.BIT_SETS, words), dtype=np.uint64)
    for which, count in ((at.FREE_SLOTS, slots), (at.FREE_BLOCKS, places)):
        bits[:, which, : count // 64] = ~np.uint64(0)
        if count % 64:
            bits[:, which, count // 64] = np.uint64((1 << (count % 64)) - 1)
    return bits


def flags_of(machine: Machine, coupled: bool, own_rule: bool = False) -> list[int]:
    """What kind of machine it is. coupled: whether its groups keep one clock, as under a user's rule."""
    order = at.QUEUE if machine.scheduling.scheduler == "fifo" else at.BITS
    return [
        at.YES if coupled or own_rule else at.NO,
        at.ON_STALL if machine.scheduling.switch == "on-stall" else at.EVERY_INSTRUCTION,
        at.YES if _has_path(machine) else at.NO,
        at.OWN if own_rule else order,
    ]


def _has_path(machine: Machine) -> bool:
    """Whether a transfer may take anything but L: ports, partitions, caches, or one after another."""
    memory, takes = machine.memory, machine.durations
    busy = (
        takes.port_interval
        or takes.copy_interval
        or takes.store_interval
        or takes.fetch_interval
        or takes.return_interval
        or takes.return_delay
        or takes.first_access
        or takes.service
        or takes.atomic_service
        or takes.turnaround
        or takes.row_opening
        or takes.tlb_miss
    )
    caches = memory.l1 is not None or memory.l2 is not None
    return bool(busy) or memory.transfers == "serial" or caches or memory.pipe is not None
