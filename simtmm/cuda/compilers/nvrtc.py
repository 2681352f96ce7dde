"""NVRTC: a text of CUDA C++ to PTX, in a process of its own (nvrtc_process)."""

import atexit
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from simtmm.children.environment import of_tools
from simtmm.children.start import NOTHING, PIPE, PythonChild, Running, python
from simtmm.computer import available_memory, limit_told
from simtmm.cuda.compilers import nvrtc_process
from simtmm.cuda.compilers.complaint import complaint
from simtmm.cuda.compilers.wheels import check_platform
from simtmm.errors import CompilerError

ADDRESSES = 2 << 30  # bytes of them that the library takes for a kernel of some length


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
        self._child: PythonChild[Running] | None = None
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
            "function": function, "arguments": arguments, "folder": str(Path.cwd()), "environment": of_tools(),
        }  # fmt: skip
        with self._lock:
            process = self._running().process
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
                raise CompilerError(f"{name}: the compiler NVRTC {self._end()}{_limited()}")
        if "error" in answer:
            if answer["is_missing"]:
                check_platform()
            missing = f"{self._path}: {answer['error']}{_limited()}"
            raise CompilerError(missing if answer["is_missing"] else answer["error"])
        return answer["answer"]

    def _running(self) -> PythonChild[Running]:
        if self._child is not None and self._owner != os.getpid():
            _close(self._child)
            self._child.process.returncode = 0  # another's child: not to be waited for here
            self._child = None
        if self._child is None:
            self._child = python(
                Path(nvrtc_process.__file__), [str(self._path)], stdin=PIPE, stdout=PIPE, stderr=NOTHING,
                memory=available_memory() // 2, apart=True,
            )  # fmt: skip
            self._owner = os.getpid()
        return self._child

    def _end(self, *, at_once: bool = False) -> str:
        """End the process, which does so by itself where it waits for requests; how it ended, in words."""
        child, self._child = self._child, None
        if child is None or self._owner != os.getpid():
            return "has not started"
        if at_once:
            child.process.kill()
        _close(child)
        code = child.process.wait()
        if code >= 0:
            return f"ended with status {code}"
        return f"was killed by {signal.Signals(-code).name}, possibly out of memory"


def _limited() -> str:
    """What a limit may have to do with it."""
    short = limit_told(ADDRESSES)
    return f"; {short}" if short else ""


def _close(child: PythonChild[Running]) -> None:
    child.let_go()
    for pipe in (child.process.stdin, child.process.stdout):
        assert pipe is not None
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


@cache
def nvrtc(path: Path) -> Nvrtc:
    """The library at a path, one process for all that is compiled."""
    return Nvrtc(path)
