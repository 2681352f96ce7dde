"""Recording on a GPU, without one: the instrumented CUDA runs behind a stand-in for CuPy (fake_cupy.py).

What this can't show: that threads which run at once do the same. `simtmm record measure --all` compares on a GPU.
"""

import dataclasses
import importlib
import json
import sys

import numpy as np
import pytest

from simtmm import load_trace, record
from simtmm.errors import CompilerError, KernelError, RecordingError, SimtmmError
from simtmm.recorder.compiler import HERE
from simtmm.trace.info import TraceInfo
from simtmm.trace.sampled_blocks import Sampling, sampled_blocks
from tests.kernels.every_macro import EVERY_MACRO
from tests.kernels.every_macro import HOST as EVERY_MACRO_HOST
from tests.kernels.nvrtc import compile_cuda, library
from tests.recorder.build import DEVICE, host, rows
from tests.recorder.conftest import needs_compiler
from tests.recorder.fake_cupy import CUDARuntimeError, FakeCupy

BOTH = ("cpu", "gpu")


@pytest.fixture
def cupy(monkeypatch):
    fake = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    return fake


@pytest.fixture
def on_gpu(kernel_folder):
    """Record device code (behind its #include) on the GPU, with what host.py should do."""

    def make(device, options=(), **what):
        return record(kernel_folder(DEVICE + device, host(**what)), on="gpu", form="written", **dict(options))

    return make


def runs(cupy):
    """How often kernels were run, those of the recorder apart."""
    return sum(not name.startswith("simtmm_") for name, *_ in cupy.launches)


def same(one, other):
    """Two recordings that agree in all but where they were made."""
    assert one.to_table().equals(other.to_table())
    assert one.info.digest == other.info.digest
    apart = [dataclasses.replace(trace.info, provenance={}) for trace in (one, other)]
    assert apart[0] == apart[1]
    return True


# --- the same trace as on the CPU -------------------------------------------------------------------------------------

KERNELS = [
    ("vector-add", {"n": 300}),  # loads in flight, a last block with threads that do nothing
    ("apsp-minplus", {"n": 20, "sub_block": 8, "threads": 32}),  # barriers, local arrays, macros, a grid in two sizes
    ("bfs", {"n": 200}),  # launches until the arrays say that it is enough
    ("histogram", {"n": 500}),  # atomics on local and on global memory
    ("hashing", {"n": 200}),  # what a thread does depends on what its atomics gave
    ("scan", {"n": 700}),  # several functions, each with barriers
]


@needs_compiler
@pytest.mark.parametrize(("name", "parameters"), KERNELS)
def test_a_kernel_has_the_same_trace_on_both(name, parameters, cupy):
    assert same(record(name, parameters), record(name, parameters, on="gpu"))


@needs_compiler
def test_what_has_no_macro_is_reported_where_it_shows(on_gpu, cupy):
    device = "__global__ void f(const int* a, int* b, int on) { if (on) b[0] = a[1]; else ST(b, 0, LD(a, 1)); }"
    what = {"arrays": '{"a": np.ones(4, np.int32), "b": np.zeros(4, np.int32)}'}
    silent, unstored = on_gpu(device, arguments='("a", "b", 1)', **what).info.doubts
    assert silent.startswith("launch 0 of f recorded no access to memory: ")
    assert unstored.startswith("f changed array b without a recorded store: ")
    assert on_gpu(device, arguments='("a", "b", 0)', **what).info.doubts == []
    assert on_gpu(device, {"sample_blocks": 1}, arguments='("a", "b", 1)', grid="2", **what).info.doubts == []


def test_every_macro_records_the_same_on_both(kernel_folder, cupy):
    folder = kernel_folder(EVERY_MACRO, EVERY_MACRO_HOST)
    assert same(record(folder, form="written"), record(folder, on="gpu"))


