"""NVRTC in a process of its own, which may end without taking its caller along.

Run as a program, with the library's path, it answers one request after another, each a JSON document behind its length
in eight bytes, until its input ends. It needs nothing but Python's own library,
so that it begins at once.
"""

import ctypes
import json
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

LENGTH = struct.Struct("<Q")
_SUCCESS = 0  # of nvrtcResult


def send(stream: IO[bytes], document: Mapping[str, Any]) -> None:
    """Write a document behind its length."""
    content = json.dumps(document).encode()
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next document; None where the stream ends before it does."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    document: dict[str, Any] | None = json.loads(content) if len(content) == length else None
    return document


class NvrtcError(Exception):
    """What the library itself refuses, in words."""


class _Library:
    """The library at a path, loaded."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def architectures(self) -> list[int]:
        """Compute capabilities, times ten."""
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", found)
        return sorted(found)

    def compile(
        self, source: str, name: str, words: Sequence[str], expressions: Sequence[str], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        """PTX and the names of expressions, where the source compiles, and the log."""
        program = ctypes.c_void_p()
        texts, names = _array(list(headers.values())), _array(list(headers))
        self._call("nvrtcCreateProgram", ctypes.byref(program), _text(source), _text(name), len(headers), texts, names)
        try:
            for expression in expressions:
                self._call("nvrtcAddNameExpression", program, _text(expression))
            code = self._library.nvrtcCompileProgram(program, len(words), _array(words))
            log = self._text_of(program, "nvrtcGetProgramLog").strip("\n")
            if code != _SUCCESS:
                return {"failed": log or self._reason(code)}
            lowered = {expression: self._lowered(program, expression) for expression in expressions}
            return {"ptx": self._text_of(program, "nvrtcGetPTX"), "names": lowered, "log": log}
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
            raise NvrtcError(f"NVRTC: {function} fails: {self._reason(code)}")

    def _reason(self, code: int) -> str:
        reason: bytes = self._library.nvrtcGetErrorString(code) or b""
        return reason.decode()


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _array(texts: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(texts))(*map(_text, texts))


def main(path: str) -> None:
    """Answer requests on standard input; what the library prints itself goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    library: _Library | None = None
    while (request := receive(sys.stdin.buffer)) is not None:
        try:
            library = library or _Library(path)
            os.chdir(request["folder"])
            os.environ.clear()
            os.environ.update(request["environment"])
            function = request["function"]
            answer = library.compile(**request["arguments"]) if function == "compile" else library.architectures()
            send(answers, {"answer": answer})
        except OSError as error:
            send(answers, {"error": f"can't be loaded ({error})", "is_missing": library is None})
        except NvrtcError as error:
            send(answers, {"error": str(error), "is_missing": False})


if __name__ == "__main__":
    main(sys.argv[1])
