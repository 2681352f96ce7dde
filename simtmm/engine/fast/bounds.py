"""Whether a run's ticks fit 64 bits, which is all that this engine counts in."""

import numpy as np

from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.workload import PAUSE, SHARED, Workload

LONGEST = 2.0**61  # ticks; sums of two of them fit 64 bits


def check_length(machine: Machine, workload: Workload) -> None:
    """Refuse what could take LONGEST and more: the sum of everything one after another bounds every tick.

    Raises EngineError.
    """
    takes = machine.durations
    longest = max(takes.slowest_load, takes.store_latency)
    taken = max(takes.service, takes.atomic_service) + takes.turnaround + takes.row_opening
    if machine.memory.l2:  # its slice, and the partition of a chunk that is written back
        taken += takes.l2_service + takes.service + takes.turnaround + takes.row_opening
    chunk = longest + takes.port_interval + taken
    start = takes.block_launch + takes.warp_launch
    each = takes.issue + takes.pipeline_depth

    def bound(held: float, paused: float = 0.0) -> float:
        others = chunk * (len(workload.chunks) + 1) + start * (workload.warps + 1) + machine.ticks_per_cycle * paused
        return each * (held + workload.operations + 1) + others

    # Rarely does it take the sum itself to see that it is no more than it may be. To issue takes a cycle at least, so
    # that this bounds pauses, too.
    most = float(workload.amount.max(initial=0)) * workload.operations
    if bound(most) < LONGEST:
        return
    kinds = workload.kind <= SHARED, workload.kind == PAUSE
    if bound(*(float(workload.amount[chosen].sum(dtype=np.float64)) for chosen in kinds)) >= LONGEST:
        raise EngineError(
            f"{workload.origin} on {machine.name}: could take 2^61 ticks and more, which engine 'fast' can't count; "
            "use engine 'reference', or fewer ticks_per_cycle"
        )
