"""recording(): one trace of the launches of a block, the same each time, or none."""

import threading

import numpy as np
import pytest

import simtmm
from simtmm.errors import KernelError, OutputError, RecordingError
from tests.cuda.compilers.conftest import needs_nvrtc
from tests.recorder.direct.kernels import BEYOND, REVERSED, SAXPY, events, saxpy_arrays

pytestmark = needs_nvrtc

HOST = '''"""Saxpy."""
import numpy as np

import simtmm

PARAMETERS = {}


def inputs(parameters):
    random = np.random.default_rng(0)
    return {"x": random.random(1000, dtype=np.float32), "y": random.random(1000, dtype=np.float32)}


def launches(parameters, memory):
    yield simtmm.Launch("saxpy", (1000, 2.0, "x", "y"), 4, 256)


def check(parameters, before, after):
    return None
'''


@pytest.fixture(scope="module")
def saxpy():
    return simtmm.RawKernel(SAXPY, "saxpy")


def recorded(kernel, **options):
    x, y = saxpy_arrays()
    with simtmm.recording(**options) as recording:
        kernel((4,), (256,), (1000, np.float32(2), x, y))
    return recording


def test_texts_of_one_name_are_distinguished():
    x = np.zeros(32, np.float32)
    with simtmm.recording() as recording:
        for text in ("x[threadIdx.x] += 1;", "\n\nx[threadIdx.x] *= 2;", "x[threadIdx.x] += 1;"):
            kernel = simtmm.RawKernel(f'extern "C" __global__ void step(float* x) {{ {text} }}', "step")
            kernel((1,), (32,), (x,))
    lines = {(site.file, site.line) for site in recording.trace.info.sites if site.kind in ("load", "store")}
    assert lines == {("step.cu", 1), ("step-2.cu", 3)}
    assert {name: text[-1] for name, text in recording.sources.items()} == {
        "step.cu": 'extern "C" __global__ void step(float* x) { x[threadIdx.x] += 1; }',
        "step-2.cu": "x[threadIdx.x] *= 2; }",
    }
    np.testing.assert_array_equal(x, np.full(32, 3))


def test_a_recording_is_what_the_folder_of_the_same_kernel_records(saxpy, tmp_path):
    folder = tmp_path / "saxpy"
    folder.mkdir()
    (folder / "kernel.cu").write_text(SAXPY)
    (folder / "host.py").write_text(HOST)
    ours, theirs = recorded(saxpy).trace, simtmm.record(folder)
    assert events(ours) == events(theirs)
    assert ours.info.digest == theirs.info.digest
    message = (ours.info.form, ours.info.architecture, ours.info.warp_size, ours.info.provenance["recorder"])
    assert message == (theirs.info.form, theirs.info.architecture, theirs.info.warp_size, "compiled")


def test_two_recordings_are_the_same_and_arrays_are_changed(saxpy):
    x, y = saxpy_arrays()
    want = y.copy()
    saxpy((4,), (256,), (1000, np.float32(2), x, want))
    with simtmm.recording() as recording:
        saxpy((4,), (256,), (1000, np.float32(2), x, y))
    assert y.tobytes() == want.tobytes()
    assert recording.trace.info.digest == recorded(saxpy).trace.info.digest


def test_all_launches_of_all_kernels_are_in_one_trace(saxpy):
    turn = simtmm.RawKernel(REVERSED, "reversed")
    x, y, z = np.ones(32, np.float32), np.zeros(32, np.float32), np.arange(32, dtype=np.int32)
    with simtmm.recording(name="both") as recording:
        saxpy((1,), (32,), (32, 2, x, y))
        turn((1,), (32,), (z,), shared_mem=128)
        saxpy((1,), (32,), (32, 1, y, x))
        assert recording.launches == 3
    info = recording.trace.info
    assert info.kernel == "both"
    assert [launch.kernel for launch in info.launches] == ["saxpy", "reversed", "saxpy"]
    assert [launch.shared_memory_bytes for launch in info.launches] == [0, 128, 0]
    assert {site.file for site in info.sites} == {"saxpy.cu", "reversed.cu"}
    assert [array.name for array in info.arrays] == ["x", "y", "x_2"]
    assert sorted(set(recording.trace.to_table()["launch"].to_pylist())) == [0, 1, 2]
    assert (x[0], y[0], z[0]) == (3, 2, 31)


def test_arrays_lie_in_the_order_in_which_they_are_seen(saxpy):
    x, y = np.ones(300, np.float32), np.zeros(300, np.float32)
    with simtmm.recording() as recording:
        saxpy((1,), (32,), (32, 2, x, y))
    assert [(array.name, array.base, array.bytes) for array in recording.trace.info.arrays] == [
        ("x", 512, 1200),
        ("y", 512 + 1536, 1200),
    ]


def test_the_machine_says_what_is_compiled_for(saxpy):
    for options, target in (({"machine": "a100-80"}, "sm_80"), ({"architecture": 100}, "sm_100")):
        assert recorded(saxpy, **options).trace.info.architecture == target
    of_old = recorded(saxpy, machine="gtx480").trace.info
    assert any("GTX 480" in warning for warning in of_old.doubts)


