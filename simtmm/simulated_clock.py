"""The clock of a simulated machine: what a program's events and clocks are read from."""

from typing import TYPE_CHECKING

import numpy as np

from simtmm.device.host import host_of
from simtmm.device.residence import Beginning, Residence
from simtmm.engine import simulate
from simtmm.errors import MachineError
from simtmm.machine import Machine
from simtmm.machine.part import part_of, whole
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower, lower_or_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from simtmm.recorder.direct.clock import Clock

PACED = 2  # machines full of blocks from which on a pace is taken: the first begins at once


def clock_on(machine: Machine, made: "Callable[..., Clock] | None" = None) -> "Clock":
    """A clock whose launches take what the fast engine says for each of them alone, its overhead included.

    What only the first launch of a run pays is left out: each of them would be a first one. Where launches find the L2
    as those before them left it (`start` of `kept`), a launch whose memory was not accessed lately begins with an empty
    one; another one, or with another start, as a run of the same launch leaves it. A launch that follows
    another one in a graph pays `graph_launch_overhead` instead of `launch_overhead`.

    made: what it is made by; a Clock if left out.
    """
    from simtmm.recorder.direct.clock import Clock  # late: all compiled code comes with it

    durations = machine.durations
    second = machine.ticks_per_cycle * (machine.clock_hz or 1.0)  # in ticks
    spared = (durations.launch_overhead - durations.graph_launch_overhead) / second
    later, l2 = machine.after_its_first_launch, machine.memory.l2
    residence = Residence(l2.used_sets * l2.ways * machine.chunk_bytes, l2.start == "kept") if l2 else None

    def seconds_of(trace: Trace, beginning: Beginning, blocks: int | None) -> float:
        return seconds_on(later, trace, blocks, beginning)

    return (made or Clock)(seconds_of, spared, host_of(machine), residence)


def seconds_on(
    machine: Machine, trace: Trace, blocks: int | None = None, beginning: Beginning = Beginning.WARM
) -> float:
    """What the launches of a trace take on a machine [s].

    blocks: that the trace's one launch has, of which only the first ones are in the trace. If there are enough, the
    others take as long as those that begin once the machine is full. If not, all take as many times as long as there
    are more of them, and fewer than the machine holds at once are simulated on a part of it: beside one another they
    take no longer than one, and each finds as much to itself as in the whole launch. beginning: how they find the L2.

    Raises MachineError for a machine without a clock's rate, WorkloadError for a block that it can't hold.
    """
    if machine.clock_hz is None:
        raise MachineError(f"{machine.name}: clock_hz: is unknown, so times in seconds are unknown")
    second = machine.ticks_per_cycle * machine.clock_hz  # in ticks
    if blocks is None:
        on = _finding(machine, beginning, 1.0)
        return float(simulate(on, lower_or_stream(trace, on)[0], breakdown=False).ticks) / second
    launch = trace.info.launches[0]
    held = machine.cores.groups * machine.active_blocks(
        launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes
    )
    taken = whole(machine.cores.groups * min(1.0, launch.blocks / min(blocks, held)))
    on = part_of(machine, taken) if taken < machine.cores.groups else machine
    on = _finding(on, beginning, launch.blocks / blocks * machine.cores.groups / taken)
    workload, begun = lower(trace, on), np.zeros(launch.blocks, np.int64)
    ticks = float(simulate(on, workload, "fast", breakdown=False, begun=begun).launch_ticks[0])
    if launch.blocks >= PACED * held:
        # Between blocks of one place in their waves: where all take as long, a wave begins in almost no time.
        waves = max(1, (launch.blocks - 1 - held) // held)
        pace = float(begun[-1] - begun[launch.blocks - 1 - waves * held]) / (waves * held)
        return (ticks + (blocks - launch.blocks) * pace) / second
    times = max(1.0, blocks * taken / (launch.blocks * machine.cores.groups))
    overhead = min(ticks, float(machine.durations.launch_overhead))
    return (overhead + times * (ticks - overhead)) / second


def _finding(machine: Machine, beginning: Beginning, share: float) -> Machine:
    """The machine whose launches find the L2 so. share: of the L2 that is their blocks', where it is smaller."""
    l2 = machine.memory.l2
    if l2 is None or beginning is Beginning.WARM:
        return machine
    changes: dict[str, object] = {"memory.l2.start": "cold"}
    if beginning is Beginning.SMALLER:
        changes["memory.l2.sets"] = whole(l2.sets * min(1.0, share))
        if machine.memory.last_level:
            changes["memory.last_level.sets"] = whole(machine.memory.last_level.sets * min(1.0, share))
    if beginning is Beginning.PASSING:  # so few blocks would not fill it
        machine = machine.without_last_level
    if beginning is Beginning.PASSING and l2.writes == "back":
        changes |= {"memory.l2.writes": "through", "memory.l2.victims": "posted"}
    return machine.replace(changes)
