"""What a compiler's log says went wrong, in one line: the file, the line, the first error."""

import re
from collections.abc import Sequence

from simtmm.cuda.compilers.wheels import INSTALL
from simtmm.errors import CompilerError

# kernel.cu(3): error: identifier "x" is undefined     by NVRTC, cudafe++ and cicc
# kernel.cu:3:9: fatal error: x.h: No such file        by the host's preprocessor
_PLACED = re.compile(
    r"^(?P<file>.+?)(?:\((?P<line>\d+)\)|:(?P<row>\d+)(?::\d+)?): "
    r"(?:(?:fatal|catastrophic|internal) )?error(?: #[\w-]+)?: (?P<message>.*)$"
)
_OF_PTXAS = re.compile(r"^ptxas (?:(?P<file>\S.*?), )?(?:line (?P<line>\d+); )?(?:error|fatal)\s*: (?P<message>.*)$")
_AT_END = re.compile(r"^At end of source: (?:\w+ )?error(?: #[\w-]+)?: (?P<message>.*)$")
_OTHER = re.compile(r"\b(?:error|fatal)\b")
_EXPRESSION = re.compile(r'Input name expression was: "\s*(.*?)\s*"')
NAMES = "__nv_name_map"  # the lines that are added to a source for name expressions, by NVRTC and for nvcc
_HEADER = re.compile(r'(?:cannot open source file "(?P<one>[^"]+)"|^(?P<two>\S+): No such file)')
# Headers of NVIDIA's wheels by the first letters of their names, and of the host that NVRTC does not know
_OF_WHEELS = ("cuda", "cooperative_groups", "mma.h", "curand", "cub/", "thrust/", "nv/", "crt/", "vector_types")
_OF_HOST = (
    "std",
    "string",
    "c",
    "math.h",
    "assert.h",
    "limits.h",
    "float.h",
    "iostream",
    "vector",
    "algorithm",
    "type_",
)


def complaint(log: str, name: str, expressions: Sequence[str] = ()) -> CompilerError:
    """The error that a log reports.

    log: all that the compiler printed.
    name: what was compiled, where the log does not say.
    expressions: the name expressions that were requested.
    """
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for line in lines:
        if found := _PLACED.match(line):
            message = found["message"].strip()
            if found["file"] == NAMES:
                expression = _expression(log, expressions, int(found["line"] or 0))
                return CompilerError(f"{name}: name expression {expression!r}: {message}", log)
            place = f"{found['file']}:{found['line'] or found['row']}"
            return CompilerError(f"{place}: does not compile: {message}{_hint(message)}", log)
        if found := _AT_END.match(line):
            return CompilerError(f"{name}: does not compile: {found['message']} at the end", log)
        if found := _OF_PTXAS.match(line):
            place = f"{name}: line {found['line']} of its PTX" if found["line"] else name
            return CompilerError(f"{place}: ptxas: {found['message'].strip()}", log)
    first = next((line for line in lines if _OTHER.search(line)), lines[0] if lines else "the compiler printed nothing")
    return CompilerError(f"{name}: does not compile: {first}", log)


def _expression(log: str, expressions: Sequence[str], line: int) -> str:
    """Which expression a log is about, as the user wrote it. line: of the lines that were added, for nvcc's."""
    found = _EXPRESSION.search(log)
    if found is None and 0 < line <= len(expressions):
        return expressions[line - 1]
    message = found[1] if found else ""
    return next((each for each in expressions if "".join(each.split()) == "".join(message.split())), message)


def _hint(message: str) -> str:
    found = _HEADER.search(message)
    header = (found["one"] or found["two"]) if found else ""
    if header.startswith(_OF_WHEELS):
        return f"; CUDA's headers come with {INSTALL}"
    if found and found["one"] and header.startswith(_OF_HOST):
        return "; NVRTC has no host headers: use <cuda/std/...>, or compile it as a file (.cu) with nvcc"
    return ""
