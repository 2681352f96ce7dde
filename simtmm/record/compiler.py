"""Find a C++ compiler, build a kernel's instrumented library with it, and keep the build."""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from simtmm.errors import CompilerError, KernelError
from simtmm.files import cache_folder, written_whole
from simtmm.kernel import Kernel
from simtmm.record.sites import number_sites

HERE = Path(__file__).resolve().parent
HEADERS = ("device.cuh", "device_cpu.cuh", "library_cpu.cuh")
FLAGS = (
    "-std=c++17", "-O2", "-fPIC", "-shared", "-w",
    "-fvisibility=hidden",  # each kernel's library has its own state, whatever else is loaded
    "-fno-strict-aliasing",  # kernels view memory as they like
    "-ffp-contract=off",  # no fused multiply-add: the same numbers with every compiler
)  # fmt: skip


def find_compiler() -> list[str]:
    """The command of a C++ compiler: $CXX, else c++, g++, clang++, else the ziglang package.

    Raises CompilerError with what to install.
    """
    chosen = shlex.split(os.environ.get("CXX", ""))
    if chosen:
        if shutil.which(chosen[0]) is None:
            raise CompilerError(f"CXX = {os.environ['CXX']!r}: there is no such command")
        return chosen
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "c++"]
    raise CompilerError(
        "recording on the CPU needs a C++ compiler and none was found: install g++ or clang++, "
        "or `pip install ziglang`, or name one in the environment variable CXX"
    )


def build(kernel: Kernel, defines: dict[str, str]) -> Path:
    """The kernel's instrumented library for the CPU, from the cache where the same was built before.

    Raises CompilerError with the compiler's first complaint.
    """
    source = translation_unit(kernel)
    compiler = find_compiler()
    macros = [f"-D{name}={value}" for name, value in sorted(defines.items())]
    key = hashlib.sha256()
    for part in (source, *(_header(name) for name in HEADERS), _version(tuple(compiler)), *FLAGS, *macros):
        key.update(part.encode() + b"\0")
    folder = _writable(cache_folder() / "builds")
    library = folder / f"{kernel.name}-{key.hexdigest()[:20]}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory() as scratch, written_whole(library) as temporary:
            unit = Path(scratch) / "unit.cpp"
            unit.write_text(source, encoding="utf-8")
            include = [f"-I{kernel.folder.resolve()}", f"-I{HERE}"]
            command = [*compiler, *FLAGS, *include, *macros, str(unit), "-o", str(temporary)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch)
            if done.returncode:
                raise CompilerError(f"kernel {kernel.name}: does not compile: {_complaint(done.stderr)}")
    return library


def translation_unit(kernel: Kernel) -> str:
    """The C++ source that is compiled: the macros, the kernel's source, and a table of its kernels."""
    source, _ = number_sites(kernel.source())
    names = global_functions(source)
    if not names:
        raise KernelError(f"{kernel.source_path}: has no __global__ function")
    # C linkage would make a kernel named like a function of the C library clash with it.
    body = re.sub(r'extern\s+"C"\s+(?=(?:\w+\s+|\([^)]*\)\s*)*__global__|__global__)', "", source)
    table = ", ".join(f"SIMTMM_KERNEL({name})" for name in names)
    return (
        '#define SIMTMM_RECORD\n#include "device.cuh"\n'
        f'#line 1 "kernel.cu"\n{body}\n'
        f'#line 1 "kernels of kernel.cu"\n#include "library_cpu.cuh"\nSIMTMM_KERNELS({table})\n'
    )


def global_functions(source: str) -> list[str]:
    """The names of the __global__ functions of a CUDA source, templates apart, in textual order."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*(?:\\\n.*)*$", " ", text, flags=re.MULTILINE)
    names = []
    for found in re.finditer(
        r"(template\s*<[^>]*>\s*)?\b__global__\b([^({;]*(?:\([^)]*\)[^({;]*)?)\bvoid\b|(template\s*<[^>]*>\s*)?\bvoid\s+__global__\b",
        text,
    ):
        if found.group(1) or found.group(3):
            continue
        name = re.match(r"\s*(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(", text[found.end() :])
        if name:
            names.append(name.group(1))
    return list(dict.fromkeys(names))


@cache
def _header(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@cache
def _version(compiler: tuple[str, ...]) -> str:
    """What the compiler says it is; its path and time of change where it says nothing."""
    try:
        done = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompilerError(f"{' '.join(compiler)}: can't be run ({error.strerror})") from None
    return f"{' '.join(compiler)} {done.stdout}{done.stderr}"


@cache
def _writable(folder: Path) -> Path:
    """The folder, made if need be; a temporary one for this process where the user's can't be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="simtmm-builds-"))


def _complaint(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["the compiler said nothing"])[0]
