"""Whether files are a program: whether one of them has a function `main`."""

import re
from collections.abc import Sequence
from pathlib import Path

from simtmm.documents import COMMENT, read_code_text
from simtmm.errors import CompilerError
from simtmm.files import check_regular, is_file

SOURCES = (".cu", ".hip", ".cpp", ".cc", ".cxx", ".c")
HIP = re.compile(rb"#\s*include\s*[<\"]hip/")
_NOT_CODE = re.compile(rf'{COMMENT}|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_MAIN = re.compile(r"(?:^|[\s;}>])main\s*\((?![^()]*\)\s*;)", re.MULTILINE)


def has_main(path: str | Path) -> bool:
    """Whether a file of CUDA C++ defines `main`; False for one that is not there. Raises CompilerError."""
    check_regular(path, CompilerError)
    if not is_file(path):
        return False
    text = read_code_text(path, CompilerError, "replace")
    return _MAIN.search(_NOT_CODE.sub(" ", text)) is not None


def is_program(paths: Sequence[str | Path]) -> bool:
    """Whether files are a program; several of which one is a .cu file are linked with one another."""
    known = all(Path(path).suffix in SOURCES for path in paths)
    return known and any(map(has_device_code, paths)) and any(has_main(path) for path in paths)


def has_device_code(path: str | Path) -> bool:
    """Whether nvcc reads a file as CUDA: by its name, or because it includes HIP's headers."""
    path = Path(path)
    return path.suffix in (".cu", ".hip") or (is_file(path) and HIP.search(path.read_bytes()) is not None)
