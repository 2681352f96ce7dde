"""The arrays that a launch begins with."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.engine.fast import layout as at
from simtmm.machine import Machine
from simtmm.machine.tables.memory import Cache
from simtmm.native import Rows
from simtmm.stalls import CLASSES

LINE = 8  # integers of a cache line of this computer's

Integers = npt.NDArray[np.int64]

SCHEDULERS = {
    "fifo": at.FIFO,
    "oldest": at.OLDEST,
    "greedy-oldest": at.GREEDY_OLDEST,
    "round-robin": at.ROUND_ROBIN,
}

INTERLEAVES = {"modulo": 0, "hash": 1, "rotated": at.ROTATED}


def parameters_of(machine: Machine) -> Integers:  # noqa: PLR0915 - a statement for each parameter
    """What stays the same over launches; see layout.Parameters."""
    memory, takes = machine.memory, machine.durations
    parameters = np.zeros(len(at.Parameters), dtype=np.int64)
    given = Rows(parameters, at.Parameters)
    given.groups = machine.cores.groups
    given.ports = machine.ports
    given.room = machine.warps_per_group
    given.issue = takes.issue
    given.depth = takes.pipeline_depth
    given.cycle = machine.ticks_per_cycle
    given.block_launch = takes.block_launch
    given.block_interval = takes.block_interval
    given.block_burst = takes.block_burst
    given.grid_barrier = takes.grid_barrier
    given.grid_barrier_block = takes.grid_barrier_block
    given.warp_launch = takes.warp_launch
    given.latency = takes.latency
    given.store_latency = takes.store_latency
    given.first_access = takes.first_access
    given.turnaround = takes.turnaround
    given.store_buffer = takes.store_buffer
    given.drops = memory.l1 is not None and memory.l1_after_store == "drop"
    given.port_interval = takes.port_interval
    given.memory_ports = memory.ports
    given.stores_apart = memory.store_interval is not None
    given.store_interval = takes.store_interval
    given.fetch_interval = takes.fetch_interval
    given.return_interval = takes.return_interval
    given.return_delay = takes.return_delay
    given.returns = takes.return_interval + takes.return_delay > 0
    given.port_chunks = memory.port_chunks
    given.sectors, given.fetch_sectors = memory.sectors, memory.fetch_sectors
    given.sector_bytes = machine.sector_bytes
    given.reads_parts = memory.partial_writes == "read"
    if memory.pipe:
        given.piped = 1
        given.access_interval = takes.access_interval
        given.tag_interval = takes.tag_interval
        given.pass_interval = takes.pass_interval
        given.fill_interval = takes.fill_interval
        given.drain_interval = takes.drain_interval
        given.most_misses = memory.pipe.misses or 0
        given.shared_pass = takes.shared_pass
        given.shared_latency = takes.shared_latency
        given.shared_apart = memory.pipe.shared == "apart"
    given.copy_interval = takes.copy_interval
    given.drain_latency, given.remote_interval = takes.drain_latency, takes.remote_interval
    given.pass_bytes = machine.banks.pass_bytes
    given.mbarrier_latency, given.cluster_latency = (
        takes.mbarrier_latency,
        takes.cluster_latency,
    )
    given.product_step, given.product_latency = takes.product_step, takes.product_latency
    given.product_pipes = machine.products.count if machine.products else 1
    given.pipes = sum(pipes_of(machine)[:, at.Pipe.count])
    given.own_ports = machine.scheduling.ports == "own"
    given.service, given.write_service = takes.service, takes.write_service
    given.atomic_service = takes.atomic_service
    given.scheduler = SCHEDULERS[machine.scheduling.scheduler]
    given.partitions = memory.partitions
    given.hashed = INTERLEAVES[memory.interleave]
    given.blocking = memory.stores == "blocking"
    given.at_end = memory.stores == "at-end"
    given.serial = memory.transfers == "serial"
    if memory.rows:
        given.row_chunks = memory.rows.chunks * memory.partitions
        given.open_rows = memory.rows.open
        given.row_opening = takes.row_opening
    if memory.tlb:
        given.tlb_entries = memory.tlb.entries
        given.tlb_page = memory.tlb.page // machine.chunk_bytes
        given.tlb_miss = takes.tlb_miss
    if memory.l1:
        given.l1_sets, given.l1_ways = memory.l1.sets, memory.l1.ways
        given.l1_skewed = memory.l1.index == "skewed"
        given.l1_latency = takes.l1_latency
        given.local_back = machine.keeps_local_stores
        given.first_local = machine.first_local_chunk
    if memory.l2:
        given.l2_sets, given.l2_ways, given.l2_dies = memory.l2.own_sets, memory.l2.ways, memory.l2.dies
        given.l2_halves, given.far_latency, given.far_service = memory.l2.halves, takes.far_latency, takes.far_service
        given.l2_latency = takes.l2_latency
        given.l2_service = takes.l2_service
        given.l2_store_service = takes.l2_store_service
        if memory.sectors > 1:
            given.l2_request = takes.l2_request_service
            given.l2_store_request = takes.l2_store_request_service
        given.l2_hashed = memory.l2.index == "hash"
        given.l2_random = memory.l2.replacement == "random"
        given.victims_waited = memory.l2.victims == "waited"
        given.waiting_stores = memory.l2.waiting_stores or 0
        given.writes_back = memory.l2.writes == "back"
        given.atomics_here = memory.l2.atomics == "here"
        given.atomic_latency = takes.atomic_latency
        given.sliced = has_slices(machine)
    if memory.shared_l1:
        given.shared_l1s = machine.shared_l1s
        given.shared_l1_sets, given.shared_l1_ways = memory.shared_l1.sets, memory.shared_l1.ways
        given.shared_l1_latency, given.shared_l1_service = takes.shared_l1_latency, takes.shared_l1_service
    if memory.last_level:
        given.last_level_sets, given.last_level_ways = memory.last_level.sets, memory.last_level.ways
        given.last_level_latency, given.last_level_service = takes.last_level_latency, takes.last_level_service
        given.last_level_hashed = memory.last_level.index == "hash"
        given.last_level_random = memory.last_level.replacement == "random"
    return parameters


def slices_of(machine: Machine) -> int:
    """Slices of all L2s that take time; 1 where none does."""
    l2 = machine.memory.l2
    return machine.memory.partitions * l2.dies if l2 is not None and has_slices(machine) else 1


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
    """A row for each class of instructions; see layout.Pipe."""
    pipes = np.zeros((len(CLASSES), len(at.Pipe)), dtype=np.int64)
    if machine.pipes:
        pipes[:, at.Pipe.interval] = machine.durations.pipes
        pipes[:, at.Pipe.count] = [pipe.count if pipe and pipe.interval else 0 for pipe in machine.pipes.each()]
        pipes[:, at.Pipe.first] = np.cumsum(pipes[:, at.Pipe.count]) - pipes[:, at.Pipe.count]
    return pipes


def table(*shape: int) -> Integers:
    """Zeros, from the beginning of a cache line on, so that what fits one lies in one."""
    size = math.prod(shape)
    zeros = np.zeros(size + LINE, dtype=np.int64)
    begin = -(zeros.__array_interface__["data"][0] // zeros.itemsize) % LINE
    return zeros[begin : begin + size].reshape(shape)


def free_ports(count: int) -> Integers:
    """Ports that nobody has, and that were granted to nobody so far."""
    ports = np.full((count, len(at.Port)), at.NEVER, dtype=np.int64)
    ports[:, [at.Port.last_slot, at.Port.last_age]] = -1
    return ports


def empty_groups(groups: int) -> Integers:
    """Groups that have granted no port so far."""
    group = table(groups, len(at.Group))
    group[:, [at.Group.granted_slot, at.Group.granted_age]] = -1
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
    return np.full((*shape, len(at.Line)), -1, dtype=np.int64)


def no_translations(machine: Machine) -> Integers:
    """The TLBs of all groups, with no page in them."""
    tlb = machine.memory.tlb
    shape = (machine.cores.groups, tlb.entries) if tlb else (1, 1)
    return np.full((*shape, len(at.Line)), -1, dtype=np.int64)


def empty_lines(caches: int, cache: Cache | None, sectors: int) -> tuple[Integers, Integers]:
    """The lines of some caches, a row for each set, and their sectors; no chunk has the number -1."""
    shape = (caches * cache.used_sets, cache.ways) if cache else (1, 1)
    lines = table(*shape, len(at.Line))
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
    caches = memory.l1, memory.shared_l1, memory.l2, memory.last_level
    has_caches = any(cache is not None for cache in caches)
    return bool(busy) or memory.transfers == "serial" or has_caches or memory.pipe is not None
