"""How soon Ctrl-C ends a recording: half a second for the kernel to notice, and as much for Python to end."""

import signal

import pytest

from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import kernel_folder as kernel_folder  # fixtures
from tests.recorder.conftest import needs_compiler
from tests.recorder.conftest import probe_flags as probe_flags
from tests.recorder.test_limits import SLOW, recording


@needs_compiler
@pytest.mark.parametrize("what", SLOW)
def test_ctrl_c_ends_a_recording_within_two_seconds(benchmark, kernel_folder, tmp_path, what):
    if not benchmark.enabled:
        pytest.skip("that Ctrl-C ends it is tests/recorder/test_limits.py's; only how soon is for here")
    device, options = SLOW[what]
    traces = tmp_path / "traces"
    traces.mkdir()
    with recording(kernel_folder(DEVICE + device, host(**options)), traces) as running:

        def interrupt():
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=600)

        benchmark.pedantic(interrupt, rounds=1)
    assert running.returncode == 130
    assert benchmark.stats.stats.max < 2  # seconds; about one while other programs run
