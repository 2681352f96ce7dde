"""The process that ends a family of processes when the one that began it is gone, however that ended.

As a program it waits for the end of its standard input, which only that process has the other end of, or for the end
of that process, whose number it gets. It needs nothing but Python's own library, so that it begins at once.

Who belongs to a family has its name in the environment, as what a child starts has in turn: also what has a session of
its own, or lost its parent. What is forked has the environment of the process that it is forked from; it bears the name
in its memory, as what it forks does.
"""

import contextlib
import os
import select
import signal
import sys
import time

VARIABLE = "SIMTMM_FAMILY"
FAREWELL = b"."  # that ends by itself: what it leaves behind, as a program may that starts a server, stays
PAUSE = 0.05  # seconds, in which a process that was just being started has come to bear the name
PATIENCE = 10.0  # seconds: what can't be ended by then is stuck in the system
ENOUGH = 3  # looks in a row that find nobody


def members(family: str) -> list[int]:
    """Numbers of the processes of a family, of this user, this process apart."""
    name, memory, found = f"{VARIABLE}={family}".encode(), f"/memfd:{family} ".encode(), []
    with contextlib.suppress(OSError):
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            if name in _told(entry, "environ").split(b"\0") or memory in _told(entry, "maps"):
                found.append(int(entry))
    return found


def mark(family: str) -> object:
    """Have this process, and what it forks, bear the name of a family in its memory while the result is there.

    Raises OSError.
    """
    import mmap  # late: the process that watches begins at once

    file = os.memfd_create(family)
    try:
        os.ftruncate(file, mmap.PAGESIZE)
        return mmap.mmap(file, mmap.PAGESIZE)
    finally:
        os.close(file)


def _told(process: str, what: str) -> bytes:
    try:
        with open(f"/proc/{process}/{what}", "rb") as file:
            return file.read()
    except OSError:  # another user's, or it has just ended
        return b""


def end_members(family: str) -> None:
    """End all processes of a family, those included that are being started meanwhile."""
    until, nobody = time.monotonic() + PATIENCE, 0
    while nobody < ENOUGH and time.monotonic() < until:
        left = members(family)
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        nobody = 0 if left else nobody + 1
        if nobody < ENOUGH:
            time.sleep(PAUSE)


def _waited(parent: int) -> bytes:
    """What the parent said before it was gone."""
    watched = [0]
    with contextlib.suppress(OSError, AttributeError):  # an older Linux, or another system
        watched.append(os.pidfd_open(parent))  # a process that was forked may hold the pipe open, too
    if os.getppid() == parent:
        select.select(watched, [], [])
    os.set_blocking(0, False)
    with contextlib.suppress(OSError):
        return os.read(0, 1)
    return b""


def main(family: str, parent: int, package: str) -> None:
    """Wait, and end the family. package: the folder that simtmm lies in."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends when its parent has
    os.chdir("/")
    if _waited(parent) == FAREWELL:
        return
    end_members(family)
    sys.path.append(package)
    from simtmm.temporary import remove_left

    remove_left()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
