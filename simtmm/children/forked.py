"""A module of this package as a child that is forked from this process, and finds imported what this one has imported.

To import it again is half of what a short program takes. What is forked is a process for one command (brief.py), by its
main thread, while it has no other threads than those that are named here: they keep nothing locked that a child needs.
"""

import contextlib
import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, NoReturn

from simtmm.children import bond, brief, ending, guard

_QUIET = frozenset({"simtmm-signals", "simtmm-progress", "simtmm-brief", "simtmm-compiling"})
_OPEN = "/proc/self/fd"
_FIRST_LOOK, _LONGEST_PAUSE = 0.0005, 0.05  # seconds between looks whether one has ended


@dataclass
class Forked:
    """A process that was forked, as `subprocess.Popen` has it. returncode: below 0 the signal that ended it."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit status; None while it goes on."""
        if self.returncode is None:
            try:
                found, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # it has ended, and where signals of children are ignored nobody knows how
                found, status = self.pid, 0
            if found:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status when it has ended. Raises subprocess.TimeoutExpired behind so many seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_LOOK
        while (status := self.poll()) is None:
            left = pause if until is None else until - time.monotonic()
            if timeout is not None and left <= 0:
                raise subprocess.TimeoutExpired("a program", timeout)
            pause = min(2 * pause, left, _LONGEST_PAUSE)
            time.sleep(pause)
        return status

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def can_fork() -> bool:
    """Whether a child of this process, as it is now, may be forked from it."""
    has_means = sys.platform == "linux" and hasattr(os, "memfd_create") and os.path.isdir(_OPEN)
    if not has_means or not brief.is_for_one_command() or sys.gettrace() or sys.getprofile():
        return False
    others = {thread.name for thread in threading.enumerate() if thread is not threading.main_thread()}
    return threading.current_thread() is threading.main_thread() and others <= _QUIET


def fork(module: str, words: Sequence[str], stdout: int | None, pipe: int, family: str) -> Forked:
    """A module of this package in a process of its own, which ends with this one.

    words: of its command line. stdout: an open file that it prints to, ours if left out. pipe: an open file whose other
    end this process alone has. family: whose member it is.

    Raises OSError.
    """
    parent = os.getpid()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):  # it was closed
                stream.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ending.ALL)
    try:
        child = os.fork()
        if not child:
            _be(module, words, stdout, pipe, family, parent, before)
        return Forked(child)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _be(
    module: str, words: Sequence[str], stdout: int | None, pipe: int, family: str, parent: int, mask: set[Any]
) -> NoReturn:
    """Be that process: what was begun above is not gone on with, whatever happens here."""
    status = 1
    try:
        ending.forget()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if stdout is not None:
            os.dup2(stdout, 1)
        _leave_files({0, 1, 2, pipe})
        sys.stdout, sys.stderr = _anew(1), _anew(2)  # a thread that is not here may have locked them
        brief.forget()
        os.environ[guard.VARIABLE] = family  # of what it starts; what it forks has the name in its memory
        kept = None
        with contextlib.suppress(OSError):  # where that is forbidden, what it forks may outlive it
            kept = guard.mark(family)
        sys.argv = ["-m", module, *words]
        contextvars.Context().run(bond.main, pipe, parent, True, 0, 0)
        status = 0
        del kept
    except SystemExit as asked:
        status = asked.code if isinstance(asked.code, int) else int(asked.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(status)


def _leave_files(kept: set[int]) -> None:
    """Have what the command has open lead nowhere: its objects may still close these numbers, which stay theirs."""
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number in {int(each) for each in os.listdir(_OPEN)} - kept - {nowhere}:
        with contextlib.suppress(OSError):  # that of the folder that was listed
            os.fstat(number)
            os.dup2(nowhere, number, inheritable=False)
    os.close(nowhere)


def _anew(number: int) -> TextIOWrapper:
    """A standard stream of a process that has just begun."""
    return open(number, "w", buffering=1, errors="backslashreplace" if number == 2 else None, closefd=False)
