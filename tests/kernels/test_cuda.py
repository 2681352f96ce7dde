"""Kernels are CUDA: as they stand, and instrumented. Compiled by NVRTC, which needs no GPU."""

import pytest

from simtmm import record
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.recorder.compiler import HERE
from simtmm.recorder.sites import number_sites
from tests.kernels.every_macro import EVERY_MACRO, HOST
from tests.kernels.nvrtc import compile_cuda, compile_ptx, library
from tests.recorder.conftest import needs_compiler

needs_nvrtc = pytest.mark.skipif(library() is None, reason="needs the wheel nvidia-cuda-nvrtc")
both_generations = pytest.mark.parametrize("architecture", ["80", "90"])
HEADERS = f"-I{HERE}"


def instrumented(source):
    return number_sites(source)[0]


def sources():
    """Every kernel's source and the macros it is compiled with, and the source that uses every macro."""
    cases = [pytest.param(EVERY_MACRO, ["-DARRAY_SIZE=8"], id="every-macro")]
    for name in kernel_folders():
        kernel = load_kernel(name)
        macros = [f"-D{macro}={value}" for macro, value in kernel.defines(kernel.resolve({})).items()]
        cases.append(pytest.param(kernel.source(), macros, id=name))
    return cases


@needs_nvrtc
@both_generations
@pytest.mark.parametrize(("source", "macros"), sources())
def test_a_kernel_compiles_as_plain_cuda_without_a_trace_of_the_recorder(source, macros, architecture):
    ptx = compile_ptx(source, architecture, [HEADERS, *macros])
    assert ".entry" in ptx
    assert "simtmm" not in ptx.lower()


@needs_nvrtc
@both_generations
@pytest.mark.parametrize(("source", "macros"), sources())
def test_a_kernel_compiles_instrumented(source, macros, architecture):
    ptx = compile_ptx(instrumented(source), architecture, [HEADERS, "-DSIMTMM_RECORD", *macros])
    assert ".entry" in ptx
    assert "simtmm_recorder" in ptx


@needs_nvrtc
@pytest.mark.parametrize("name", ["N", *(pytest.param(name) for name in ("S", "WORK"))])
def test_a_macro_of_a_kernels_own_may_have_a_common_name(name):
    source = f'#include "device.cuh"\nextern "C" __global__ void f(int* a) {{ OP({name}); LD(a, {name}); }}'
    assert compile_cuda(instrumented(source), "80", [HEADERS, "-DSIMTMM_RECORD", f"-D{name}=4"]) is None
    assert compile_cuda(source, "80", [HEADERS, f"-D{name}=4"]) is None


@needs_nvrtc
def test_the_index_of_an_atomic_may_be_a_load():
    source = '#include "device.cuh"\nextern "C" __global__ void f(int* a) { ATOMIC_ADD(a, LD(a, 0), 1); }'
    assert compile_cuda(source, "80", [HEADERS]) is None
    assert compile_cuda(instrumented(source), "80", [HEADERS, "-DSIMTMM_RECORD"]) is None


@needs_nvrtc
def test_the_plain_build_is_what_one_would_write_by_hand():
    with_macros = """#include "device.cuh"
    extern "C" __global__ void f(const int* a, int* b, int n) {
        SHARED(int, s, 64);
        int i = threadIdx.x, x = LD_ASYNC(a, i);
        JOIN(); STS(s, i, x); SYNC(); OP(5);
        ST(b, i, LDS(s, 63 - i) + ATOMIC_ADD(b, 0, n));
    }"""
    by_hand = """
    extern "C" __global__ void f(const int* a, int* b, int n) {
        __shared__ int s[64];
        int i = threadIdx.x, x = a[i];
        s[i] = x; __syncthreads();
        b[i] = s[63 - i] + atomicAdd(&b[0], n);
    }"""
    assert compile_ptx(with_macros, "80", [HEADERS]) == compile_ptx(by_hand, "80", [])


@needs_nvrtc
def test_what_is_no_cuda_is_refused():
    assert "nowhere" in compile_cuda('extern "C" __global__ void f(int* a) { a[0] = nowhere; }', "80", [])


@needs_compiler
def test_the_source_that_uses_every_macro_records_at_all_its_sites(tmp_path):
    (tmp_path / "kernel.cu").write_text(EVERY_MACRO)
    (tmp_path / "host.py").write_text(HOST)
    trace = record(tmp_path)
    declarations = {site.site for site in trace.info.sites if site.kind == "shared_array"}
    recorded = set(trace.to_table()["site"].to_pylist())
    assert recorded == {site.site for site in trace.info.sites} - declarations
