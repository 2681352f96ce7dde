"""The models' counts of a streaming kernel, without a trace: all blocks are the same."""

from simtmm.calibration.streams.kernels import stream_workload
from simtmm.machine import Machine
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS
from simtmm.trace.counts import Counts, LaunchCounts
from simtmm.workload import ASYNC, COMPUTE, LISTED, LOAD, OF_CLASS, STORE


def stream_counts(operation: str, block_size: int, blocks: int, machine: Machine, blocks_per_group: int) -> Counts:
    """What counting a trace of kernels/stream gives, for `blocks` blocks of whole chunks.

    blocks_per_group: that a core group holds at once. Raises StudyError for an unknown operation.
    operation: of kernels/stream, as "read".
    block_size: threads of a block.
    """
    one = stream_workload(operation, block_size, 1, machine, blocks_per_group)
    kernel = OPERATIONS[operation]
    width = machine.cores.warp_width
    accesses = len(kernel.loads) + kernel.stores
    memory = (one.kind == LOAD) | (one.kind == ASYNC) | (one.kind == STORE)
    # Neighbouring words: a warp's elements in as few chunks as they could lie in.
    wide = memory & (one.amount & LISTED > max(1, -(-width * ELEMENT_BYTES // machine.chunk_bytes)))
    computed = int(one.amount[(one.kind == COMPUTE) | (one.kind >= OF_CLASS)].sum())
    in_use = min(blocks, blocks_per_group * machine.cores.groups)
    work = accesses + kernel.instructions
    threads = blocks * block_size
    launch = LaunchCounts(
        kernel=f"stream_{operation}",
        work=work * threads,
        span=work,
        memory_operations=len(one.chunks) * blocks,
        memory_instructions=int(memory.sum()) * blocks,
        threads=threads,
        blocks=blocks,
        active_blocks=blocks_per_group,
        blocks_in_use=in_use,
        warps_in_use=in_use * -(-block_size // width),
        threads_per_core=in_use * block_size / machine.processors,
        instructions=(computed + int(memory.sum())) * blocks,
        uncoalesced_instructions=int(wide.sum()) * blocks,
        uncoalesced_operations=int((one.amount[wide] & LISTED).sum()) * blocks,
        barriers=0,
        accesses=accesses * threads,
        thread_accesses=accesses,
        bytes_read=len(kernel.loads) * ELEMENT_BYTES * threads,
        bytes_written=kernel.stores * ELEMENT_BYTES * threads,
        store_operations=int((one.amount[one.kind == STORE] & LISTED).sum()) * blocks,
        waits=(1 if kernel.loads else 0) + (kernel.stores and machine.waits_for_stores),
    )
    return Counts.of_launch(launch)
