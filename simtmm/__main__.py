"""`python -m simtmm` and the command `simtmm`: what signals do to it from its first moment on, and its exit status."""

import contextlib
import io
import os
import signal
import sys

from simtmm.children import brief, ending
from simtmm.children.family import end_family
from simtmm.computer import limit_told
from simtmm.temporary import remove_own

LEAST_ADDRESSES = 1 << 29  # bytes: what the libraries take that every command loads, with a few threads
WRONG_INPUT = 2
INTERRUPTED = 128 + signal.SIGINT


def start() -> None:
    """Run the command line as a process of its own, and exit."""
    brief.for_one_command()
    ending.at_once()
    try:
        main()
    except SystemExit as asked:
        brief.ends_with(asked.code if isinstance(asked.code, int) else 1)
        raise
    finally:
        if ending.status() is not None:
            end_family()
            remove_own()


def main() -> None:
    """Run the command line and exit, with 128 and the number of a signal that ended it."""
    _fill_closed()
    if short := limit_told(LEAST_ADDRESSES):  # libraries would end the process, each in its own words
        print(f"simtmm: error: {short}", file=sys.stderr or io.StringIO())
        sys.exit(WRONG_INPUT)
    status, is_error = INTERRUPTED, True
    try:
        with ending.handled():
            from simtmm.cli.command_line import run  # takes most of the time of short commands, and may be interrupted

            status, is_error = run()
    except KeyboardInterrupt:  # on the way in or out
        pass
    ended = ending.status()
    if status == INTERRUPTED or (is_error and ended is not None):
        status = ended or INTERRUPTED
        with contextlib.suppress(OSError):  # of a terminal that has gone
            print(f"simtmm: {ending.said(status - 128)}", file=sys.stderr or io.StringIO(), flush=True)
    sys.exit(status)


def _fill_closed() -> None:
    """Have something stand for standard streams that were closed, as by `>&-`, which takes nothing and gives nothing.

    Otherwise the next file or socket that is opened would be mistaken for one of them by the processes that are
    started.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # which gets the lowest number that is free


if __name__ == "__main__":
    start()
