"""What may come of any input: it is read, or refused in one line. Neither takes for ever, nor all memory."""

import contextlib
import resource
import signal
from pathlib import Path

from simtmm.errors import MOST_CHARACTERS, SimtmmError

PATIENCE = 300  # seconds: a hundred times what any of these takes, as the machine may be busy
ROOM = 4 << 30  # bytes beside what the process has taken: a table that nobody asked about

_within = False


@contextlib.contextmanager
def bounded():
    """An exception in the place of a hang, and of a table that fits no memory. Within another it adds nothing."""
    global _within
    if _within:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    handler = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(PATIENCE)
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, before[1]))
    _within = True
    try:
        yield
    finally:
        _within = False
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)


def _hangs(*_):
    raise AssertionError(f"takes more than {PATIENCE} s")


def read_or_refused(call, named=None):
    """What the call gives, None where it refuses. Anything but one line of text, which names the file, fails.

    named: what the line must name.
    """
    with bounded():
        try:
            return naming(named, call)
        except SimtmmError as error:
            check_line(str(error))
    return None


def naming(named, call):
    """What the call gives; the line of an error must name that."""
    try:
        return call()
    except SimtmmError as error:
        check_line(str(error), named)
        raise


def check_line(line, named=None):
    """Fail unless this is one line of text, not too long, in which that is named."""
    assert line
    assert line.isprintable()
    assert len(line) <= MOST_CHARACTERS
    assert named is None or str(named) in line
