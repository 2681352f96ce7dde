"""What the clocks of device code go by: latencies of a device's caches, and of what it has none of."""

import pytest

from simtmm import load_machine
from simtmm.cuda.execution.layout import CLOCK_LINE_BITS
from simtmm.cuda.execution.runtime.device_clock import DeviceClock, Latencies

LINE = 1 << CLOCK_LINE_BITS


def begun(footprint=0, **latencies):
    """The fields of a launch on a device with these latencies, and 4 groups."""
    clock = DeviceClock(Latencies(**{"memory": 600, "groups": 4, "l1_lines": 8, "l2_lines": 64, **latencies}))
    assert clock.begin(2, footprint) == clock._timing.ctypes.data
    return {name: int(clock._timing[name]) for name in clock._timing.dtype.names}


@pytest.mark.parametrize(
    ("l1", "l2", "local", "beyond"),
    [(33, 210, 33, 210), (33, None, 33, 600), (None, 210, 210, 210), (None, None, 600, 600), (0, 210, 0, 210)],
)
def test_local_memory_takes_what_the_first_cache_takes_or_the_memory_where_there_is_none(l1, l2, local, beyond):
    """beyond: of what is not in the L1."""
    found = begun(l1=l1, l2=l2)
    assert (found["l1"], found["memory"]) == (local, beyond)
    assert (found["l1_lines"], found["l2_lines"]) == (8 * (l1 is not None), 64 * (l2 is not None))


def test_what_fits_the_l2_is_there_at_a_launch_and_no_line_more():
    assert begun(64 * LINE, l2=210)["memory"] == 210
    assert begun(64 * LINE + 1, l2=210)["memory"] == 600


def test_latencies_of_a_machine_are_its_own_and_what_an_instruction_takes_beside_them():
    machine = load_machine("h100-sxm")
    found = Latencies.of(machine)
    beside = (machine.durations.issue + machine.durations.pipeline_depth) / machine.ticks_per_cycle
    memory = machine.memory
    assert (found.l1, found.l2, found.memory) == tuple(
        round(each.latency + beside) for each in (memory.l1, memory.l2, memory)
    )
    assert found.nanoseconds == pytest.approx(1e9 / machine.clock_hz)
    assert (found.l1_lines, found.l2_lines) == (memory.l1.sets * memory.l1.ways, memory.l2.sets * memory.l2.ways)
