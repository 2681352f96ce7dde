"""A Python program as a child process that ends with its parent, even if that was killed.

As a program: `bond.py PIPE PARENT SIGNAL BYTES SECONDS (FILE | -m MODULE) WORD...` runs a file, which needs nothing but
Python's own library, or a module of this package. PIPE: the number of an open file whose other end the parent alone
has. PARENT: its number. SIGNAL: 1 where the system is to end us together with the thread that started us. BYTES,
SECONDS: of memory and of the processor's time that it may take; 0 for no limit.

What the working directory holds is not imported: it is called with -P or -I, and imports little before that.
"""

import _thread
import contextlib
import os
import signal
import sys

_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def end_with_parent(parent: int) -> None:
    """Have the system kill this process when the thread that started it ends. parent: the process of that thread."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _watch(pipe: int) -> None:
    """End this process when the pipe's other end is closed."""
    with contextlib.suppress(OSError):  # a program that closes all files is ended by the system alone
        if not os.read(pipe, 1):
            os._exit(1)


def _limit(most_bytes: int, seconds: int) -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # no such limit here
        import resource

        if most_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main(pipe: int, parent: int, is_bound: bool, most_bytes: int, seconds: int) -> None:
    """Run the program that stands in sys.argv."""
    if is_bound:
        end_with_parent(parent)
    _thread.start_new_thread(_watch, (pipe,))
    _limit(most_bytes, seconds)
    import runpy

    if sys.argv[0] == "-m":
        module = sys.argv[1]
        del sys.argv[0]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    _words = [int(word) for word in sys.argv[1:6]]
    del sys.argv[:6]
    main(_words[0], _words[1], bool(_words[2]), _words[3], _words[4])
