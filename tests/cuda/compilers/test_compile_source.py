"""Texts of CUDA C++ by NVRTC."""

import subprocess
import sys

import pytest

from simtmm.cuda.compilers import compile_source, ptxas
from simtmm.cuda.compilers import nvrtc as nvrtc_module
from simtmm.cuda.compilers.nvrtc import Nvrtc
from simtmm.cuda.compilers.wheels import find_nvrtc
from simtmm.errors import CompilerError
from tests.cuda.compilers.conftest import needs_nvrtc, needs_ptxas

pytestmark = needs_nvrtc

SCALE = """#include "twice.h"
extern "C" __global__ void scale(float* x)
{
    x[threadIdx.x] = twice(x[threadIdx.x]);
}
"""
TWICE = "__device__ float twice(float a)\n{\n    return a + a;\n}\n"


@pytest.fixture
def calls(monkeypatch):
    """How often NVRTC was called."""
    found = []
    compiled = Nvrtc.compiled
    monkeypatch.setattr(Nvrtc, "compiled", lambda *arguments: found.append(arguments) or compiled(*arguments))
    return found


@pytest.fixture
def folder(fresh_cache, tmp_path, monkeypatch):
    (tmp_path / "twice.h").write_text(TWICE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


def test_a_module_says_what_it_was_compiled_for_and_where_its_lines_are(fresh_cache):
    module = compile_source(SCALE, architecture=80, headers={"twice.h": TWICE})
    assert (module.architecture, module.target, module.entries) == (80, "sm_80", ("scale",))
    assert set(module.files.values()) == {"kernel.cu", "twice.h"}
    places = {tuple(map(int, line.split()[1:3])) for line in module.ptx.splitlines() if line.startswith("\t.loc")}
    lines = {module.files[file]: module.source_line(file, line) for file, line in sorted(places)}
    assert lines["twice.h"].strip() == "return a + a;"
    assert "    x[threadIdx.x] = twice(x[threadIdx.x]);" in {module.source_line(*place) for place in places}


def test_a_line_that_is_not_there_is_none(fresh_cache):
    module = compile_source(SCALE, architecture=80, headers={"twice.h": TWICE})
    number = next(number for number, name in module.files.items() if name == "kernel.cu")
    assert module.source_line(number, 1) == '#include "twice.h"'
    assert [module.source_line(*place) for place in ((number, 0), (number, 99), (99, 1))] == [None, None, None]


def test_name_expressions_are_known_by_what_they_stand_for(fresh_cache):
    source = "template<class T, int N> __global__ void k(T* x) { x[0] = N; }\n__constant__ float f[3];"
    module = compile_source(source, architecture=90, name_expressions=["k<float,3>", "k< int, 4 >", "&f"])
    assert dict(module.names) == {"k<float,3>": "_Z1kIfLi3EEvPT_", "k< int, 4 >": "_Z1kIiLi4EEvPT_", "&f": "f"}
    assert set(module.entries) == {"_Z1kIfLi3EEvPT_", "_Z1kIiLi4EEvPT_"}


def test_options_are_taken_as_cupy_takes_them(fresh_cache, folder):
    source = (
        '#include "twice.h"\n#if N != 4 || __cplusplus < 202002L\n#error "not so"\n#endif\n' + SCALE.split("\n", 1)[1]
    )
    options = ("-DN=4", f"-I{folder}", "--std=c++20", "--use_fast_math")
    module = compile_source(source, architecture=80, options=options)
    assert "add.ftz.f32" in module.ptx
    assert str(folder / "twice.h") in module.files.values()


def test_an_architecture_in_the_options_comes_first(fresh_cache):
    module = compile_source("__global__ void k() {}", architecture=80, options=["-arch=sm_90a"])
    assert (module.architecture, module.target) == (90, "sm_90a")


def test_cudas_headers_are_found(fresh_cache):
    headers = "#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n"
    source = f"{headers}__global__ void k(__half* x) {{ x[0] = __hadd(x[1], x[2]); }}"
    assert "add.f16" in compile_source(source, architecture=80).ptx


@pytest.mark.parametrize(
    ("source", "more", "line"),
    [
        ("\n__global__ void k() { int x = y; }", {}, 'kernel.cu:2: does not compile: identifier "y" is undefined'),
        ("\nnonsense", {"name": "mine.cu"}, "mine.cu:2: does not compile: "),
        ("template<class T> __global__ void k(T*) {}", {"name_expressions": ["k<int>", "k<none>"]},
         "kernel.cu: name expression 'k<none>': identifier \"none\" is undefined"),
        ("#include <stdio.h>", {}, "kernel.cu:1: does not compile: cannot open source file \"stdio.h\"; NVRTC has"),
        ("", {"architecture": 35}, "kernel.cu: architecture 35: unknown to the compiler; known: "),
        ("", {"options": ["--run"]}, "option '--run': not supported"),
        ("\0", {}, "NVRTC: a source, a name, a header or an option holds a NUL character"),
        (None, {}, "kernel.cu: source must be a text, not NoneType"),
    ],
)  # fmt: skip
def test_an_error_is_one_line(fresh_cache, source, more, line):
    with pytest.raises(CompilerError) as caught:
        compile_source(source, **{"architecture": 80, **more})
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_an_error_has_the_whole_log_with_it(fresh_cache):
    with pytest.raises(CompilerError) as caught:
        compile_source("__global__ void k() { a; b; }", architecture=80)
    assert '"a" is undefined' in caught.value.log
    assert '"b" is undefined' in caught.value.log


def test_warnings_are_kept_with_the_module(fresh_cache, calls):
    for _ in range(2):
        assert "never referenced" in compile_source("__global__ void k() { int unused; }", architecture=80).log
    assert len(calls) == 1


# What is kept


def test_the_same_is_compiled_once(folder, calls):
    first, second = (compile_source(SCALE, architecture=80, options=[f"-I{folder}"]) for _ in range(2))
    assert (first, len(calls)) == (second, 1)


@pytest.mark.parametrize(
    "changed",
    [
        {"architecture": 90}, {"source": SCALE + " "}, {"name": "other.cu"}, {"options": ["-DX"]},
        {"name_expressions": ["scale"]}, {"headers": {"twice.h": TWICE + " "}},
    ],
    ids=lambda changed: next(iter(changed)),
)  # fmt: skip
def test_all_that_matters_is_seen(fresh_cache, calls, changed):
    given = {"source": SCALE, "architecture": 80, "headers": {"twice.h": TWICE}}
    compile_source(**given)
    compile_source(**{**given, **changed})
    assert len(calls) == 2


def test_a_header_that_changes_is_seen(folder, calls):
    before = compile_source(SCALE, architecture=80, options=[f"-I{folder}"])
    (folder / "twice.h").write_text(TWICE.replace("a + a", "a * 3"))
    assert compile_source(SCALE, architecture=80, options=[f"-I{folder}"]).ptx != before.ptx


def test_a_header_that_appears_before_another_is_seen(folder, calls):
    options = [f"-I{folder / 'first'}", f"-I{folder}"]
    before = compile_source(SCALE, architecture=80, options=options)
    (folder / "first").mkdir()
    (folder / "first" / "twice.h").write_text(TWICE.replace("a + a", "a * 3"))
    assert compile_source(SCALE, architecture=80, options=options).ptx != before.ptx


def test_a_header_that_an_option_includes_is_seen(folder, calls):
    source = SCALE.split("\n", 1)[1]
    options = ["-include", str(folder / "twice.h")]
    before = compile_source(source, architecture=80, options=options)
    (folder / "twice.h").write_text(TWICE.replace("a + a", "a * 3"))
    assert compile_source(source, architecture=80, options=options).ptx != before.ptx


@pytest.mark.parametrize(
    ("define", "compiled"), [("<x.h>\n#define HEADER NAME(twice)", 1), ("<tw##x.h>\n#define HEADER NAME(ice)", 2)]
)
def test_where_headers_can_not_be_followed_nothing_is_kept(define, compiled, folder, calls):
    source = f"#define NAME(x) {define}\n" + SCALE.replace('"twice.h"', "HEADER")
    for _ in range(2):
        compile_source(source, architecture=80, options=[f"-I{folder}"])
    assert len(calls) == compiled


def test_a_damaged_entry_is_made_again(fresh_cache, calls):
    before = compile_source("__global__ void k() {}", architecture=80)
    [kept] = fresh_cache.glob("kernel-*.json")
    kept.write_text(kept.read_text().replace("ret;", "trap;"))
    assert compile_source("__global__ void k() {}", architecture=80) == before
    assert len(calls) == 2


def test_an_error_keeps_nothing(fresh_cache):
    with pytest.raises(CompilerError):
        compile_source("nonsense", architecture=80)
    assert list(fresh_cache.glob("*")) == []


def test_processes_that_compile_at_once_agree(fresh_cache):
    code = (
        "from simtmm.cuda.compilers import compile_source\n"
        "print(compile_source('__global__ void k(int* x) { *x = 1; }', architecture=80).ptx)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    message = {process.communicate(timeout=600)[0] for process in running}
    assert len(message) == 1
    assert ".entry" in message.pop()
    assert not list(fresh_cache.glob("*.part"))


@needs_ptxas
def test_resources_are_found_when_asked_for_and_kept(fresh_cache, monkeypatch):
    source = "__global__ void k(int* x) { __shared__ int s[32]; s[threadIdx.x] = *x; __syncthreads(); *x = s[5]; }"
    given = {"source": source, "architecture": 80, "options": ["-maxrregcount=16"]}
    [[entry, found]] = compile_source(**given).resources.items()
    assert (entry, found.shared_bytes, found.barriers, found.local_bytes) == ("_Z1kPi", 128, 1, 0)
    assert 1 <= found.registers <= 16
    monkeypatch.setattr(ptxas, "run", None)
    assert compile_source(**given).resources == {entry: found}


def test_a_compiler_that_ends_is_an_error_and_the_next_source_compiles(fresh_cache, monkeypatch):
    compiler = Nvrtc(find_nvrtc())
    monkeypatch.setattr(nvrtc_module, "available_memory", lambda: 2 << 30)
    words = ["--gpu-architecture=compute_80"]
    huge = "__constant__ int a[1u << 30] = {1}; __global__ void k(int* x) { x[0] = a[threadIdx.x]; }"
    with pytest.raises(CompilerError) as caught:
        compiler.compiled(huge, "huge.cu", words, [], {})
    assert str(caught.value) == "huge.cu: the compiler NVRTC was killed by SIGABRT, possibly out of memory"
    assert ".entry" in compiler.compiled("__global__ void k() {}", "small.cu", words, [], {}).ptx


FORKED = """
import os
from simtmm.cuda.compilers.nvrtc import nvrtc
from simtmm.cuda.compilers.wheels import find_nvrtc

compiler = nvrtc(find_nvrtc())
known = compiler.architectures()
child = os.fork()
if child == 0:
    os._exit(compiler.architectures() != known)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), compiler.architectures() == known)
"""


def test_a_forked_process_has_a_compiler_of_its_own():
    done = subprocess.run([sys.executable, "-W", "error", "-c", FORKED], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0 True\n", "")
