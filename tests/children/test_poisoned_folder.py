"""Nothing in the working directory is imported: not by the command line, and by no process that it starts."""

import functools
import importlib.metadata
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.children.kinds import COMMAND, PROGRAM, environment
from tests.cuda.compilers.conftest import needs_nvrtc

POISON = """import os
open(os.path.join({folder!r}, "mark-{name}"), "w").close()
raise ImportError("poisoned: {name}")
"""
STUDY = ("sweep", "list-ranking-wyllie", "--vary", "n=64,128", "-m", "gtx480")
WORDS = {
    "the command line": ("machines",),
    "a kernel's build, by the host's compiler": ("record", "vector-add", "-p", "n=64", "-o", "out.parquet"),
    "workers": (*STUDY, "--workers", "2", "-o", "out.sqlite"),
    "Dask's workers": (*STUDY, "--cluster", "local:1", "-o", "out.sqlite"),
    "NVRTC, the assembler": ("run", "files.toml", "-m", "rtx-a6000"),
    "a program, nvcc and the linker": ("run", "program.cu"),
}
FILES = {
    "program.cu": PROGRAM,
    "kernel.cu": 'extern "C" __global__ void k(int* x) { x[threadIdx.x] += 1; }\n',
    "files.toml": 'source = "kernel.cu"\n[[launch]]\nkernel = "k"\ngrid = 1\nblock = 32\n'
    'arguments = ["zeros:int32:32"]\n',
}


@functools.cache
def names():
    """Each module of Python's own library, and of what simtmm needs or may use."""
    found = set(sys.stdlib_module_names) | {"sitecustomize", "usercustomize"}
    for distribution in importlib.metadata.distributions():
        found |= {name.split("/")[0].split(".")[0] for name in map(str, distribution.files or ())}
    return sorted(name for name in found if name.isidentifier() and name != "simtmm")


@functools.cache
def read_by_python():
    """Modules that Python itself looks for, for `-m`, before it gives the package the word."""
    script = "import sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    more = subprocess.run(
        [sys.executable, "-P", "-c", "import runpy, sys; print(*sorted(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split()) | set(more.stdout.split())


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """An empty cache, so that all is compiled; loops apart, as all tests have them."""
    return str(tmp_path_factory.mktemp("cache"))


def poison(folder, apart=()):
    for name in names():
        if name not in apart:
            (folder / f"{name}.py").write_text(POISON.format(folder=str(folder), name=name))


def called(folder, words, cache, command=COMMAND):
    for name, text in FILES.items():
        (folder / name).write_text(text)
    done = subprocess.run(
        [*command, *words], cwd=folder, env=environment(folder, SIMTMM_CACHE=cache), capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    marks = sorted(path.name for path in folder.glob("mark-*"))
    return done, marks


@needs_nvrtc
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_a_command_in_a_poisoned_folder_gives_what_it_gives_elsewhere(words, cache, tmp_path):
    if "--cluster" in words and find_spec("distributed") is None:
        pytest.skip("Dask is not installed")
    poisoned, clean = tmp_path / "poisoned", tmp_path / "clean"
    for folder in (poisoned, clean):
        folder.mkdir()
    poison(poisoned)
    found, marks = called(poisoned, words, cache)
    assert marks == []
    assert found.returncode == 0, found.stderr
    expected, _ = called(clean, words, cache)
    assert found.stdout.replace(str(poisoned), "") == expected.stdout.replace(str(clean), "")
    assert (poisoned / "out.parquet").exists() == (clean / "out.parquet").exists()


def test_python_m_imports_nothing_from_there_that_python_itself_does_not(cache, tmp_path):
    poison(tmp_path, apart=read_by_python())
    found, marks = called(tmp_path, ("machines",), cache, [sys.executable, "-m", "simtmm"])
    assert marks == []
    assert found.returncode == 0, found.stderr


def test_a_name_that_is_long_is_read_in_a_process_that_imports_nothing_from_there(tmp_path):
    poison(tmp_path)
    script = (
        "from simtmm.cuda.compilers.names import demangling\n"
        "demangling.SURELY = 1\n"
        "print(demangling.demangled('_Z6saxpy2IfEviPT_'))\n"
    )
    words = [sys.executable, "-P", "-c", script]
    done = subprocess.run(words, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert not list(tmp_path.glob("mark-*"))
    assert done.stdout == "void saxpy2<float>(int, float*)\n", done.stderr


def test_a_script_has_its_own_folder_and_not_the_working_directory(cache, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    poison(here)
    (there / "beside.py").write_text("WORD = 'found'\n")
    (there / "script.py").write_text("import sys, beside, queue\nprint(beside.WORD, sys.path[0])\n")
    found, marks = called(here, ("run", str(there / "script.py")), cache)
    assert marks == []
    assert found.stdout.splitlines()[0] == f"found {there}"


def test_a_poisoned_module_that_is_imported_leaves_its_mark(tmp_path):
    poison(tmp_path)
    done = subprocess.run([sys.executable, "-c", "import queue"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 1
    assert os.listdir(tmp_path).count("mark-queue") == 1
