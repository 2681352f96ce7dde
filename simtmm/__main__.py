"""`python -m simtmm` and the command `simtmm`: the command line, with what can go wrong turned into one line."""

import contextlib
import io
import logging
import os
import sys

import typer

from simtmm.cli import app
from simtmm.errors import SimtmmError, escaped, one_line, shown_error

WRONG_INPUT = 2
INTERRUPTED = 130

# What the command line itself complains of. Typer exports it by no name: newer ones bring a copy of Click, older ones
# import the package.
_CommandLineError: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException" and issubclass(base, Exception)
)


class _Lines(logging.Formatter):
    """What is told of files, without what their words would do to a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return escaped(super().format(record))


def main() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):  # a file's name need not be Unicode; it is shown with its bytes escaped
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    told = logging.StreamHandler()
    told.setFormatter(_Lines("simtmm: %(message)s"))
    logging.basicConfig(handlers=[told], level=logging.INFO)
    try:
        status = _status()
    except BrokenPipeError:
        # Whoever read our output has gone, as `| head` does; say nothing, and nothing more when Python flushes.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    if status == INTERRUPTED:  # newer Typers end with it on their own
        print("simtmm: interrupted", file=sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)


def _status() -> object:
    """What the command line ends with, what went wrong having been told."""
    try:
        return app(standalone_mode=False, prog_name="simtmm")
    except SimtmmError as error:
        return _complain(str(error))
    except _CommandLineError as error:
        if type(error).__name__ != "NoArgsIsHelpError":
            return _complain(f"{_message(error)} (see simtmm --help)")
        print(_message(error))  # which is the help
        return WRONG_INPUT
    except MemoryError as error:  # a backstop: what takes much is asked about before (docs/threats.md)
        return _complain(f"memory does not suffice ({shown_error(error)}); smaller sizes take less")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemError as error:  # Ctrl-C while compiled code was called
        if not _is_of_interrupt(error):
            raise
        return INTERRUPTED


def _is_of_interrupt(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _message(error: Exception) -> str:
    return str(error.format_message()) if hasattr(error, "format_message") else str(error)


def _complain(message: str) -> int:
    print(f"simtmm: error: {one_line(message)}", file=sys.stderr)
    return WRONG_INPUT


if __name__ == "__main__":
    main()
