"""A file of device code, launched as the command line says: which kernel, which arguments, and the mistakes."""

import numpy as np
import pytest

from simtmm import record
from simtmm.cuda.compilers import compile_source
from simtmm.cuda.signature import names_in_source
from simtmm.errors import CompilerError, KernelError, RecordingError
from simtmm.recorder.compiled.cuda_file import cuda_program
from simtmm.recorder.compiled.sizes import sizes_of

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

SAXPY = """
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
ARGUMENTS = ("n=40", "a=2f", "x=arange:float32:40", "y=ones:float32:40")
TEMPLATES = """
typedef double Real;
template <typename T, int K> __global__ void scale(T* x, T a) { x[threadIdx.x] = a * x[threadIdx.x] + T(K); }
template <typename T> __global__ void twice(T* x) { x[threadIdx.x] += x[threadIdx.x]; }
namespace deep { template <typename T> __global__ void zero(T* x) { x[threadIdx.x] = 0; } }
"""
WITH_HOST = """
#include <cstdio>
#include <vector>
typedef float DATA_TYPE;
#define SIZE 64
__global__ void fill(DATA_TYPE* x, DATA_TYPE value) { x[threadIdx.x] = value; }
int main()
{
    std::vector<DATA_TYPE> host(SIZE);
    DATA_TYPE* device;
    cudaMalloc(&device, SIZE * sizeof(DATA_TYPE));
    fill<<<1, SIZE>>>(device, 1.0f);
    cudaDeviceSynchronize();
    std::printf("done\\n");
}
"""


def widths(trace):
    """Bytes of a thread's accesses."""
    return {int(width) for batch in trace.batches() for width in np.unique(batch.events["bytes"]) if width}


@pytest.mark.parametrize("arguments", [ARGUMENTS, ARGUMENTS[::-1], [word.partition("=")[2] for word in ARGUMENTS]])
def test_arguments_go_by_name_in_any_order_or_by_place(ran, arguments):
    trace = ran(SAXPY, 2, 32, arguments)
    assert trace.info.kernel == "k"
    (launch,) = trace.info.launches
    assert (launch.kernel, launch.grid, launch.block) == ("saxpy", (2, 1, 1), (32, 1, 1))
    assert {array.name for array in trace.info.arrays} == {"x", "y"}


@pytest.mark.parametrize(
    ("source", "kernel", "names"),
    [
        ('extern "C" __global__ void f(float* o, float a, int n) {}', None, ["o", "a", "n"]),
        ("__global__ void __launch_bounds__(256, 2) f(const float *__restrict__ x, int n[4]) {}", None, ["x", "n"]),
        ("__global__ void f(int a); __global__ void f(int a /* b, c */) {} // __global__ void g(int d)", None, ["a"]),
        ("__global__ void f(float*, int); __global__ void f(float* x, int n) {}", None, ["x", "n"]),
        ("__global__ void f(float*, int n);", None, ["", "n"]),
        ("__global__ void f(int a) {} __global__ void g(int b) {}", "g", ["b"]),
        ("__global__ void f(int a) {} __global__ void g(int b) {}", None, []),  # which one is not known
        ("__global__ void f(void) {}", None, []),
        ("void f(int a) {}", None, []),
        ("__global__ void f(int a", "f", []),
    ],
)
def test_names_of_parameters_are_read_from_a_source(source, kernel, names):
    assert names_in_source(source, kernel) == names


def test_arrays_given_by_place_have_the_names_of_the_source_or_their_place(ran):
    kernels = "__global__ void f(int* a, int* b) { a[0] = b[0]; }\n__global__ void g(int* c) { c[0] = 1; }"
    arrays = ["zeros:int32:8", "ones:int32:8"]
    assert [array.name for array in ran(kernels, arguments=arrays, kernel="f").info.arrays] == ["a", "b"]
    ptx = compile_source(kernels, name="k.cu", architecture=90).ptx
    of_ptx = ran(ptx, 1, 1, arrays, ".ptx", kernel="f").info.arrays
    assert [array.name for array in of_ptx] == ["argument_0", "argument_1"]


@pytest.mark.parametrize(("grid", "sizes"), [("3", (3, 1, 1)), ("3x2", (3, 2, 1)), ((1, 2, 3), (1, 2, 3))])
def test_sizes_are_numbers_texts_or_tuples(ran, grid, sizes):
    assert ran(SAXPY, grid, 32, ARGUMENTS).info.launches[0].grid == sizes


