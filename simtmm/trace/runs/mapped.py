"""Arrays that lie in a temporary file instead of memory: what a block of a hundred million events takes.

They are read like others. What was read of them counts as memory of the process until it is let go of.
"""

import contextlib
import mmap
import os
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError

COUNTS_AS = 64  # bytes of a file count as one of memory, for each array in one keeps a file open
LONG = 1 << 22  # events: a block with more of them lies in a file while it is no runs yet


class Spool:
    """A file without a name that grows at its end; it goes with this object and what was mapped of it."""

    def __init__(self) -> None:
        self.bytes = 0
        with self._explained():
            self._file = tempfile.TemporaryFile(prefix="simtmm-", buffering=0)  # noqa: SIM115  # goes with the object

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def append(self, array: npt.NDArray[Any]) -> None:
        """Write an array, C-contiguous, behind the others. Raises TraceError where there is no room for it."""
        self.put(array, self.bytes)

    def put(self, array: npt.NDArray[Any], place: int) -> None:
        """Write an array from a byte on."""
        left = memoryview(array.reshape(-1).view(np.uint8).data)
        with self._explained():
            while len(left):
                done = os.pwrite(self._file.fileno(), left, place)
                place, left = place + done, left[done:]
        self.bytes = max(self.bytes, place)

    def mapped(self, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """All of it as an array; what is written to it is written to the file."""
        if not self.bytes:
            return np.empty(0, dtype)
        memory = mmap.mmap(self._file.fileno(), self.bytes)
        return np.frombuffer(memory, dtype)

    @contextlib.contextmanager
    def _explained(self) -> Any:
        try:
            yield
        except OSError as error:
            raise TraceError(
                f"a block has more than {LONG:,} events, which need a temporary file, but it can't hold "
                f"them ({error.strerror or error}): set TMPDIR to a folder with more space"
            ) from None


def memory_of(array: npt.NDArray[Any]) -> mmap.mmap | None:
    """What an array is a part of, if it lies in a file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None


def let_go(array: npt.NDArray[Any]) -> None:
    """Have an array that lies in a file take no memory until it is read again.

    array: of any shape; one that does not lie in a file is left unchanged.
    """
    memory = memory_of(array)
    if memory is not None and hasattr(memory, "madvise"):
        memory.madvise(mmap.MADV_DONTNEED)
