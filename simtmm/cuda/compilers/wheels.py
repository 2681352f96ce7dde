"""Where NVIDIA's compilers and headers are: in the wheels of the extra `compile`, or in a CUDA toolkit.

Nothing of them is imported, and nothing is searched for before it is needed. The wheels come first: they were installed
for this. A toolkit is the one that CUDA_HOME or CUDA_PATH names, else the one whose nvcc is on PATH, else the one in
its usual place. SIMTMM_CUDA names one that is taken instead of all these, as times of a binary need the compiler
that made it.
"""

import importlib.util
import os
import platform
import shutil
import sys
from functools import cache
from pathlib import Path

from simtmm.errors import CompilerError, shown
from simtmm.extras import install

INSTALL = install("compile")
MACHINES = ("x86_64", "aarch64")
TOOLKITS = ("CUDA_HOME", "CUDA_PATH")
CHOSEN = "SIMTMM_CUDA"  # a toolkit, or a folder into which wheels were installed (pip install --target)
READERS = ("nvdisasm",)  # what only reads code may be of another release, as wheels before CUDA 13 have none
USUAL = Path("/usr/local/cuda")


def find_tool(name: str) -> Path:
    """The program of that name ("nvcc", "ptxas", "nvlink", "nvdisasm"). Raises CompilerError with what to install."""
    others = _installed() if name in READERS else []
    return _found(name, [root / "bin" / name for root in [*_roots(), *others]])


def find_nvcc() -> Path:
    """nvcc, with the parts that it calls and the headers that it includes by itself beside it.

    Raises CompilerError with what is missing.
    """
    nvcc = find_tool("nvcc")
    top = nvcc.resolve().parent.parent
    _found("cicc, a part of nvcc,", [top / "nvvm" / "bin" / "cicc"])
    for header in ("cuda_runtime.h", "crt/host_config.h"):
        _found(f"<{header}>", [folder / header for folder in include_folders(nvcc)])
    return nvcc


def find_nvrtc() -> Path:
    """The library that compiles CUDA C++ to PTX. Raises CompilerError with what to install."""
    found = [path for root in _roots() for name in ("lib", "lib64")
             for path in sorted((root / name).glob("libnvrtc.so*"), reverse=True)]  # fmt: skip
    return _found("NVRTC", found)


def find_host_compiler() -> str:
    """The C++ compiler of the host, whose headers nvcc reads: $NVCC_CCBIN, g++ or clang++.

    Raises CompilerError with what to install.
    """
    chosen = os.environ.get("NVCC_CCBIN", "")
    for name in [chosen] if chosen else ["g++", "clang++"]:
        if found := shutil.which(name):
            return found
    if chosen:
        raise CompilerError(f"NVCC_CCBIN = {chosen!r}: no such command")
    raise CompilerError(
        "compiling .cu files needs a host C++ compiler in addition to nvcc, and none was found: install g++ or "
        "clang++, "
        "or name one in the environment variable NVCC_CCBIN"
    )


def include_folders(beside: Path) -> list[Path]:
    """Folders of CUDA's own headers that belong to a compiler at that path; CCCL's (CUB, Thrust, cuda::std) with them.

    Wheels hold theirs in several folders, which go together; a toolkit's stand alone.

    beside: path of the compiler.
    """
    chosen = chosen_toolkit()
    wheels = _wheels_in(chosen) if chosen else _wheels()
    own = next((root for root in _roots() if beside.is_relative_to(root)), beside.parent.parent)
    roots = [own, *(root for root in wheels if root != own)] if own in wheels else [own]
    folders = [folder for root in roots for folder in (root / "include", root / "include" / "cccl")]
    return [folder for folder in folders if folder.is_dir()]


def chosen_toolkit() -> Path | None:
    """The folder that SIMTMM_CUDA names, a toolkit or one with wheels; None where it names none.

    Raises CompilerError for what can't be a path.
    """
    named = os.environ.get(CHOSEN)
    if not named:
        return None
    try:
        os.stat(named)
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # which is reported with what is sought there
        pass
    except OSError as error:
        raise CompilerError(f"{CHOSEN} = {shown(named)}: can't be read ({error.strerror})") from None
    return Path(named)


@cache
def stamp(path: Path) -> str:
    """Which build of a compiler lies at that path, without asking it: path, size and time of change."""
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _found(what: str, paths: list[Path]) -> Path:
    for path in paths:
        if path.is_file():
            return path
    check_platform()
    if chosen := chosen_toolkit():
        raise CompilerError(
            f"{CHOSEN} = {shown(str(chosen))}: {what} was not found there; it must be a CUDA toolkit's folder, or "
            "one that pip install --target put NVIDIA's wheels in"
        )
    raise CompilerError(
        f"compiling CUDA needs {what}, which was not found: {INSTALL}, "
        f"or name a CUDA toolkit in the environment variable {TOOLKITS[0]}"
    )


def check_platform() -> None:
    """Raise CompilerError where NVIDIA offers no compilers as wheels."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        raise CompilerError(
            f"compiling unmodified CUDA needs Linux on x86-64 or aarch64, but this is {platform.system()} on "
            f"{platform.machine()}; kernels with macros (LD, ST, OP) can be recorded here"
        )


def _roots() -> list[Path]:
    chosen = chosen_toolkit()
    return [*_wheels_in(chosen), chosen] if chosen else _installed()


def _installed() -> list[Path]:
    named = [Path(os.environ[name]) for name in TOOLKITS if os.environ.get(name)]
    on_path = shutil.which("nvcc")  # which may be a script that calls another: then its neighbours aren't nvcc's
    unnamed = [*([Path(on_path).resolve().parent.parent] if on_path else []), USUAL]
    return [*_wheels(), *named, *(root for root in unnamed if (root / "nvvm").is_dir())]


def _wheels() -> list[Path]:
    """Folders of NVIDIA's wheels among Python's own packages."""
    spec = importlib.util.find_spec("nvidia")
    return _parts([Path(place) for place in (spec.submodule_search_locations or [])] if spec else [])


def _wheels_in(folder: Path) -> list[Path]:
    """Folders of NVIDIA's wheels that were installed into a folder."""
    return _parts([folder / "nvidia"])


def _parts(places: list[Path]) -> list[Path]:
    """Folders of wheels: one for all since CUDA 13 (nvidia/cu13), one for each before (nvidia/cuda_nvcc)."""
    found = [folder for place in places if place.is_dir() for folder in place.iterdir()
             if any((folder / part).is_dir() for part in ("bin", "lib", "include"))]  # fmt: skip
    return sorted(found, key=_order)


def _order(folder: Path) -> tuple[bool, int, str]:
    """The latest of those that hold everything, then the others; never the disk's order."""
    version = folder.name.removeprefix("cu")
    return (False, -int(version), "") if version.isdigit() else (True, 0, folder.name)
