"""Lines where a kernel with macros touches arrays without one: told by what the compiler makes of them."""

from pathlib import Path

import pytest

from simtmm import record
from simtmm.errors import CompilerError
from simtmm.kernel import load_kernel
from simtmm.recorder.unmarked import MOST_TOLD, marked_lines, unmarked_warnings
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
HEAD = "struct Node { int next; };\n__device__ int peek(const int* x, int i)\n{\n    return x[i];\n}\n"
ARRAYS = '{"x": np.zeros(64, np.int32), "y": np.zeros(64, np.int32), "nodes": np.zeros(1, np.int32)}'


@pytest.fixture
def warnings_of(kernel_folder):
    """The line and text of each warning for statements in the body of f(x, y, nodes)."""

    def make(*lines, head=HEAD, defines="{}"):
        signature = 'extern "C" __global__ void f(const int* x, int* y, Node* nodes)\n{\n    int i = threadIdx.x;\n'
        source = DEVICE + head + signature + "".join(f"    {line}\n" for line in lines) + "}\n"
        written = host(arrays=ARRAYS, arguments='("x", "y", "nodes")') + f"\n\ndef defines(p):\n    return {defines}\n"
        kernel = load_kernel(kernel_folder(source, written))
        places = source.split("\n")
        found = []
        for warning in unmarked_warnings(kernel, {}):
            file, line, rest = warning.split(":", 2)
            text = rest.split("`")[1]
            assert places[int(line) - 1].strip() == text
            assert file == "kernel.cu"
            assert rest.endswith("accesses an array without a macro: this access is not recorded")
            found.append(text)
        return found

    return make


@pytest.mark.parametrize(
    "line",
    ["y[i] = 1;", "ST(y, i, 1); y[i + 1] = i;", "*(y + i) = 1;", "*y = 1;", "nodes->next = 1;", "atomicAdd(&y[i], 1);"],
)
def test_a_line_that_no_macro_marks_is_reported(warnings_of, line):
    unmarked = line.rpartition("; ")[2]
    assert warnings_of("int a = LD(x, i);", unmarked, "ST(y, a, i);") == [unmarked]


def test_an_access_in_a_function_is_reported_where_it_stands(warnings_of):
    assert warnings_of("ST(y, i, peek(x, i));") == ["return x[i];"]


def test_an_access_in_a_header_of_cuda_is_reported_where_it_is_called(warnings_of):
    assert warnings_of("int a = __ldg(x + i);", "ST(y, i, a);") == ["int a = __ldg(x + i);"]


@pytest.mark.parametrize(
    "lines",
    [
        ["ST(y, i, LD(x, i));"],
        ["ST(y,", "   i,", "   LD(x,", "      i) + 1);"],
        ["int low = LD(x, 2 * i);", "int high = LD(x, 2 * i + 1);", "ST(y, i, low + high);"],
        ["SHARED(int, s, 32);", "STS(s, i, 1);", "SYNC();", "ST(y, i, LDS(s, 31 - i));"],
        ["ATOMIC_MAX(y, 0, i);"],
        ["int local[4] = {i, i + 1, i + 2, i + 3};", "ST(y, i, local[LD(x, i) & 3]);"],
    ],
)
def test_of_lines_that_are_marked_nothing_is_reported(warnings_of, lines):
    assert warnings_of(*lines) == []


def test_a_macro_of_the_kernels_own_marks_where_it_is_used(warnings_of):
    head = "struct Node { int next; };\n#define AT(i) LD(x, \\\n    (i))\n#define BOTH(i) (AT(i) + AT(i + 1))\n"
    assert warnings_of("int a = BOTH(", "    i);", "ST(y, i, a);", "y[0] = a;", head=head) == ["y[0] = a;"]


def test_loads_that_the_compiler_makes_one_of_are_no_access_of_the_line_that_joins_them(warnings_of):
    loads = "unsigned low = LD(x, 2 * i), high = LD(x, 2 * i + 1);"
    joined = "unsigned long long both = (unsigned long long)high << 32 | low;"
    assert warnings_of(loads, joined, "ST(y, i, (int)(both % 7));") == []


def test_what_is_compiled_is_what_the_macros_of_host_py_say(warnings_of):
    lines = ["#if WHICH", "y[i] = 1;", "#endif", "ST(y, 1, LD(x, 1));"]
    assert warnings_of(*lines, defines="{'WHICH': 1}") == ["y[i] = 1;"]
    assert warnings_of(*lines, defines="{'WHICH': 0}") == []


def test_an_access_in_a_header_of_the_kernels_is_reported_with_that_file(kernel_folder):
    own = '#include "own.cuh"\n__global__ void f(int* a) { ST(a, 0, 1); mark(a); set(a); }'
    folder = kernel_folder(DEVICE + own, host())
    (folder / "own.cuh").write_text(
        "__device__ void mark(int* a) { ST(a, 1, 1); }\n__device__ void set(int* a)\n{\n    a[0] = 2;\n}\n"
    )
    (message,) = unmarked_warnings(load_kernel(folder), {})
    assert message.startswith("own.cuh:4: `a[0] = 2;` accesses an array")


def test_of_many_lines_the_first_are_named_and_the_others_counted(kernel_folder):
    body = "".join(f"    a[{number}] = {number};\n" for number in range(2 * MOST_TOLD))
    folder = kernel_folder(f"{DEVICE}__global__ void f(int* a) {{\n    ST(a, 0, 1);\n{body}}}", host())
    *named, rest = unmarked_warnings(load_kernel(folder), {})
    assert len(named) == MOST_TOLD
    assert rest == f"{MOST_TOLD} more lines access arrays without a macro"


@needs_compiler
def test_it_stands_in_the_trace(kernel_folder):
    folder = kernel_folder(f"{DEVICE}__global__ void f(int* a)\n{{\n    ST(a, 0, 1);\n    a[1] = 2;\n}}", host())
    assert any(doubt.startswith("kernel.cu:5: `a[1] = 2;`") for doubt in record(folder).info.doubts)


@pytest.mark.parametrize("reason", ["no compiler", "a header that NVRTC does not know"])
def test_where_it_can_not_be_compiled_nothing_is_reported(kernel_folder, monkeypatch, reason):
    include = "#include <cstdio>\n" if reason != "no compiler" else ""
    body = "__global__ void f(int* a) { ST(a, 0, 3); a[1] = 3; }"
    kernel = load_kernel(kernel_folder(include + DEVICE + body, host()))
    if reason == "no compiler":

        def missing(*_, **__):
            raise CompilerError("NVRTC: not found: pip install it")

        monkeypatch.setattr("simtmm.recorder.unmarked.compile_source", missing)
    assert unmarked_warnings(kernel, {}) == []


def test_comments_and_texts_mark_nothing():
    assert marked_lines("// LD(a, i)\na = 1; /* ST(\n) */\nLD(a,\n 'b', \")\"\n);\nb.LD(3)\n") == {4, 5, 6}


@pytest.mark.parametrize("name", sorted(folder.name for folder in KERNELS.iterdir() if (folder / "host.py").is_file()))
def test_the_shipped_kernels_mark_all_they_touch(name):
    kernel = load_kernel(name)
    assert unmarked_warnings(kernel, kernel.resolve({})) == []
