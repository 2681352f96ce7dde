"""A script run as Python runs it, with the launches recorded."""

import ast
import contextlib
import linecache
import logging
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from simtmm import own_faults
from simtmm.device.own_clock import OwnClock
from simtmm.documents import read_code
from simtmm.errors import RecordingError, SimtmmError, shown
from simtmm.extras import install
from simtmm.python_text import parsed
from simtmm.recorder.direct.recording import Recording, StoppedError
from simtmm.scripts import notes
from simtmm.scripts.framework import EXTRAS, UNADAPTED
from simtmm.scripts.own_time import virtual_time
from simtmm.scripts.own_traceback import line_of, print_traceback

SUFFIX = ".py"
STAND_INS = "simtmm.scripts.cupy", "simtmm.scripts.cupyx"
INTERRUPTED = 128 + signal.SIGINT
FAILED = 1  # exit status of Python for an exception that nobody caught
OF_CODE = AttributeError, ImportError, NameError, NotImplementedError, SyntaxError, TypeError
COMPILED_BY = "numba", "triton"  # whose own exceptions say of a kernel that it does not compile


@dataclass(frozen=True)
class Outcome:
    """What came of a script.

    status: its exit status. unrecorded: operations that a GPU would run as kernels and that were run on the CPU, with
    counts, the most frequent first. notes: sentences of adapters. why_none: what leaves a recording that should go to a
    file without a trace. is_of_code: whether it ended with an exception of what the code says, and not of values, which
    another order of warps might change.
    """

    status: int
    unrecorded: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    why_none: RecordingError | None = None
    is_of_code: bool = False

    def lines(self, most: int = 12) -> list[str]:
        """The lines of a report. most: operations by name."""
        lines = list(self.notes)
        if self.unrecorded:
            named = [f"{name} {count}x" if count > 1 else name for name, count in self.unrecorded[:most]]
            rest = len(self.unrecorded) - most
            more = f", and {rest} more" if rest > 0 else ""
            times = sum(count for _, count in self.unrecorded)
            lines.append(
                f"Not recorded: {times} operation{'s' * (times != 1)} that ran on the CPU: {', '.join(named)}{more}."
            )
        return lines


def run_script(
    path: str | Path, arguments: Sequence[str], recording: Recording, clock: OwnClock | None = None
) -> Outcome:
    """Run a script as `python path arguments` does, in this process, within a recording.

    Its exception is printed with its own traceback on standard error, and leaves the recording without a trace; so does
    no SystemExit, whose status is the outcome's.

    clock: that it reads; the machine's, without the time of its own code, if left out.
    arguments: words of its command line.

    Raises RecordingError for what can't be read, KeyboardInterrupt, and the errors of simtmm that the script did not
    catch, each with the script's line in front.
    """
    source = _source(path)
    notes.taken()
    status: int | None = None
    why_none, is_of_code = None, False
    try:
        how = clock or OwnClock(has_host_time=False)
        with recording, virtual_time(recording.clock, how), _as_python(path, arguments) as module:
            status = _status(source, path, module, recording)
    except _UncaughtError as uncaught:
        status, is_of_code = uncaught.status, uncaught.is_of_code
    except RecordingError as error:
        if status is None:  # it comes out of the script, and not of the recording's end
            raise
        why_none = error
    unrecorded, messages = notes.taken()
    return Outcome(status or 0, tuple(unrecorded), tuple(messages), why_none, is_of_code)


class _UncaughtError(Exception):
    """A script's own exception, which has been printed."""

    def __init__(self, status: int, is_of_code: bool) -> None:
        super().__init__(status)
        self.status, self.is_of_code = status, is_of_code


def _source(path: str | Path) -> bytes:
    return read_code(path, RecordingError)


