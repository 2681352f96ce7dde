"""Whatever a kernel does, it does to its own process: its end is one line that says how and where."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from simtmm import record
from simtmm.errors import RecordingError
from simtmm.recorder.cpu import process
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler, watched_batches

pytestmark = needs_compiler

REPRO = Path(__file__).parents[3] / "shared" / "repro"
SITE = "site 0 `ST(a, 0, 1);`, block 2, thread 3"
DEADLY = """#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <vector>
struct Odd {};
__global__ void f(int* a, int what)
{
    ST(a, 0, 1);
    if (blockIdx.x != 2 || threadIdx.x != 3) return;
    volatile int go = 1;
    if (what == 1) abort();
    if (what == 2) exit(7);
    if (what == 3) _Exit(0);
    if (what == 4) throw std::runtime_error("no\\nway");
    if (what == 5) throw Odd();
    if (what == 6) raise(SIGTERM);
    if (what == 7) raise(SIGKILL);
    if (what == 8) while (go) {}
    if (what == 9) for (std::vector<std::vector<int>> all;;) all.emplace_back(1 << 20, 1);
    if (what == 10) ((int*)a)[4] = go;
    if (what == 11) ((int*)a)[-1] = go;
    if (what == 12) for (long i = 0; i < 1 << 20; ++i) a[i + 4] = go;
}
"""
DEATHS = {
    "abort": (1, "aborted: by abort"),
    "exit": (2, "ended the process (exit status 7)"),
    "an exit that looks like success": (3, "ended the process (exit status 0)"),
    "an exception": (4, "threw an exception: no"),
    "an exception of a type of its own": (5, "threw an exception"),
    "a signal": (6, "was killed by signal 'Terminated'"),
    "a kill": (7, "was killed from outside"),
    "a run far past an array": (12, "crashed: a pointer used without LD or ST"),
}


@pytest.fixture
def refused(recorded):
    """The line that a recording of DEADLY ends with."""

    def make(what):
        with pytest.raises(RecordingError) as caught:
            recorded(DEADLY, arguments=f'("a", {what})', grid="4", block="8")
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return make


@pytest.mark.parametrize("death", DEATHS)
def test_a_death_is_named_with_the_last_site_and_the_next_recording_is_right(recorded, refused, death):
    what, message = DEATHS[death]
    text = refused(what)
    assert text.startswith("kernel probe: launch 0 of f: ")
    assert SITE in text
    assert message in text
    assert recorded(DEADLY, arguments='("a", 0)', grid="4", block="8").info.events == 32


@pytest.mark.parametrize(("what", "where"), [(10, "behind array a"), (11, "before array a")])
def test_a_write_just_beside_an_array_is_an_error(refused, what, where):
    assert f"launch 0 of f: wrote {where}, which is outside all arrays" in refused(what)


def test_a_kernel_that_records_nothing_for_too_long_is_ended(refused, monkeypatch):
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "0.5")
    text = refused(8)
    assert SITE in text
    assert "recorded nothing but loads for 0.5 s and was stopped: does it loop for ever?" in text
    assert "--kernel-timeout, SIMTMM_KERNEL_TIMEOUT" in text


SPINS = """__global__ void f(int* a)
{
    if (threadIdx.x == 0) ST(a, 1, 5);
    while (LD(a, 0) == 0) {}
}
"""


def test_a_kernel_that_only_loads_for_too_long_is_ended(recorded, monkeypatch):
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "0.5")
    with pytest.raises(RecordingError, match=r"kernel\.cu:\d+.*recorded nothing but loads for 0\.5 s and was stopped"):
        recorded(SPINS)


GOES_ON = """#include <chrono>
__global__ void f(int* a)
{
    for (int k = 0; k < 60; ++k) {
        ST(a, 0, k);
        auto begun = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(50)) {}
    }
}
"""


def test_a_kernel_that_goes_on_recording_is_not_ended_however_long_it_takes(recorded, monkeypatch):
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "2")  # less than 60 times 0.05 s, and far more than once
    monkeypatch.setattr(process, "LOOK_SECONDS", 0.01)
    assert recorded(GOES_ON).info.events == 60


def test_blocks_without_end_that_record_nothing_are_ended_though_they_come_in_batches(recorded, monkeypatch):
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "1")
    monkeypatch.setattr("simtmm.recorder.cpu.launches.BATCH_EVENTS", 1000)
    with pytest.raises(RecordingError, match="recorded nothing but loads for 1 s and was stopped"):
        recorded("__global__ void f(int* a) {}", grid="2**31 - 1", block="32")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is watched there alone")
def test_a_kernel_that_takes_too_much_memory_is_ended(refused, monkeypatch):
    monkeypatch.setenv("SIMTMM_KERNEL_MEMORY", str(64 << 20))
    monkeypatch.setattr(process, "LOOK_SECONDS", 0.002)
    text = refused(9)
    assert SITE in text
    assert "bytes of memory of its own and was stopped" in text
    assert "--kernel-memory, SIMTMM_KERNEL_MEMORY" in text


@pytest.mark.parametrize(
    ("variable", "value", "must"),
    [
        ("SIMTMM_KERNEL_TIMEOUT", "0", "must be a number of seconds above 0"),
        ("SIMTMM_KERNEL_TIMEOUT", "soon", "must be a number of seconds above 0"),
        ("SIMTMM_KERNEL_TIMEOUT", "nan", "must be a number of seconds above 0"),
        ("SIMTMM_KERNEL_MEMORY", "-1", "must be a whole number of at least 1"),
        ("SIMTMM_KERNEL_MEMORY", "much", "must be a whole number of at least 1"),
    ],
)
def test_a_limit_that_is_none_is_refused(refused, monkeypatch, variable, value, must):
    monkeypatch.setenv(variable, value)
    assert refused(0).startswith(f"{variable} = ")
    assert must in refused(0)


def test_what_a_kernel_prints_is_not_on_our_output(recorded, capfd):
    recorded('#include <cstdio>\n__global__ void f(int* a) { ST(a, 0, 1); printf("from within\\n"); }')
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "from within" in captured.err


def test_recordings_in_several_threads_do_not_meet(kernel_folder):
    folder = kernel_folder(
        DEVICE + "__global__ void f(int* a, int n) { for (int i = 0; i < n; ++i) ST(a, 0, i); }",
        host(arguments='("a", p.n)', check="assert after['a'][0] == p.n - 1"),
    )
    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(lambda n: record(folder, {"n": n}, form="written"), [1000 + n for n in range(8)]))
    assert [trace.info.events for trace in traces] == [1000 + n for n in range(8)]


def test_a_program_that_is_open_for_writing_is_waited_for(kernel_folder, monkeypatch, tmp_path):
    """As it is where another thread's process has inherited what this one writes the program to."""
    folder = kernel_folder(DEVICE + "__global__ void f(int* a) { ST(a, 0, 1); }", host(arguments='("a",)'))
    monkeypatch.setattr("simtmm.recorder.compiler.own_folder", lambda kind: tmp_path)
    record(folder, form="written")
    (program,) = tmp_path.glob(f"{folder.name}-*")
    with program.open("r+b") as held:
        threading.Timer(0.2, held.close).start()
        assert record(folder, form="written").info.events == 1
    monkeypatch.setattr("simtmm.recorder.cpu.process.BUSY_SECONDS", 0.05)
    with program.open("r+b"), pytest.raises(RecordingError, match="its build can't be run"):
        record(folder, form="written")


