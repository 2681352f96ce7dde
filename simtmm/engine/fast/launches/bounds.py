"""Whether a run's ticks fit 64 bits, which is all that this engine counts in."""

from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import MOST_PASSES

LONGEST = 2.0**61  # ticks; sums of two of them fit 64 bits


def check_length(machine: Machine, workload: AnyWorkload) -> None:
    """Refuse what could take LONGEST and more: the sum of everything one after another bounds every tick.

    Raises EngineError.
    """
    takes = machine.durations
    longest = max(takes.slowest_load, takes.store_latency, takes.atomic_latency)
    turning = takes.turnaround + takes.row_opening
    writing = max(takes.service, takes.write_service) + turning
    if machine.memory.partial_writes == "read":  # its sectors before it
        writing *= 2
    taken = max(writing, takes.atomic_service + turning)
    if machine.memory.l2:  # its slice, and the partition of a chunk that is written back
        requests = takes.l2_request_service, takes.l2_store_request_service
        taken += max(takes.l2_service, takes.l2_store_service, takes.atomic_service, *requests)
        taken += writing * machine.memory.l2.dies + takes.far_service
    taken += takes.shared_l1_service
    if machine.memory.last_level:  # likewise, for a chunk that comes there and for one that the L2 drops
        dies = machine.memory.l2.dies if machine.memory.l2 else 1
        taken += (1 + dies) * (max(takes.last_level_service, takes.atomic_service) + writing)
    if machine.keeps_local_stores:  # the same of a chunk that the L1 drops
        taken += max(takes.l2_store_service, takes.l2_store_request_service) + writing
    chunk = longest + takes.first_access + max(takes.port_interval, takes.store_interval)
    chunk += takes.fetch_interval + takes.tlb_miss + takes.store_buffer + taken
    chunk += takes.fill_interval + takes.drain_interval + takes.drain_latency
    chunk += -(-machine.chunk_bytes // machine.banks.pass_bytes) * takes.shared_pass  # of a copy, in shared memory
    chunk += takes.copy_interval + takes.return_interval + takes.return_delay
    start = takes.block_launch + takes.block_interval + takes.warp_launch
    each = takes.issue + takes.pipeline_depth + max(takes.pipes, default=0)

    sent = takes.remote_interval + takes.fill_interval + takes.shared_pass + longest
    tallies = workload.tallies
    operations, chunks = (sum(getattr(tally, name) for tally in tallies) for name in ("operations", "chunks"))
    # A shared of conflict degree d is issued for d times as long; a join or barrier is none, and takes no port.
    bound = (
        each * (float(sum(tally.issued for tally in tallies)) + operations + 1)
        + chunk * (chunks + 1)
        + start * (workload.warps + 1)
        + takes.behind_grid_barrier(workload.blocks, 0) * float(sum(tally.grid_barriers for tally in tallies))
        + takes.remote_interval * MOST_PASSES * float(sum(tally.remotes for tally in tallies))
        + sent * MOST_PASSES * float(sum(tally.mbarriers for tally in tallies))
        + machine.ticks_per_cycle * float(sum(tally.paused for tally in tallies))
    )
    if bound >= LONGEST:
        raise EngineError(
            f"{workload.origin} on {machine.name}: could take 2^61 ticks and more, which engine 'fast' can't count; "
            "use engine 'reference', or fewer ticks_per_cycle"
        )