PROBES = {
    "threads that end before the others' barrier": (
        "__global__ void f(int* a) { if (threadIdx.x == 2) return; SYNC(); ST(a, threadIdx.x, 1); SYNC(); }",
        {"block": "4"},
    ),
    "no events at all": ("__global__ void f(int* a) {}", {"grid": "3", "block": "2"}),
    "events in some blocks only": (
        "__global__ void f(int* a) { if (blockIdx.x % 2) ST(a, threadIdx.x, 1); }",
        {"grid": "5", "block": "3"},
    ),
    "a grid and a block in three sizes": (
        "__global__ void f(int* a) { OP(1 + threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.z); }",
        {"grid": "(2, 3, 2)", "block": "(4, 2, 3)"},
    ),
    "an access of sixteen bytes, and a pointer into the middle": (
        "__global__ void f(int4* a) { int4* b = a + 1; int4 v = LD(b, -1); ST(b, 0, make_int4(v.w, v.z, v.y, v.x)); }",
        {"arrays": '{"a": np.arange(8, dtype=np.int32)}'},
    ),
    "numbers of every width": (
        """__global__ void f(int* a, bool b, signed char c, short s, unsigned u, long long l, float x, double y) {
            ST(a, 0, b ? c + s + (int)(l >> 33) : 0); ST(a, 1, (int)(u >> 31));
            ST(a, 2, (int)(x * 4)); ST(a, 3, (int)y);
        }""",
        {
            "arguments": '("a", True, -3, 300, 2**31, 2**40, 0.75, 7.0)',
            "check": "assert after['a'].tolist() == [425, 1, 3, 7]",
        },
    ),
    "functions without C linkage, and one that is not launched": (
        'namespace { __device__ int two() { return 2; } }\nextern "C" __global__ void g(int* a) { ST(a, 9999, 0); }\n'
        "__global__ void f(int* a) { ST(a, 0, two()); }",
        {"check": "assert after['a'][0] == 2"},
    ),
    "launches that change what the host program sees, and a host program that changes what they see": (
        "__global__ void f(int* a) { ATOMIC_ADD(a, 0, LD(a, 1)); }",
        {
            "launches": """
            seen = memory["a"]
            while seen[0] < 10:
                seen[1] = seen[0] + 1
                yield Launch("f", ("a",), grid=1, block=1)
            """,
            "check": "assert after['a'].tolist() == [15, 8, 0, 0]",
        },
    ),
    "a header of the C library whose functions are built in": (
        "#include <cmath>\n__global__ void f(int* a) { ST(a, 0, (int)sqrt(16.0)); }",
        {"check": "assert after['a'][0] == 4"},
    ),
}


@needs_compiler
@pytest.mark.parametrize("what", PROBES)
def test_a_probe_has_the_same_trace_on_both(what, kernel_folder, cupy):
    device, programs = PROBES[what]
    folder = kernel_folder(DEVICE + device, host(**programs))
    assert same(record(folder, form="written"), record(folder, on="gpu", form="written"))


@needs_compiler
def test_a_header_of_the_kernels_own_is_recorded_at_its_sites(kernel_folder, cupy):
    folder = kernel_folder(DEVICE + '#include "mine.cuh"\n__global__ void f(int* a) { put(a); }', host())
    (folder / "mine.cuh").write_text("#pragma once\n__device__ void put(int* a) { ST(a, 0, 1); }\n")
    trace = record(folder, on="gpu")
    assert same(record(folder, form="written"), trace)
    assert [site.file for site in trace.info.sites] == ["mine.cuh"]


@needs_compiler
def test_a_recording_goes_to_a_file_and_says_where_it_was_made(tmp_path, cupy):
    record("vector-add", {"n": 300}, on="gpu", output=tmp_path / "t.parquet")
    trace = load_trace(tmp_path / "t.parquet")
    assert same(record("vector-add", {"n": 300}), trace)
    result = trace.info.provenance
    assert (result["recorder"], result["device"], result["cuda_driver"]) == ("gpu", "Fake GPU", "12.4")


# --- counting, filling, running again ---------------------------------------------------------------------------------


@needs_compiler
def test_counting_leaves_nothing_behind_for_filling_to_see(on_gpu, cupy):
    trace = on_gpu(
        "__global__ void f(int* a) { int turn = ATOMIC_ADD(a, 0, 1); for (int i = 0; i < turn; ++i) OP(1); }",
        block="5",
        check="assert after['a'][0] == 5",
    )
    assert runs(cupy) == 2
    assert trace.info.events == 5 + (0 + 1 + 2 + 3 + 4)


@needs_compiler
def test_a_launch_without_events_is_run_once(on_gpu, cupy):
    on_gpu("__global__ void f(int* a) { a[0] = 7; }", check="assert after['a'][0] == 7")
    assert runs(cupy) == 1


RUNS = """
__device__ int runs;
__global__ void f(int* a) {{ int run = runs++; for (int i = 0; i < {count}; ++i) OP(i + 1); }}"""