def test_the_next_batch_runs_ahead_and_changes_nothing(recorded, monkeypatch):
    device = """__global__ void f(int* a, int* b) {
        for (int i = 0; i < 40; ++i) ATOMIC_ADD(a, (blockIdx.x + i) % 4, 1);
        ST(b, blockIdx.x, LD(a, 0));
    }"""
    what = {
        "arrays": '{"a": np.zeros(4, np.int32), "b": np.zeros(100, np.int32)}',
        "arguments": '("a", "b")',
        "grid": "100",
        "check": "assert after['a'].tolist() == [1000] * 4",
    }
    whole = recorded(device, **what)
    monkeypatch.setattr("simtmm.recorder.cpu.launches.BATCH_EVENTS", 100)
    monkeypatch.setattr("simtmm.trace.recording.TOGETHER", 100)
    monkeypatch.setattr("simtmm.trace.runs.encoder.TOGETHER", 100)
    parts = recorded(device, **what)
    assert len(list(parts.batches())) > 10
    assert parts.info.digest == whole.info.digest


def test_batches_that_are_lent_say_what_copies_say(recorded, monkeypatch):
    device = """__global__ void f(int* a) {
        for (int i = 0; i < 50; ++i) ST(a, (threadIdx.x * 7 + blockIdx.x * i) % 100, i);
        if (threadIdx.x == 3) LD(a, blockIdx.x % 100);
    }"""
    what = {"arrays": '{"a": np.zeros(100, np.int32)}', "grid": "300", "block": "8", "arguments": '("a",)'}
    copied = recorded(device, **what)
    lent = watched_batches(monkeypatch, lambda batch: batch.is_lent)
    monkeypatch.setattr("simtmm.recorder.cpu.launches.COMMAND_EVENTS", 1000)
    result = recorded(device, **what)
    assert lent.count(True) > 50
    assert result.info.digest == copied.info.digest
    assert result.to_table().equals(copied.to_table())


ORPHAN = """
import os, sys
from simtmm.recorder.cpu import process
from simtmm import record
begin = process.KernelProcess.begin
def told(self, command):
    print(self._process.pid, flush=True)
    begin(self, command)
process.KernelProcess.begin = told
record(sys.argv[1], form="written")
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_kernel_does_not_outlive_its_recorder(kernel_folder, how):
    folder = kernel_folder(DEVICE + "__global__ void f(int* a) { volatile int go = 1; while (go) {} }", host())
    command = [sys.executable, "-c", ORPHAN, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as recorder:
        child = int(recorder.stdout.readline())
        recorder.send_signal(how)
        recorder.wait()
    for _ in range(600):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError(f"{child} still runs")


@pytest.mark.skipif(not REPRO.is_dir(), reason="needs ../shared")
@pytest.mark.parametrize(
    ("name", "timeout", "said"),
    [
        ("hgrid", 1, "recorded nothing but loads for 1 s and was stopped"),
        ("throw", 600, "block 0, thread 0 or after it: threw an exception: x"),
        ("wildsmall", 600, "block 0, thread 0 or after it: crashed"),
    ],
)
def test_a_kernel_that_took_the_tool_down_is_one_line(name, timeout, said, monkeypatch):
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", str(timeout))
    with pytest.raises(RecordingError) as caught:
        record(REPRO / name, form="written")
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"kernel {name}: launch 0 of k: ")
