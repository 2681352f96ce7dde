"""NVRTC, called through ctypes: a text of CUDA C++ to PTX."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from simtmm.cuda.compilers.complaint import complaint
from simtmm.cuda.compilers.wheels import check_platform
from simtmm.errors import CompilerError

_SUCCESS = 0  # of nvrtcResult


@dataclass(frozen=True)
class Compiled:
    """PTX, the names that name expressions stand for, and what the compiler said."""

    ptx: str
    names: dict[str, str]
    log: str


class Nvrtc:
    """The library at a path, loaded. Raises CompilerError where it can't be."""

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            check_platform()
            raise CompilerError(f"{path}: can't be loaded ({error})") from None

    def architectures(self) -> tuple[int, ...]:
        """Compute capabilities, times ten, that it compiles for, in order."""
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", found)
        return tuple(sorted(found))

    def compiled(
        self, source: str, name: str, words: Sequence[str], expressions: Sequence[str], headers: Mapping[str, str]
    ) -> Compiled:
        """A source compiled.

        source: the text of the source.
        name: what it is called in messages and `.file` directives.
        words: options.
        expressions: names of kernels and variables in C++ whose names in the PTX are wanted.
        headers: texts that #include finds, by name.

        Raises CompilerError with the first error.
        """
        program = ctypes.c_void_p()
        texts, names = _array(list(headers.values())), _array(list(headers))
        self._call("nvrtcCreateProgram", ctypes.byref(program), _text(source), _text(name), len(headers), texts, names)
        try:
            for expression in expressions:
                self._call("nvrtcAddNameExpression", program, _text(expression))
            code = self._library.nvrtcCompileProgram(program, len(words), _array(words))
            log = self._text_of(program, "nvrtcGetProgramLog").strip("\n")
            if code != _SUCCESS:
                raise complaint(log or self._reason(code), name, expressions)
            lowered = {expression: self._lowered(program, expression) for expression in expressions}
            return Compiled(self._text_of(program, "nvrtcGetPTX"), lowered, log)
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _lowered(self, program: ctypes.c_void_p, expression: str) -> str:
        name = ctypes.c_char_p()
        self._call("nvrtcGetLoweredName", program, _text(expression), ctypes.byref(name))
        return (name.value or b"").decode()

    def _text_of(self, program: ctypes.c_void_p, function: str) -> str:
        size = ctypes.c_size_t()
        self._call(f"{function}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self._call(function, program, text)
        return text.value.decode("utf-8", "replace")

    def _call(self, function: str, *arguments: object) -> None:
        code = getattr(self._library, function)(*arguments)
        if code != _SUCCESS:
            raise CompilerError(f"NVRTC: {function} fails: {self._reason(code)}")

    def _reason(self, code: int) -> str:
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
        said: bytes = self._library.nvrtcGetErrorString(code) or b""
        return said.decode()


@cache
def nvrtc(path: Path) -> Nvrtc:
    """The library at a path, loaded once. Raises CompilerError where it can't be."""
    return Nvrtc(path)


def _text(text: str) -> bytes:
    if "\0" in text:
        raise CompilerError("NVRTC: a source, a name, a header or an option holds a NUL character")
    return text.encode("utf-8", "surrogateescape")


def _array(texts: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(texts))(*map(_text, texts))