@needs_compiler
@pytest.mark.parametrize(
    ("count", "events", "expected_runs"),
    [("min(run, 2) + 1", 3, 4), ("(run ? 1 : 4)", 1, 2)],
    ids=["more than was counted", "less than was counted"],
)
def test_threads_that_do_something_else_each_time_are_recorded_in_the_run_that_fits(
    count, events, expected_runs, on_gpu, cupy, monkeypatch
):
    trace = on_gpu(RUNS.format(count=count))
    assert rows(trace, "value") == [(value + 1,) for value in range(events)]
    assert runs(cupy) == expected_runs


@needs_compiler
def test_threads_that_do_more_each_time_are_given_up(on_gpu, cupy):
    with pytest.raises(RecordingError, match=r"launch 0 of f: in 8 runs its threads did more each time"):
        on_gpu(RUNS.format(count="run * 2 + 1"))


@needs_compiler
@pytest.mark.parametrize("room", [160, 600, 900, 3000, 20000])
def test_a_recording_that_does_not_fit_the_device_is_made_part_by_part(room, cupy):
    parameters = {"n": 1000, "threads": 8}  # blocks of 48 events, 768 bytes, and 128 bytes of counters
    trace = record("stream", parameters, on="gpu", device_memory=room)
    assert same(record("stream", parameters), trace)
    parts = -(-768 // (room - 128))  # of a block
    assert runs(cupy) == 125 * (1 + parts) if parts > 1 else runs(cupy) > 2


@needs_compiler
def test_a_block_that_would_take_a_thousand_runs_is_refused(on_gpu, cupy):
    device = "__global__ void f(int* a) { for (int i = 0; i < 1025; ++i) ST(a, i % 4, i); }"
    with pytest.raises(
        RecordingError, match=r"block 0 has 1,025 events, 16,400 bytes, but only 32 bytes of device memory"
    ):
        on_gpu(device, {"device_memory": 32}, check="pass")
    assert on_gpu(device, {"device_memory": 48}, check="pass").info.events == 1025


# Threads do differently much, one nothing, and atomics count the runs that a thread saw.
UNEVEN = """__global__ void f(int* a) {
    for (int i = 0; i < (5 + 7 * (int)threadIdx.x) * (blockIdx.x % 2) * (threadIdx.x != 2); ++i)
        ATOMIC_ADD(a, 0, LD(a, (i * 3 + threadIdx.x) % 4));
}"""


@needs_compiler
@pytest.mark.parametrize("room", [112, 250, 1 << 20])
@pytest.mark.parametrize("most", [1, 10, 64])
def test_a_long_block_is_taken_from_the_device_in_parts(room, most, on_gpu, cupy, monkeypatch):
    shape = {"block": "5", "grid": "4", "check": "pass"}
    whole = on_gpu(UNEVEN, **shape)
    monkeypatch.setattr("simtmm.recorder.gpu.launches.LONG", most)
    monkeypatch.setattr("simtmm.recorder.gpu.launches.BATCH_EVENTS", most)
    monkeypatch.setattr("simtmm.recorder.cpu.unrecorded.LONG", most)
    monkeypatch.setattr("simtmm.trace.runs.encoder.LONG", most)
    assert same(whole, on_gpu(UNEVEN, {"device_memory": room}, **shape))


@needs_compiler
def test_a_part_of_a_long_block_leaves_out_what_threads_did_not_write(on_gpu, cupy, monkeypatch):
    device = """__device__ int runs;
    __global__ void f(int* a) {
        int run = threadIdx.x == 3 ? runs++ : 0;
        for (int i = 0; i < (run || threadIdx.x == 1 ? 3 : 9); ++i) OP(i + 1);
    }"""
    monkeypatch.setattr("simtmm.recorder.gpu.launches.LONG", 4)
    monkeypatch.setattr("simtmm.recorder.gpu.launches.BATCH_EVENTS", 4)
    trace = on_gpu(device, block="4", check="pass")
    assert [thread for (thread,) in rows(trace, "thread")] == [0] * 9 + [1] * 3 + [2] * 9 + [3] * 3


@needs_compiler
def test_parts_of_a_block_whose_threads_did_something_else_are_not_put_together(on_gpu, cupy):
    device = """__device__ int runs;
    __global__ void f(int* a) { int run = runs++; for (int i = 0; i < (run > 1 ? 9 : 10); ++i) OP(1); }"""
    with pytest.raises(RecordingError, match=r"block 0 was run once for each part.*did something else each time"):
        on_gpu(device, {"device_memory": 64}, check="pass")


@needs_compiler
def test_ranges_of_atomics_see_what_was_there_before_the_launch(on_gpu, cupy):
    device = "__global__ void f(int* a) { int turn = ATOMIC_ADD(a, 0, 1); for (int i = 0; i < turn; ++i) OP(turn); }"
    whole = on_gpu(device, grid="6", block="2")
    before = runs(cupy)
    pieces = on_gpu(device, {"device_memory": 700}, grid="6", block="2")
    assert runs(cupy) - before > 2
    assert same(whole, pieces)


@needs_compiler
def test_ranges_that_saw_different_runs_are_not_put_together(on_gpu, cupy):
    device = (
        "__device__ int runs;\n__global__ void f(int* a) { if (!threadIdx.x && !blockIdx.x) ST(a, 0, runs++); OP(1); }"
    )
    with pytest.raises(RecordingError, match=r"run once for each range of blocks.*its ranges are inconsistent"):
        on_gpu(device, {"device_memory": 200}, grid="6", block="2")
    assert on_gpu(device, grid="6", block="2").info.events == 13


@needs_compiler
def test_a_device_that_is_too_small_for_the_arrays_is_reported_in_a_line(cupy):
    cupy.memory = 1000
    with pytest.raises(RecordingError, match=r"kernel vector-add: out of memory on Fake GPU"):
        record("vector-add", {"n": 300}, on="gpu")


@needs_compiler
def test_a_recording_holds_no_device_memory_afterwards(cupy):
    record("bfs", {"n": 100}, on="gpu")
    assert cupy.taken == 0


@needs_compiler
def test_a_recording_with_too_many_events_ends_before_they_are_written(cupy):
    with pytest.raises(
        RecordingError, match=r"launch 0 of vector_add: 1,500 events, but at most 1,000 more may be recorded"
    ):
        record("vector-add", {"n": 300}, on="gpu", most_events=1000)
    assert runs(cupy) == 1


# --- sampling ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "sample", "expected"),
    [(10, None, range(10)), (3, 5, range(3)), (10, 1, [5]), (10, 2, [2, 7]), (7, 3, [1, 3, 5]), (4, 4, range(4))],
)
def test_sampled_blocks_are_the_middles_of_equal_parts(blocks, sample, expected):
    assert sampled_blocks(blocks, sample).tolist() == list(expected)


