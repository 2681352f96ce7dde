"""What a recording may hold, and how it is stopped: kernels and host programs that never end fill no memory."""

import contextlib
import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from simtmm import load_machine, record, simulate
from simtmm.computer import available_memory
from simtmm.errors import RecordingError
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler

FOREVER = 'while True: yield Launch("f", ("a",), grid=1, block=1)'
STEADY = "__global__ void f(int* a) { for (int i = 0; i < 100; ++i) ST(a, 0, i); }"


def refused(folder, **options):
    with pytest.raises(RecordingError) as caught:
        record(folder, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_host_program_that_launches_for_ever_ends_in_one_line(kernel_folder):
    folder = kernel_folder(DEVICE + STEADY, host(launches=FOREVER))
    text = refused(folder, most_events=10_050)
    for part in (
        "kernel probe: launch 100 of f",
        "10,050 events so far and more to come, but at most 10,050 may be held in memory",
        "write to a file (simtmm record -o FILE), use smaller parameters or raise SIMTMM_MOST_EVENTS",
    ):
        assert part in text


def test_a_kernel_that_records_for_ever_ends_in_one_line(kernel_folder):
    folder = kernel_folder(DEVICE + "__global__ void f(int* a) { while (true) ST(a, 0, 1); }", host())
    text = refused(folder, most_events=5_000_000)
    assert "launch 0 of f" in text
    assert "site 0" in text
    assert "5,000,000 events so far" in text


def test_as_many_events_as_are_allowed_are_recorded(kernel_folder):
    folder = kernel_folder(DEVICE + STEADY, host(grid="7"))
    assert record(folder, most_events=700).info.events == 700
    assert "at most 699 may" in refused(folder, most_events=699)


def test_a_file_has_a_limit_only_if_one_is_given(kernel_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTMM_MOST_EVENTS", "10")
    folder = kernel_folder(DEVICE + STEADY, host())
    assert "at most 10 may be held in memory" in refused(folder)
    assert record(folder, output=tmp_path / "t.parquet").info.events == 100
    (tmp_path / "t.parquet").unlink()
    text = refused(folder, output=tmp_path / "t.parquet", most_events=20)
    assert text.endswith("at most 20 may be recorded: does it loop or launch for ever? If not, use smaller parameters "
                         "or raise most_events")  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["probe"]


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "many"])
def test_a_limit_is_a_whole_number_of_at_least_one(kernel_folder, value):
    text = refused(kernel_folder(DEVICE + STEADY, host()), most_events=value)
    assert text == f"most_events = {value!r}: must be a whole number of at least 1"


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "many"])
def test_a_limit_in_the_environment_is_checked_too(kernel_folder, monkeypatch, value):
    monkeypatch.setenv("SIMTMM_MOST_EVENTS", value)
    assert refused(kernel_folder(DEVICE + STEADY, host())).startswith("SIMTMM_MOST_EVENTS = ")


