"""Memory that launches log in: it goes to the reader as it is, and comes back once that has let go of it."""

import contextlib
import weakref

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.launches.launch import aligned

LOG_BYTES = 1 << 22
HANDED = 1 << 18  # bytes of a log, from which on it is not copied, but goes itself
MOST_SPARE = 16

_spare: list[npt.NDArray[np.uint8]] = []  # logs that nobody has: the system clears each page of a new one


def log_of(size: int) -> npt.NDArray[np.uint8]:
    """Room for a log, whatever lies in it.

    size: of it [bytes].
    """
    if size == LOG_BYTES:
        with contextlib.suppress(IndexError):  # other threads take some, too
            return _spare.pop()
    return aligned(size)


def put_back(log: npt.NDArray[np.uint8]) -> None:
    """Nobody has this log any more.

    log: uint8[bytes], as `log_of` gave it.
    """
    if len(log) == LOG_BYTES and len(_spare) < MOST_SPARE:
        _spare.append(log)


def handed(log: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.uint8]:
    """The first bytes of a log, which is put back once neither these nor any part of them are left.

    log: uint8[bytes], as `log_of` gave it.
    count: how many.
    """
    piece = np.frombuffer(log.data, np.uint8, count)  # parts of it refer to it, and not to what it is a view of
    weakref.finalize(piece, put_back, log).atexit = False
    return piece
