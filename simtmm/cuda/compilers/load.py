"""PTX that was compiled elsewhere: texts, .ptx files, and binaries with PTX."""

import contextlib
import re
from pathlib import Path

from simtmm.cuda.compilers.architecture import supported_architectures
from simtmm.cuda.compilers.binaries.elf import ELF
from simtmm.cuda.compilers.binaries.fat_binary import MAGIC, EmbeddedPtx, embedded_ptx
from simtmm.cuda.compilers.module import CompiledModule, check_kernels
from simtmm.documents import read_code
from simtmm.errors import CompilerError
from simtmm.files import check_regular

_ENTRY = re.compile(r"\.entry\b")
_VERSION = re.compile(r"^[ \t]*\.version[ \t]+\d+\.\d+", re.MULTILINE)
_TARGET = re.compile(r"^[ \t]*\.target[ \t]+sm_(\d{1,4})(?!\d)[af]?\b", re.MULTILINE)


def load_module(path: str | Path, architecture: int | None = None) -> list[CompiledModule]:
    """The PTX of a file, a module for each translation unit in it.

    path: of a .ptx, .cubin or .fatbin file, an object or an executable; what it is shows in its first bytes.
    architecture: compute capability times ten that kernels are assembled for; that of the PTX if left out. Of several
        variants the latest that it could run is taken.

    Raises CompilerError where the file can't be read or holds no PTX.
    """
    check_regular(path, CompilerError)
    if _is_binary(path):
        units = embedded_ptx(_binary(path), str(path))
        return [module_of_ptx(_chosen(variants, architecture).text, str(path), architecture) for variants in units]
    content = read_code(path, CompilerError)
    return [module_of_ptx(content.decode("utf-8", "replace").rstrip("\0"), str(path), architecture)]


def _is_binary(path: str | Path) -> bool:
    with contextlib.suppress(OSError, ValueError), open(path, "rb") as file:
        return file.read(max(len(ELF), len(MAGIC))).startswith((ELF, MAGIC))
    return False  # what can't be read is refused as code


def _binary(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CompilerError(f"{path}: can't be read ({error.strerror})") from None


def module_of_ptx(ptx: str, name: str = "kernel.ptx", architecture: int | None = None) -> CompiledModule:
    """A text of PTX as a module.

    name: what messages call it.
    architecture: as of `load_module`; PTX for a later one than that keeps its own, and PTX that is older than what the
        assembler knows gets the oldest that it knows.
    ptx: the text.

    Raises CompilerError for a text that does not look like PTX.
    """
    target = _TARGET.search(ptx)
    if not _VERSION.search(ptx) or not target:
        raise CompilerError(f"{name}: is not PTX: a line '.version N.N' or '.target sm_NN' is missing")
    check_kernels(name, len(_ENTRY.findall(ptx)))
    own = int(target[1])
    wanted = max(own, architecture or own)
    with contextlib.suppress(CompilerError):  # without one resources can't be found, and all else can be done
        wanted = max(wanted, supported_architectures()[0])
    return CompiledModule(ptx, wanted, name=name)


def _chosen(variants: list[EmbeddedPtx], architecture: int | None) -> EmbeddedPtx:
    """The latest variant that an architecture could run; the oldest where there is none, the latest for none."""
    in_order = sorted(variants, key=lambda each: each.architecture)
    fitting = [each for each in in_order if architecture is None or each.architecture <= architecture]
    return fitting[-1] if fitting else in_order[0]
