"""How much room a folder of the cache takes: what was used least recently goes where that is too much."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

MOST_KEPT = 1 << 30  # bytes of a folder of files that are made again in seconds


def used(path: Path) -> None:
    """Have a file count as used now."""
    with contextlib.suppress(OSError):  # on a medium that is only read
        os.utime(path)


def prune(
    folder: Path, pattern: str, most: int, is_needed: Callable[[Path], bool], remove: Callable[[Path], object]
) -> None:
    """Remove the files of a folder that were used least recently, so that all of them take no more than `most` bytes.

    folder: of the cache.
    pattern: which of its files count, as "*.parquet".
    most: bytes that they may take.
    is_needed: whether one stays, however old.
    remove: takes one away.
    """
    with contextlib.suppress(OSError):  # another process may remove some, too
        found = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in folder.glob(pattern))
        total = sum(size for _, size, _ in found)
        for _, size, path in found:
            if total <= most:
                return
            if not is_needed(path):
                remove(path)
                total -= size


def leave_latest(folder: Path, pattern: str, most: int) -> None:
    """Remove the files of a folder but so many, those that were used last. Raises OSError.

    folder: of the cache.
    pattern: which of its files count.
    most: how many of them stay.
    """
    stored = sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime)
    for old in stored[:-most]:
        old.unlink(missing_ok=True)
