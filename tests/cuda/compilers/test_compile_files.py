"""Files by nvcc, and what their kernels take when linked."""

import subprocess

import pytest

from simtmm.cuda.compilers import compile_files, linked_resources, load_module, nvcc
from simtmm.cuda.compilers.ptxas import resources
from simtmm.cuda.compilers.wheels import find_host_compiler, find_nvcc
from simtmm.errors import CompilerError
from tests.cuda.compilers.conftest import needs_nvcc

pytestmark = needs_nvcc

SOURCE = """#include <stdio.h>
#include <stdint.h>
#include "twice.h"
__global__ void k(int32_t* x) { x[0] = TWICE(x[0]); printf("%s", NAME); }
"""


@pytest.fixture
def folder(fresh_cache, tmp_path):
    place = tmp_path / "my kernels"
    place.mkdir()
    (place / "k.cu").write_text(SOURCE)
    (place / "twice.h").write_text("#define TWICE(x) (x) * 2\n")
    return place


def texts(ptx):
    """Strings among a module's variables."""
    lists = [line.split("{")[1].split("}")[0] for line in ptx.splitlines() if "$str" in line and "{" in line]
    return ["".join(chr(int(value)) for value in values.split(",")).rstrip("\0") for values in lists]


def test_headers_of_the_host_are_found_and_lines_known_and_a_macro_is_taken_as_it_is_written(folder, monkeypatch):
    ran = folder / "ran"
    name = f"a $HOME `touch \"{ran}\"` $(touch '{ran}')".replace('"', "")
    options = [f'-DNAME="{name}"']
    [module] = compile_files(folder / "k.cu", architecture=80, options=options)
    assert not ran.exists()
    assert name in texts(module.ptx)
    assert module.source_line(next(iter(module.files)), 4) == SOURCE.splitlines()[3]
    assert set(module.resources) == {"_Z1kPi"}

    def never(*arguments, **more):
        raise AssertionError("nvcc was called")

    with monkeypatch.context() as patched:
        patched.setattr("simtmm.cuda.compilers.compile.compiled_file", never)
        assert compile_files([folder / "k.cu"], architecture=80, options=options) == [module]
        (folder / "twice.h").write_text("#define TWICE(x) (x) * 3\n")
        with pytest.raises(AssertionError, match="nvcc was called"):
            compile_files([folder / "k.cu"], architecture=80, options=options)


def test_what_is_kept_of_a_file_is_of_the_instances_that_are_named(folder):
    (folder / "t.cu").write_text("template <typename T> __global__ void f(T* x) { x[0] += 1; }\n")
    found = {}
    for name in ("f<int>", "f<float>"):
        [module] = compile_files(folder / "t.cu", architecture=80, name_expressions=[name])
        found[name] = module.names[name]
    assert found == {"f<int>": "_Z1fIiEvPT_", "f<float>": "_Z1fIfEvPT_"}


@pytest.mark.parametrize("name", ["$(touch ran).cu", "`touch ran`.cu", 'a";touch ran;".cu', "a\\b.cu"])
def test_a_path_that_a_shell_would_read_is_refused(folder, name):
    (folder / name.replace("/", "")).write_text("")
    with pytest.raises(CompilerError, match="nvcc does not accept"):
        compile_files([folder / name], architecture=80)
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("option", ["-I$(touch ran)", "-include=$(touch ran)"])
def test_a_folder_that_a_shell_would_read_is_refused(folder, option):
    with pytest.raises(CompilerError, match="nvcc does not accept"):
        compile_files([folder / "k.cu"], architecture=80, options=[option])


def test_words_of_nvccs_own_variables_are_not_added(folder, monkeypatch):
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "--nonsense")
    monkeypatch.setenv("NVCC_PREPEND_FLAGS", "--nonsense")
    (folder / "k.cu").write_text("__global__ void k() {}")
    assert compile_files([folder / "k.cu"], architecture=80)[0].entries == ("_Z1kv",)


def test_an_error_is_one_line_with_file_and_line(folder):
    (folder / "k.cu").write_text("#include <stdio.h>\n\n__global__ void k() { int x = y; }\n")
    with pytest.raises(CompilerError) as caught:
        compile_files([folder / "k.cu"], architecture=80)
    assert str(caught.value) == f'{folder / "k.cu"}:3: does not compile: identifier "y" is undefined'
    assert "1 error detected" in caught.value.log


def test_a_file_that_is_not_there_is_one_line(folder):
    with pytest.raises(CompilerError, match=r"none.cu: can't be read \(No such file or directory\)"):
        compile_files([folder / "none.cu"], architecture=80)


