"""Recording compiled kernels on a GPU, without one: their instrumented PTX runs behind a stand-in (ptx_cupy.py).

What this can't show: that threads which run at once do the same. `simtmm record measure --all` compares on a GPU.
All kernels for all architectures: `python -m tests.benchmarks.instrumented`.
"""

import sys

import numpy as np
import pytest

from simtmm import record
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.log import events
from simtmm.errors import RecordingError, SimtmmError
from simtmm.recorder.compiled.cuda_file import cuda_program
from simtmm.recorder.gpu import compiled_device
from tests.recorder.gpu_kernels import PLAIN, Plain
from tests.recorder.ptx_cupy import PtxCupy

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")


@pytest.fixture
def cupy(monkeypatch):
    fake = PtxCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(KernelFunction, "is_quick", True)  # the answer alone matters
    return fake


def both(kernel, parameters=None, **more):
    """The digests of a kernel's traces from the CPU and the GPU, which are not those of nothing."""
    cpu = record(kernel, parameters, form="ptx", architecture=90)
    gpu = record(kernel, parameters, on="gpu", form="ptx", **more)
    assert gpu.info.events > 0
    return cpu.info.digest, gpu.info.digest


# --- the same trace as on the CPU -------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", PLAIN)
def test_a_plain_kernel_has_the_same_trace_on_both(what, tmp_path, cupy):
    cpu, gpu = both(PLAIN[what].program(tmp_path))
    assert cpu == gpu
    assert len(cupy.launches) == 1, "what fits its buffer is run once"


@pytest.mark.parametrize(("name", "n"), [("scan", 700), ("histogram", 500)])
def test_a_shipped_kernel_has_the_same_trace_on_both(name, n, cupy):
    cpu, gpu = both(name, {"n": n})
    assert cpu == gpu


def test_a_trace_says_where_it_was_made_and_is_as_of_the_cpu_else(tmp_path, cupy):
    program = PLAIN["shuffles, votes and barriers that reduce"].program(tmp_path)
    cpu, gpu = record(program, form="ptx", architecture=90), record(program, on="gpu")
    assert (gpu.info.provenance["recorder"], gpu.info.provenance["device"]) == ("gpu", "Fake GPU")
    assert gpu.to_table().equals(cpu.to_table())
    for what in ("form", "architecture", "warp_size", "launches", "arrays", "sites", "listings"):
        assert getattr(gpu.info, what) == getattr(cpu.info, what)


def test_only_sampled_blocks_are_recorded_and_all_run(tmp_path, cupy):
    program = Plain("__global__ void f(int* a) { atomicAdd(a + blockIdx.x % 3, 1); }", 40, 32, ("a=zeros:int32:3",))
    cpu, gpu = (record(program.program(tmp_path), on=on, form="ptx", sample_blocks=3) for on in ("cpu", "gpu"))
    assert (cpu.info.digest, cpu.info.sampling) == (gpu.info.digest, gpu.info.sampling)


# --- buffers that are too small ---------------------------------------------------------------------------------------

# Each thread sees what those before it have counted, and what the launch before has left in a variable.
COUNTING = Plain(
    """__device__ int launches;
    __global__ void f(int* a, int* seen) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        seen[i] = atomicAdd(a, launches + 1);
        if (i == gridDim.x * blockDim.x - 1) launches += 1;
    }""",
    9, 64, ("a=zeros:int32:1", "seen=zeros:int32:576"),
)  # fmt: skip
OF_A_BLOCK, OF_SOME = 1000, 6000  # bytes: less than a block writes, and less than all do


def counted(tmp_path, answer=3 * 576, **more):
    """The trace of two launches of COUNTING, of which each thread adds 1, and then 2."""
    (tmp_path / "k.cu").write_text(COUNTING.source)
    (tmp_path / "twice.toml").write_text(
        'source = "k.cu"\n[arrays]\na = "zeros:int32:1"\nseen = "zeros:int32:576"\n'
        '[[launch]]\ngrid = 9\nblock = 64\narguments = ["a", "seen"]\nrepeat = 2\n'
        f'[check]\na = "full:int32:1:{answer}"\n'
    )
    return record(tmp_path / "twice.toml", form="ptx", **more)


def test_a_buffer_that_overflows_is_made_as_large_as_it_must_be(tmp_path, cupy, monkeypatch):
    monkeypatch.setattr(compiled_device, "FIRST_BUFFER", 1 << 12)
    expected = counted(tmp_path, architecture=90)
    assert counted(tmp_path, on="gpu").info.digest == expected.info.digest
    assert len(cupy.launches) == 3, "once too little was there; the next launch finds what the first one needed"


def test_blocks_that_do_not_fit_together_are_recorded_some_at_a_time(tmp_path, cupy):
    expected = counted(tmp_path, architecture=90)
    assert counted(tmp_path, on="gpu", device_memory=OF_SOME).info.digest == expected.info.digest
    assert len(cupy.launches) > 2 * 4


@pytest.mark.parametrize("stretch", [8, 1000, 1 << 22])
def test_a_block_alone_may_fill_more_than_several_together_and_is_read_in_stretches(
    stretch, tmp_path, cupy, monkeypatch
):
    expected = counted(tmp_path, architecture=90)
    monkeypatch.setattr(compiled_device, "LARGEST_BUFFER", OF_A_BLOCK)
    monkeypatch.setattr(compiled_device, "FIRST_BUFFER", OF_A_BLOCK)
    monkeypatch.setattr(compiled_device, "STRETCH", stretch)
    monkeypatch.setattr(events, "LONG_LOG", 2000)
    assert counted(tmp_path, on="gpu", device_memory=OF_SOME).info.digest == expected.info.digest
    assert len(cupy.launches) > 2 * 9


