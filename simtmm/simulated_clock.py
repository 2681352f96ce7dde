"""The clock of a simulated machine: what a program's events and clocks are read from."""

from simtmm.device.host import host_of
from simtmm.engine import simulate
from simtmm.errors import MachineError
from simtmm.machine import Machine
from simtmm.machine.part import part_of, whole
from simtmm.recorder.direct.clock import Clock
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower_or_stream


def clock_on(machine: Machine) -> Clock:
    """A clock whose launches take what the fast engine says for each of them alone, its overhead included.

    What only the first launch of a run pays is left out: each of them would be a first one. A launch that follows
    another one in a graph pays `graph_launch_overhead` instead of `launch_overhead`.
    """
    later = machine.after_its_first_launch
    durations = machine.durations
    second = machine.ticks_per_cycle * (machine.clock_hz or 1.0)  # in ticks
    spared = (durations.launch_overhead - durations.graph_launch_overhead) / second
    return Clock(lambda trace, blocks: seconds_on(later, trace, blocks), spared, host_of(machine))


def seconds_on(machine: Machine, trace: Trace, blocks: int | None = None) -> float:
    """What the launches of a trace take on a machine [s].

    blocks: that the trace's one launch has, of which only the first ones are in the trace. All of them take as many
    times as long as there are more of them. Fewer than the machine holds at once are simulated on a part of it: beside
    one another they take no longer than one, and each finds as much to itself as in the whole launch.

    Raises MachineError for a machine without a clock's rate, WorkloadError for a block that it can't hold.
    """
    on, times = machine, 1.0
    if blocks is not None:
        launch = trace.info.launches[0]
        held = machine.cores.groups * machine.active_blocks(
            launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes
        )
        taken = whole(machine.cores.groups * min(1.0, launch.blocks / min(blocks, held)))
        on = part_of(machine, taken) if taken < machine.cores.groups else machine
        times = max(1.0, blocks * taken / (launch.blocks * machine.cores.groups))
    seconds = simulate(on, lower_or_stream(trace, on)[0], breakdown=False).seconds
    if seconds is None:
        raise MachineError(f"{machine.name}: clock_hz: is unknown, so times in seconds are unknown")
    overhead = min(seconds, machine.durations.launch_overhead / (machine.ticks_per_cycle * (machine.clock_hz or 1.0)))
    return overhead + times * (seconds - overhead)
