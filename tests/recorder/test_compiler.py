"""Builds: which functions are kernels, which compiler is taken, what is kept and when it is made anew."""

import importlib.util
import os
import shlex
import shutil
import sys

import pytest

from simtmm import cache as cache_module
from simtmm import record
from simtmm.errors import CompilerError, KernelError, RecordingError
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.recorder import compiler
from simtmm.recorder.compiler import build, find_compiler, global_functions
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler

RIGHT = DEVICE + "__global__ void f(int* a) { ST(a, 0, 1); }"


@pytest.fixture
def probe_flags():
    """Builds are what is tested here: as users' are."""


# --- which functions are kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void f(int* a) {}",
        'extern "C" __global__ void f(int* a) {}',
        "static __global__ void f() {}",
        "__global__ static void f() {}",
        "void __global__ f(int* a) {}",
        "__global__\nvoid\nf\n(int* a) {}",
        "__global__ __launch_bounds__(128) void f(int* a) {}",
        "__global__ __launch_bounds__(128, 2) void f(int* a) {}",
        "__global__ void __launch_bounds__(128) f(int* a) {}",
        "__global__ void __launch_bounds__( THREADS , 2 ) f(int* a) {}",
        'extern "C" __launch_bounds__(64) __global__ void f(int* a) {}',
        "/* void */ __global__ /* why */ void /* not */ f(int* a) {}",
        "__global__ void f(int* a);\n__global__ void f(int* a) {}",
        "#define KERNEL __global__ void g()\n__global__ void f() {}",
        "#define KERNEL \\\n  __global__ void g()\n__global__ void f() {}",
        "__device__ int g(int* a) { return 0; }\n__global__ void f(int* a) {}\nvoid h() {}",
        "template <class T> __global__ void g(T* a) {}\n__global__ void f(int* a) {}",
        "// __global__ void g() {}\n__global__ void f(int* a) {}",
        "/* __global__ void g() {}\n*/ __global__ void f(int* a) {}",
    ],
)
def test_the_global_functions_of_a_source_are_found(source):
    assert global_functions(source) == ["f"]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("__global__ void __launch_bounds__(max(W, 1)) f() {}", id="nested parentheses"),
        pytest.param('const char* where = "http://x"; __global__ void f() {}', id="string"),
        pytest.param(
            "template <class T, class U = X<T>> __global__ void g() {}\n__global__ void f() {}", id="template"
        ),
    ],
)
def test_the_global_functions_of_an_intricate_source_are_found(source):
    assert global_functions(source) == ["f"]


def test_global_functions_are_in_textual_order():
    assert global_functions("__global__ void z() {}\n__global__ void a() {}") == ["z", "a"]


@pytest.mark.parametrize(
    "source", ["", "__device__ void f() {}", "template <class T> __global__ void f() {}", "// __global__ void f() {}"]
)
def test_a_source_may_have_no_global_functions(source):
    assert global_functions(source) == []


# --- which compiler ---------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(monkeypatch):
    """Pretend that only these commands, and the ziglang package or not, are installed."""

    def make(*commands, ziglang=False):
        monkeypatch.delenv("CXX", raising=False)
        monkeypatch.setattr(shutil, "which", lambda name: f"bin/{name}" if name in commands else None)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if ziglang else None)

    return make


def test_cxx_is_taken_before_any_other(installed, monkeypatch):
    installed("c++", "mine")
    monkeypatch.setenv("CXX", "mine -O1 '-DA=b c'")
    assert find_compiler() == ["mine", "-O1", "-DA=b c"]


def test_a_cxx_that_is_no_command_line_is_refused(installed, monkeypatch):
    installed("c++")
    monkeypatch.setenv("CXX", "c++ '")
    with pytest.raises(CompilerError, match="CXX"):
        find_compiler()


@pytest.mark.parametrize(
    ("commands", "chosen"),
    [(("clang++", "g++", "c++"), "c++"), (("clang++", "g++"), "g++"), (("clang++",), "clang++")],
)
def test_the_systems_compiler_is_taken_before_clang_and_ziglang(installed, commands, chosen):
    installed(*commands, ziglang=True)
    assert find_compiler() == [chosen]