def test_a_block_that_does_not_fit_is_an_error(tmp_path, cupy):
    with pytest.raises(
        RecordingError, match=r"launch 0 of f: block 0 writes [\d,]+ bytes of events, but only 1,000 bytes"
    ):
        counted(tmp_path, on="gpu", device_memory=OF_A_BLOCK)


def test_blocks_that_saw_different_runs_are_not_put_together(tmp_path, cupy, monkeypatch):
    monkeypatch.setattr(compiled_device.DeviceMemory, "upload", lambda memory: None)  # as if a run depended on time
    with pytest.raises(RecordingError, match="its ranges are inconsistent"):
        counted(tmp_path, on="gpu", device_memory=OF_SOME)


def test_a_loop_for_ever_is_ended_by_what_it_writes(tmp_path, cupy, monkeypatch):
    monkeypatch.setattr(compiled_device, "MOST_CLAIMED", 1 << 20)
    endless = Plain("__global__ void f(int* a) { while (atomicAdd(a, 0) == 0) {} }", 1, 32, ("a=zeros:int32:1",))
    with pytest.raises(RecordingError, match=r"launch 0 of f: over .* entries: does it loop for ever"):
        record(endless.program(tmp_path), on="gpu")


# --- what is wrong, or can't be done ----------------------------------------------------------------------------------


def error_of(program, **more):
    """The line that a recording fails with."""
    with pytest.raises(SimtmmError) as caught:
        record(program, on="gpu", **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_address_outside_of_all_arrays_is_reported_with_its_thread(tmp_path, cupy):
    wrong = Plain("__global__ void f(int* a) { a[threadIdx.x + blockIdx.x] = 1; }", (1, 2), 32, ("a=zeros:int32:32",))
    assert record(wrong.program(tmp_path), on="gpu").info.events > 0
    line = error_of(cuda_program(tmp_path / "k.cu", 2, 32, ["a=zeros:int32:32"]))
    assert line.startswith("kernel k: launch 0 of f: ")
    assert "k.cu:1: `__global__ void f(int* a)" in line
    assert "block (1, 0, 0), thread (31, 0, 0): writes 4 bytes at 0x" in line
    assert line.endswith("of global memory, outside all arrays: out of bounds")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            "__global__ void f(cudaTextureObject_t t, float* a) { a[0] = tex1Dfetch<float>(t, 1); }",
            "PTX does not say which texel a thread reads or writes",
        ),
        (
            "__global__ void f(int* a) { int* p = (int*)malloc(4 * a[0]); a[1] = p == 0; free(p); }",
            "the location of memory that device code allocates is unknown on a GPU",
        ),
        (
            '__global__ void f(int* a) { asm("mov.u32 %0, %envreg1;" : "=r"(a[0])); }',  # as of grid.sync
            "blocks that wait for one another (grid.sync) are not recorded on a GPU",
        ),
    ],
)
def test_what_is_not_recorded_on_a_gpu_is_refused(source, line, tmp_path, cupy):
    arguments = ["0", "a=zeros:float32:4"] if "Texture" in source else ["a=zeros:int32:4"]
    path = tmp_path / "k.cu"
    path.write_text(source)
    assert line in error_of(cuda_program(path, 1, 32, arguments))
    assert cupy.launches == []


def test_a_launch_that_no_gpu_takes_is_refused(tmp_path, cupy):
    program = PLAIN["shared memory of several arrays, one of them dynamic"]
    path = tmp_path / "k.cu"
    path.write_text(program.source)
    for grid, block, shared, line in (
        ((1, 65536), 32, 0, "grid.y = 65536: Fake GPU takes 65535"),
        (1, 32, 200_000, "200,288 bytes of shared memory: Fake GPU gives a block 200,000"),
    ):
        assert line in error_of(cuda_program(path, grid, block, program.arguments, shared=shared))


def test_a_wrong_answer_is_an_error(tmp_path, cupy):
    with pytest.raises(RecordingError, match=r"wrong answer: a\[0\] is 1728, should be 7"):
        counted(tmp_path, answer=7, on="gpu")


def test_device_memory_is_a_gpus(cupy):
    with pytest.raises(RecordingError, match="device_memory: is for recordings on a GPU"):
        record("vector-add", {"n": 40}, form="ptx", device_memory=1 << 20)


def test_nothing_is_left_on_the_device(tmp_path, cupy):
    record(COUNTING.program(tmp_path), on="gpu")
    assert cupy.taken == 0
    assert np.all([launch[0] == cupy.launches[0][0] for launch in cupy.launches])


def test_the_fake_has_no_name_that_cupy_has_not(cupy, monkeypatch):
    monkeypatch.delitem(sys.modules, "cupy")
    real = pytest.importorskip("cupy")
    for name in ("ndarray", "RawModule"):
        assert hasattr(real, name)
    for name in ("get_current_stream", "UnownedMemory", "MemoryPointer"):
        assert hasattr(real.cuda, name)
    assert hasattr(real.RawModule, "get_global")
    for name, count in (("launchKernel", 11), ("launchCooperativeKernel", 10)):
        with pytest.raises(TypeError, match=f"exactly {count} positional"):
            getattr(real.cuda.driver, name)()
