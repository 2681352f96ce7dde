"""Of a launch that goes wrong, what its threads did before is checked."""

import numpy as np
import pytest

from simtmm.cuda.checks.checker import Checker
from simtmm.cuda.checks.names import checks_of
from simtmm.cuda.compilers import compile_files
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.errors import DeadlockError, RecordingError

SOURCE = """
extern "C" __global__ void beyond(int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = 1 + threadIdx.x;
    out[threadIdx.x + 1] = tile[63 - threadIdx.x];
}

extern "C" __global__ void stuck(int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = 1 + threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
    asm volatile("bar.sync 1, 96;");
}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    source = tmp_path_factory.mktemp("wrong") / "wrong.cu"
    source.write_text(SOURCE)
    return LinkedModule(compile_files(source, architecture=80), source.parent)


@pytest.mark.parametrize(
    ("kernel", "checks", "error"),
    [
        ("beyond", "racecheck", RecordingError),
        ("beyond", "all", RecordingError),
        ("stuck", "racecheck", DeadlockError),
        ("stuck", "all", None),  # a finding of synccheck; the run as without checks raises it
    ],
)
def test_races_before_a_fault_are_found(module, kernel, checks, error):
    device, checker, out = Device(), Checker(checks_of(checks)), np.zeros(64, np.int32)
    place = device.memory.place("out", out)
    function = KernelFunction(module, kernel)
    function.is_quick = True
    launch = DeviceLaunch((1, 1, 1), (64, 1, 1), np.array([place], np.uint64).tobytes())
    if error is None:
        checker.launch(device, function, launch)
    else:
        with pytest.raises(error):
            checker.launch(device, function, launch)
    kinds = {finding.what[:20] for finding in checker.found.harmful if finding.check == "racecheck"}
    assert kinds == {"Potential RAW hazard", "Potential WAR hazard"}
    assert any(finding.check == "synccheck" for finding in checker.found.harmful) == (error is None)
    assert not out.any()  # as it was
