"""Groups that go on apart are shared out to lanes where there is more than one and enough of them, evenly."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.engine.fast.layout import LANE, TOUCHED
from simtmm.engine.fast.steps.lanes import share_out


@pytest.mark.parametrize(
    ("lanes", "wide", "touched", "expected"),
    [
        (1, 2, [0, 1, 2, 3], None),
        (2, 5, [0, 1, 2, 3], None),
        (2, 4, [0, 1, 2, 3], {0: 0, 1: 0, 2: 1, 3: 1}),
        (2, 2, [1, 4, 5], {1: 0, 4: 0, 5: 1}),
        (3, 2, [0, 1, 2, 3, 4, 5, 6], {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2}),
        (4, 2, [2, 6], {2: 0, 6: 2}),
    ],
)
def test_touched_groups_are_shared_out_in_their_order(lanes, wide, touched, expected):
    """wide: groups that are worth it. expected: the lane of each, None where they stay together."""
    clock = np.zeros((TOUCHED + 1, 8), np.int64)
    clock[TOUCHED, touched] = 1
    group = [SimpleNamespace(lane=-1) for _ in range(8)]
    s = SimpleNamespace(parameters=SimpleNamespace(lanes=lanes, wide=wide, groups=8), clock=clock, group=group)
    assert share_out(s, len(touched)) == (expected is not None)
    assert {g: each.lane for g, each in enumerate(group) if each.lane >= 0} == (expected or {})
    marks = {g: LANE + lane for g, lane in expected.items()} if expected else dict.fromkeys(touched, 1)
    assert {g: int(mark) for g, mark in enumerate(clock[TOUCHED]) if mark} == marks
