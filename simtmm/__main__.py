"""`python -m simtmm` and the command `simtmm`: the command line, with what can go wrong turned into one line."""

import contextlib
import io
import logging
import os
import sys

import typer

from simtmm.cli import app
from simtmm.errors import SimtmmError

WRONG_INPUT = 2
INTERRUPTED = 130

# Typer brings its own copy of Click, older ones use the package: the base of its errors is found either way.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]


def main() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):  # a file's name need not be Unicode; it is shown with its bytes escaped
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logging.basicConfig(format="simtmm: %(message)s", level=logging.INFO)
    try:
        status = app(standalone_mode=False, prog_name="simtmm")
    except SimtmmError as error:
        status = _complain(str(error))
    except _CommandLineError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message is the help
            print(_message(error))
            status = WRONG_INPUT
        else:
            status = _complain(f"{_message(error)} (see simtmm --help)")
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone, as `| head` does; say nothing, and nothing more when Python flushes.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    if status == INTERRUPTED:  # newer Typers end with it on their own
        print("simtmm: interrupted", file=sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)


def _message(error: Exception) -> str:
    return str(error.format_message()) if hasattr(error, "format_message") else str(error)


def _complain(message: str) -> int:
    print(f"simtmm: error: {' '.join(message.split())}", file=sys.stderr)
    return WRONG_INPUT


if __name__ == "__main__":
    main()
