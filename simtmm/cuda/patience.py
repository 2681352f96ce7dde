"""How long a kernel may run without progress."""

import os

from simtmm.errors import RecordingError, shown
from simtmm.files import KERNEL_TIMEOUT

PATIENCE = 60.0  # seconds


def kernel_timeout() -> float:
    """Seconds that a kernel may run on the CPU while no block ends and nothing is stored that was not there.

    What the environment variable SIMTMM_KERNEL_TIMEOUT says, else 60. Raises RecordingError for no number above 0.
    """
    text = os.environ.get(KERNEL_TIMEOUT)
    if not text:
        return PATIENCE
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise RecordingError(f"{KERNEL_TIMEOUT} = {shown(text)}: must be a number of seconds above 0")
    return seconds
