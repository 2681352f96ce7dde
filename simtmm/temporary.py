"""Temporary files and folders of this process: named after it, so that what a killed one left behind can be found.

It needs nothing but Python's own library, as the process that watches over ours calls it, too.
"""

import contextlib
import functools
import os
import platform
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

_parts: dict[Path, int] = {}  # files that are to become others, and the process that makes them


def own_prefix(kind: str) -> str:
    """How the name of a temporary folder begins: it says which process owns it, so that one left behind can be found.

    Those that killed processes left in the folder of temporary files are removed. kind: what it is for.
    """
    _remove_left_once()
    return f"simtmm-{kind}-{_computer()}-{os.getpid()}-"


@contextlib.contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """A folder that goes with the block, without links in its path. kind: what it is for."""
    with tempfile.TemporaryDirectory(prefix=own_prefix(kind)) as folder:
        yield Path(folder).resolve()


def part_file(folder: Path | None) -> Path:
    """A file that is to become another; its name says which process makes it.

    folder: where it lies; the computer's own for such files if None.

    Raises OSError.
    """
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".simtmm-{_computer()}-{os.getpid()}-", suffix=".part")
    os.close(handle)
    _parts[Path(name)] = os.getpid()
    return Path(name)


def end_part(part: Path) -> None:
    """Have it gone, if it has not become the other file.

    part: its path, as `part_file` gave it.
    """
    _parts.pop(part, None)
    part.unlink(missing_ok=True)


def remove_parts(folder: Path, age: float = float("inf")) -> None:
    """Remove what processes that have ended left behind there.

    age: in seconds, from which what another computer or container left goes, too; those may write there now. What a
        process of this computer makes stays, whatever the clock says.
    folder: its path.
    """
    with contextlib.suppress(OSError):
        for path in folder.glob(".simtmm-*.part"):
            maker = re.fullmatch(rf"\.simtmm-{_computer()}-([0-9]+)-[^-]*\.part", path.name)
            if (not _is_running(int(maker[1]))) if maker else _age(path) > age:
                path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    """Seconds since a file was written to, by the clock of the computer that its folder lies on. Raises OSError."""
    with tempfile.TemporaryFile(dir=path.parent) as now:
        return os.fstat(now.fileno()).st_mtime - path.stat().st_mtime


def remove_left() -> None:
    """Remove the temporary folders of processes that have ended."""
    with contextlib.suppress(OSError):
        for path in Path(tempfile.gettempdir()).glob(f"simtmm-*-{_computer()}-*-*"):
            maker = re.fullmatch(rf"simtmm-.+-{_computer()}-([0-9]+)-[^-]*", path.name)
            if maker is not None and _is_own_folder(path) and not _is_running(int(maker[1])):
                shutil.rmtree(path, ignore_errors=True)


def remove_own() -> None:
    """Remove the temporary files and folders of this process, which is about to end in the middle of its work."""
    with contextlib.suppress(OSError):
        for part, maker in list(_parts.items()):
            if maker == os.getpid():
                part.unlink(missing_ok=True)
        for path in Path(tempfile.gettempdir()).glob(f"simtmm-*-{_computer()}-{os.getpid()}-*"):
            if _is_own_folder(path):
                shutil.rmtree(path, ignore_errors=True)


_remove_left_once = functools.cache(remove_left)


def _is_own_folder(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


@functools.cache
def _computer() -> str:
    """What numbers of processes are of: this computer, and where it has several sets of them, as containers, which."""
    try:
        numbers = os.readlink("/proc/self/ns/pid")
    except OSError:  # not Linux
        numbers = ""
    return f"{crc32(f'{platform.node()}{numbers}'.encode()):08x}"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return not _is_over(process)


def _is_over(process: int) -> bool:
    """Whether a process that is still listed has nothing left but its number, until somebody asks how it ended."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as words:
            return not words.read(1)
    except OSError:  # not Linux, or it has just gone
        return False