def test_launches_without_events_are_bounded_too(kernel_folder, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.launches.MOST_LAUNCHES", 50)
    folder = kernel_folder(DEVICE + "__global__ void f(int* a) {}", host(launches=FOREVER))
    assert "launch 50 of 'f': 0 events so far, and a trace can't have more launches" in refused(folder, form="written")


LOOKING_UP = """
__global__ void f(int* a)
{
    for (unsigned i = blockIdx.x * 32 + threadIdx.x, j = 0; j < 100; ++j, i = i * 1664525 + 1013904223)
        LD(a, (int)(i >> 8) % 100000);
}
"""


def looking_up(kernel_folder):
    return kernel_folder(DEVICE + LOOKING_UP, host('{"a": np.zeros(100_000, np.int32)}', grid="1000", block="32"))


def test_what_memory_should_not_hold_lies_in_a_file_as_long_as_the_trace_lives(kernel_folder, monkeypatch, tmp_path):
    monkeypatch.delenv("SIMTMM_MOST_EVENTS", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    folder = looking_up(kernel_folder)
    held = record(folder)
    assert not list(tmp_path.glob("temporary/*"))
    monkeypatch.setattr("simtmm.recorder.cpu.record.most_bytes", lambda: 5_000_000)
    trace = record(folder)
    assert [path.name for path in tmp_path.glob("temporary/*/*")] == ["trace.parquet"]
    assert trace.info.digest == held.info.digest
    machine = load_machine("gtx480")
    assert simulate(machine, trace).ticks == simulate(machine, held).ticks
    del trace
    gc.collect()
    assert not list(tmp_path.glob("temporary/*"))


def test_a_recording_that_fails_leaves_no_temporary_file(kernel_folder, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("simtmm.recorder.cpu.record.most_bytes", lambda: 1_000_000)
    monkeypatch.setenv("SIMTMM_MOST_EVENTS", "2000000")
    assert "at most 2,000,000 may be held" in refused(looking_up(kernel_folder))
    assert not list(tmp_path.glob("temporary/*"))


def test_a_folder_for_temporary_files_that_is_none_is_reported(kernel_folder, monkeypatch, tmp_path):
    monkeypatch.delenv("SIMTMM_MOST_EVENTS", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    monkeypatch.setattr("simtmm.recorder.cpu.record.most_bytes", lambda: 5_000_000)
    text = refused(looking_up(kernel_folder))
    assert "events so far take more than the 5,000,000 bytes of memory allowed" in text
    assert f"{tmp_path / 'none'} can't hold them (No such file or directory): set TMPDIR" in text


def test_what_threads_have_in_common_takes_next_to_no_memory(kernel_folder, monkeypatch):
    monkeypatch.delenv("SIMTMM_MOST_EVENTS", raising=False)
    monkeypatch.setattr("simtmm.recorder.cpu.record.most_bytes", lambda: 100_000)
    trace = record(kernel_folder(DEVICE + STEADY, host(grid="1000", block="32")))
    assert trace.info.events == 3_200_000


def test_available_memory_is_less_than_the_machine_has():
    assert 0 < available_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="others do not keep a limit on address space")
def test_available_memory_keeps_to_the_processs_own_limit():
    script = "from simtmm.computer import available_memory; print(available_memory())"

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, preexec_fn=limited)
    assert 0 < int(done.stdout) < 2**31


# --- memory while writing to a file -----------------------------------------------------------------------------------

PEAK = """
import resource, sys
from simtmm import load_machine, record, simulate
for grid in (2, 40):
    trace = record(sys.argv[1], {"n": grid}, output=sys.argv[2])
    assert trace.info.events == grid * 300_000, trace.info.events
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB there")
def test_memory_is_bounded_by_the_row_group_when_writing_to_a_file(kernel_folder, tmp_path):
    device = "__global__ void f(int* a) { for (int i = 0; i < 3000; ++i) ST(a, (threadIdx.x + 7 * i) % 4, i); }"
    folder = kernel_folder(DEVICE + device, host(grid="p.n", block="100"))
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(folder), str(tmp_path / "t.parquet")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    small, large = (int(line) << 10 for line in done.stdout.split())
    # 12 million events, 183 MiB. A row group has 16 MiB; six of them may lie in memory (being recorded, copied,
    # two waiting, one digested, one written), the last one as columns as well.
    assert large - small < 8 * (16 << 20)


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------

SLOW = {
    "recording for ever": ("__global__ void f(int* a) { while (true) ST(a, 0, 1); }", {}),
    "launching for ever": (STEADY, {"launches": FOREVER}),
    "looping without recording": ("__global__ void f(int* a) { volatile int go = 1; while (go) {} }", {}),
    "many barriers": (
        "__global__ void f(int* a) { for (int i = 0; i < 1000000; ++i) SYNC(); }",
        {"block": "64", "grid": "1000"},
    ),
}


@contextlib.contextmanager
def recording(folder, traces):
    """A process that records a kernel into a folder, and has begun to."""
    command = [
        sys.executable,
        "-m",
        "simtmm",
        "record",
        str(folder),
        "--as",
        "written",
        "-o",
        str(traces / "t.parquet"),
    ]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not list(traces.iterdir()):  # the temporary file
            assert running.poll() is None
            time.sleep(0.02)
        time.sleep(0.5)
        yield running
    finally:
        running.kill()
        running.wait()


@pytest.mark.parametrize("what", SLOW)
def test_ctrl_c_ends_a_recording_and_leaves_nothing(kernel_folder, tmp_path, what):
    device, options = SLOW[what]
    folder = kernel_folder(DEVICE + device, host(**options))
    traces = tmp_path / "traces"
    traces.mkdir()
    with recording(folder, traces) as running:
        running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=600)
    *estimates, last = error.splitlines()
    assert (running.returncode, out, last) == (130, "", "simtmm: interrupted")
    # On a busy computer it has begun three seconds ago, behind which it says how long it takes
    assert all(line.startswith(("simtmm: launch ", "simtmm: takes ", "simtmm: recording")) for line in estimates)
    assert list(traces.iterdir()) == []


AFTER = """
import os, signal, sys, threading
from simtmm import load_machine, record, simulate
threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    record(sys.argv[1], {"n": 2_000_000_000}, most_events=1 << 40)
except KeyboardInterrupt:
    print(record(sys.argv[1], {"n": 5}).info.events)
"""


def test_after_ctrl_c_the_next_recording_is_right(kernel_folder):
    device = "__global__ void f(int* a, int n) { for (int i = 0; i < n; ++i) ST(a, 0, i); }"
    folder = kernel_folder(DEVICE + device, host(arguments='("a", p.n)'))
    done = subprocess.run([sys.executable, "-c", AFTER, str(folder)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("5\n", "")
