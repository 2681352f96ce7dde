"""The clock of a simulated machine: what a program's events and clocks are read from."""

import numpy as np

from simtmm.device.host import host_of
from simtmm.device.residence import Beginning, Residence
from simtmm.engine import simulate
from simtmm.errors import MachineError
from simtmm.machine import Machine
from simtmm.recorder.direct.clock import Clock
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower, lower_or_stream

PACED = 2  # machines full of blocks from which on a pace is taken: the first begins at once


def clock_on(machine: Machine) -> Clock:
    """A clock whose launches take what the fast engine says for each of them alone, its overhead included.

    What only the first launch of a run pays is left out: each of them would be a first one. Where launches find the L2
    as those before them left it (`start` of `kept`), a launch whose memory was not accessed lately begins with an empty
    one; another one, or with another start, as a run of the same launch leaves it. A launch that follows
    another one in a graph pays `graph_launch_overhead` instead of `launch_overhead`.
    """
    durations = machine.durations
    second = machine.ticks_per_cycle * (machine.clock_hz or 1.0)  # in ticks
    overhead = durations.launch_overhead / second
    spared = overhead - durations.graph_launch_overhead / second

    def seconds_of(trace: Trace, beginning: Beginning, times: float) -> float:
        return seconds_on(_beginning(machine, beginning, times), trace, times)

    return Clock(seconds_of, spared, host_of(machine), _residence(machine))


def _residence(machine: Machine) -> Residence | None:
    l2 = machine.memory.l2
    return Residence(l2.used_sets * l2.ways * machine.chunk_bytes, l2.start == "kept") if l2 else None


def _beginning(machine: Machine, beginning: Beginning, times: float) -> Machine:
    """The machine whose launches all begin so. times: how many times as many blocks they have as are there."""
    later, l2 = machine.after_its_first_launch, machine.memory.l2
    if l2 is None or beginning is Beginning.WARM:
        return later
    changes: dict[str, object] = {"memory.l2.start": "cold"}
    if beginning is Beginning.SMALLER:
        changes["memory.l2.sets"] = max(1, round(l2.sets / times))
    if beginning is Beginning.PASSING and l2.writes == "back":
        changes |= {"memory.l2.writes": "through", "memory.l2.victims": "posted"}
    return later.replace(changes)


def seconds_on(machine: Machine, trace: Trace, times: float = 1.0) -> float:
    """What the launches of a trace take on a machine [s].

    times: how many times as many blocks the one launch has as the trace, which has its first. The others take as long
    as those that begin once the machine is full, one by one, or if hardly any do, in proportion.

    Raises MachineError for a machine without a clock's rate, WorkloadError for a block that it can't hold.
    """
    if machine.clock_hz is None:
        raise MachineError(f"{machine.name}: clock_hz: is unknown, so times in seconds are unknown")
    if times == 1.0:
        workload, _ = lower_or_stream(trace, machine)
        return float(simulate(machine, workload, breakdown=False).cycles) / machine.clock_hz
    workload = lower(trace, machine)
    begun = np.zeros(workload.blocks, np.int64)
    ticks = float(simulate(machine, workload, "fast", breakdown=False, begun=begun).launch_ticks[0])
    (launch,) = trace.info.launches
    active = machine.active_blocks(launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes)
    full = max(1, active) * machine.cores.groups
    overhead = min(machine.durations.launch_overhead, ticks)
    of_block = (ticks - overhead) / max(1, workload.blocks)
    if workload.blocks >= PACED * full:
        of_block = float(begun[-1] - begun[full]) / (workload.blocks - 1 - full)
    ticks += (times - 1.0) * workload.blocks * of_block
    return ticks / machine.ticks_per_cycle / machine.clock_hz
