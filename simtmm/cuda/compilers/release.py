"""The release of the CUDA compiler, which decides the code and is part of the cache's keys."""

import re
from functools import cache
from pathlib import Path

from simtmm.children.start import run
from simtmm.cuda.compilers.kept import kept
from simtmm.cuda.compilers.wheels import chosen_toolkit, find_nvrtc, find_tool, stamp
from simtmm.errors import CompilerError

_RELEASE = re.compile(r"Cuda compilation tools, release [\d.]+, V([\d.]+)")


def compiled_by(ptx: str) -> str:
    """Releases that a kernel is of, in words: what its PTX names, and the assembler; empty where nobody knows.

    ptx: the module's text.
    """
    found, assembler = _RELEASE.search(ptx), assembler_release()
    if not found or found[1] == assembler:
        return f"CUDA {assembler}" if assembler else ""
    return f"CUDA {found[1]}, assembled by {assembler}" if assembler else f"CUDA {found[1]}"


def assembler_release() -> str:
    """The release of ptxas, as "12.0.76"; empty where there is none."""
    try:
        path = find_tool("ptxas")
        return _release(path, stamp(path))
    except (CompilerError, OSError):
        return ""


def compilers_key() -> str:
    """What tells compilers from others, in the cache's keys: the assembler's release, and NVRTC's size."""
    try:
        size = find_nvrtc().stat().st_size
    except (CompilerError, OSError):
        size = 0
    return f"{assembler_release()} {size}"


def chosen_compilers() -> list[str]:
    """`compilers_key` where a user chose the compilers, for keys that do not tell them apart else."""
    return [compilers_key()] if chosen_toolkit() else []


@cache
def _release(path: Path, stamped: str) -> str:
    """What a tool says that it is; each build is asked once. stamped: of which build that was. Raises CompilerError."""

    def asked() -> dict[str, str]:
        found = _RELEASE.search(run([str(path), "--version"]).text)
        if not found:  # which may be the fault of a moment: nothing to store
            raise CompilerError(f"{path}: does not tell its release")
        return {"release": found[1]}

    return str(kept("release", ["release", stamped], asked)["release"])
