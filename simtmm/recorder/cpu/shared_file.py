"""Memory that two processes share: a file without a name, mapped by both."""

import contextlib
import mmap
import os
import tempfile
from collections.abc import Iterable
from types import TracebackType

import numpy as np
import numpy.typing as npt


class SharedFile:
    """A file in memory, of zeros, that no folder lists. number: its descriptor. A context manager that closes it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.number = _open_unnamed()
        os.ftruncate(self.number, size)

    def __enter__(self) -> "SharedFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def mapped(self, size: int, writable: bool = False) -> mmap.mmap:
        """The first bytes of it as this process's memory."""
        access = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        return mmap.mmap(self.number, size, mmap.MAP_SHARED, access)

    def filled(self, parts: Iterable[tuple[int, bytes | npt.NDArray[np.uint8]]]) -> mmap.mmap:
        """All of it as this process's memory, these parts of it written first, each at its place.

        Written as files are, pages come at half the cost of being touched; and mapped together at a fraction of it.
        """
        for place, part in parts:
            left = memoryview(part)  # type: ignore[arg-type]  # NumPy's arrays are buffers, though they don't say so
            while len(left):
                done = os.pwrite(self.number, left, place)
                place, left = place + done, left[done:]
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        return mmap.mmap(self.number, self.size, flags, mmap.PROT_READ | mmap.PROT_WRITE)

    def close(self) -> None:
        """Close the descriptor; what is mapped stays."""
        if self.number >= 0:
            os.close(self.number)
            self.number = -1


def _open_unnamed() -> int:
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):  # a container may forbid it
            return os.memfd_create("simtmm")
    with tempfile.TemporaryFile(prefix="simtmm-") as file:
        return os.dup(file.fileno())