def _status(source: bytes, path: str | Path, module: ModuleType, recording: Recording) -> int:
    """Run it; gives its exit status."""
    try:
        exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - the user's own script
        _join()
    except SystemExit as end:
        _join()
        return _of(end.code)
    except SimtmmError as error:
        line = line_of(error, str(path))
        if line is not None:
            error.args = (f"{line}: {error}",)
        raise
    except StoppedError:
        sys.stdout.flush()
        print("simtmm: note: the script was stopped (--stop-after)", file=sys.stderr)
        return 0
    except KeyboardInterrupt as interrupt:
        if not recording.launches or getattr(interrupt, "number", signal.SIGINT) != signal.SIGINT:
            raise
        sys.stdout.flush()
        print("simtmm: note: interrupted: the report covers the launches so far", file=sys.stderr)
        return INTERRUPTED
    except BaseException as error:
        sys.stdout.flush()
        if own_faults.is_own(error):
            where = line_of(error, str(path)) or str(path)
            fault = own_faults.internal_error(error, f"{where}: was not completed", "of your script")
            raise own_faults.with_report(fault, {}) from error
        print_traceback(error, sys.excepthook)
        if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
            print(f"simtmm: note: {error.name} comes with {install(EXTRAS[error.name])}", file=sys.stderr)
        if isinstance(error, ImportError) and (error.name or "").startswith(STAND_INS):
            stand_in = "cupyx" if (error.name or "").startswith(STAND_INS[1]) else "cupy"
            print(
                f"simtmm: note: {stand_in} is simtmm's stand-in for CuPy here, which lacks that name", file=sys.stderr
            )
        imported = _imported(str(path))
        for name in sorted({UNADAPTED[each] for each in UNADAPTED if each in imported or each == _missing(error)}):
            print(
                f"simtmm: note: {name}'s launches can't be recorded: only those of CuPy, Numba CUDA, Triton and "
                "simtmm.RawKernel can",
                file=sys.stderr,
            )
        of_kernel = type(error).__module__.partition(".")[0] in COMPILED_BY
        raise _UncaughtError(FAILED, of_kernel or isinstance(error, OF_CODE)) from None
    return 0


def _imported(path: str) -> set[str]:
    """The modules that a script and files beside it import by name, and what holds them: a.b of a.b.c, and a.

    What their libraries import is none of theirs: Numba's packages load NVIDIA's bindings, say.
    """
    folder = Path(path).resolve().parent
    files = {Path(path)}
    for module in [*sys.modules.values()]:
        where = getattr(module, "__file__", None)
        if where and Path(where).suffix == SUFFIX and Path(where).resolve().parent == folder:
            files.add(Path(where))
    found: set[str] = set()
    for file in files:
        try:
            tree = parsed(file.read_bytes())
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
            else:
                continue
            for name in names:
                parts = name.split(".")
                found.update(".".join(parts[:count]) for count in range(1, len(parts) + 1))
    return found


def _missing(error: BaseException) -> str | None:
    """The module that is not there, where that is what went wrong."""
    return error.name if isinstance(error, ModuleNotFoundError) else None


def _of(code: object) -> int:
    """The exit status that Python makes of what SystemExit was given."""
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF
    sys.stdout.flush()
    print(code, file=sys.stderr)
    return FAILED


def _join() -> None:
    """Wait for the script's threads, as Python does at its end; they may launch, too."""
    for thread in threading.enumerate():
        ours = (threading.current_thread(), threading.main_thread())
        if thread not in ours and not thread.daemon and not thread.name.startswith("simtmm-"):
            thread.join()


@contextlib.contextmanager
def _as_python(path: str | Path, arguments: Sequence[str]) -> Iterator[ModuleType]:
    """The interpreter as a script finds it; as it was before when the block is left."""
    folder = str(Path(path).resolve().parent)
    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=str(path), __builtins__=__builtins__, __cached__=None, __doc__=None, __package__=None, __spec__=None,
        __loader__=SourceFileLoader("__main__", str(path)),
    )  # fmt: skip
    before = sys.argv, list(sys.path), sys.modules["__main__"], set(sys.modules), sys.excepthook
    linecache.checkcache(str(path))
    sys.excepthook = sys.__excepthook__
    sys.argv, sys.path[0:0], sys.modules["__main__"] = [str(path), *arguments], [folder], module
    try:
        with _logging_as_new():
            yield module
    finally:
        argv, paths, main, names, sys.excepthook = before
        sys.argv, sys.path[:], sys.modules["__main__"] = argv, paths, main
        for name in set(sys.modules) - names:  # the script's own, which another script may have, too
            where = getattr(sys.modules[name], "__file__", None)
            if where and Path(where).resolve().is_relative_to(folder) and "site-packages" not in where:
                del sys.modules[name]


@contextlib.contextmanager
def _logging_as_new() -> Iterator[None]:
    """Loggers without the command line's handlers, so that `logging.basicConfig` does something; ours keeps them."""
    root, own = logging.getLogger(), logging.getLogger("simtmm")
    before = root.handlers[:], root.level, own.handlers[:], own.propagate, own.level
    own.handlers, own.propagate = [*own.handlers, *root.handlers], False
    own.setLevel(own.level or root.level)
    root.handlers = []
    root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.handlers, level, own.handlers, own.propagate, own_level = before
        root.setLevel(level)
        own.setLevel(own_level)


def check_script(source: str | Path) -> None:
    """Raise RecordingError for a script that is not there.

    source: its path.
    """
    if not Path(source).is_file():
        raise RecordingError(f"{shown(str(source))}: no such script")