@pytest.mark.parametrize(
    ("kernel", "arguments", "width"),
    [
        ("scale<float, 3>", ["zeros:float32:32", "2f"], 4),
        ("scale<double,3>", ["zeros:float64:32", "2"], 8),
        ("twice<Real>", ["zeros:float64:32"], 8),
        ("twice<unsigned short>", ["zeros:uint16:32"], 2),
        ("deep::zero<long long>", ["zeros:int64:32"], 8),
    ],
)
@pytest.mark.parametrize("compiler", ["NVRTC", "nvcc"])
def test_an_instance_of_a_template_is_compiled_by_its_name(ran, kernel, arguments, width, compiler):
    source = TEMPLATES if compiler == "NVRTC" else f"#include <cstdio>\n{TEMPLATES}"
    trace = ran(source, arguments=arguments, kernel=kernel)
    assert widths(trace) == {width}
    assert {site.file for site in trace.info.sites} == {"k.cu"}


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        ("twice", "k.cu: kernel 'twice': unknown; twice is a template: name an instance, such as twice<float>"),
        (
            None,
            "k.cu: which kernel? It has none; scale, twice, zero are templates: name an instance, such as scale<float>",
        ),
        ("none<int>", "k.cu: name expression 'none<int>': identifier \"none\" is undefined"),
    ],
)
@pytest.mark.parametrize("compiler", ["NVRTC", "nvcc"])
def test_a_template_without_an_instance_is_reported(refused, kernel, said, compiler):
    source = TEMPLATES if compiler == "NVRTC" else f"#include <cstdio>\n{TEMPLATES}"
    assert refused(source, kernel=kernel) == said


def test_what_could_be_code_is_no_name_of_a_kernel(refused):
    message = refused(f"#include <cstdio>\n{TEMPLATES}", kernel="twice<int>; int bad")
    assert "kernel" in message
    assert "twice<int>; int bad" in message


def test_a_program_with_a_main_of_its_own_is_compiled_by_nvcc_and_its_kernel_runs(ran):
    trace = ran(WITH_HOST, 1, 64, ["value=2f", "x=zeros:float32:64"])
    assert {site.file for site in trace.info.sites} == {"k.cu"}
    assert sum(len(batch.events) for batch in trace.batches()) >= 64


def test_options_reach_the_compiler(ran):
    source = "__global__ void f(float* x) { x[threadIdx.x + SHIFT] = 1; }"
    assert ran(source, arguments=["zeros:float32:40"], options=["-DSHIFT=8"]).info.events


def test_ptx_runs_and_its_arguments_go_by_place(ran, tmp_path):
    ptx = compile_source(SAXPY, name="saxpy.cu", architecture=90).ptx
    named = ran(SAXPY, 2, 32, ARGUMENTS)
    assert (
        ran(ptx, 2, 32, ["40", "2f", "arange:float32:40", "ones:float32:40"], ".ptx").info.events == named.info.events
    )


def test_arguments_of_ptx_may_have_its_own_names_in_any_order(ran, refused):
    ptx = compile_source(SAXPY, name="saxpy.cu", architecture=90).ptx
    names = [f"_Z5saxpyifPKfPf_param_{place}" for place in range(4)]
    values = ("40", "2f", "arange:float32:40", "ones:float32:40")
    named = [f"{name}={value}" for name, value in zip(names, values, strict=True)]
    trace = ran(ptx, 2, 32, named[::-1], ".ptx")
    assert trace.info.events == ran(SAXPY, 2, 32, ARGUMENTS).info.events
    assert {array.name for array in trace.info.arrays} == set(names[2:])
    told = refused(ptx, 2, 32, [*named[:3], "y=ones:float32:40"], suffix=".ptx")
    assert f"argument 'y': unknown argument; known: {', '.join(names)}" in told


