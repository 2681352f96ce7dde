"""The processes that this one started, and those that they started: a name in the environment tells them."""

import atexit
import contextlib
import os
import sys
from pathlib import Path
from threading import Lock

from simtmm.children import guard
from simtmm.children.environment import of_tools

_PACKAGE = Path(__file__).resolve().parents[2]
_lock = Lock()
_name: str | None = None
_owner = 0  # the process that has the name; one that was forked from it has it too, and nobody that watches


def family() -> str:
    """The name that our children get. With the first one begins a process that ends them all should we be killed."""
    global _name, _owner
    with _lock:
        if _name is None:
            given = os.environ.get(guard.VARIABLE, "")
            if given.endswith(f"-{os.getppid()}"):  # a child's children are of its parent's family
                _name = given
            else:
                _name, _owner = f"{os.urandom(16).hex()}-{os.getpid()}", os.getpid()
                _begin_guard(_name)
        return _name


def end_family() -> None:
    """End all processes that we started, and those that they started. Where we are a child ourselves: nothing."""
    if _name is not None and _owner == os.getpid():
        guard.end_members(_name)


def _begin_guard(name: str) -> None:
    if sys.platform != "linux" or not sys.executable:
        return
    reader, writer = os.pipe()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    words = [sys.executable, "-I", "-S", guard.__file__, name, str(os.getpid()), str(_PACKAGE)]
    actions = [(os.POSIX_SPAWN_DUP2, reader, 0), (os.POSIX_SPAWN_DUP2, nowhere, 1), (os.POSIX_SPAWN_DUP2, nowhere, 2)]
    try:
        os.posix_spawn(sys.executable, words, of_tools(), file_actions=actions, setsid=True)
    except OSError:  # no process more may be begun: the next one will say so
        os.close(writer)
        return
    finally:
        os.close(reader)
        os.close(nowhere)
    atexit.register(_farewell, writer)


def _farewell(writer: int) -> None:
    if _owner == os.getpid():
        with contextlib.suppress(OSError):
            os.write(writer, guard.FAREWELL)