@pytest.mark.parametrize("blocks", [5, 100, 101, 2**31 - 1])
def test_sampled_blocks_are_so_many_different_ones_an_even_stride_apart(blocks):
    for sample in (1, 2, 5):
        chosen = sampled_blocks(blocks, sample).astype(np.int64)
        assert len(set(chosen.tolist())) == sample
        assert chosen.min() >= 0
        assert chosen.max() < blocks
        steps = np.diff(chosen)
        assert sample == 1 or steps.max() - steps.min() <= 1


@needs_compiler
@pytest.mark.parametrize("on", BOTH)
def test_a_sampled_recording_has_only_those_blocks_of_the_whole_one(on, cupy):
    parameters = {"n": 200}
    whole = record("bfs", {**parameters, "threads": 16}, on=on)
    part = record("bfs", {**parameters, "threads": 16}, on=on, sample_blocks=3)
    assert whole.info.sampling is None
    launches = len(whole.info.launches)
    assert part.info.sampling == Sampling(3, (3,) * launches, (13 - 3,) * launches)
    chosen = set(sampled_blocks(13, 3).tolist())
    columns = ("launch", "block", "thread", "site", "kind", "bytes", "value")
    assert rows(part, *columns) == [row for row in rows(whole, *columns) if row[1] in chosen]
    assert 0 < part.info.events < whole.info.events


@needs_compiler
@pytest.mark.parametrize("room", [None, 500, 200])
def test_sampled_recordings_are_the_same_on_both(room, cupy):
    parameters = {"n": 1000, "threads": 4}
    on_the_gpu = record("stream", parameters, on="gpu", sample_blocks=17, device_memory=room)
    assert same(record("stream", parameters, sample_blocks=17), on_the_gpu)


@needs_compiler
def test_a_sample_of_all_blocks_leaves_nothing_out(cupy):
    parameters = {"n": 300, "threads": 128}
    for on in BOTH:
        assert same(record("stream", parameters), record("stream", parameters, on=on, sample_blocks=3))