def test_a_structure_comes_from_a_file(ran, refused, tmp_path):
    source = "struct S { int at; float value; };\n__global__ void f(S s, float* x) { x[s.at] = s.value; }"
    np.save(tmp_path / "s.npy", np.array((3, 2.5), dtype=[("at", "i4"), ("value", "f4")]))
    assert ran(source, 1, 1, ["s=s.npy", "x=zeros:float32:8"]).info.events
    assert "s = 3: must be 8 bytes (S)" in refused(source, 1, 1, ["s=3", "x=zeros:float32:8"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (ARGUMENTS[:3], "kernel k: launch 0 of saxpy: argument 'y': is missing"),
        ([*ARGUMENTS, "z=1"], "argument 'z': unknown argument; known: a, n, x, y"),
        (["40", "2f"], "launch 0 of saxpy: 2 arguments: must be 4 (int, float, float const*, float*)"),
        (["n=1.5", *ARGUMENTS[1:]], "launch 0 of saxpy: n = 1.5: must be int"),
        (["n=9999999999", *ARGUMENTS[1:]], "n = 9999999999: must be from -2147483648 to 2147483647"),
        (["n=zeros:int32:3", *ARGUMENTS[1:]], "n = an array"),
        ([*ARGUMENTS[:3], "y=3"], "y = 3: must be an array (float*)"),
        ([*ARGUMENTS[:3], "y=zeros:float64:40"], "y = an array of float64: the kernel takes float*"),
        ([*ARGUMENTS[:3], "y=abc"], "kernel k: k.cu: argument y = 'abc': must be a number such as 1000"),
        ([*ARGUMENTS[:3], "y=none.npy"], "k.cu: argument y: none.npy: can't be read (No such file or directory)"),
    ],
)
def test_a_wrong_argument_is_one_line_that_names_it(refused, arguments, said):
    assert said in refused(SAXPY, 2, 32, arguments)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (
            {"grid": None, "block": None},
            "k.cu: --grid and --block: required, for example --grid 3907 --block 256",
        ),
        ({"block": None}, "k.cu: --block: required"),
        ({"grid": "0"}, "--grid = '0': must be one to three sizes of at least 1, such as 64 or 64x64"),
        ({"grid": "1x2x3x4"}, "--grid = '1x2x3x4': must be one to three sizes"),
        ({"block": "2048"}, "kernel k: launch 0 of saxpy: block.x = 2048: must be 1 to 1024"),
        ({"block": "64x32"}, "block of 2048 threads: must be at most 1024"),
        ({"shared": 300_000}, "launch 0 of saxpy: 300,000 bytes of shared memory: must be at most 232,448"),
        ({"kernel": "saxpi"}, "k.cu: kernel 'saxpi': unknown; did you mean 'saxpy'?"),
        ({"arguments": ["n=1", "n=2"]}, "--arg 'n=2': n is given twice"),
        ({"arguments": ["3n=1"]}, "--arg '3n=1': must be NAME=VALUE, or VALUE"),
    ],
)
def test_a_wrong_launch_is_one_line_that_names_it(refused, what, said):
    assert said in refused(SAXPY, **{"grid": 2, "block": 32, "arguments": ARGUMENTS, **what})


def test_of_several_kernels_one_must_be_named(refused):
    source = f"{SAXPY}\n__global__ void other(int n) {{}}"
    assert refused(source, arguments=ARGUMENTS) == "k.cu: which kernel? It has other, saxpy"


def test_a_complaint_of_the_compiler_names_the_file_as_it_was_given_and_the_line(refused):
    message = refused("__global__ void f(float* x)\n{\n    x[0] = nowhere;\n}\n")
    assert message == 'k.cu:3: does not compile: identifier "nowhere" is undefined'


def test_an_instruction_that_is_not_known_is_reported_before_anything_runs(refused):
    message = refused('__global__ void f(float* x)\n{\n    asm volatile("frobnicate.u32 %0;" :: "r"(1));\n}\n')
    assert "frobnicate" in message


def test_a_file_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(KernelError, match=r"none\.cu: no such file"):
        cuda_program(tmp_path / "none.cu", 1, 1)


def test_ptx_that_is_none_is_refused(refused):
    assert refused("this is not PTX", suffix=".ptx")


def test_it_can_not_be_recorded_as_written(tmp_path):
    (tmp_path / "k.cu").write_text(SAXPY)
    with pytest.raises(RecordingError) as caught:
        record(cuda_program(tmp_path / "k.cu", 1, 1), form="written")
    assert str(caught.value) == "kernel k: k.cu: is recorded as compiled; form = 'written' needs a folder"


def test_without_a_compiler_the_line_says_what_to_install(ran, monkeypatch):
    def missing():
        raise CompilerError("NVRTC: not found: pip install '.[compile]'")

    for name in ("find_nvrtc", "find_nvcc"):
        monkeypatch.setattr(f"simtmm.cuda.compilers.compile.{name}", missing)
    with pytest.raises(CompilerError, match="pip install"):
        ran(f"// never compiled before\n{SAXPY}", 2, 32, ARGUMENTS)


def test_blanks_around_a_size_are_none_of_it():
    """The separator \x1c is a blank to Python's strip, and none to its int."""
    assert sizes_of(" 2 x\x1c4", "grid") == (2, 4)
