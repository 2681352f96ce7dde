"""A copy of the tree in which faults are planted, and a cache folder for each run, so that no fault outlives it."""

import fcntl
import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

LEFT_OUT = {
    ".git", ".venv", "__pycache__", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache", "site", "build",
    "dist", ".mutation", ".import_linter_cache", ".benchmarks", ".nox", ".fuzz",
}  # fmt: skip
OWN = "mutation"  # the folder in the user's cache, of copies and maps


def synced(source: Path, target: Path) -> Path:
    """A copy of a folder, brought up to date: what is no longer there goes, and times of files are as there."""
    target.mkdir(parents=True, exist_ok=True)
    wanted = {each.name: each for each in source.iterdir() if each.name not in LEFT_OUT}
    for there in target.iterdir():
        if there.name not in wanted and there.name != "__pycache__":
            shutil.rmtree(there) if there.is_dir() and not there.is_symlink() else there.unlink()
    for name, each in wanted.items():
        if each.is_dir():
            synced(each, target / name)
        elif not _is_same(each, target / name):
            shutil.copy2(each, target / name)
    return target


def _is_same(one: Path, other: Path) -> bool:
    if not other.is_file():
        return False
    here, there = one.stat(), other.stat()
    return (here.st_size, here.st_mtime_ns) == (there.st_size, there.st_mtime_ns)


@contextmanager
def own_places(folder: Path, count: int) -> Iterator[list[str]]:
    """Names for as many copies as are asked for, of which no other process has any meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        found: list[str] = []
        for number in itertools.count():
            if len(found) == count:
                break
            lock = stack.enter_context((folder / f"lock-{number}").open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            found.append(str(number))
        yield found


@contextmanager
def planted(path: Path, changed: bytes) -> Iterator[None]:
    """A file with another content; afterwards it is as before, its times too."""
    before, times = path.read_bytes(), path.stat()
    try:
        path.write_bytes(changed)
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def linked(cache: Path, scratch: Path) -> Path:
    """A cache folder of all that is in another, for a run that may put wrong things there.

    Files are replaced whole, and so shared; SQLite's are changed in place, and copied. What another process removes
    meanwhile is left out.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700, parents=True)
    for folder, folders, files in os.walk(cache):
        if Path(folder) == cache and OWN in folders:
            folders.remove(OWN)
        place = scratch / Path(folder).relative_to(cache)
        for name in folders:
            (place / name).mkdir(mode=0o700)
        for name in files:
            with suppress(FileNotFoundError):
                _lend(Path(folder, name), place / name)
    return scratch


class LentCache:
    """A cache folder for one run after another, each of which finds it as the first one did.

    To link all files takes seconds, to look which of them a run has put there, replaced or removed a tenth of one.
    """

    def __init__(self, cache: Path, scratch: Path) -> None:
        """cache: the user's. scratch: where the folder is to be."""
        self.folder, self._cache = linked(cache, scratch), cache
        self._known = {folder: self._files(folder, entries) for folder, entries in _folders(self.folder)}

    def _files(self, folder: Path, entries: list[os.DirEntry[str]]) -> dict[str, int]:
        return {entry.name: entry.inode() for entry in entries if not entry.is_dir(follow_symlinks=False)}

    def restored(self) -> Path:
        """The folder, as it was at first."""
        for folder, entries in list(_folders(self.folder)):
            known = self._known.get(folder)
            if known is None:
                shutil.rmtree(folder, ignore_errors=True)
                continue
            there = self._files(folder, entries)
            for name, inode in {**known, **there}.items():
                if ".sqlite" not in name and known.get(name) == there.get(name):
                    continue
                (folder / name).unlink(missing_ok=True)
                if name in known:
                    known[name] = self._again(folder / name, inode)
        for folder in self._known:
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True)
                for name, inode in self._known[folder].items():
                    self._known[folder][name] = self._again(folder / name, inode)
        return self.folder

    def _again(self, path: Path, inode: int) -> int:
        """Put a file of the user's there; its number. What another process has removed meanwhile is left out."""
        with suppress(FileNotFoundError):
            _lend(self._cache / path.relative_to(self.folder), path)
            return path.stat().st_ino
        return inode


def _folders(top: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """A folder and all folders in it, outer ones first, each with what is in it."""
    try:
        with os.scandir(top) as found:
            entries = list(found)
    except OSError:
        return
    yield top, entries
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _folders(Path(entry.path))


def _lend(source: Path, target: Path) -> None:
    (shutil.copy2 if ".sqlite" in source.name else os.link)(source, target)
