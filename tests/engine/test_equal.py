"""Two writings of one page: the engines give the same result, every field of it."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from simtmm.engine import simulate
from simtmm.engine.fast.launches import launch
from simtmm.engine.fast.launches import part as parts
from simtmm.testing import machines, workloads
from tests.examples import SHARING, examples, several

# A longer look by hand: SIMTMM_EXAMPLES=100000 python -m pytest tests/engine/test_equal.py -n 0
EXAMPLES = int(os.environ.get("SIMTMM_EXAMPLES", examples(600).max_examples))
PARTS = 2  # so that two workers share them


def agreeing(count):
    """Settings of a property that compares the engines on so many pairs of a machine and a workload."""
    return settings(max_examples=-(-count // SHARING), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("part", range(PARTS))
def test_the_engines_agree_on_every_machine_and_workload(part):
    timeline = part == 0  # with one, fast takes other stretches

    @agreeing(EXAMPLES // PARTS)
    @given(drawn=several(machines()), workload=workloads())
    def agree(drawn, workload):
        for machine in drawn:
            asked = {"timeline": timeline, "stalls": True}
            begun = [np.full(len(workload.block_warps) - 1, -1) for _ in range(2)]
            fast_result = simulate(machine, workload, "fast", begun=begun[0], **asked)
            assert fast_result == simulate(machine, workload, "reference", begun=begun[1], **asked)
            assert fast_result.stalls is not None
            assert begun[0].tolist() == begun[1].tolist()
            assert (begun[0] >= 0).all()

    agree()


def test_groups_that_nothing_couples_give_the_same_in_threads(monkeypatch):
    monkeypatch.setattr(parts, "WORTH_SHARING", 0)
    shared_out = []
    simulate_in_lane = launch.Launch._simulate
    monkeypatch.setattr(
        launch.Launch, "_simulate", lambda launch, mark: (shared_out.append(mark), simulate_in_lane(launch, mark))[1]
    )

    @agreeing(EXAMPLES // 4)
    @given(drawn=several(machines(coupled=False)), workload=workloads())
    def agree(drawn, workload):
        for machine in drawn:
            in_threads = simulate(machine, workload, "fast", threads=3, stalls=True)
            assert in_threads == simulate(machine, workload, "reference", stalls=True)

    agree()
    lanes = [mark for mark in shared_out if mark > 1]
    assert len(lanes) > EXAMPLES // 10  # or nothing has been shared out
