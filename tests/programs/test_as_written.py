"""Programs as people write them: HIP, handles of libraries, much memory, errors that they handle, early ends."""

import dataclasses
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

from simtmm import load_machine
from simtmm.device.own_clock import OwnClock
from simtmm.errors import CompilerError
from simtmm.programs.building.flags import parse_flags
from simtmm.programs.program import cuda_program
from simtmm.recorder.selection import StopAfter
from simtmm.requests.cuda_program import files_and_words

ONE = "#include <cstdio>\n__global__ void one(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A program of this text; `main` stands for the body of its main."""
    monkeypatch.chdir(tmp_path)

    def write(text="", main="", name="p.cu", **options):
        body = (
            f"int main(int count, char **words) {{ int *p; cudaMalloc(&p, 4096); {main} return 0; }}\n" if main else ""
        )
        (tmp_path / name).write_text(f"{text}{body}")
        return cuda_program([name], clock=OwnClock(has_host_time=False), **options)

    return write


HIP = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <nvToolsExt.h>
#include <cuda_profiler_api.h>
#include <cstdio>
__global__ void scale(float *x, float a, int n) {
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < n) x[i] *= a;
}
int main() {
    const int n = 1000;
    float *x, *host, milliseconds;
    hipDeviceProp_t properties;
    if (hipGetDeviceProperties(&properties, 0) != hipSuccess) return 1;
    if (hipHostMalloc(&host, n * sizeof(float)) != hipSuccess) return 2;
    if (hipMalloc(&x, n * sizeof(float)) != hipSuccess) return 2;
    for (int i = 0; i < n; i++) host[i] = i;
    if (hipMemcpy(x, host, n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 3;
    nvtxRangePush("scale");
    cudaProfilerStart();
    hipEvent_t begin, end;
    hipEventCreate(&begin);
    hipEventCreate(&end);
    hipEventRecord(begin, 0);
    hipLaunchKernelGGL(scale, dim3(4), dim3(256), 0, 0, x, 2.0f, n);
    scale<<<4, 256>>>(x, 2.0f, n);
    hipEventRecord(end, 0);
    hipEventSynchronize(end);
    hipEventElapsedTime(&milliseconds, begin, end);
    nvtxRangePop();
    hipMemcpyDtoH(host, x, n * sizeof(float));
    printf("%s %s\\n", properties.name, host[999] == 3996 && milliseconds > 0 ? "PASSED" : "FAILED");
    return hipFree(x) || hipHostFree(host);
}
"""


SHUFFLES = """#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void shuffle(int *out) {
    int v = threadIdx.x;
    for (int by = warpSize / 2; by; by /= 2) v += __shfl_down(v, by);
    v = __shfl(v, 0) + __shfl_xor(v, 1, 16) + __shfl_up_sync(0xffffffffffffffffull, v, 1);
    out[threadIdx.x] = CALL;
}
int main() {
    int *out, host[64];
    hipMalloc((void **)&out, sizeof host);
    shuffle<<<1, 64>>>(out);
    printf("%d", (int)hipDeviceSynchronize());
    if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) == hipSuccess) printf(" %d", host[63]);
    hipFree(out);
}
"""


def test_a_shuffle_of_a_hip_program_within_32_lanes_is_right(written, capfd):
    outcome = written(SHUFFLES.replace("CALL", "__shfl((int)threadIdx.x, 31)"), name="p.hip").run(load_machine("mi210"))
    assert capfd.readouterr().out == "0 63"
    assert (outcome.status, outcome.recorded) == (0, 1)


@pytest.mark.parametrize(
    "call",
    ["__shfl_xor(v, 32)", "__shfl_down(v, 32)", "__shfl(v, 0, 64)", "__shfl(v, 40)", "__shfl_up_sync(~0ull, v, 32)"],
)
def test_a_shuffle_of_a_hip_program_over_64_lanes_ends_the_launch_by_name(written, capfd, call):
    written(SHUFFLES.replace("CALL", call), name="p.hip").run(load_machine("mi210"))
    found = capfd.readouterr()
    assert found.out == "710"  # an assertion, as CUDA numbers it
    assert "shuffles reach 32 lanes: HIP code runs in warps of 32 here, not of 64" in found.err


def test_what_is_accepted_without_effect_is_named_once(written, capfd):
    main = """
    cudaStream_t s; cudaStreamCreate(&s); cudaLaunchAttributeValue v = {}; v.priority = 0;
    cudaStreamSetAttribute(s, cudaLaunchAttributePriority, &v); cudaFuncSetCacheConfig(one, cudaFuncCachePreferL1);
    cudaGraph_t g; cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); one<<<1, 32, 0, s>>>(p, 32);
    cudaStreamEndCapture(s, &g); size_t n = 1; cudaGraphNode_t node; cudaGraphGetNodes(g, &node, &n);
    for (int i = 0; i < 2; i++) cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &v);
    v.clusterDim.x = v.clusterDim.y = v.clusterDim.z = 1;
    printf("%d\\n", cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &v)); cudaGetLastError();
    cudaLaunchAttribute a[2] = {}; a[0].id = cudaLaunchAttributeCooperative; a[0].val.cooperative = 1;
    a[1].id = cudaLaunchAttributePriority; cudaLaunchConfig_t c = {}; c.gridDim = 100000; c.blockDim = 32; c.attrs = a;
    c.numAttrs = 2; printf("%d\\n", cudaLaunchKernelEx(&c, one, p, 32)); cudaGetLastError();
    c.gridDim = 1; printf("%d\\n", cudaLaunchKernelEx(&c, one, p, 32)); cudaStreamDestroy(s);"""
    assert written(ONE, main).run().status == 0
    found = capfd.readouterr()
    assert found.out == "801\n720\n0\n"
    names = "cudaStreamSetAttribute, cudaFuncSetCacheConfig, cudaGraphKernelNodeSetAttribute, launch attribute 8 of"
    assert found.err.count(f"changes neither results nor times here: {names} cudaLaunchKernelEx") == 1
    assert "cudaGraphKernelNodeSetAttribute: a node's clusters" in found.err


@pytest.mark.parametrize("name", ["p.cu", "p.hip", "p.cpp"])
def test_a_hip_program_runs_on_an_amd_machine(written, capfd, name):
    outcome = written(HIP, name=name).run(load_machine("mi210"))
    assert (outcome.status, outcome.recorded) == (0, 2)
    assert capfd.readouterr().out == "MI210 PASSED\n"
    assert outcome.trace.info.warnings == ["Compiled for sm_90: MI210 has no compute capability of its own."]


BLAS = """
#pragma once
typedef struct handle *cublasHandle_t;
extern "C" int cublasCreate_v2(cublasHandle_t *);
extern "C" int cublasSetStream_v2(cublasHandle_t, void *);
extern "C" int cublasDestroy_v2(cublasHandle_t);
extern "C" int cublasSgemm_v2(cublasHandle_t, int, int);
"""


def test_a_librarys_handle_can_be_made_and_the_first_call_that_computes_is_named(written, tmp_path, capfd):
    (tmp_path / "cublas_v2.h").write_text(BLAS)
    main = (
        "cublasHandle_t h = nullptr; if (cublasCreate_v2(&h) || !h || cublasSetStream_v2(h, 0)) return 1;"
        "one<<<1, 32>>>(p, 32); cudaDeviceSynchronize(); if (count > 1) cublasSgemm_v2(h, 1, 2);"
        'cublasDestroy_v2(h); puts("fine");'
    )
    program = written(f'#include "cublas_v2.h"\n{ONE}', main, options=("-I", ".", "-lcublas"))
    assert (program.run().status, capfd.readouterr().out) == (0, "fine\n")
    outcome = dataclasses.replace(program, words=("x",)).run()
    assert (outcome.status, outcome.recorded) == (2, 1)
    said = capfd.readouterr()
    assert "fine" not in said.out
    assert "simtmm: error: calls cublasSgemm_v2, of cuBLAS: library calls are not supported\n" in said.err


def test_a_forked_process_launches_beside_the_trace_of_its_parent(written, capfd):
    main = """
    int own = -1; pid_t child = fork(); int times = child ? 2 : 1;
    for (int i = 0; i < times; i++) one<<<1, 32>>>(p, 32);
    cudaMemcpy(&own, p + 31, 4, cudaMemcpyDeviceToHost);
    if (!child) return own == 1 ? 7 : 8;
    int status = 0; waitpid(child, &status, 0); printf("%d %d\\n", own, WEXITSTATUS(status));"""
    outcome = written(f"#include <sys/wait.h>\n#include <unistd.h>\n{ONE}", main).run()
    assert (outcome.status, outcome.launched, outcome.recorded) == (0, 2, 2)
    said = capfd.readouterr()
    assert said.out == "1 7\n"
    assert "simtmm: note: 1 launch of a forked process: run, but not in the report\n" in said.err
    assert len(outcome.trace.info.launches) == 2
    assert sum(len(batch.events) for batch in outcome.trace.batches()) == outcome.trace.info.events


@pytest.mark.parametrize(
    ("given", "files", "words"),
    [
        (["5", "b.cu"], ["a.cu"], ["5", "b.cu"]),
        (["b.cu", "c.cpp", "5"], ["a.cu", "b.cu", "c.cpp"], ["5"]),
        (["b.cu", "--", "c.cpp"], ["a.cu", "b.cu"], ["c.cpp"]),
        (["--", "--", "b.cu"], ["a.cu"], ["--", "b.cu"]),
        (["missing.cu"], ["a.cu"], ["missing.cu"]),
        (None, ["a.cu"], []),
    ],
)
def test_source_files_at_the_front_are_the_programs(given, files, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.cu", "c.cpp"):
        (tmp_path / name).write_text("")
    assert files_and_words("a.cu", given) == (files, words)


def test_a_second_main_is_named_with_what_helps(written, tmp_path):
    (tmp_path / "other.cu").write_text("int main() { return 1; }\n")
    written(ONE, "one<<<1, 32>>>(p, 32);")
    with pytest.raises(CompilerError, match=r"p\.cu: defines main twice, in this file or its others; an argument that"):
        cuda_program(["p.cu", "other.cu"]).run()


def test_device_memory_is_the_machines_and_takes_what_is_touched(written, capfd):
    main = """
    size_t left, all, n = 24ull << 30; char *q; unsigned char last = 1;
    cudaMemGetInfo(&left, &all); printf("%zu\\n", all);
    if (cudaMalloc(&q, n) || cudaMemset(q, 0, n)) return 1;
    one<<<1, 32>>>((int *)(q + n - 128), 32);
    cudaMemcpy(&last, q + n - 4, 1, cudaMemcpyDeviceToHost); printf("%d\\n", last);
    cudaMemGetInfo(&left, &all); printf("%zu\\n", all - left);
    for (int i = 0; i < 40; i++) if (cudaFree(q) || cudaMalloc(&q, n)) return 2;
    printf("%d\\n", cudaMalloc(&p, 60ull << 30)); cudaFree(q);"""
    outcome = written(ONE, main).run(load_machine("a100-80"))
    assert outcome.status == 0
    assert capfd.readouterr().out.split() == [str(80 << 30), "1", str((24 << 30) + 4096), "2"]


def test_an_error_of_a_launch_that_is_handled_leaves_the_report(written, capfd):
    text = f"{ONE}__global__ void __launch_bounds__(64) narrow(int *p) {{ *p = 1; }}\n"
    main = 'narrow<<<1, 128>>>(p); printf("%d\\n", cudaGetLastError()); one<<<1, 32>>>(p, 32); cudaDeviceSynchronize();'
    outcome = written(text, main).run()
    assert (outcome.status, outcome.launched, outcome.recorded) == (0, 2, 1)
    assert capfd.readouterr().out == "9\n"
    assert [launch.kernel for launch in outcome.trace.info.launches] == ["one"]
    assert re.search(r"narrow: block of 128 threads.*\(not in the trace\)", outcome.trace.info.warnings[0])


def test_an_error_of_a_kernel_comes_where_the_host_waits_for_it(written, capfd):
    main = """
    one<<<1, 32>>>(p, 32); cudaDeviceSynchronize();
    one<<<1, 32>>>(p + 100000000, 32); printf("%d", cudaGetLastError());
    one<<<1, 32>>>(p, 32); printf(" %d", cudaPeekAtLastError());
    printf(" %d", cudaDeviceSynchronize()); printf(" %d", cudaGetLastError()); printf(" %d\\n", cudaMalloc(&p, 4));"""
    outcome = written(ONE, main).run()
    assert (outcome.status, outcome.recorded) == (0, 1)
    assert capfd.readouterr().out == "0 0 700 700 700\n"
    assert "out of bounds" in outcome.trace.info.warnings[0]


def test_what_a_device_alone_has_not_is_refused_as_cuda_does(written, capfd):
    main = """
    int can = 1; printf("%d", cudaDeviceCanAccessPeer(&can, 0, 1)); printf(" %d", can); cudaGetLastError();
    cudaStream_t s; cudaStreamCreate(&s); cudaGraph_t g = (cudaGraph_t)1;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); one<<<1, 32, 0, s>>>(p, 32);
    printf(" %d", cudaStreamSynchronize(s)); printf(" %d", cudaStreamEndCapture(s, &g)); printf(" %d\\n", g == nullptr);
    cudaStreamDestroy(s); one<<<1, 32>>>(p, 32);"""
    assert written(ONE, main).run().status == 0
    assert capfd.readouterr().out == "101 0 900 901 1\n"


def test_a_program_that_launches_nothing_ends_as_it_ends(written, capfd):
    outcome = written(ONE, 'puts("nothing");').run()
    assert (outcome.status, outcome.trace, outcome.is_idle) == (0, None, True)
    command = [sys.executable, "-m", "simtmm", "run", "p.cu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout) == (0, "nothing\n")
    assert done.stderr.splitlines()[-1] == "simtmm: p.cu: launched no kernel"


SCATTERED = """#include <cstdio>
__global__ void one(int *p, unsigned n) {
    unsigned i = (blockIdx.x * 256 + threadIdx.x) * 2654435761u + n * 40503u;
    for (int k = 0; k < 20; k++, i = i * 1664525u + 1013904223u) p[(i >> 16) & 1023] = i;
}
"""


def test_a_trace_that_there_is_no_room_for_is_one_line_and_no_file(written, tmp_path):
    """A file may grow to so many bytes, as on a disk that fills up on the way."""
    written(SCATTERED, "for (int i = 1; i < 40; i++) { one<<<40, 256>>>(p, i); cudaDeviceSynchronize(); }").run()
    room = 100_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    done = subprocess.run(
        [sys.executable, "-m", "simtmm", "record", "p.cu", "-o", "p.parquet"], capture_output=True, text=True,
        check=False, timeout=600, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, room),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].endswith("the trace of p.cu can't be written (File too large)")
    assert not [path.name for path in tmp_path.iterdir() if "parquet" in path.name]


LOOP = """
    for (int i = 0; ; i++) {
        one<<<1, 32>>>(p, 32);
        cudaDeviceSynchronize();
        if (i == 3) puts("goes on"), fflush(stdout);
    }"""


def test_a_program_is_stopped_after_so_many_launches_and_what_there_is_is_reported(written, capfd):
    outcome = written(ONE, LOOP, stop=StopAfter(launches=7)).run()
    assert (outcome.status, outcome.launched, outcome.recorded) == (0, 7, 7)
    said = capfd.readouterr()
    assert said.out == "goes on\n"
    assert "simtmm: note: stopped after 7 launches (--stop-after)\n" in said.err


def test_a_program_is_stopped_after_so_many_seconds_even_within_its_own_code(written, capfd):
    program = written(ONE, "one<<<1, 32>>>(p, 32); while (count > 1) for (volatile int i = 0; i < 1000; i++);")
    assert program.run().recorded == 1  # compiles what the next one needs, whose seconds count from its beginning
    outcome = dataclasses.replace(program, words=("on",), stop=StopAfter(seconds=8.0)).run()
    assert (outcome.status, outcome.recorded) == (0, 1)
    assert "stopped after the time of --stop-after" in capfd.readouterr().err


def test_an_interrupted_program_is_reported_as_far_as_it_came(written, tmp_path):
    written(ONE, LOOP).build(90)
    command = [sys.executable, "-m", "simtmm", "run", "p.cu", "--no-what-if"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "goes on\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "interrupted: the report covers the launches so far" in err
    assert re.search(r"launches of p\.cu are recorded\np\.cu ended with exit status 130\n", out)
    assert "Verdict:" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ("--stop-after", "0"),
            "--stop-after '0': must be a number of launches, such as 100, or of seconds, such as 60s",
        ),
        (
            ("--stop-after", "1.5"),
            "--stop-after '1.5': must be a number of launches, such as 100, or of seconds, such as 60s",
        ),
        (("--clock", "sun"), "--clock 'sun': must be virtual or real"),
        (("--host-time", "maybe"), "--host-time 'maybe': must be on or off"),
    ],
)
def test_mistakes_are_named(written, words, complaint):
    written(ONE, "one<<<1, 1>>>(p, 1);")
    done = subprocess.run(
        [sys.executable, "-m", "simtmm", "run", "p.cu", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (done.returncode, done.stderr, done.stdout) == (2, f"simtmm: error: {complaint}\n", "")


@pytest.mark.parametrize(
    ("words", "architecture"),
    [
        (["-arch=sm_80"], "80"),
        (["-arch", "sm_90a"], "90a"),
        (["-gencode", "arch=compute_75,code=sm_75"], "75"),
        (["-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_80,code=sm_80"], ""),
        (["-O3"], ""),
        (["-arch=native"], ""),
    ],
)
def test_the_one_architecture_that_is_named_is_compiled_for(words, architecture):
    assert parse_flags(words).architecture == architecture


def test_another_architecture_than_the_machines_is_said(written):
    program = written(ONE, "one<<<1, 1>>>(p, 1);", options=("-arch=sm_80",))
    trace = program.run(load_machine("h100-sxm")).trace
    assert trace.info.architecture == "sm_80"
    assert trace.info.warnings == ["compiled for sm_80, as --build says, not for H100 SXM's sm_90"]
    assert dataclasses.replace(program, options=("-arch=sm_90a",)).run().trace.info.architecture == "sm_90a"
    with pytest.raises(CompilerError):
        dataclasses.replace(program, options=("-arch=sm_12",)).run()