def test_a_file_is_written_whole(saxpy, tmp_path):
    path = tmp_path / "saxpy.parquet"
    trace = recorded(saxpy, output=path).trace
    assert simtmm.load_trace(path).info.digest == trace.info.digest == recorded(saxpy).trace.info.digest
    assert events(trace) == events(recorded(saxpy).trace)


def test_an_exception_leaves_no_trace_and_no_file(saxpy, tmp_path):
    path = tmp_path / "saxpy.parquet"
    x, y = saxpy_arrays()
    with pytest.raises(FileNotFoundError, match="mine"), simtmm.recording(output=path) as recording:  # noqa: PT012
        saxpy((4,), (256,), (1000, np.float32(2), x, y))
        raise FileNotFoundError("mine")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RecordingError, match="recording 'program': has no trace: it ended with an error"):
        _ = recording.trace
    assert recorded(saxpy).launches == 1


def test_a_launch_that_goes_wrong_spoils_the_recording(saxpy, tmp_path):
    kernel = simtmm.RawKernel(BEYOND, "beyond")
    x = np.zeros(8, np.int32)
    with simtmm.recording() as recording:
        kernel((1,), (8,), (x, 0))
        with pytest.raises(RecordingError, match=r"program: launch 1 of beyond: beyond\.cu:2: .* out of bounds"):
            kernel((1,), (8,), (x, 4))
    with pytest.raises(RecordingError, match="is incomplete: launch 1 of beyond ended with an error"):
        _ = recording.trace


def test_a_launch_that_is_refused_leaves_nothing_behind(saxpy):
    x, y = saxpy_arrays()
    with simtmm.recording() as recording:
        with pytest.raises(KernelError, match="program: launch 0 of saxpy: y = an array of float64"):
            saxpy((4,), (256,), (1000, np.float32(2), x.copy(), y.astype(float)))
        saxpy((4,), (256,), (1000, np.float32(2), x, y))
    assert recording.trace.info.digest == recorded(saxpy).trace.info.digest


def test_a_recording_without_launches_has_no_trace(tmp_path):
    with simtmm.recording() as recording:
        pass
    with pytest.raises(RecordingError, match="has no trace: it launched no kernel"):
        _ = recording.trace
    with pytest.raises(RecordingError, match=r"none.parquet: was not written: recording 'program' launched no kernel"):  # noqa: SIM117
        with simtmm.recording(output=tmp_path / "none.parquet"):
            pass
    assert list(tmp_path.iterdir()) == []


def test_there_is_no_trace_before_the_end():
    with simtmm.recording() as recording, pytest.raises(RecordingError, match="has no trace: it has not ended"):
        _ = recording.trace


def test_recordings_are_neither_nested_nor_side_by_side(saxpy):
    lines = []

    def another():
        try:
            with simtmm.recording(name="other"):
                pass
        except RecordingError as error:
            lines.append(str(error))

    x, y = saxpy_arrays()
    with simtmm.recording(name="first") as recording:
        another()
        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
        saxpy((4,), (256,), (1000, np.float32(2), x, y))
    assert lines == ["recording 'other': recording 'first' is in progress: end it before you start another"] * 2
    assert recording.trace.info.digest == recorded(saxpy).trace.info.digest
    with pytest.raises(RecordingError, match="is over: a recording is for one with block"), recording:
        pass


def test_blocks_may_be_sampled(saxpy):
    trace = recorded(saxpy, sample_blocks=2).trace
    assert sorted(set(trace.to_table()["block"].to_pylist())) == [1, 3]
    assert trace.info.sampling.left_out == (2,)


def test_too_many_events_are_an_error(saxpy):
    with pytest.raises(RecordingError, match="program: launch 0 of saxpy: more than 100 events"):
        recorded(saxpy, most_events=100)


def test_a_launch_without_accesses_is_warned_about():
    kernel = simtmm.RawKernel('extern "C" __global__ void idle(int n) {}', "idle")
    with simtmm.recording() as recording:
        kernel((1,), (32,), (1,))
        kernel((1,), (32,), (1,))
    assert recording.trace.info.doubts == [
        "idle recorded no access to memory in 2 of its launches, the first 0",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"machine": "a100-80", "architecture": 80}, "machine and architecture: give only one"),
        ({"architecture": "sm_80"}, "architecture = 'sm_80': must be a whole number"),
        ({"sample_blocks": 0}, "sample_blocks = 0: must be a whole number of at least 1"),
        ({"most_events": 0}, "most_events = 0: must be a whole number of at least 1"),
        ({"name": ""}, "name = '': must be a text"),
        ({"output": 3}, "output = 3: must be a path"),
    ],
)
def test_what_a_recording_does_not_take_is_named(options, said):
    with pytest.raises(RecordingError, match=said):
        simtmm.recording(**options)


def test_a_folder_that_is_not_there_is_reported_before_the_block(tmp_path):
    with pytest.raises(OutputError, match="there is no folder"), simtmm.recording(output=tmp_path / "a" / "b.parquet"):
        pytest.fail("the block was entered")
    assert recorded(simtmm.RawKernel(SAXPY, "saxpy")).launches == 1
