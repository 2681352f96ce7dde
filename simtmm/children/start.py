"""A process started: a tool that is run to its end, within limits, or one that goes on.

A tool has a group of its own, as it may start others: they end with it, whatever ends it. Its environment is a list's.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from simtmm.children import bond
from simtmm.children.environment import of_tools
from simtmm.children.family import family
from simtmm.children.forked import Forked, can_fork, fork
from simtmm.children.guard import VARIABLE
from simtmm.computer import available_memory
from simtmm.errors import CompilerError, LimitError, shown

Running = subprocess.Popen[bytes]
NOTHING, PIPE = subprocess.DEVNULL, subprocess.PIPE

TIMEOUT = "SIMTMM_COMPILER_TIMEOUT"
PATIENCE = 3600.0  # seconds: a whole library of templates takes minutes, on a busy machine several times that
MOST_OUTPUT = 1 << 28  # bytes that a tool may print: the listing of a large program has some millions
_LEFT_OPEN = 2.0  # seconds, after which what has ended, and left its output to another, has said all
_LOOK = 0.2  # seconds
_AT_ONCE = 1 << 16  # bytes


@dataclass(frozen=True)
class Limits:
    """What a tool may take. seconds: of time. memory: bytes, each of its processes. output: bytes that it prints."""

    seconds: float
    memory: int
    output: int = MOST_OUTPUT


@dataclass(frozen=True)
class Done:
    """What came of a tool. status: its exit status, or the signal that ended it, below 0."""

    status: int
    output: bytes
    errors: bytes

    @property
    def text(self) -> str:
        """What it printed on standard output."""
        return self.output.decode("utf-8", "replace")

    @property
    def complaints(self) -> str:
        """What it printed on standard error."""
        return self.errors.decode("utf-8", "replace")

    @property
    def log(self) -> str:
        """All that it printed."""
        return f"{self.text}{self.complaints}".strip("\n")


def of_compilers() -> Limits:
    """The time that SIMTMM_COMPILER_TIMEOUT says, else an hour, and half of the memory that is available.

    Raises CompilerError for what is no number above 0.
    """
    text = os.environ.get(TIMEOUT)
    try:
        seconds = float(text) if text else PATIENCE
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise CompilerError(f"{TIMEOUT} = {shown(text)}: must be a number of seconds above 0")
    return Limits(seconds, max(1, available_memory() // 2))


def run(
    words: Sequence[str],
    *,
    folder: Path | str | None = None,
    scratch: Path | None = None,
    given: bytes = b"",
    limits: Limits | None = None,
    files: Sequence[int] = (),
) -> Done:
    """Run a tool to its end.

    words: its command line.
    folder: that it works in; ours if left out.
    scratch: a folder for its temporary files, which goes with them should it be killed; the usual one if left out.
    given: on its standard input.
    limits: `of_compilers()` if left out.
    files: that it has open beside the standard ones.

    Raises LimitError where it takes more than it may, OSError where it can't be started.
    """
    within = limits or of_compilers()
    environment = of_tools({**({"TMPDIR": str(scratch)} if scratch else {}), VARIABLE: family()})
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stdin=PIPE if given else NOTHING, stdout=PIPE, stderr=PIPE, process_group=0,
        pass_fds=files,
    )  # fmt: skip
    with _ended(process):
        _limit_memory(process, within.memory)
        output, errors = _talk(process, given, within, Path(words[0]).name)
        return Done(process.wait(), output, errors)


def run_python(program: Path, words: Sequence[str], *, given: bytes, limits: Limits, seconds: int) -> Done:
    """A file that needs nothing but Python's own library, likewise. seconds: of the processor's time that it may take.

    program: path of the file.
    words: of its command line.
    given: what it reads from its standard input.

    Raises as `run` does.
    """
    reader, writer = os.pipe()
    try:
        command = _python_words(program, words, reader, True, seconds=seconds)
        return run(command, given=given, limits=limits, files=[reader])
    finally:
        os.close(reader)
        os.close(writer)


def started(
    words: Sequence[str],
    *,
    stdin: IO[Any] | int | None = None,
    stdout: IO[Any] | int | None = None,
    stderr: IO[Any] | int | None = None,
    files: Sequence[int] = (),
    apart: bool = False,
) -> Running:
    """A process that goes on, with our environment. files: that it has open beside the standard ones.

    apart: in a session of its own: Ctrl-C is for us, who end it.
    words: the program, and its command line.
    stdin, stdout, stderr: as of subprocess.Popen.

    Raises OSError.
    """
    environment = {**os.environ, VARIABLE: family()}
    return subprocess.Popen(
        words, env=environment, stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=files, start_new_session=apart
    )


AnyRunning = TypeVar("AnyRunning", Running, Forked)


@dataclass(frozen=True)
class PythonChild(Generic[AnyRunning]):
    """A Python program that goes on. `hold` is to be closed where the program is to end."""

    process: AnyRunning
    hold: int

    def end(self) -> None:
        """End it, if it has not ended; what it was is waited for."""
        self.process.kill()
        self.process.wait()
        self.let_go()

    def let_go(self) -> None:
        """Close our end of the pipe, by which it knows that we are there."""
        with contextlib.suppress(OSError):
            os.close(self.hold)


LikeUs = PythonChild[Running] | PythonChild[Forked]


def python(
    program: Path | str,
    words: Sequence[str] = (),
    *,
    stdin: IO[Any] | int | None = None,
    stdout: IO[Any] | int | None = None,
    stderr: IO[Any] | int | None = None,
    memory: int = 0,
    is_awaited: bool = False,
    apart: bool = False,
) -> PythonChild[Running]:
    """A Python program that ends when we do.

    program: a file that needs nothing but Python's own library, or the name of a module of this package.
    words: of its command line. memory: bytes that it may take; 0 for no limit.
    is_awaited: whether the thread that calls this waits for its end.
    apart: as of `started`.
    stdin, stdout, stderr: as of subprocess.Popen.

    Raises OSError.
    """
    with _pipe_to_child() as (reader, writer):
        # The system ends it with this thread, which must not be gone before the program is
        bound = is_awaited or threading.current_thread() is threading.main_thread()
        command = _python_words(program, words, reader, bound, memory)
        process = started(command, stdin=stdin, stdout=stdout, stderr=stderr, files=[reader], apart=apart)
        return PythonChild(process, writer)


def python_like_us(module: str, words: Sequence[str], stdout: IO[Any] | int | None = None) -> LikeUs:
    """A module of this package that ends when we do, and whose end is waited for: forked where that can be.

    module: its name.
    words: of its command line.
    stdout: that it prints to; ours if left out.

    Raises OSError.
    """
    if not can_fork():
        return python(module, words, stdout=stdout, is_awaited=True)
    number = stdout if stdout is None or isinstance(stdout, int) else stdout.fileno()
    with _pipe_to_child() as (reader, writer):
        return PythonChild(fork(module, words, number, reader, family()), writer)


@contextlib.contextmanager
def _pipe_to_child() -> Iterator[tuple[int, int]]:
    """A pipe to a child: its end, which is closed behind the block, and ours, which stays open if that succeeds."""
    reader, writer = os.pipe()
    try:
        yield reader, writer
    except BaseException:
        os.close(writer)
        raise
    finally:
        os.close(reader)


def _python_words(
    program: Path | str, words: Sequence[str], pipe: int, bound: bool, memory: int = 0, seconds: int = 0
) -> list[str]:
    """The command line of a Python program as a child (bond.py)."""
    way = [str(pipe), str(os.getpid()), str(int(bound)), str(memory), str(seconds)]
    if isinstance(program, Path):
        return [sys.executable, "-I", "-S", bond.__file__, *way, str(program), *words]
    return [sys.executable, "-P", bond.__file__, *way, "-m", program, *words]


def ended_within(process: Running | Forked, seconds: float) -> int | None:
    """The exit status of a process that ends by then; None where it goes on.

    process: one that `started` gave.
    seconds: how long it is waited for.
    """
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


@contextlib.contextmanager
def _ended(process: Running) -> Iterator[None]:
    """Have a tool, and what it started, end with the block."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not taken of its input
                    pipe.close()