def test_an_option_of_nvrtc_alone_is_refused(folder):
    with pytest.raises(CompilerError, match="only NVRTC knows it"):
        compile_files([folder / "k.cu"], architecture=80, options=["-default-device"])


def test_files_call_one_anothers_functions_and_what_they_take_is_found_by_linking(folder):
    (folder / "a.cu").write_text("extern __device__ int f(int);\n__global__ void k(int* x) { *x = f(*x); }\n")
    (folder / "b.cu").write_text(
        "__device__ __noinline__ int f(int a)\n"
        "{\n    __shared__ int s[7];\n    volatile int local[10];\n    local[a % 10] = a;\n    s[a % 7] = a;\n"
        "    __syncthreads();\n    return s[0] + local[3];\n}\n"
    )
    modules = compile_files([folder / "a.cu", folder / "b.cu"], architecture=80)
    assert [module.entries for module in modules] == [("_Z1kPi",), ()]
    alone = modules[0].resources["_Z1kPi"]
    linked = linked_resources([module.ptx for module in modules], "sm_80")["_Z1kPi"]
    assert (alone.shared_bytes, alone.barriers, alone.local_bytes) == (0, 0, 0)
    assert (linked.shared_bytes, linked.barriers, linked.local_bytes) == (28, 1, 40)
    assert linked.constant_bytes == alone.constant_bytes > 8
    with pytest.raises(CompilerError, match="Undefined reference to '_Z1fi'"):
        linked_resources([modules[0].ptx], "sm_80")


def test_ptx_comes_out_of_what_nvcc_writes(folder):
    (folder / "k.cu").write_text("__global__ void k(int* x) { *x = 3; }\n")
    [module] = compile_files([folder / "k.cu"], architecture=80)
    common = [str(find_nvcc()), "-lineinfo", f"-ccbin={find_host_compiler()}", "-allow-unsupported-compiler", "k.cu"]
    for suffix, words in {
        ".o": ["-gencode", "arch=compute_80,code=[compute_80,sm_80]", "-c"],
        ".cubin": ["-arch=sm_80", "-cubin"],
    }.items():
        subprocess.run([*common, *words, "-o", f"k{suffix}"], cwd=folder, check=True, capture_output=True)
        [found] = load_module(folder / f"k{suffix}")
        assert (found.architecture, found.entries) == (80, module.entries)
        assert found.resources == module.resources
    [found] = load_module(folder / "k.o")
    assert found.source_line(1, 1) == "__global__ void k(int* x) { *x = 3; }"


def test_assembled_without_ptx_is_one_line(folder):
    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\tret;\n}\n"
    (folder / "k.ptx").write_text(ptx)
    ptxas = find_nvcc().with_name("ptxas")
    subprocess.run([ptxas, "-arch=sm_80", "k.ptx", "-o", "k.cubin"], cwd=folder, check=True, capture_output=True)
    with pytest.raises(CompilerError, match=r"k\.cubin: has no PTX"):
        load_module(folder / "k.cubin")


def test_what_ptxas_refuses_is_reported_with_the_line_of_ptx(folder):
    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\tnonsense;\n}\n"
    with pytest.raises(CompilerError, match="mine: line 6 of its PTX: ptxas: "):
        resources(ptx, "sm_80", name="mine")


def test_spills_are_reported(folder):
    registers = "".join(f"\tld.volatile.global.u32 %r{n}, [%p+{4 * n}];\n" for n in range(64))
    stores = "".join(f"\tst.volatile.global.u32 [%p+{4 * n}], %r{n};\n" for n in range(64))
    ptx = (
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".entry k(.param .u64 a)\n{\n\t.reg .b64 %p;\n\t.reg .b32 %r<64>;\n"
        f"\tld.param.u64 %p, [a];\n{registers}{stores}\tret;\n}}\n"
    )
    assert resources(ptx, "sm_80")["k"].spill_store_bytes == 0
    found = resources(ptx, "sm_80", ["-maxrregcount=24"])["k"]
    assert found.registers <= 24
    assert min(found.spill_store_bytes, found.spill_load_bytes) >= 4 * (64 - 24)
    assert found.local_bytes >= 4 * (64 - 24)


def test_nvcc_that_can_not_be_run_is_one_line(folder, monkeypatch):
    monkeypatch.setattr(nvcc, "find_nvcc", lambda: folder / "k.cu")
    with pytest.raises(CompilerError, match=r"k.cu: can't be run \(Permission denied\)"):
        compile_files([folder / "k.cu"], architecture=80)
