"""The clock of a simulated machine: what a program's events and clocks are read from."""

from simtmm.device.host import host_of
from simtmm.engine import simulate
from simtmm.errors import MachineError
from simtmm.machine import Machine
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
    overhead = durations.launch_overhead / second
    spared = overhead - durations.graph_launch_overhead / second
    return Clock(lambda trace: seconds_on(later, trace), spared, host_of(machine), overhead)


def seconds_on(machine: Machine, trace: Trace) -> float:
    """What the launches of a trace take on a machine [s].

    Raises MachineError for a machine without a clock's rate, WorkloadError for a block that it can't hold.
    """
    seconds = simulate(machine, lower_or_stream(trace, machine)[0], breakdown=False).seconds
    if seconds is None:
        raise MachineError(f"{machine.name}: clock_hz: is unknown, so times in seconds are unknown")
    return seconds
