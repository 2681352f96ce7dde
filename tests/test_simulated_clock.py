"""What a launch takes by a program's clock, where only its first blocks were listened to."""

import numpy as np
import pytest

import simtmm
from simtmm.program import open_program
from simtmm.sampling.sample import sample_of
from simtmm.simulated_clock import seconds_on


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
