"""--check of run and record: kernels, CUDA programs and scripts; its exit status and its document."""

import json

import pytest

from tests.cuda.checks import faults

ARGUMENTS = ["--grid", "4", "--block", "64", "--arg", "out=zeros:int32:4096", "--arg", "in=arange:int32:4096", "--arg",
             "state=zeros:int32:64"]  # fmt: skip


@pytest.fixture
def record(called, tmp_path):
    """Record a kernel of faults.cu: exit status, standard output and standard error."""
    words = ("record", faults.SOURCE, *ARGUMENTS, "--as", "ptx", "-o", tmp_path / "t.parquet", "--kernel")
    return lambda kernel, *more: called(*words, kernel, *more)


def test_findings_stand_behind_the_trace_and_decide_the_exit_status(record):
    status, out, _ = record("missing_barrier", "--check", "racecheck,synccheck", "--error-exitcode", "7")
    assert status == 7
    assert "Potential RAW hazard detected at __shared__ 0x7c" in out
    assert out.splitlines()[-1] == "========= CHECK SUMMARY: 2 errors, 0 warnings"
    assert record("missing_barrier", "--check", "racecheck")[0] == 0
    assert record("right_barrier", "--check", "all", "--error-exitcode", "7")[0] == 0


def test_the_trace_is_the_same_with_checks(record):
    plain = json.loads(record("right_barrier", "--json")[1])
    checked = json.loads(record("right_barrier", "--json", "--check", "all")[1])
    assert checked["digest"] == plain["digest"]
    assert checked["checks"]["findings"] == []
    assert "checks" not in plain


def test_what_threads_wait_for_for_ever_is_told_before_the_error(record):
    status, _, err = record("mask_of_lanes_elsewhere", "--check", "synccheck")
    assert status == 2
    assert "Barrier error detected. Divergent thread(s)" in err
    assert err.splitlines()[-1].startswith(
        "simtmm: error: kernel faults: launch 0 of mask_of_lanes_elsewhere: deadlock"
    )


PROGRAM = """
__global__ void shifted(int* out, int by) {
    __shared__ int tile[64];
    tile[threadIdx.x] = 1 + threadIdx.x;
    if (by < 0) asm volatile("bar.sync 1, 96;");
    out[threadIdx.x + by] = tile[63 - threadIdx.x];
}

int main(int count, char**) {
    int* out;
    cudaMalloc(&out, 256);
    shifted<<<1, 64>>>(out, count > 1 ? -1 : 1);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


@pytest.mark.parametrize("verb", ["run", "record"])
@pytest.mark.parametrize(("words", "error"), [((), "out of bounds"), (("--", "hang"), "deadlock")])
def test_what_was_found_is_told_where_a_programs_only_launch_goes_wrong(called, tmp_path, verb, words, error):
    source = tmp_path / "shifted.cu"
    source.write_text(PROGRAM)
    into = ("-o", tmp_path / "t.parquet") if verb == "record" else ()
    status, _, err = called(verb, source, "--check", "all", "--error-exitcode", "9", *into, *words)
    assert status == 1, err  # the program's own
    assert error in err
    summary = [line for line in err.splitlines() if line.startswith("========= CHECK SUMMARY")]
    if words:
        assert "Divergent thread(s)" in err
        assert summary == ["========= CHECK SUMMARY: 1 error, 0 warnings"]
    else:
        assert "Potential WAR hazard detected at __shared__ 0x80 in block" in err
        assert len(summary) == 1


LATE = """
__global__ void reverse(int* out)
{
    __shared__ int tile[48];
    tile[threadIdx.x] = threadIdx.x;
    %s
    out[threadIdx.x] = tile[47 - threadIdx.x];
}
"""


def test_a_warp_that_has_fewer_threads_races_as_others_do(called, tmp_path):
    source = tmp_path / "late.cu"
    words = ("record", source, "--grid", "1", "--block", "48", "--arg", "out=zeros:int32:48", "--as", "ptx")
    source.write_text(LATE % "")
    _, out, _ = called(*words, "-o", tmp_path / "t.parquet", "--check", "racecheck")
    assert "Read Thread (32, 0, 0)" in out
    assert "Write Thread (15, 0, 0)" in out
    source.write_text(LATE % "__syncthreads();")
    _, out, _ = called(*words, "-o", tmp_path / "t.parquet", "--check", "racecheck,synccheck")
    assert out.splitlines()[-1] == "========= CHECK SUMMARY: 0 errors, 0 warnings"


PARTLY = """
__global__ void sums(float* out)
{
    __shared__ float4 held[32];
    held[threadIdx.x].x = 1;
    held[threadIdx.x].y = 2;
    %s
    float4 own = held[threadIdx.x];
    out[threadIdx.x] = own.x + own.y + own.z + own.w;
}
"""


def test_of_a_vector_that_was_written_in_part_this_is_told_as_a_warning(called, tmp_path):
    source = tmp_path / "partly.cu"
    rest = "held[threadIdx.x].z = held[threadIdx.x].w = 3;"
    for more, expected in (("", True), (rest, False)):
        source.write_text(PARTLY % more)
        words = ("record", source, "--grid", "1", "--block", "32", "--arg", "out=zeros:float32:32", "--as", "ptx")
        _, out, _ = called(*words, "-o", tmp_path / "t.parquet", "--check", "initcheck")
        read = "Warning: Uninitialized __shared__ memory partly read of size 16 bytes at 0x0: byte 0 of `held`"
        assert (read in out, "never written: write all of it first" in out) == (expected, expected)
        assert out.splitlines()[-1] == f"========= CHECK SUMMARY: 0 errors, {'1 warning' if expected else '0 warnings'}"


SCRIPT = '''
import cupy
source = """extern "C" __global__ void add(const float* a, float* b) { b[threadIdx.x] += a[threadIdx.x]; }"""
kernel = cupy.RawKernel(source, "add")
a, b = cupy.empty(32, cupy.float32), cupy.empty(32, cupy.float32)
a[:] = 1
b[:20] = 0
kernel((1,), (32,), (a, b))
kernel((1,), (32,), (a, b))
'''


def test_a_scripts_arrays_are_unwritten_until_somebody_writes_them(called, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    _, out, _ = called("record", script, "--check", "initcheck", "--json", "-o", tmp_path / "t.parquet")
    (finding,) = json.loads(out)["checks"]["findings"]
    # What the first launch has written, the second may read.
    assert (finding["array"], finding["index"], finding["count"], finding["launch"]) == ("b", 20, 12, 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "gemm", "--check", "race"), "--check 'race': 'race' is not a check"),
        (("run", "gemm", "--as", "written", "--check", "all"), "--check: needs a compiled kernel"),
        (("run", "--check", "all"), "not a trace"),
        (("run", "gemm", "--error-exitcode", "3"), "--error-exitcode 3: needs --check"),
    ],
)
def test_what_can_not_be_checked_is_refused(called, words, message):
    status, out, err = called(*words)
    assert (status, out) == (2, "")
    assert message in err
