"""How many threads hide the latency of a traced program."""

from simtmm.machine import Machine
from simtmm.model.tmm import Hiding, hiding
from simtmm.trace.counts import Counts
from simtmm.trace.io import Trace


def hiding_of_trace(trace: Trace, machine: Machine, counts: Counts) -> Hiding:
    """The threads per core that hide a trace's latency; S is that of the launch whose threads use most."""
    launches = trace.info.launches
    S = max((launch.shared_memory_bytes / launch.threads_per_block for launch in launches), default=0.0)
    return hiding(machine, counts, S)
