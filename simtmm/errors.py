"""The exceptions a user can see.

Each message is one line that names where (file, kernel, launch), what (key, value) and what is allowed.
The command line prints it and ends with exit status 2; with 3 where the fault is simtmm's own.
"""

import difflib
import re
import reprlib
from collections.abc import Iterable, Sequence

MOST_CHARACTERS = 2000  # of a message
# All but the tab and the end of a line; and marks by which letters run in another direction
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
LONGEST_WORD = 400  # of a message; a path may be long


class SimtmmError(Exception):
    """An error that a user can cause and fix. Every other exception, and InternalError, is a bug in simtmm.

    message: the message; `one_line` makes it a single line.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


class InternalError(SimtmmError):
    """A fault of simtmm itself, met on the way: an exception that nothing a user gives should cause.

    simtmm.own_faults makes them. The command line ends with exit status 3.

    fault: what went wrong, without what to send.
    """

    def __init__(self, fault: str, to_send: str = "") -> None:
        """fault: what went wrong, in a sentence.
        to_send: what a user may send with a report.
        """
        super().__init__(f"{fault}{to_send}")
        self.fault = one_line(fault)


class MachineError(SimtmmError):
    """A machine that is unknown, unreadable, or outside what machine-rules allow."""


class WorkloadError(SimtmmError):
    """A workload that is malformed, or that a machine can't hold."""


class KernelError(SimtmmError):
    """A kernel that is unknown, malformed, or given parameters it refuses."""


class CompilerError(SimtmmError):
    """A kernel that does not compile, or no compiler to try with.

    message: the one line.
    log: all that the compiler printed; empty where none was run.
    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class LimitError(CompilerError):
    """A compiler, or another tool, that takes more time or prints more than it may."""


class PtxError(SimtmmError):
    """PTX that can't be read, or that does what simtmm does not know."""


class SassError(SimtmmError):
    """Machine code that is not known: the kernel runs as its PTX has it."""


class RecordingError(SimtmmError):
    """A kernel that went wrong while it ran: an index out of bounds, a wrong answer."""


class DeadlockError(RecordingError):
    """Threads of a kernel that wait for each other for ever."""


class LivelockError(DeadlockError):
    """Threads of a kernel go round for ever: none of them can ever see another value."""


class NoProgressError(RecordingError):
    """Nothing has come of a kernel for as long as it may take."""


class TraceError(SimtmmError):
    """A trace file that is foreign, truncated or inconsistent."""


class EngineError(SimtmmError):
    """An engine that does not exist, or one that can't do what a caller wants."""


class ModelError(SimtmmError):
    """A model that does not exist, or a value outside its domain."""


class StudyError(SimtmmError):
    """A study whose file, axes, constraints or store are not as they must be."""


class SavedRunError(SimtmmError):
    """A run's saved document that can't be read, is of another version, or lacks what is needed of it."""


class OutputError(SimtmmError):
    """A file that can't be written."""


def in_words(names: Sequence[str], joint: str) -> str:
    """Names as a sentence lists them: 'a', 'a or b', 'a, b or c'. joint: the word before the last.

    names: in the order in which they are listed.
    """
    return f" {joint} ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def nearest(word: str, known: Iterable[str], listed: Iterable[str] | None = None) -> str:
    """'; did you mean ...?' with the names closest to `word`, or '; known: ...' with all, or with those `listed`."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {in_words([repr(name) for name in close], 'or')}?"
    names = names if listed is None else sorted(set(listed))
    return f"; known: {', '.join(names)}" if names else ""


def shown_error(error: BaseException) -> str:
    """The first line of what another library says went wrong.

    error: an exception that another library raised.
    """
    return str(error).strip().split("\n")[0] or type(error).__name__


def one_line(message: str) -> str:
    """The message on one line that a terminal takes for text: blanks for line ends, what can't be printed escaped.

    What is longer than a reader reads, a word or all of it, is cut in the middle.

    message: of an exception, on however many lines.
    """
    line = _printable(" ".join(part.strip() for part in message.replace("\t", " ").splitlines()))
    if len(line) <= LONGEST_WORD:
        return line
    return cut(" ".join(cut(word, LONGEST_WORD) for word in line.split(" ")), MOST_CHARACTERS)


def escaped(text: str) -> str:
    """The text without what moves a terminal's cursor or turns its words round: control characters by their escapes.

    text: any text.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def cut(text: str, most: int) -> str:
    """The text, without its middle where that is too long.

    text: any text.
    most: characters that are left, at least 3.
    """
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"


def shown(value: object) -> str:
    """The value as an error line shows it: its repr on one line, cut in the middle where it is long.

    value: of any type.
    """
    writer = _Repr()
    writer.maxstring = writer.maxother = 60
    return writer.repr(value).replace("\n", " ")


class _Repr(reprlib.Repr):
    """As the library's, but for whole numbers of which Python makes no text."""

    def repr_int(self, value: int, level: int) -> str:
        try:
            repr(value)
        except ValueError:  # of which the library, from Python 3.14 on, tells the kind and an address
            return f"{'-' if value < 0 else ''}2^{value.bit_length() - 1}..."
        return super().repr_int(value, level)
