"""Blocks that are made of others: of other places of the grid, and begun in the middle."""

import numpy as np
import pytest

from simtmm.kernel import load_kernel
from simtmm.sampling.long.phases import under_way
from simtmm.sampling.long.translation import corners, translated
from simtmm.sampling.recording import KernelSource


@pytest.fixture(scope="module", params=["written", "compiled"])
def source(request):
    return KernelSource(load_kernel("gemm"), {"n": 64}, request.param)


def test_blocks_made_of_the_corners_of_a_grid_are_those_that_were_recorded(source):
    wanted = np.array([2, 5, 11, 15])
    few = source.trace_of({0: np.array([*corners(source.launches[0].grid), 7])})
    recorded = [runs.to_batch().events for runs in source.trace_of({0: wanted}).runs()]
    made = translated(few, 0, wanted).to_batch().events
    assert (made == np.concatenate(recorded)).all()


def test_blocks_that_do_something_else_are_found(source):
    short = KernelSource(load_kernel("gemm"), {"n": 56}, "written")  # its last blocks have half of their threads
    assert translated(short.trace_of({0: np.array([0, 1, 4, 15])}), 0, np.arange(4)) is None


def test_a_block_begun_in_the_middle_has_the_end_of_its_events(source):
    runs = next(iter(source.trace_of({0: np.array([0, 1])}).runs()))
    whole = runs.of_blocks(np.array([1], np.int32)).to_batch().events
    begun = under_way(runs, [0.0, 0.5])
    assert (begun.of_blocks(np.array([0], np.int32)).to_batch().events
            == runs.of_blocks(np.array([0], np.int32)).to_batch().events).all()  # fmt: skip
    later = begun.of_blocks(np.array([1], np.int32)).to_batch().events
    assert begun.events[1] == len(later)
    assert 0.4 < len(later) / len(whole) < 0.65
    for thread in (0, 77, 255):
        ours, theirs = (events[events["thread"] == thread] for events in (later, whole))
        tail = 2 * len(ours) // 3  # behind what comes before the loop
        assert (ours[-tail:] == theirs[-tail:]).all()