def _limit_memory(process: Running, most: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):  # not Linux, or it has ended
        import resource

        resource.prlimit(process.pid, resource.RLIMIT_AS, (most, most))


def _talk(process: Running, given: bytes, limits: Limits, name: str) -> tuple[bytes, bytes]:
    """Give a tool its input, and take all that it prints."""
    until, taken = time.monotonic() + limits.seconds, [bytearray(), bytearray()]
    silent = 0.0  # since when it has ended and printed nothing
    with selectors.DefaultSelector() as open_files:
        for pipe, target in ((process.stdout, taken[0]), (process.stderr, taken[1])):
            open_files.register(pipe, selectors.EVENT_READ, target)  # type: ignore[arg-type]
        if given:
            os.set_blocking(process.stdin.fileno(), False)  # type: ignore[union-attr]
            open_files.register(process.stdin, selectors.EVENT_WRITE)  # type: ignore[arg-type]
        rest = memoryview(given)
        while open_files.get_map():
            ready = open_files.select(_LOOK)
            for key, _ in ready:
                if key.data is None:
                    rest = _given(key.fd, rest)
                    is_open = bool(rest)
                else:
                    is_open = _took(key.fd, key.data)
                if not is_open:
                    open_files.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
            now = time.monotonic()
            if now > until:
                raise LimitError(f"{name}: took longer than {limits.seconds:g} s and was stopped ({TIMEOUT})")
            if sum(map(len, taken)) > limits.output:
                raise LimitError(f"{name}: printed more than {limits.output:,} bytes and was stopped")
            silent = silent or now if not ready and process.poll() is not None else 0.0
            if silent and now - silent > _LEFT_OPEN:
                break
    status = ended_within(process, max(0.0, until - time.monotonic()))
    if status is None:
        raise LimitError(f"{name}: took longer than {limits.seconds:g} s and was stopped ({TIMEOUT})")
    return bytes(taken[0]), bytes(taken[1])


def _given(file: int, rest: memoryview) -> memoryview:
    """What is left of an input after the tool took some; nothing where it takes no more."""
    try:
        return rest[os.write(file, rest[:_AT_ONCE]) :]
    except BlockingIOError:
        return rest
    except OSError:
        return rest[:0]


def _took(file: int, target: bytearray) -> bool:
    """Take what was printed; False at its end."""
    some = os.read(file, _AT_ONCE)
    target += some
    return bool(some)
