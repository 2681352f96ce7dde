"""A text compiled by nvcc, which takes files alone."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from simtmm.cache import own_folder
from simtmm.cuda.compilers import CompiledModule, compile_files
from simtmm.errors import CompilerError, OutputError
from simtmm.files import written_whole


def compiled_text(code: str, label: str, architecture: int, options: Sequence[str]) -> CompiledModule:
    """A module of CUDA C++.

    code: the text. label: what messages call it. The others are those of `compile_files`.

    Raises CompilerError.
    """
    path = _file(code)
    try:
        unit = compile_files([path], architecture=architecture, options=options)[0]
    except CompilerError as error:
        raise CompilerError(str(error).replace(str(path), label), error.log.replace(str(path), label)) from None
    return replace(unit, ptx=unit.ptx.replace(str(path), label), name=label, texts={label: code})


def _file(code: str) -> Path:
    """A file of that text, always the same, so that it is compiled once."""
    content = code.encode("utf-8", "surrogateescape")
    path = own_folder("cuda").absolute() / f"text-{hashlib.sha256(content).hexdigest()[:32]}.cu"
    try:
        if not path.is_file() or path.read_bytes() != content:
            with written_whole(path) as temporary:
                temporary.write_bytes(content)
    except (OSError, OutputError) as error:
        raise CompilerError(f"{path}: can't be written ({error})") from None
    return path