@needs_compiler
def test_what_was_left_out_is_in_the_file_and_a_file_without_it_is_of_all_blocks(tmp_path):
    record("vector-add", {"n": 300}, output=tmp_path / "some.parquet", sample_blocks=1)
    assert load_trace(tmp_path / "some.parquet").info.sampling == Sampling(1, (1,), (1,))
    whole = record("vector-add", {"n": 300}).info
    document = json.loads(json.dumps(whole.to_dict()))
    assert "sampling" not in document
    assert TraceInfo.from_dict(document) == whole


# --- what goes wrong --------------------------------------------------------------------------------------------------

FAULTS = {
    "an index beyond an array": (
        "__global__ void f(int* a) { if (blockIdx.x == 1 && threadIdx.x == 2) ST(a, 4, 1); }",
        {"grid": "2", "block": "3"},
    ),
    "an index before an array, counted from its middle": (
        "__global__ void f(int* a) { int* b = a + 2; LD(b, -3); }",
        {},
    ),
    "a pointer to nowhere": ("__global__ void f(int* a) { int* b = (int*)16; LD(b, 0); }", {}),
    "an index beyond a local array": (
        "__global__ void f(int* a) { SHARED(int, s, 3); STS(s, 3, 1); }",
        {"local": 12},
    ),
    "negative work": ("__global__ void f(int* a) { OP(-2); }", {}),
    "a negative join": ("__global__ void f(int* a) { LD_ASYNC(a, 0); JOIN(-1); }", {}),
    "a function that is not there": ("__global__ void f(int* a) {}", {"launches": 'yield Launch("g", ("a",), 1, 1)'}),
    "an argument too few": ("__global__ void f(int* a, int n) {}", {}),
    "a number where an array belongs": ("__global__ void f(int* a) {}", {"arguments": "(7,)"}),
    "a number that does not fit": ("__global__ void f(int* a, short n) {}", {"arguments": '("a", 40000)'}),
    "a structure": ("struct S { int x, y; };\n__global__ void f(int* a, S s) {}", {"arguments": '("a", 1)'}),
    "a wrong answer": ("__global__ void f(int* a) {}", {"check": "assert False, 'no'"}),
}


@needs_compiler
@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_reported_in_the_same_words_on_both(what, kernel_folder, cupy):
    device, programs = FAULTS[what]
    folder = kernel_folder(DEVICE + device, host(**programs))
    lines = []
    for on in BOTH:
        with pytest.raises(SimtmmError) as caught:
            record(folder, on=on, form="written")
        lines.append((type(caught.value), str(caught.value)))
    assert lines[0] == lines[1]


