"""Programs that time and check themselves: what they print by their clocks is what events say."""

import os
import re

import pytest

from simtmm.device.own_clock import OwnClock
from simtmm.programs.program import cuda_program
from tests.programs.collection import KERNELS, TIMERS, program

WITHIN = 0.1  # what the host's calls around a loop may add to it
ALL = [(kernel, timer) for kernel in KERNELS for timer in TIMERS]
DAILY = [(kernel, list(TIMERS)[number % len(TIMERS)]) for number, kernel in enumerate(KERNELS)]
PAIRS = ALL if os.environ.get("SIMTMM_COLLECTION") else DAILY


def test_there_are_sixty():
    assert len({program(*pair) for pair in ALL}) == 60


@pytest.mark.parametrize(("kernel", "timer"), PAIRS)
def test_a_program_prints_what_events_say_and_passes_its_own_check(kernel, timer, tmp_path, capfd):
    (tmp_path / f"{kernel}.cu").write_text(program(kernel, timer))
    outcome = cuda_program(
        [tmp_path / f"{kernel}.cu"], options=TIMERS[timer].flags, clock=OwnClock(has_host_time=False)
    ).run()
    printed = re.fullmatch(r"(\S+) us a launch by the clock, (\S+) us by events, PASS\n", capfd.readouterr().out)
    assert printed, kernel
    assert (outcome.status, outcome.launched) == (0, 1 + 2 * KERNELS[kernel].repeat)
    assert float(printed[1]) == pytest.approx(float(printed[2]), rel=WITHIN)
    assert 1 < float(printed[2]) < 1000
