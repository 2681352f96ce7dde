"""A process for one command: it collects garbage seldom, and leaves memory to the system when it ends.

A short command's time goes into importing modules. Python looks for garbage among them again and again meanwhile, where
there is none, and takes all of them apart at the end: together a sixth of what `simtmm run` takes on a small kernel.
"""

import atexit
import gc
import os
import sys
import threading

_NEW_OBJECTS = 200_000  # more than before between two looks for garbage: some 40 MB; imports make 120,000
_SHORT = 2.0  # seconds, after which a command looks as often as others: what it computes with may be large

_usual: tuple[int, ...] | None = None  # between two looks for garbage, where this is a process for one command
_status: int | None = None


def for_one_command() -> None:
    """Have this process be one for a single command. To be called before anything else registers what is done at exit.

    What is registered is done. A process whose end is looked at, in Python's development mode, by a profiler or by
    coverage, ends as any other.
    """
    global _usual
    _usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *_usual[1:])
    later = threading.Timer(_SHORT, _look_as_usual)
    later.name, later.daemon = "simtmm-brief", True
    later.start()
    atexit.register(_leave)


def is_for_one_command() -> bool:
    """Whether this process is one for a single command."""
    return _usual is not None


def forget() -> None:
    """Have this process, which was forked from one for a single command, be one that goes on."""
    global _usual
    _look_as_usual()
    _usual = None


def ends_with(status: int) -> None:
    """Tell that the command is over, and its exit status."""
    global _status
    _status = status


def _look_as_usual() -> None:
    """Look for garbage as often as usual, and never through what has been imported."""
    gc.freeze()
    if _usual is not None:
        gc.set_threshold(*_usual)


def _leave() -> None:
    looked_at = sys.flags.dev_mode or sys.gettrace() or sys.getprofile() or "coverage" in sys.modules
    if _status is None or looked_at:
        return
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):  # Python says what it says of output that is lost
        return
    os._exit(_status)
