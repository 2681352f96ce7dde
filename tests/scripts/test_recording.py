"""simtmm.recorded and pytest's fixture."""

import os
import subprocess
import sys

import numpy as np
import pytest

import simtmm
from simtmm.errors import RecordingError
from tests.cuda.compilers.conftest import needs_nvrtc

pytestmark = needs_nvrtc

CODE = 'extern "C" __global__ void add_one(float* x) { x[threadIdx.x] += 1; }'
TEST = f"""
import numpy as np
import pytest
import simtmm

kernel = simtmm.RawKernel('{CODE}', "add_one")

def test_launches(simtmm_recording):
    x = np.zeros(32, np.float32)
    kernel((1,), (32,), (x,))
    assert simtmm_recording.launches == 1
    trace = simtmm_recording.stop()
    assert (trace.info.kernel, trace.info.events) == ("test_launches", 96)
    kernel((1,), (32,), (x,))
    assert simtmm_recording.launches == 1

@pytest.mark.simtmm("h100-sxm", kernel="other")
def test_options(simtmm_recording):
    kernel((1,), (32,), (np.zeros(32, np.float32),))
    assert (simtmm_recording.launches, simtmm_recording.machine.name) == (0, "H100 SXM")
"""


def test_each_call_of_a_recorded_function_has_its_recording_and_gives_what_it_gave():
    kernel = simtmm.RawKernel(CODE, "add_one")

    @simtmm.recorded
    def twice(x):
        """Add two."""
        kernel((1,), (32,), (x,))
        kernel((1,), (32,), (x,))
        return x.sum()

    assert (twice.recording, twice.__doc__) == (None, "Add two.")
    assert twice(np.zeros(32, np.float32)) == 64
    assert (twice.recording.launches, twice.recording.trace.info.kernel) == (2, "twice")


def test_options_of_recorded_are_those_of_recording():
    kernel = simtmm.RawKernel(CODE, "add_one")

    @simtmm.recorded(count=1, name="mine")
    def twice(x):
        for _ in range(2):
            kernel((1,), (32,), (x,))

    twice(np.zeros(32, np.float32))
    assert (twice.recording.launches, twice.recording.launched, twice.recording.trace.info.kernel) == (1, 2, "mine")


def test_a_function_that_fails_leaves_the_recording_of_the_call_before():
    @simtmm.recorded
    def fail():
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        fail()
    assert fail.recording is None
    with simtmm.recording():  # none is under way any more
        pass


def test_a_recording_that_was_stopped_gives_its_trace_before_the_block_ends():
    kernel = simtmm.RawKernel(CODE, "add_one")
    with simtmm.recording() as recording:
        with pytest.raises(RecordingError, match="has not ended"):
            _ = recording.trace
        kernel((1,), (32,), (np.zeros(32, np.float32),))
        assert recording.stop() is recording.trace


def test_a_test_of_a_users_own_has_the_fixture(tmp_path):
    (tmp_path / "test_own.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = ("-m", "pytest", "-q", "-p", "simtmm.scripts.pytest_plugin", "-p", "no:cacheprovider", "-W", "error")
    done = subprocess.run(
        [sys.executable, *words, "test_own.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
