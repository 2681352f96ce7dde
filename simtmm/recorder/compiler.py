"""Find a C++ compiler, build a kernel's instrumented program with it, and keep the build."""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

from simtmm.cache import find, keep, own_folder
from simtmm.children.start import Done, run
from simtmm.errors import CompilerError, KernelError
from simtmm.kernel import Kernel
from simtmm.recorder.sites import Source, global_functions, no_functions, read_source
from simtmm.temporary import scratch

HERE = Path(__file__).resolve().parent
MARK = "simtmm_kernel_source_begins"
HEADERS = ("device.cuh", "device_cpu.cuh", "process_cpu.cuh", "watch_cpu.cuh")
FLAGS = (
    "-std=c++17", "-O2", "-w",
    "-fno-strict-aliasing",  # kernels view memory as they like
    "-ffp-contract=off",  # no fused multiply-add: the same numbers with every compiler
)  # fmt: skip


def find_compiler() -> list[str]:
    """The command of a C++ compiler: $CXX, else c++, g++, clang++, else the ziglang package.

    Raises CompilerError with what to install.
    """
    try:
        chosen = shlex.split(os.environ.get("CXX", ""))
    except ValueError as error:
        raise CompilerError(f"CXX = {os.environ['CXX']!r}: {error}") from None
    if chosen:
        if shutil.which(chosen[0]) is None:
            raise CompilerError(f"CXX = {os.environ['CXX']!r}: no such command")
        return chosen
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-P", "-m", "ziglang", "c++"]  # not from the working directory
    raise CompilerError(
        "recording on the CPU needs a C++ compiler and none was found: install g++ or clang++, "
        "or `pip install ziglang`, or name one in the environment variable CXX"
    )


def build(kernel: Kernel, defines: dict[str, str], races: bool = False) -> Path:
    """The kernel's instrumented program for the CPU, from the cache where the same was built before.

    races: the one whose stores say whether they changed anything.
    defines: macros and their values.

    Raises CompilerError with the compiler's first complaint.
    """
    compiler = find_compiler()
    source = translation_unit(read_source(kernel), defines, races)
    digest = hashlib.sha256()
    for part in (source, *(_header(name) for name in HEADERS), _version(tuple(compiler)), *FLAGS):
        digest.update(part.encode() + b"\0")
    folder, key = own_folder("builds"), digest.hexdigest()[:20]

    def make(program: Path) -> None:
        with scratch("kernel") as place:
            unit = place / "unit.cpp"
            unit.write_text(source, encoding="utf-8")
            # What is left behind the preprocessor is what is compiled: #if and macros have been seen to.
            listed = _run(
                kernel, [*compiler, *FLAGS[:1], "-w", "-E", "-DSIMTMM_LIST_KERNELS", f"-I{HERE}", str(unit)], place
            )
            names = global_functions(listed[listed.find(MARK) :])
            if not names:
                raise KernelError(no_functions(kernel.source_path, source))
            table = ", ".join(f"SIMTMM_KERNEL({name})" for name in names)
            unit.write_text(f"{source}SIMTMM_KERNELS({table})\n", encoding="utf-8")
            command = [*compiler, *FLAGS, f"-I{HERE}", str(unit)]
            built = place / "program"
            if not (_is_zig(compiler) and _without_library(command, built)):
                _run(kernel, [*command, "-o", str(built)], place)
            shutil.copyfile(built, program)  # not built there: a full disk is no mistake of the kernel's

    return find(folder, kernel.name, key, "") or keep(folder, kernel.name, key, "", make)


def _is_zig(compiler: list[str]) -> bool:
    return compiler[-1] == "c++" and ("ziglang" in compiler or Path(compiler[0]).stem == "zig")


def _without_library(command: list[str], program: Path) -> bool:
    """Compile without C++'s library, which Zig first compiles itself, for minutes; False if the kernel needs it.

    command: all but where to. The library is what exceptions need; without them a thread that fails is left at once.
    """
    unit = Path(command[-1])
    compiled = unit.with_suffix(".o")
    linker = [*command[: command.index("c++")], "cc", "-O2"]  # of Zig's own code as well
    for step in (
        [*command[:-1], "-fno-exceptions", "-c", str(unit), "-o", str(compiled)],
        [*linker, str(compiled), "-lm", "-o", str(program)],
    ):
        if run(step, scratch=unit.parent).status:
            return False
    return True


def _run(kernel: Kernel, command: list[str], place: Path) -> str:
    done = run(command, scratch=place)
    if done.status:
        raise CompilerError(f"kernel {kernel.name}: does not compile: {_complaint(done, command[0])}")
    return done.text


def translation_unit(source: Source, defines: dict[str, str], races: bool = False) -> str:
    """The C++ that is compiled, but for the table of kernels.

    The kernel's macros stand behind the recorder's own code, which may use the same names. Its functions lie in a
    namespace and without C linkage, so that a kernel may be called like a function of the C library.
    """
    system = "".join(f"#include <{header}>\n" for header in source.system)
    macros = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    body = re.sub(r'\bextern\s+"C"(?=[^;{}()]*\b__global__\b)', "", source.text)
    return (
        f"#define SIMTMM_RECORD\n{'#define SIMTMM_RACES' if races else ''}\n"
        f'{system}#include "device.cuh"\n#include "process_cpu.cuh"\n'
        f"namespace simtmm_user {{\nusing ::min;\nusing ::max;\nextern int {MARK};\n{macros}{body}"
        '}\n#line 1 "the table of kernels"\n'
    )


@cache
def _header(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@cache
def _version(compiler: tuple[str, ...]) -> str:
    """What the compiler says it is; its path and time of change where it says nothing."""
    try:
        done = run([*compiler, "--version"])
    except OSError as error:
        raise CompilerError(f"{' '.join(compiler)}: can't be run ({error.strerror})") from None
    return f"{' '.join(compiler)} {done.text}{done.complaints}"


def _complaint(done: Done, compiler: str) -> str:
    lines = [line.strip() for line in done.complaints.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    ended = f"status {done.status}" if done.status > 0 else f"signal {-done.status}"
    return (errors or lines or [f"{compiler} ended with {ended} and no message"])[0]