@needs_compiler
def test_a_thread_that_records_for_ever_is_ended(on_gpu, cupy, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.gpu.launches.MOST_OF_A_THREAD", 1000)
    with pytest.raises(RecordingError, match=r"site 0 `.*`, block 0, thread 0: a thread recorded over 1000 events"):
        on_gpu("__global__ void f(int* a) { for (;;) OP(1); }")


@needs_compiler
def test_shared_memory_that_the_launch_conceals_is_refused(on_gpu, cupy):
    cupy.static_shared_bytes = 4096  # what the compiler says, here the test
    with pytest.raises(KernelError, match=r"shared_memory_bytes = 16: its SHARED arrays take 4096 bytes a block"):
        on_gpu("__global__ void f(int* a) { SHARED(int, s, 1024); STS(s, 0, 1); }", local=16)


@needs_compiler
@pytest.mark.parametrize(
    ("shape", "line"),
    [
        ({"block": "1025"}, "1025 threads a block: Fake GPU takes 1024"),
        ({"grid": "(1, 65536)"}, "grid.y = 65536: Fake GPU takes 65535"),
    ],
)
def test_a_launch_that_no_gpu_takes_is_refused(shape, line, on_gpu, cupy):
    with pytest.raises(KernelError, match=line):
        on_gpu("__global__ void f(int* a) {}", **shape)


@needs_compiler
def test_what_does_not_compile_as_cuda_is_reported_in_a_line(on_gpu, cupy):
    with pytest.raises(CompilerError, match=r"kernel probe: does not compile as CUDA: .*error.*nowhere") as caught:
        on_gpu("__global__ void f(int* a) { ST(a, 0, nowhere); }")
    assert "\n" not in str(caught.value)


@needs_compiler
def test_an_error_of_the_device_is_reported_in_a_line_and_waited_for_no_longer(cupy):
    cupy.failed = 700
    words = "launch 0 of vector_add: the GPU reports cudaErrorIllegalAddress: an illegal memory access"
    with pytest.raises(RecordingError, match=f"{words}; restart Python$"):
        record("vector-add", {"n": 10}, on="gpu")


@needs_compiler
@pytest.mark.parametrize("status", [1, 701], ids=["invalid value", "out of resources"])
def test_an_error_that_the_device_recovers_from_needs_no_new_process(status, cupy, monkeypatch):
    def fails(device):
        raise CUDARuntimeError(status, "some error")

    monkeypatch.setattr("simtmm.recorder.gpu.device.Device.wait", fails)
    with pytest.raises(RecordingError, match=r"the GPU reports some error$"):
        record("vector-add", {"n": 10}, on="gpu")


@needs_compiler
def test_more_threads_than_registers_allow_are_refused(cupy):
    cupy.most_threads = 64
    with pytest.raises(
        KernelError, match="256 threads a block: as compiled, with 24 registers a thread, it may have 64"
    ):
        record("vector-add", {"n": 10}, on="gpu")


def test_without_cupy_a_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(RecordingError, match=r"CuPy, which can't be imported .*: pip install '\.\[cuda12\]'"):
        record("vector-add", on="gpu")


@pytest.mark.parametrize(
    "devices", [0, CUDARuntimeError(35, "cudaErrorInsufficientDriver: CUDA driver version is ...")]
)
def test_without_a_gpu_a_line_says_so(devices, cupy):
    cupy.devices = devices
    with pytest.raises(RecordingError, match=r"CuPy finds no GPU .*NVIDIA GPU and its driver"):
        record("vector-add", on="gpu")


@pytest.mark.parametrize("option", ["sample_blocks", "device_memory"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "many"])
def test_options_that_make_no_sense_are_refused(option, value):
    with pytest.raises(RecordingError, match=f"{option} = .*: must be a whole number of at least 1"):
        record("vector-add", on="gpu", **{option: value})


def test_options_that_do_not_go_together_are_refused():
    with pytest.raises(RecordingError, match="device_memory: is for recordings on a GPU"):
        record("vector-add", device_memory=1000)
    with pytest.raises(RecordingError, match="races are found only in recordings on the CPU"):
        record("vector-add", on="gpu", races=True)


# --- what the fake can't vouch for ------------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.skipif(library() is None, reason="needs the wheel nvidia-cuda-nvrtc")
@pytest.mark.parametrize(("name", "parameters"), KERNELS)
def test_what_is_given_to_cupy_is_cuda(name, parameters, cupy):
    record(name, parameters, on="gpu")
    for source, options in zip(cupy.sources, cupy.options, strict=True):
        # What CuPy adds of its own; -std is given to nvrtc.compile_cuda already.
        added = ["-ftz=true", "--device-as-default-execution-space"]
        assert compile_cuda(source, "90", [*(each for each in options if "-std" not in each), *added]) is None
    assert f"-I{HERE}" in cupy.options[0]


def test_the_fake_has_no_name_that_cupy_has_not(cupy, monkeypatch):
    monkeypatch.delitem(sys.modules, "cupy")
    real = pytest.importorskip("cupy")
    assert real is importlib.import_module("cupy")
    for name in ("empty", "copyto", "get_default_memory_pool", "RawModule"):
        assert hasattr(real, name)
    for part, names in vars(cupy.cuda).items():
        assert hasattr(real.cuda, part)
        for name in vars(names) if hasattr(names, "__dict__") and not callable(names) else ():
            assert hasattr(getattr(real.cuda, part), name)
    for name in ("id", "attributes", "mem_info", "compute_capability", "pci_bus_id"):
        assert hasattr(real.cuda.Device, name)
    for name in ("record", "synchronize"):
        assert hasattr(real.cuda.Event, name)
    assert real.cuda.runtime.CUDARuntimeError(700).status == 700
    for name in (
        "num_regs",
        "max_threads_per_block",
        "shared_size_bytes",
        "local_size_bytes",
        "max_dynamic_shared_size_bytes",
    ):
        assert hasattr(real.RawKernel, name)
    for name in ("set", "get", "fill", "data"):
        assert hasattr(real.ndarray, name)
