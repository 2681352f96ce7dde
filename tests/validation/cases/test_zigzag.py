"""Block scheduling: falls and periods of curves, and those of two machines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.model.launch.scheduling import scheduling_factor
from simtmm.model.series import SIMULATED
from simtmm.validation.cases.zigzag import MODEL, falls, period
from tests.recorder.conftest import needs_compiler


@given(groups=st.integers(2, 40), active_blocks=st.integers(1, 4), waves=st.integers(1, 5))
def test_the_curve_of_eq_5_13_falls_behind_every_full_wave_and_nowhere_else(groups, active_blocks, waves):
    full = groups * active_blocks
    blocks = np.arange(1, full * waves + 2)
    # from w full waves to w + 1 of which one has a block: throughput falls to (w full + 1) / ((w + 1) full) of it
    least = 1 - (waves * full + 1) / ((waves + 1) * full)
    found = falls(1 / scheduling_factor(blocks, active_blocks, groups, 1), least * 0.99)
    assert found == [full * wave for wave in range(1, waves + 1)]
    assert period(found) == full


def test_what_falls_less_is_no_end_of_a_wave():
    assert falls(np.array([1.0, 2.0, 1.96, 3.0, 2.5, 2.5]), 0.05) == [4]


@pytest.mark.parametrize(("places", "expected"), [([], None), ([15], 15), ([15, 30, 45], 15), ([15, 31], None)])
def test_a_period_is_one_distance(places, expected):
    assert period(places) == expected


@needs_compiler
def test_throughput_peaks_where_blocks_fill_all_groups_and_nowhere_else(sampled):
    """ma.zigzag480 and ma.zigzagC1060: with one block a group, after each 15 blocks, or 30, exactly."""
    gtx480, c1060 = sampled("zigzag")
    assert {point.case: point.said[SIMULATED] for point in gtx480.points} == {
        f"{memory}, {case}": blocks
        for memory in ("shared", "global")
        for case, blocks in (("period", 15), ("peak 1", 15), ("peak 2", 30))
    }
    assert [point.said[SIMULATED] for point in c1060.points] == [30, 30]
    assert all(point.said[MODEL] == point.measured for table in (gtx480, c1060) for point in table.points)
