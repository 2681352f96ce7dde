"""What a launch takes by a program's clock, where only its first blocks were listened to."""

import numpy as np
import pytest

import simtmm
from simtmm.device.residence import Beginning
from simtmm.errors import MachineError
from simtmm.program import open_program
from simtmm.sampling.sample import sample_of
from simtmm.simulated_clock import _finding, seconds_on


@pytest.mark.parametrize(
    ("blocks", "first"),
    [
        (33, 4),  # fewer than the machine has groups: all of them run at once
        (1000, 100),  # fewer than it holds at once
        (4096, 1500),  # more than it holds at once: they come in waves
    ],
)
def test_a_launch_takes_as_long_by_its_first_blocks_as_by_all(blocks, first):
    """To a sixth: few blocks share partitions of the memory less evenly."""
    machine = simtmm.load_machine("h100-sxm").replace({"memory.l2.start": "warm"}).after_its_first_launch
    trace = open_program("stream", {"n": 128 * blocks}).trace
    assert trace.info.launches[0].blocks == blocks
    part = sample_of(trace, {0: np.arange(first)})
    assert seconds_on(machine, part, blocks) == pytest.approx(seconds_on(machine, trace), rel=1 / 6)


@pytest.mark.parametrize("name", ["gtx480", "h100-sxm", "mi300x"])
@pytest.mark.parametrize("share", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("beginning", Beginning)
def test_a_launch_finds_caches_as_its_beginning_says(name, share, beginning):
    machine = simtmm.load_machine(name).replace({"memory.l2.start": "warm", "memory.l2.writes": "back"})
    found, l2, last = _finding(machine, beginning, share), machine.memory.l2, machine.memory.last_level
    if beginning is Beginning.WARM:
        assert found is machine
        return
    part = min(1.0, share) if beginning is Beginning.SMALLER else 1
    passes = beginning is Beginning.PASSING
    assert found.memory.l2.start == "cold"
    assert found.memory.l2.sets == round(l2.sets * part)
    assert found.memory.l2.writes == ("through" if passes else "back")
    assert found.memory.l2.victims == ("posted" if passes else l2.victims)
    assert (found.memory.last_level is None) == (last is None or passes)
    if found.memory.last_level is not None:
        assert found.memory.last_level.sets == round(last.sets * part)


def test_a_machine_without_an_l2_is_as_it_is_and_one_without_a_clock_has_no_seconds():
    machine = simtmm.load_machine("gtx480").replace({"memory.l2": None})
    assert _finding(machine, Beginning.EMPTY, 0.5) is machine
    trace = open_program("stream", {"n": 1024}).trace
    with pytest.raises(MachineError, match=r"clock_hz: is unknown, so times in seconds are unknown$"):
        seconds_on(machine.replace({"clock_hz": None}), trace)
