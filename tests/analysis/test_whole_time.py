"""The time of a launch whole, of which a trace has only the first blocks."""

import numpy as np
import pytest

import simtmm
from simtmm.analysis.run import run
from simtmm.analysis.run.whole_time import first_blocks
from simtmm.simulated_clock import seconds_on
from simtmm.trace.io import load_trace
from simtmm.trace.recording import TraceRecorder
from tests.cuda.compilers.conftest import needs_nvrtc

SOURCE = """extern "C" __global__ void scale(const float *x, float *y, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int n = 0; n < rounds; n++) value = value * 0.5f + 1;
    y[i] = value;
}"""
BLOCKS, GROUPS = 2000, 10
HELD = 8 * GROUPS  # blocks of 256 threads on multiprocessors of 2,048

pytestmark = needs_nvrtc


@pytest.fixture(scope="module")
def machine():
    return simtmm.load_machine("v100").replace({"cores.groups": GROUPS})


@pytest.fixture(scope="module")
def whole():
    kernel = simtmm.RawKernel(SOURCE, "scale")
    x, y = np.zeros((2, BLOCKS * 256), np.float32)
    with simtmm.recording() as recording:
        kernel((BLOCKS,), (256,), (x, y, np.int32(40)))
    return recording.trace


def cut(trace, kept, kept_first=True):
    """A trace of its first blocks, or of as many that need not be these."""
    recorder, info = TraceRecorder(None), trace.info
    for batch in trace.batches():
        recorder.add(batch.of_blocks(np.arange(kept, dtype=np.int32)), info.launches)
    return recorder.finish(
        info.kernel, info.parameters, list(info.launches), list(info.arrays), list(info.sites), info.provenance,
        form=info.form, architecture=info.architecture, kept_blocks=[kept], kept_first=kept_first,
    )  # fmt: skip


@pytest.mark.parametrize("kept", [BLOCKS - 1, 1000, 3 * HELD, 2 * HELD + 1, 2 * HELD, HELD + HELD // 2, HELD])
def test_the_rest_goes_on_at_the_pace_of_the_first_blocks(machine, whole, kept):
    found = run(cut(whole, kept), machine, what_if=False)
    all_blocks = run(whole, machine, what_if=False)
    assert all_blocks.whole_seconds is None
    later = machine.after_its_first_launch
    assert found.whole_seconds == pytest.approx(seconds_on(later, first_blocks(cut(whole, kept), 0, kept), BLOCKS))
    # The first waves are slower than those to come: all blocks of one begin at once, and none computes meanwhile.
    within = 0.05 if kept >= 10 * HELD else 0.35 if kept > 2 * HELD else 0.6
    assert found.whole_seconds == pytest.approx(all_blocks.result.seconds, rel=within)
    assert found.result.seconds <= found.whole_seconds
    assert "with all blocks it takes about" in found.warnings[0]
    assert found.to_dict()["sampling"]["whole_seconds"] == found.whole_seconds


def test_blocks_that_need_not_be_the_first_have_no_pace(machine, whole):
    found = run(cut(whole, 1000, kept_first=False), machine, what_if=False)
    assert found.whole_seconds is None
    assert "whole_seconds" not in found.to_dict()["sampling"]


def test_a_file_says_that_they_are_the_first(whole, tmp_path):
    for kept_first in (True, False):
        cut(whole, 100, kept_first).save(tmp_path / "trace.parquet")
        assert load_trace(tmp_path / "trace.parquet").info.sampling.are_first is kept_first
