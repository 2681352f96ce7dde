"""What is recorded of compiled kernels: sites, events, waits, work; the same on each run."""

import numpy as np
import pytest

from simtmm import load_trace, lower
from simtmm.cuda.execution.translation import kept_code
from simtmm.cuda.log import alike
from simtmm.cuda.log.events import _Group
from simtmm.machine import load_machine
from simtmm.trace.schema import Kind

SAXPY = """__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
ARGUMENTS = ("n=40", "a=2f", "x=arange:float32:64", "y=ones:float32:64")


def events(trace):
    """All events in order."""
    return np.concatenate([batch.events for batch in trace.batches()])


def test_a_site_of_machine_code_is_a_line_with_its_instruction_and_scoreboards(ran):
    info = ran(SAXPY, 2, 32, ARGUMENTS).info
    store = next(site for site in info.sites if site.kind == "store")
    loads = [site for site in info.sites if site.kind == "async"]
    assert {(site.file, site.line, site.source) for site in (*loads, store)} == {("k.cu", 5, "y[i] = a * x[i] + y[i];")}
    assert len(loads) == 2
    assert all(site.instruction.startswith("LDG.E") for site in loads)
    assert store.instruction.startswith("STG.E")
    assert dict(store.work) == {"fp32": 1}, "an FFMA"
    assert set(store.needs) == {value for site in loads for value in site.gives}
    (schedule,) = info.schedules
    assert (schedule.kernel, schedule.instructions, schedule.target) == ("saxpy", "machine code", "sm_90")
    assert (schedule.compared_blocks, schedule.why) == (2, "")
    assert "S2R" in schedule.at_once


def test_a_site_of_ptx_is_a_line_with_its_instruction_its_work_and_its_values(ran):
    info = ran(SAXPY, 2, 32, ARGUMENTS, form="ptx").info
    assert info.schedules == ()
    by_kind = {site.kind: site for site in info.sites}
    first, second = (site for site in info.sites if site.kind == "async")
    assert (first.file, first.line, first.source) == ("k.cu", 5, "y[i] = a * x[i] + y[i];")
    assert first.instruction.startswith("ld.global.f32 ")
    assert first.function == "saxpy"
    assert {first.gives, second.gives} == {(0,), (1,)}
    assert dict(by_kind["store"].work) == {"fp32": 1}
    assert set(by_kind["store"].needs) == {0, 1}, "it waits for both loads, and they for nothing"
    assert first.needs == second.needs == ()


def test_each_thread_below_n_loads_twice_and_stores_once_where_it_should(ran):
    trace = ran(SAXPY, 2, 32, ARGUMENTS)
    found = events(trace)
    x, y = trace.info.arrays
    wide = 4 * np.arange(40, dtype=np.uint64)
    for kind, places in ((Kind.ASYNC, [x.base + wide, y.base + wide]), (Kind.STORE, [y.base + wide])):
        of_kind = found[found["kind"] == kind]
        assert sorted(of_kind["value"].tolist()) == sorted(np.concatenate(places).tolist())
        assert set(of_kind["bytes"].tolist()) == {4}
    assert np.count_nonzero(found["kind"] == Kind.LOAD) == 0


def test_threads_that_do_nothing_end_early(ran):
    trace = ran(SAXPY, 2, 32, ARGUMENTS)
    found = events(trace)
    stores = np.bincount(found["thread"][found["kind"] == Kind.STORE], minlength=32)
    assert stores.tolist() == [2] * 8 + [1] * 24, "of 40 elements, 8 are the second block's"


def test_two_runs_give_the_same_trace_and_other_numbers_another(ran):
    first, second = ran(SAXPY, 2, 32, ARGUMENTS), ran(SAXPY, 2, 32, ARGUMENTS)
    assert first.info.digest == second.info.digest
    assert first.info.digest != ran(SAXPY, 2, 32, ("n=39", *ARGUMENTS[1:])).info.digest


def test_it_says_what_it_was_compiled_for_and_what_a_thread_takes(ran):
    info = ran(SAXPY, 2, 32, ARGUMENTS).info
    assert (info.form, info.architecture, info.warp_size) == ("compiled", "sm_90", None)
    (launch,) = info.launches
    assert 4 <= launch.registers_per_thread <= 32
    assert (launch.shared_memory_bytes, launch.local_bytes_per_thread, launch.spill_bytes_per_thread) == (0, 0, 0)


def test_a_trace_in_a_file_is_the_same(ran, tmp_path):
    held = ran(SAXPY, 2, 32, ARGUMENTS)
    ran(SAXPY, 2, 32, ARGUMENTS, output=tmp_path / "t.parquet")
    assert load_trace(tmp_path / "t.parquet").info.digest == held.info.digest


def test_shared_memory_static_and_dynamic_counts_in_a_block(ran):
    source = """extern __shared__ float more[];
