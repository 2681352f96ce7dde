"""Two writings of one page: the engines give the same result, every field of it."""

import os

import pytest
from hypothesis import HealthCheck, given, settings

from simtmm import simulate
from tests.strategies import machines, workloads

# A longer look by hand: SIMTMM_EXAMPLES=100000 python -m pytest tests/engine/test_equal.py -n 0
EXAMPLES = int(os.environ.get("SIMTMM_EXAMPLES", "2000"))
PARTS = 2  # so that two workers share them


@pytest.mark.parametrize("part", range(PARTS))
def test_the_engines_agree_on_every_machine_and_workload(part):
    @settings(max_examples=EXAMPLES // PARTS, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(machine=machines(), workload=workloads)
    def agree(machine, workload):
        assert simulate(machine, workload, "fast") == simulate(machine, workload, "reference")

    agree()
