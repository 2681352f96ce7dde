"""The streaming kernels of kernels/stream as workloads, and their bandwidth once they stream.

An element of 8 bytes a thread. What is measured launches many more blocks than a machine holds, so start and tail
hardly count. A shorter run takes its place, of which only how quickly blocks begin counts, once the first waves of them
are over; and as the last of all begins while the machine is still full, no tail is in it. Only where blocks leave their
stores behind it takes two runs, and the blocks that one has more over the time it takes longer.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from simtmm.engine import simulate
from simtmm.errors import StudyError, nearest
from simtmm.machine import Machine
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS, StreamKernel
from simtmm.stalls import CLASSES
from simtmm.trace.specification import LoweringSpecification
from simtmm.workload import ASYNC, COMPUTE, JOIN, LOAD, OF_CLASS, PASSES_SHIFT, PAUSE, STORE, Workload

FP64 = OF_CLASS + CLASSES.index("fp64")
LEAST_WAVES, MOST_WAVES = 4, 32  # of a machine full of blocks, in a run
NOT_COUNTED = 3  # the first of so many parts of a run
MEASURED_ARRAY = 1 << 27  # bytes of an array
SHRINK = 4  # and an L2 is that much smaller again, so that what is not counted fills it
KEPT = 4  # workloads, for machines that run the same ones next
KEPT_SMALL, SMALL = 240, 1 << 13  # and those of so few warps, for a fit, which runs all of its own again and again
BYTES_A_GROUP = 1 << 18  # of each array, in a run: a multiple of what any point keeps in flight
# What a kernel that only loads, or only stores, does not meet (docs/machine.md, section 4). With stores alone a
# partition turns round once, as first it reads.
BOTH = {"memory.return_delay": 0.0, "memory.return_interval": 0.0}
STORES: dict[str, float | None] = {
    "memory.store_latency": None, "memory.store_interval": None, "memory.store_buffer": 0.0, "memory.turnaround": 0.0
}  # fmt: skip
LOADS = {"memory.fetch_interval": 0.0}


def stream_workload(operation: str, block_size: int, blocks: int, machine: Machine, blocks_per_group: int) -> Workload:
    """What lowering a trace of kernels/stream gives, laid out at once: `blocks` blocks, an element a thread.

    On a machine with a pipe for doubles, instructions for these are of their class, as in a trace of compiled code, and
    with `results.fp64` what needs their values waits for them as there.
    blocks_per_group: the limit that claimed shared memory sets. Raises StudyError for an unknown operation.
    """
    if operation not in OPERATIONS:
        raise StudyError(f"operation {operation!r}: unknown{nearest(operation, OPERATIONS)}")
    pipes, results = machine.durations.pipes, machine.results
    wait = None
    if pipes and pipes[CLASSES.index("fp64")]:
        wait = max(0, round((results.fp64 if results else None) or 0) - 1)
    width = machine.cores.warp_width
    laid_out = _small_laid_out if blocks * -(-block_size // width) <= SMALL else _large_laid_out
    specification = LoweringSpecification.of(machine)
    lanes, _, phase_bytes, *_ = specification.pipe or (width, width, width * ELEMENT_BYTES)
    together = max(1, min(lanes, phase_bytes // ELEMENT_BYTES))
    return laid_out(operation, block_size, blocks, width, machine.chunk_bytes, wait, together, blocks_per_group)


def _laid_out(
    operation: str,
    block_size: int,
    blocks: int,
    width: int,
    chunk_bytes: int,
    wait: int | None,
    together: int,
    blocks_per_group: int,
) -> Workload:
    """Likewise, of what a machine decides: threads of a warp, bytes of a chunk, cycles for which a double is under way
    behind its instruction (None without a pipe for doubles), and lanes that access elements in one pass over the banks
    of a pipe.
    """
    kernel = OPERATIONS[operation]
    first = np.arange(0, block_size, width)
    lanes = np.minimum(width, block_size - first)
    elements = np.add.outer(np.arange(blocks) * block_size, first).ravel()  # a warp's first
    last = (np.broadcast_to(lanes, (blocks, len(lanes))).ravel() + elements) - 1
    warps = len(elements)
    # Each array begins at a chunk, behind the one before it and its halo.
    array_chunks = -(-(blocks * block_size + len(kernel.loads)) * ELEMENT_BYTES // chunk_bytes)

    def access(array: int, beside: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        begin = (elements + beside) * ELEMENT_BYTES // chunk_bytes
        end = ((last + beside + 1) * ELEMENT_BYTES - 1) // chunk_bytes
        return begin + array * array_chunks, end - begin + 1

    nothing = np.zeros(warps, np.int64), np.zeros(warps, np.int64)
    listed = [(ASYNC if kernel.together else LOAD, 0, access(*load)) for load in kernel.loads]
    if kernel.together:
        listed.append((JOIN, 0, nothing))
    fp64 = 0 if wait is None else kernel.fp64
    chained = max(0, kernel.waits - 1) if wait else 0  # instructions that each wait for the one before them
    for kind, instructions in ((COMPUTE, kernel.instructions - fp64), (FP64, fp64 - chained)):
        if instructions:
            listed.append((kind, instructions, nothing))
    if fp64 and wait:
        listed += [(PAUSE, wait, nothing), *[(FP64, 1, nothing), (PAUSE, wait, nothing)] * chained]
    if kernel.stores:
        listed.append((STORE, 0, access(0, 0)))
    begins = np.stack([where[0] for _, _, where in listed], axis=1).ravel()
    counts = np.stack([where[1] for _, _, where in listed], axis=1)
    amounts = np.array([amount for _, amount, _ in listed], dtype=np.int64)
    passes = np.broadcast_to(-(-lanes // together), (blocks, len(lanes))).ravel()[:, np.newaxis] - 1
    flat = counts.ravel()
    before = np.cumsum(flat) - flat
    return Workload(
        kind=np.tile(np.array([kind for kind, _, _ in listed], dtype=np.uint8), warps),
        amount=np.where(counts > 0, counts + (passes << PASSES_SHIFT), amounts).ravel(),
        chunks=np.repeat(begins - before, flat) + np.arange(int(flat.sum())),
        warp_operations=np.arange(warps + 1) * len(listed),
        warp_chunks=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts.sum(axis=1))]),
        block_warps=np.arange(blocks + 1) * len(lanes),
        launch_blocks=np.array([0, blocks]),
        launch_limits=np.array([blocks_per_group]),
        origin=f"stream {operation} of {block_size} threads a block",
    )


_large_laid_out, _small_laid_out = lru_cache(maxsize=KEPT)(_laid_out), lru_cache(maxsize=KEPT_SMALL)(_laid_out)


def stream_bandwidth(
    machine: Machine,
    operation: str,
    block_size: int,
    blocks_per_group: int,
    engine: str | None = None,
    bytes_a_group: int = BYTES_A_GROUP,
) -> float:
    """Bytes a second that a streaming kernel moves once start and tail are left out.

    A thread's own elements count, those beside them do not, as in the measurement. bytes_a_group: of each array that a
    core group goes through at least in the run, but for small blocks, which repeat themselves soon. An L2 that outlasts
    a run, warm at first or written back later, is scaled down: measured arrays hold 128 MiB. Raises StudyError on a
    machine without a clock.
    """
    clock = machine.clock_hz
    if clock is None:
        raise StudyError(f"machine {machine.name}: clock_hz: is required for a bandwidth")
    machine = as_felt_by(machine, operation, block_size)  # quicker
    wave = blocks_per_group * machine.cores.groups
    waves = max(LEAST_WAVES, min(MOST_WAVES, -(-bytes_a_group // (ELEMENT_BYTES * block_size * blocks_per_group))))
    first = waves // NOT_COUNTED
    machine = with_l2_for(machine, ELEMENT_BYTES * block_size * wave * first)

    def run(count: int) -> tuple[int, npt.NDArray[np.int64]]:
        """Ticks of a run of so many waves, and when each of its blocks begins."""
        begun = np.zeros(count * wave, np.int64)
        workload = stream_workload(operation, block_size, len(begun), machine, blocks_per_group)
        return simulate(machine, workload, engine, breakdown=False, begun=begun).ticks, begun

    if OPERATIONS[operation].stores and machine.memory.stores == "posted":
        # Blocks end before their stores do, so when the next ones begin tells nothing of these: what more waves take.
        counted = waves - first
        ticks: float = run(waves)[0] - run(first)[0]
    else:
        # Blocks of a wave may begin all at once, or one by one: from a whole wave's mean on, that makes no difference.
        counted, begun = waves - 1 - first, run(waves)[1]
        ticks = begun[-wave:].mean() - begun[first * wave : (first + 1) * wave].mean()
    moved = OPERATIONS[operation].streams * ELEMENT_BYTES * block_size * wave * counted
    return float(moved * clock * machine.ticks_per_cycle / max(1.0, ticks))


def with_l2_for(machine: Machine, array_bytes: int) -> Machine:
    """The machine with an L2 as small beside arrays of that many bytes as its own is beside the measured ones.

    Only one that would tell the difference changes: one that begins warm, or keeps what is stored in it. A last-level
    cache is left out: arrays pass through it, each written line drives out another, and reads came no quicker where it
    could have held them.
    """
    machine = machine.without_last_level
    l2 = machine.memory.l2
    if l2 is None or (l2.start == "cold" and l2.writes == "through"):
        return machine
    share = min(1.0, l2.sets * l2.ways * machine.chunk_bytes / MEASURED_ARRAY)
    sets = max(1, int(share * array_bytes / (l2.ways * machine.chunk_bytes) / SHRINK))
    return machine.replace({"memory.l2.start": "cold", "memory.l2.sets": min(sets, l2.sets)})


def as_felt_by(machine: Machine, operation: str, block_size: int) -> Machine:
    """The machine less what a streaming kernel runs without in the same ticks (docs/machine.md, section 4).

    Those are values of stores where it stores nothing, and of loads where it loads nothing; and caches. Where no load
    lists a chunk that another one lists, an L1, empty at first, never has it: looking into it takes no time, and what
    stores drop from it nobody misses. The same holds of an L2 that begins cold, but for two things that it does beside:
    its slices take time, which hides behind the partitions as long as a slice, which each load takes at the tick at
    which it takes its partition, is free again no later (`l2.service` up to `service`; stores take partitions alone);
    and with `writes = "back"` stores end in it. Ports and rows are the same with and without.
    """
    kernel = OPERATIONS.get(operation)
    if kernel is None:
        return machine  # it is refused further on
    unmet = ({} if kernel.stores else STORES) | ({} if kernel.loads else LOADS)
    unmet |= {} if kernel.loads and kernel.stores else BOTH
    values = machine.values()
    idle = {key: value for key, value in unmet.items() if values.get(key) != value}
    if loads_chunks_once(machine, operation, block_size):
        idle |= _idle_caches(machine, kernel)
    return machine.replace(idle) if idle else machine


def _idle_caches(machine: Machine, kernel: StreamKernel) -> dict[str, None]:
    """The caches of a machine that a kernel does not notice which loads no chunk again."""
    l2 = machine.memory.l2
    idle = {"memory.l1": None} if machine.memory.l1 else {}
    if l2:
        ends_stores = kernel.stores and l2.writes == "back"
        shows_to_loads = l2.start == "warm" or machine.durations.l2_service > machine.durations.service
        if not (ends_stores or (kernel.loads and shows_to_loads)):
            idle["memory.l2"] = None
    return idle


def loads_chunks_once(machine: Machine, operation: str, block_size: int) -> bool:
    """Whether no load lists a chunk that another one lists, another thread's included.

    machine: whose chunks and warps count. operation: a kernel. block_size: threads of a block.
    """
    kernel = OPERATIONS.get(operation)
    if kernel is None or not kernel.loads:
        return True
    arrays = [array for array, _ in kernel.loads]
    whole = all(
        threads * ELEMENT_BYTES % machine.chunk_bytes == 0 for threads in (block_size, machine.cores.warp_width)
    )
    return whole and len(set(arrays)) == len(arrays)