def test_the_ziglang_package_is_taken_where_there_is_no_other(installed):
    installed(ziglang=True)
    assert find_compiler() == [sys.executable, "-P", "-m", "ziglang", "c++"]


def test_without_a_compiler_there_is_an_error(installed):
    installed()
    with pytest.raises(CompilerError, match="pip install ziglang"):
        find_compiler()


# --- what is kept -----------------------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SIMTMM_CACHE", str(folder))
    return folder


@pytest.fixture
def compilations(monkeypatch):
    """The compiler's runs from here on."""
    runs, run = [], compiler.run

    def counted(command, **options):
        if "-o" in command:
            runs.append(command)
        return run(command, **options)

    monkeypatch.setattr(compiler, "run", counted)
    return runs


@needs_compiler
def test_the_same_kernel_is_compiled_once(kernel_folder, cache, compilations):
    kernel = load_kernel(kernel_folder(RIGHT, host()))
    first, second = build(kernel, {"SIZE": "4"}), build(kernel, {"SIZE": "4"})
    assert first == second
    assert len(compilations) == 1
    assert [path.name for path in cache.glob("builds/*")] == [first.name]


@needs_compiler
def test_another_source_macro_or_compiler_is_another_build(kernel_folder, cache, compilations, monkeypatch):
    kernel = load_kernel(kernel_folder(RIGHT, host()))
    builds = [build(kernel, {}), build(kernel, {"SIZE": "4"}), build(kernel, {"SIZE": "5"})]
    builds.append(build(load_kernel(kernel_folder(RIGHT + "\n", host())), {}))
    monkeypatch.setenv("CXX", " ".join([*find_compiler(), "-O1"]))
    builds.append(build(kernel, {}))
    assert len(set(builds)) == len(compilations) == 5


@needs_compiler
def test_a_header_beside_the_kernel_that_changes_is_compiled_anew(kernel_folder, cache):
    folder = kernel_folder(DEVICE + '#include "work.h"\n__global__ void f(int* a) { OP(WORK_OF_A_THREAD); }', host())
    values = []
    for work in (1, 2):
        (folder / "work.h").write_text(f"#define WORK_OF_A_THREAD {work}\n")
        values += record(folder).to_table()["value"].to_pylist()
    assert values == [1, 2]


@needs_compiler
def test_a_build_that_fails_leaves_nothing(kernel_folder, cache):
    with pytest.raises(CompilerError):
        build(load_kernel(kernel_folder(RIGHT + "}", host())), {})
    assert list(cache.glob("builds/*")) == []


@needs_compiler
@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\necho planted > PLANTED\n"], ids=["empty", "planted"])
def test_a_build_that_is_not_what_was_kept_is_never_run_and_compiled_anew(
    kernel_folder, cache, tmp_path, monkeypatch, content
):
    kernel = load_kernel(kernel_folder(RIGHT, host()))
    program = build(kernel, {})
    program.write_bytes(content)
    program.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    assert record(kernel).info.events == 1
    assert build(kernel, {}) == program
    assert program.stat().st_size > len(content)
    assert not (tmp_path / "PLANTED").exists()


@needs_compiler
def test_nothing_is_run_from_a_folder_that_others_may_write_to(kernel_folder, cache, tmp_path, monkeypatch, caplog):
    kernel = load_kernel(kernel_folder(RIGHT, host()))
    folder = build(kernel, {}).parent
    cache_module._own.cache_clear()
    folder.chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert build(kernel, {}).parent != folder
    assert "can be written by others (mode 777)" in caplog.text


@needs_compiler
@pytest.mark.parametrize("obstacle", ["a file in its place", "no right to write"])
def test_a_cache_that_can_not_be_written_is_replaced_by_a_temporary_folder(
    kernel_folder, tmp_path, cache, monkeypatch, obstacle
):
    if obstacle == "a file in its place":
        cache.write_text("")
    else:
        may = os.access  # a superuser may write everywhere
        monkeypatch.setattr(os, "access", lambda path, mode, **how: mode != os.W_OK and may(path, mode, **how))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    library = build(load_kernel(kernel_folder(RIGHT, host())), {})
    assert library.is_file()
    assert library.parent.parent == tmp_path
    assert library.parent.name.startswith("simtmm-builds-")