__global__ void f(float* x)
{
    __shared__ float tile[4][9];
    tile[threadIdx.x / 8][threadIdx.x % 8] = x[threadIdx.x];
    more[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x % 4][threadIdx.x / 4] + more[31 - threadIdx.x];
}
"""
    trace = ran(source, 1, 32, ["x=zeros:float32:32"], shared=128)
    assert trace.info.launches[0].shared_memory_bytes == 4 * 4 * 9 + 128
    found = events(trace)
    counts = {kind: int(np.count_nonzero(found["kind"] == kind)) for kind in Kind}
    assert (counts[Kind.SHARED_STORE], counts[Kind.SHARED_LOAD], counts[Kind.BARRIER]) == (64, 64, 32)


def test_an_array_that_is_sorted_lies_within_a_threads_local_memory(ran):
    """ptxas ends the outer loop by a call of a place in the kernel, which is no function that calls itself."""
    source = """__global__ void f(float* x)
{
    float own[24];
    for (int k = 0; k < 24; k++) own[k] = x[threadIdx.x + k];
    for (int a = 1; a < 24; a++) {
        float v = own[a];
        int b = a - 1;
        while (b >= 0 && own[b] > v) { own[b + 1] = own[b]; b--; }
        own[b + 1] = v;
    }
    x[threadIdx.x] = own[12];
}
"""
    trace = ran(source, 1, 8, ["x=random:float32:32"])
    assert trace.info.launches[0].local_bytes_per_thread == 96
    (batch,) = trace.batches()
    events = batch.events
    own = events[(events["kind"] == Kind.LOCAL_LOAD) | (events["kind"] == Kind.LOCAL_STORE)]
    assert len(own) > 8 * 24
    assert (own["value"].astype(np.int64) + own["bytes"]).max() == 96


def test_local_memory_and_constants_are_recorded_as_such(ran):
    source = """__constant__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void f(float* x)
{
    float own[16];
    for (int i = 0; i < 16; i++) own[(int)x[i] & 15] = table[(i + threadIdx.x) & 7];
    x[threadIdx.x] = own[(int)x[threadIdx.x] & 15];
}
"""
    trace = ran(source, 1, 32, ["x=arange:float32:32"])
    kinds = {site.kind for site in trace.info.sites}
    assert {"local_store", "local_load", "constant_load"} <= kinds
    assert trace.info.launches[0].local_bytes_per_thread >= 64
    assert ("table", "constant") in {(array.name, array.space) for array in trace.info.arrays}


def test_instructions_of_whole_warps_are_reported_of_on_a_machine_of_another_width(ran):
    trace = ran("__global__ void f(int* x) { x[threadIdx.x] = __shfl_xor_sync(~0u, x[threadIdx.x], 1); }", 1, 32,
                ["x=arange:int32:32"])  # fmt: skip
    assert trace.info.warp_size == 32
    assert trace.info.warnings_on(32) == []
    assert trace.info.warnings_on(64) == [
        ("compiled for warps of 32; lowered for warps of 64 anyway; --warp 64 runs HIP programs in waves of 64")
    ]
    machine = load_machine("a100-80").replace({"cores.warp_width": 64})
    assert lower(trace, machine)


def test_an_inlined_functions_line_is_its_own_with_the_call_beside_it(ran):
    source = """__device__ __forceinline__ float take(const float* x, int i)
{
    return x[i];
}
__global__ void f(float* x)
{
    x[threadIdx.x] = take(x, threadIdx.x + 1);
}
"""
    trace = ran(source, 1, 31, ["x=zeros:float32:32"])
    (site,) = (site for site in trace.info.sites if site.kind == "async")
    assert (site.line, site.source, site.inlined) == (3, "return x[i];", (("k.cu", 7),))


@pytest.mark.parametrize("include", ["", "#include <cstdio>"], ids=["NVRTC", "nvcc"])
def test_a_line_of_the_compilers_own_headers_is_reported_as_the_one_that_calls_it(ran, include):
    source = (
        include
        + """
