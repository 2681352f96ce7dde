"""NVRTC: a text of CUDA C++ to PTX, in a process of its own (nvrtc_process)."""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from simtmm.computer import available_memory
from simtmm.cuda.compilers import nvrtc_process
from simtmm.cuda.compilers.complaint import complaint
from simtmm.cuda.compilers.wheels import check_platform
from simtmm.errors import CompilerError


@dataclass(frozen=True)
class Compiled:
    """PTX, the names that name expressions stand for, and what the compiler printed."""

    ptx: str
    names: dict[str, str]
    log: str


class Nvrtc:
    """The library at a path. A process that has loaded it begins with the first request, and goes with this one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process whose child it is: one that was forked has none
        atexit.register(self._end)

    def architectures(self) -> tuple[int, ...]:
        """Compute capabilities, times ten, that it compiles for, in order. Raises CompilerError."""
        return tuple(self._request("architectures", str(self._path), {}))

    def compiled(
        self, source: str, name: str, words: Sequence[str], expressions: Sequence[str], headers: Mapping[str, str]
    ) -> Compiled:
        """A source compiled.

        source: the text of the source.
        name: what it is called in messages and `.file` directives.
        words: options.
        expressions: names of kernels and variables in C++ whose names in the PTX are wanted.
        headers: texts that #include finds, by name.

        Raises CompilerError with the first error, or where the compiler ends before it is done.
        """
        if any("\0" in text for text in (source, name, *words, *expressions, *headers, *headers.values())):
            raise CompilerError("NVRTC: a source, a name, a header or an option holds a NUL character")
        arguments = {
            "source": source, "name": name, "words": list(words), "expressions": list(expressions),
            "headers": dict(headers),
        }  # fmt: skip
        answer = self._request("compile", name, arguments)
        if "failed" in answer:
            raise complaint(answer["failed"], name, expressions)
        return Compiled(**answer)

    def _request(self, function: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """What the process answers. name: what errors are about."""
        request = {
            "function": function, "arguments": arguments, "folder": str(Path.cwd()), "environment": dict(os.environ),
        }  # fmt: skip
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                nvrtc_process.send(process.stdin, request)
                answer = nvrtc_process.receive(process.stdout)
            except BrokenPipeError:
                answer = None
            except BaseException:  # as Ctrl-C: what comes of it is for nobody
                self._end(at_once=True)
                raise
            if answer is None:
                raise CompilerError(f"{name}: the compiler NVRTC {self._end()}")
        if "error" in answer:
            if answer["is_missing"]:
                check_platform()
            raise CompilerError(f"{self._path}: {answer['error']}" if answer["is_missing"] else answer["error"])
        return answer["answer"]

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner != os.getpid():
            _close(self._process)
            self._process.returncode = 0  # another's child: not to be waited for here
            self._process = None
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", nvrtc_process.__file__, str(self._path), str(available_memory() // 2)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for its caller
            )
            self._owner = os.getpid()
        return self._process

    def _end(self, *, at_once: bool = False) -> str:
        """End the process, which does so by itself where it waits for requests; how it ended, in words."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return "has not begun"
        if at_once:
            process.kill()
        _close(process)
        code = process.wait()
        if code >= 0:
            return f"ended with status {code}"
        return f"was ended by {signal.Signals(-code).name}; memory may have run out"


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


@cache
def nvrtc(path: Path) -> Nvrtc:
    """The library at a path, one process for all that is compiled."""
    return Nvrtc(path)