@needs_compiler
def test_the_plain_name_of_the_kernel_leads_the_builds_name(kernel_folder, cache):
    assert build(load_kernel(kernel_folder(RIGHT, host(), "my-kernel")), {}).name.startswith("my-kernel-")


# --- another compiler -------------------------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the ziglang package")
def test_the_ziglang_package_records_the_same_as_the_systems_compiler(monkeypatch):
    parameters = {"stream": {"n": 300}, "list-ranking-wyllie": {"n": 100}, "apsp-minplus": {"n": 20, "threads": 48}}
    digests = {name: record(name, given).info.digest for name, given in parameters.items()}
    monkeypatch.setenv("CXX", f"{sys.executable} -m ziglang c++")
    recordings = {name: record(name, given) for name, given in parameters.items()}
    assert {name: trace.info.digest for name, trace in recordings.items()} == digests
    assert "ziglang" in recordings["stream"].info.provenance["compiler"]
    assert set(parameters) <= set(kernel_folders())


@needs_compiler
@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the ziglang package")
def test_loads_within_one_access_come_in_the_same_order_with_every_compiler(recorded, monkeypatch):
    device = "__global__ void f(int* a) { ST(a, LD(a, 0), LD(a, 1)); }"
    digest = recorded(device).info.digest
    monkeypatch.setenv("CXX", f"{sys.executable} -m ziglang c++")
    assert recorded(device).info.digest == digest


@pytest.fixture
def zig(tmp_path, monkeypatch):
    """The system's compiler by Zig's name and commands, which links the library for `c++` alone; what was asked."""
    asked, script = tmp_path / "asked", tmp_path / "zig"
    cxx = shlex.join(find_compiler())
    script.write_text(
        f'#!/bin/sh\necho "$*" >> {asked}\nhow=$1; shift\n[ "$how" = cc ] && exec {cxx} -nodefaultlibs "$@" -lc -lgcc\n'
        f'[ "$how" = c++ ] && exec {cxx} "$@"\nexec {cxx} "$how"\n'
    )
    script.chmod(0o700)
    monkeypatch.setenv("CXX", f"{script} c++")
    return lambda: [line.split()[0] for line in asked.read_text().splitlines() if " -o " in line]


@needs_compiler
def test_zig_compiles_its_library_only_for_a_kernel_that_needs_it(kernel_folder, cache, zig):
    assert record(kernel_folder(RIGHT, host())).info.events == 1
    assert zig() == ["c++", "cc"]


@needs_compiler
def test_without_exceptions_a_thread_that_fails_ends_and_is_reported(recorded, cache, zig):
    with pytest.raises(RecordingError, match="index 4 is out of bounds: a has 4") as reported:
        recorded("__global__ void f(int* a) { ST(a, 3, 1); ST(a, 4, 1); ST(a, 5, 1); }")
    assert zig() == ["c++", "cc"]
    assert "index 5" not in str(reported.value)


@needs_compiler
def test_a_kernel_that_throws_is_compiled_with_zigs_library(recorded, cache, zig):
    with pytest.raises(RecordingError, match="too odd"):
        recorded('#include <stdexcept>\n__global__ void f(int* a) { throw std::runtime_error("too odd"); }')
    assert zig()[-1] == "c++"


def test_a_compiler_that_says_nothing_is_named(kernel_folder, cache, tmp_path, monkeypatch):
    silent = tmp_path / "silent-cc"
    silent.write_text('#!/bin/sh\ncase "$*" in *--version*) echo 1;; *) exit 3;; esac\n')
    silent.chmod(0o755)
    monkeypatch.setenv("CXX", str(silent))
    with pytest.raises(CompilerError, match="silent-cc ended with status 3 and no message"):
        record(str(kernel_folder(RIGHT, host())))


def test_a_kernel_of_templates_alone_is_reported_what_it_lacks(kernel_folder, cache):
    source = DEVICE + "template <class T> __global__ void f(T* a) { ST(a, 0, 1); }"
    with pytest.raises(KernelError, match="has no __global__ function but only templates without named instances"):
        record(str(kernel_folder(source, host())))
