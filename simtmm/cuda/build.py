"""From files to a linked module: CUDA C++, PTX, and binaries with PTX."""

from collections.abc import Sequence
from pathlib import Path

from simtmm.cuda.compilers import CompiledModule, compile_files, compile_source, load_module
from simtmm.cuda.linked import LinkedModule
from simtmm.documents import read_code_text
from simtmm.errors import CompilerError, KernelError

BINARIES = (".ptx", ".cubin", ".fatbin", ".o")
SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".c")


def build(
    paths: Sequence[Path],
    architecture: int,
    options: Sequence[str] = (),
    expressions: Sequence[str] = (),
    folder: Path | None = None,
) -> LinkedModule:
    """What files compile to, or hold, linked.

    paths: of CUDA sources, .ptx, .cubin, .fatbin and object files. architecture: compute capability times ten.
    options: of the compiler. expressions: kernels as C++ names them, which are to be in it: "scale<float>".
    folder: that files are named from, where they lie in it.

    Raises CompilerError, PtxError, and KernelError for a file of another kind.
    """
    units: list[CompiledModule] = []
    sources = [path for path in paths if path.suffix in SOURCES]
    for path in paths:
        if path.suffix in BINARIES:
            units += load_module(path, architecture)
        elif path not in sources:
            raise KernelError(f"{path}: must be one of {', '.join((*SOURCES, *BINARIES))}")
    if sources:
        units += _compiled(sources, architecture, options, expressions)
    return LinkedModule(units, folder)


def _compiled(
    sources: Sequence[Path], architecture: int, options: Sequence[str], expressions: Sequence[str]
) -> list[CompiledModule]:
    """By NVRTC, which is quicker, where that takes the file; by nvcc, which knows the host's headers, where not."""
    if len(sources) > 1:
        return compile_files(list(sources), architecture=architecture, options=options, name_expressions=expressions)
    path = sources[0]
    try:
        text = read_code_text(path, CompilerError)
    except UnicodeDecodeError:
        return compile_files([path], architecture=architecture, options=options, name_expressions=expressions)
    try:
        return [
            compile_source(
                text, name=str(path), architecture=architecture, options=options, name_expressions=expressions
            )
        ]
    except CompilerError as refused:
        try:
            return compile_files([path], architecture=architecture, options=options, name_expressions=expressions)
        except CompilerError as error:
            missing = "pip install" in str(error) or "not found" in str(error)
            raise (refused if missing else error) from None