__global__ void f(int* x) {
    int i = threadIdx.x;
    atomicAdd(x + i % 4, 1);
}
"""
    )
    trace = ran(source, 1, 32, ["x=zeros:int32:32"])
    (site,) = (site for site in trace.info.sites if site.kind == "atomic")
    assert (site.file, site.line, site.source) == ("k.cu", 4, "atomicAdd(x + i % 4, 1);")


def test_a_site_says_whether_anybody_uses_what_an_atomic_gives(ran):
    source = """__global__ void f(int* x, int* y)
{
    int i = threadIdx.x;
    atomicAdd(x + i % 4, 1);
    atomicExch(x + 8, i);
    y[i] = atomicMax(x + 16, i);
}
"""
    trace = ran(source, 1, 32, ["x=zeros:int32:32", "y=zeros:int32:32"])
    found = {site.line: site.unused for site in trace.info.sites if site.kind == "atomic"}
    assert found == {4: True, 5: True, 6: False}


def test_a_launch_that_touches_nothing_is_reported_in_words_that_fit(ran):
    (doubt,) = ran(SAXPY, 2, 32, ("n=0", *ARGUMENTS[1:])).info.doubts
    assert doubt == (
        "launch 0 of saxpy recorded no access to memory: every access is recorded, so no thread made one: "
        "are grid, block and arguments right?"
    )


@pytest.mark.parametrize("grid", [4, 64])
def test_blocks_that_wait_for_each_other_all_go_on(ran, grid):
    """A barrier of the grid by an atomic counter, and a lock that each block takes in turn."""
    source = """__global__ void f(int* count, int* lock, int* sum)
{
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < (int)gridDim.x) ;
        while (atomicCAS(lock, 0, 1) != 0) ;
        *(volatile int*)sum = *(volatile int*)sum + *count;
        __threadfence();
        atomicExch(lock, 0);
    }
}
"""
    zeros = ["zeros:int32:1"] * 3
    assert ran(source, grid, 32, zeros).info.events


def test_what_a_kernel_prints_is_printed(ran, capsys):
    ran('__global__ void f(int n) { if (threadIdx.x < n) printf("%d of %s\\n", threadIdx.x, "two"); }', 1, 32, ["n=2"])
    assert capsys.readouterr().out == "0 of two\n1 of two\n"


PRINTS = """__global__ void f(int n, int m)
{
    if (threadIdx.x < n)
        printf("%d\\n", threadIdx.x);
    if (threadIdx.x < m)
        printf("again\\n");
}
"""


@pytest.mark.parametrize(
    ("grid", "n", "m", "said"),
    [
        (1, 31, 0, ""),  # one fewer than is said
        (1, 32, 0, "printf at k.cu:4 was called 32 times: "),
        (2, 32, 3, "printf at k.cu:4 and 1 more line was called 70 times: "),
    ],
)
def test_what_printf_takes_is_said_not_to_be_simulated_with_its_line_and_calls(ran, capsys, grid, n, m, said):
    """Each call once, though blocks run as PTX, too, and are compared."""
    warnings = ran(PRINTS, grid, 32, [f"n={n}", f"m={m}"]).info.warnings
    assert len(capsys.readouterr().out.splitlines()) == grid * (n + m)
    told = [each for each in warnings if "printf" in each]
    assert len(told) == bool(said)
    assert all(each.startswith(said) and "is not simulated" in each for each in told)


LONG = """__global__ void sums(const int* x, int* y)
{
    __shared__ int s[64];
    int sum = 0;
    for (int i = 0; i < 700 + 90 * (int)threadIdx.x; ++i)
        sum += x[(sum + 7 * i + threadIdx.x) & 63] & 3;
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int i = 0; i < 40; ++i)
        atomicAdd(&y[i], s[(threadIdx.x + i) & 31]);
}
"""


@pytest.mark.parametrize(("blocks", "handed"), [(1, 0), (1, 1 << 20), (40, 0)])
def test_a_long_block_is_recorded_as_it_would_be_whole(ran, blocks, handed, monkeypatch):
    arguments = "x=arange:int32:64", "y=zeros:int32:64"
    whole = ran(LONG, blocks, 50, arguments)
    monkeypatch.setattr("simtmm.cuda.log.events.LONG_LOG", 30_000)
    monkeypatch.setattr("simtmm.cuda.execution.launches.logs.LOG_BYTES", 1 << 17)
    monkeypatch.setattr("simtmm.cuda.execution.launches.logs.HANDED", handed)
    monkeypatch.setattr("simtmm.cuda.execution.launches.run.PIECES_AHEAD", 1)
    monkeypatch.setattr("simtmm.cuda.execution.launches.run.FEWEST_AHEAD", 1)
    monkeypatch.setattr("simtmm.cuda.execution.launches.block_counts.LONGEST", 0.0)
    parts = ran(LONG, blocks, 50, arguments)
    assert parts.info.events == whole.info.events > 10_000 * blocks
    assert parts.info.digest == whole.info.digest


TILED = """
extern "C" __global__ void k(const float *x, float *y, int n)
{
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k)
        sum += s[(threadIdx.x + k) & 63];
    if (i < n)
        y[blockIdx.x & 3 ? i : 2 * n - 1 - i] = sum;
}
"""


def test_blocks_that_do_the_same_further_on_make_the_trace_that_their_events_would(ran, monkeypatch):
    arguments = "x=arange:float32:4000", "y=zeros:float32:8000", "n=4000"
    apart = []
    batch_of = _Group.batch

    def batch(group, *given):
        apart.append(sum(map(len, group.apart.values())))
        return batch_of(group, *given)

    monkeypatch.setattr(_Group, "batch", batch)
    monkeypatch.setattr("simtmm.cuda.log.events.LEAST_COMPARED", 0)
    found = ran(TILED, 64, 64, arguments)
    assert sum(apart) == 30  # two of each four: one goes backwards, the one behind it is unlike that; and the last
    monkeypatch.setattr(alike, "distances_of", lambda *given: None)
    alone = ran(TILED, 64, 64, arguments)
    assert (found.info.digest, found.info.events) == (alone.info.digest, alone.info.events)
    assert found.info.launches == alone.info.launches


WAITS = """__global__ void waits(const int* x, int* sums, int* count)
{
    __shared__ int part[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    part[threadIdx.x] = x[i];
    __syncthreads();
    for (int by = 32; by; by /= 2) {
        if (threadIdx.x < by) part[threadIdx.x] += part[threadIdx.x + by];
        __syncthreads();
    }
    if (threadIdx.x) return;
    sums[blockIdx.x] = part[0];
    __threadfence();
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x) { }
    int next = (blockIdx.x + 1) % gridDim.x;
    sums[gridDim.x + blockIdx.x] = sums[next] - part[0];
}
"""


@pytest.mark.parametrize("form", [None, "ptx"])
def test_a_launch_begins_in_code_compiled_quickly_and_goes_on_in_code_compiled_for_speed(ran, monkeypatch, form):
    monkeypatch.setattr(kept_code, "_kept", lambda assembly, label, quick: None)
    compiled, compile_assembly = [], kept_code.compile_assembly

    def noted(text, quick=False):
        compiled.append("quickly" if quick else "for speed")
        return compile_assembly(text, quick)

    monkeypatch.setattr(kept_code, "compile_assembly", noted)
    digests, begins = {}, {}
    for name, seconds in (("quickly", 1e9), ("both", -1.0)):
        compiled.clear()
        monkeypatch.setattr(kept_code, "seconds_for_speed", lambda text, seconds=seconds: seconds)
        trace = ran(WAITS, 4, 64, ("x=arange:int32:256", "sums=zeros:int32:8", "count=zeros:int32:1"), form=form)
        digests[name], begins[name] = trace.info.digest, list(compiled)
    assert digests["quickly"] == digests["both"]
    assert set(begins["quickly"]) == {"quickly"}
    assert sorted(begins["both"]) == ["for speed", *begins["quickly"]]
