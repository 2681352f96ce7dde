"""What values of a machine must be beside one another. A rule raises ValueError with the key, its value and what is
allowed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from simtmm.machine.tables.memory import LARGEST_SEGMENT, MOST_HALVES, MOST_SECTOR_BYTES, MOST_SECTORS

if TYPE_CHECKING:
    from simtmm.machine.spec import Machine

# Keys that no rule ties to another: what they may be depends on no other key
FREE = frozenset(
    (
        "clock_hz",
        "compute_capability",
        "memory_bytes",
        "link",
        "cores.groups",
        "cores.cores_per_group",
        "cores.max_threads_per_core",
        "resources.shared_memory",
        "resources.registers",
        "resources.register_unit",
        "resources.register_files",
        "resources.shared_memory_unit",
        "resources.shared_memory_reserved",
    )
)

# Of memory, in cycles: what only transfers have that overlap
BANDWIDTHS = (
    "port_interval",
    "store_interval",
    "fetch_interval",
    "return_interval",
    "return_delay",
    "service",
    "atomic_service",
    "turnaround",
)

NEAR = 0.01  # how near the whole ticks of a chunk must come to a bandwidth that was asked for


def _latencies_last_a_tick(machine: "Machine") -> None:
    memory, durations = machine.memory, machine.durations
    latencies = {
        "memory.latency": (memory.latency, durations.latency),
        "memory.l1.latency": (memory.l1 and memory.l1.latency, durations.l1_latency),
        "memory.shared_l1.latency": (memory.shared_l1 and memory.shared_l1.latency, durations.shared_l1_latency),
        "memory.l2.latency": (memory.l2 and memory.l2.latency, durations.l2_latency),
        "memory.last_level.latency": (memory.last_level and memory.last_level.latency, durations.last_level_latency),
        "memory.store_latency": (memory.store_latency, durations.store_latency),
        "memory.l2.atomic_latency": (memory.l2 and memory.l2.atomic_latency, durations.atomic_latency),
    }
    for key, (latency, ticks) in latencies.items():
        if latency is not None and ticks < 1:
            shortest = 1 / machine.ticks_per_cycle
            raise ValueError(f"{key} = {latency:g}: must be at least one tick ({shortest:g} cycles)")


def _ticks_count_the_bandwidth(machine: "Machine") -> None:
    memory = machine.memory
    if memory.bandwidth is None:
        return
    if memory.transfers == "serial":
        raise ValueError(f"memory.bandwidth = {memory.bandwidth:g}: must be left out with memory.transfers = 'serial'")
    if abs(machine.durations.service / machine.ticks_per_cycle / memory.service - 1) > NEAR:
        raise ValueError(
            f"memory.bandwidth = {memory.bandwidth:g}: a chunk takes a partition for {memory.service:.4g} cycles, "
            f"which ticks_per_cycle = {machine.ticks_per_cycle} can't count to within {100 * NEAR:g} %: use more ticks"
        )


def _serial_transfers_have_only_a_latency(machine: "Machine") -> None:
    memory = machine.memory
    if memory.transfers != "serial":
        return
    taken = {f"memory.{key}": getattr(memory, key) for key in BANDWIDTHS}
    if memory.l2:
        taken["memory.l2.service"] = memory.l2.service
        taken["memory.l2.far_service"] = memory.l2.far_service
    for key, value in taken.items():
        if value:
            raise ValueError(f"{key} = {value}: must be 0 with memory.transfers = 'serial'")
    for key in ("rows", "tlb", "shared_l1", "last_level"):
        if getattr(memory, key) is not None:
            raise ValueError(f"memory.{key}: must be left out with memory.transfers = 'serial'")


def _a_pipe_stands_alone(machine: "Machine") -> None:
    memory = machine.memory
    if memory.pipe is None:
        return
    if memory.transfers == "serial":
        raise ValueError("memory.pipe: must be left out with memory.transfers = 'serial'")
    replaced = {
        "memory.port_interval": (memory.port_interval, 0),
        "memory.ports": (memory.ports, 1),
        "banks.interval": (machine.banks.interval, 0),
    }
    for key, (value, without) in replaced.items():
        if value != without:
            raise ValueError(f"{key} = {value:g}: must be {without} with memory.pipe, which replaces it")
    pipe = memory.pipe
    lanes = pipe.lanes or machine.cores.warp_width
    if pipe.run is not None and pipe.run % lanes:
        raise ValueError(f"memory.pipe.run = {pipe.run}: must be a multiple of memory.pipe.lanes, {lanes}")
    if pipe.tag_banks is not None and pipe.banks is None:
        raise ValueError("memory.pipe.tag_banks: memory.pipe.banks must be there, too")


def _a_last_level_has_one_rate(machine: "Machine") -> None:
    cache = machine.memory.last_level
    if cache is None or cache.bandwidth is None:
        return
    if cache.service:
        raise ValueError(
            f"memory.last_level.service = {cache.service:g}: must be left out with memory.last_level.bandwidth"
        )
    if machine.clock_hz is None:
        raise ValueError(
            f"memory.last_level.bandwidth = {cache.bandwidth:g}: needs clock_hz, or give memory.last_level.service"
        )


def _halves_stand_alone(machine: "Machine") -> None:
    l2 = machine.memory.l2
    if l2 is None:
        return
    if l2.halves > MOST_HALVES:
        raise ValueError(f"memory.l2.halves = {l2.halves}: must be 1 or {MOST_HALVES}")
    for key in ("copies", "dies"):
        if l2.halves > 1 and getattr(l2, key) > 1:
            raise ValueError(f"memory.l2.{key} = {getattr(l2, key)}: must be 1 with memory.l2.halves = {l2.halves}")


def _pages_are_made_of_chunks(machine: "Machine") -> None:
    tlb = machine.memory.tlb
    if tlb and tlb.page % machine.chunk_bytes:
        raise ValueError(
            f"memory.tlb.page = {tlb.page}: must be a multiple of memory.chunk_words * memory.word_bytes, "
            f"{machine.chunk_bytes}"
        )


def _chunks_are_made_of_sectors(machine: "Machine") -> None:
    memory = machine.memory
    if memory.sectors not in (1, 2, MOST_SECTORS):
        raise ValueError(f"memory.sectors = {memory.sectors}: must be 1, 2 or {MOST_SECTORS}")
    if memory.sectors % memory.fetch_sectors:
        raise ValueError(f"memory.fetch_sectors = {memory.fetch_sectors}: must divide memory.sectors, {memory.sectors}")
    if memory.sectors == 1:
        return
    if machine.chunk_bytes % memory.sectors or machine.chunk_bytes // memory.sectors > MOST_SECTOR_BYTES:
        raise ValueError(
            f"memory.sectors = {memory.sectors}: must divide memory.chunk_words * memory.word_bytes, "
            f"{machine.chunk_bytes}, into at most {MOST_SECTOR_BYTES} bytes"
        )
    for key, value, needed in (
        ("memory.transfers", memory.transfers, "pipelined"),
        ("memory.coalescing", memory.coalescing, "chunk"),
    ):
        if value != needed:
            raise ValueError(f'{key} = "{value}": must be "{needed}" with memory.sectors above 1')


def _a_tlb_is_of_a_launch(machine: "Machine") -> None:
    if machine.memory.tlb and machine.memory.translations == "run":
        raise ValueError('memory.translations = "run": must be "launch" with a table memory.tlb')


def _segments_lie_in_chunks(machine: "Machine") -> None:
    if machine.memory.coalescing == "half-warp-segments" and machine.chunk_bytes % LARGEST_SEGMENT:
        raise ValueError(
            f"memory.chunk_words * memory.word_bytes = {machine.chunk_bytes}: must be a multiple of "
            f"{LARGEST_SEGMENT} with memory.coalescing = 'half-warp-segments'"
        )


RULES: tuple[Callable[["Machine"], None], ...] = (
    _latencies_last_a_tick,
    _ticks_count_the_bandwidth,
    _serial_transfers_have_only_a_latency,
    _a_pipe_stands_alone,
    _a_last_level_has_one_rate,
    _halves_stand_alone,
    _pages_are_made_of_chunks,
    _chunks_are_made_of_sectors,
    _a_tlb_is_of_a_launch,
    _segments_lie_in_chunks,
)
