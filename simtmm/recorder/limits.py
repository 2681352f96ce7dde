"""How much a recording may hold and take: what never ends must not fill the machine's memory, nor run for ever."""

import os

from simtmm.computer import NO_LIMIT, available_memory
from simtmm.errors import RecordingError, shown
from simtmm.files import KERNEL_MEMORY

MOST_LAUNCHES = 1 << 20  # each stands in the trace's metadata
MOST_BYTES = 1 << 28  # of a recording in memory
VARIABLE = "SIMTMM_MOST_EVENTS"


def most_events(given: int | None, in_memory: bool) -> int:
    """How many events a recording may have.

    given: by the caller; else, of a recording held in memory, what the environment variable SIMTMM_MOST_EVENTS says.
    Else there is no limit: what memory should not hold lies in a file (simtmm.trace.recording.TraceRecorder).
    in_memory: whether the recording is held there.

    Raises RecordingError for a limit that is no whole number of at least 1.
    """
    if given is not None:
        return _checked("most_events", given)
    if not in_memory:
        return NO_LIMIT
    text = os.environ.get(VARIABLE)
    if text:
        return _checked(VARIABLE, int(text.strip()) if text.strip().isdecimal() and len(text) < 20 else text)
    return NO_LIMIT


def most_bytes() -> int:
    """How much memory a recording without a file may take before it goes on in a temporary one."""
    return max(1, min(MOST_BYTES, available_memory() // 2))


def kernel_memory() -> int:
    """Bytes of memory of its own that a kernel's process may take on the CPU, the arrays and the events apart.

    What the environment variable SIMTMM_KERNEL_MEMORY says, else half of what is available. Raises RecordingError for
    no whole number of at least 1.
    """
    text = os.environ.get(KERNEL_MEMORY)
    if text:
        return _checked(KERNEL_MEMORY, int(text.strip()) if text.strip().isdecimal() and len(text) < 20 else text)
    return max(1, available_memory() // 2)


def _checked(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise RecordingError(f"{name} = {shown(value)}: must be a whole number of at least 1")
    return min(value, NO_LIMIT)
