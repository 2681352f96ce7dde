"""The command line as a whole: its standard streams, and errors as one line."""

import contextlib
import errno
import io
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache

import typer

from simtmm import own_faults
from simtmm.cli import app, old_words
from simtmm.cli.verbs import VERBS
from simtmm.errors import InternalError, OutputError, SimtmmError, escaped, nearest, one_line, shown, shown_error

WRONG_INPUT = 2
OF_LAUNCHES = ("--grid", "--block", "--arg", "--kernel", "--shared", "--compile")
INTERRUPTED = 130  # of Ctrl-C; simtmm.__main__ knows of other signals

# What the command line itself complains of. Typer exports it by no name: newer ones bring a copy of Click, older ones
# import the package.
_CommandLineError: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException" and issubclass(base, Exception)
)


class _Lines(logging.Formatter):
    """Log messages, with control characters of names in files escaped."""

    def format(self, record: logging.LogRecord) -> str:
        return escaped(super().format(record))


class _LostError(OutputError):
    """Standard output takes nothing."""


class _Output(io.TextIOWrapper):
    """Standard output, of which nothing is lost without a word."""

    def write(self, text: str) -> int:
        with _in_words():
            return super().write(text)

    def flush(self) -> None:
        with _in_words():
            super().flush()


class _Closed(io.TextIOBase):
    """What stands for a standard output that was closed."""

    def write(self, text: str) -> int:
        with _in_words():
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _LostError(f"standard output: can't be written ({error.strerror or error})") from None


def run() -> tuple[int, bool]:
    """Run the command line; gives its exit status, and whether that is of an error, which was told."""
    found = sys.stdout
    if type(sys.stdout) is io.TextIOWrapper:
        sys.stdout = _Output(sys.stdout.buffer, sys.stdout.encoding, line_buffering=sys.stdout.line_buffering)
    sys.stdout, sys.stderr = sys.stdout or _Closed(), sys.stderr or io.StringIO()  # where `>&-` was written
    for stream in (sys.stdout, sys.stderr):  # a file's name need not be Unicode; it is shown with its bytes escaped
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines("simtmm: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.INFO)
    own_faults.noted()
    try:
        status, is_error = _told()
    finally:
        if isinstance(sys.stdout, _Output):  # which would close what lies below when it goes
            sys.stdout.detach()
            sys.stdout = found
    return (status if isinstance(status, int) else 0), is_error


def _told() -> tuple[object, bool]:
    """The exit status of the command line, and whether it is of an error; all is printed, or can't be."""
    try:
        status, is_error = _status()
        sys.stdout.flush()
        faults = own_faults.noted()
        for fault in faults:
            _complain(fault)
        return (own_faults.STATUS if faults and status in (None, 0) else status), is_error
    except BrokenPipeError:  # whoever read our output has gone, as `| head` does; say nothing
        _nothing_more()
        return 1, False
    except _LostError as error:
        _nothing_more()
        return _complain(str(error))


def _nothing_more() -> None:
    """Have nothing written to standard output when Python flushes it in the end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@cache
def _command(verb: str) -> Callable[..., object]:
    """The command line, made of its functions once for a process that calls `main` often.

    verb: the first word. Of a verb, only its own commands are there: to make all of them takes longer than to run one.
    """
    own = [each for each in VERBS if each.name == verb]
    return typer.main.get_command(app(own or VERBS))


def _status() -> tuple[object, bool]:
    """The exit status of the command line, and whether it is of an error, which is printed."""
    try:
        return _command(next(iter(sys.argv[1:]), ""))(standalone_mode=False, prog_name="simtmm"), False
    except (_LostError, BrokenPipeError):
        raise
    except InternalError as error:
        return _complain(str(error), own_faults.STATUS)
    except SimtmmError as error:
        return _complain(str(error))
    except _CommandLineError as error:
        if type(error).__name__ != "NoArgsIsHelpError":
            return _complain(f"{_message(error)} ({_where_to_look(error)})")
        print(_message(error))  # which is the help
        return WRONG_INPUT, False
    except MemoryError as error:  # a backstop: what takes much memory is checked before (docs/threats.md)
        return _complain(f"out of memory ({shown_error(error)}); try smaller sizes")
    except OSError as error:  # likewise, of files that simtmm makes for itself
        where = shown(error.filename) if error.filename else "a temporary file"
        return _complain(f"{where}: can't be read or written ({error.strerror or shown_error(error)})")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED, True
    except Exception as error:
        if isinstance(error, SystemError) and _is_of_interrupt(error):  # Ctrl-C while compiled code was called
            return INTERRUPTED, True
        fault = own_faults.internal_error(error, "the command was not completed", "of its input")
        return _complain(str(own_faults.with_report(fault, {})), own_faults.STATUS)


def _is_of_interrupt(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _message(error: Exception) -> str:
    message = str(error.format_message()) if hasattr(error, "format_message") else str(error)
    return message.replace(": Value error, ", ": ")  # which the checks of a value's type put before what they say


def _where_to_look(error: Exception) -> str:
    """What helps with a mistake of the command line."""
    unknown = re.fullmatch(r"No such command '(.*)'\.", _message(error))
    if unknown:
        return f"see simtmm --help{nearest(unknown[1], old_words.VERBS, ())}"
    if getattr(error, "option_name", None) in OF_LAUNCHES:
        return "describe a .cu file's launches in a file (.toml); only run, diff and record have this option"
    return "see simtmm --help"


def _complain(message: str, status: int = WRONG_INPUT) -> tuple[int, bool]:
    with contextlib.suppress(OSError):  # standard error may be closed
        print(f"simtmm: error: {one_line(message)}", file=sys.stderr, flush=True)
    return status, True
