"""The folder of code that simtmm compiles, in the user's cache or where SIMTMM_COMPILED says.

A stored file is named by a hash of all sources that it was compiled from: the function's module and the modules of this
package that it imports, and those that these import. So a helper or a constant that changes anywhere is seen.
"""

import contextlib
import hashlib
import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from simtmm.cache import outlasts, own_folder
from simtmm.cache.durations import expected, remember
from simtmm.files import PACKAGE, cache_folder

logger = logging.getLogger("simtmm")

PATIENCE = 1.5  # seconds: a first call takes far less where nothing is compiled
FAR_OFF = 2.0  # times an estimate, after which it is corrected
KEPT = 3  # of a module's caches, by the sources they were compiled from: of this version and those before
_IMPORT = re.compile(
    rb"[ \t]*(?:from[ \t]+(simtmm[\w.]*)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n#]*))|import[ \t]+(simtmm[\w.]*))"
)
_NAMED = re.compile(rb"simtmm")  # in few lines: to try each one for an import takes most of the time of all this


@contextlib.contextmanager
def announced(what: str, usual: float = 0.0) -> Iterator[None]:
    """Say that this is compiled, and for about how long, should it take longer than a look into the cache ever does.

    Computers differ, and so does their load: the estimate is by how long it took here before, or else by how long the
    last one took, compared with what is usual for that.

    what: is compiled, as messages call it. usual: seconds that it takes, about; 0 where nobody knows.
    """
    if not what:
        yield
        return
    begun = time.monotonic()
    said = _Said(what, max(2, round(expected(what, usual))) if usual else 0)
    try:
        yield
        took = time.monotonic() - begun
        _spent.append(took)
        if usual and took > PATIENCE:
            remember(what, usual, took)
    finally:
        said.end()


def spent() -> float:
    """Seconds that this process has waited for what it compiled: the next time that is stored."""
    return sum(_spent)


_spent: list[float] = []


class _Said:
    """What is said of something while it is compiled: about how long that takes, and again once it takes far longer."""

    def __init__(self, what: str, about: int) -> None:
        """about: seconds that it takes; 0 where nobody knows."""
        self._what, self._has_ended = what, False
        known = f": takes about {about} s" if about else ""
        self._wait(0.0, PATIENCE, about, f"{' (cached)' if outlasts() else ''}{known}")

    def _wait(self, now: float, until: float, about: int, words: str) -> None:
        """Say the words once it has taken so many seconds. about: those that they say."""
        self._timer = threading.Timer(until - now, self._say, [until, about, words])
        self._timer.name, self._timer.daemon = "simtmm-compiling", True
        self._timer.start()

    def _say(self, now: float, about: int, words: str) -> None:
        if self._has_ended:
            return
        logger.info("compiling %s%s", self._what, words)
        if about:
            later = FAR_OFF * about  # when half of it is taken to be done
            whole = round(FAR_OFF * later)
            self._wait(now, later, whole, f": takes about {whole - later:.0f} s more, and not {about} s in all")

    def end(self) -> None:
        """It is compiled."""
        self._has_ended = True
        self._timer.cancel()


@cache
def kept_folder(module: str) -> Path | None:
    """Where a module's compiled functions are stored; None without the user's cache.

    module: its dotted name.
    """
    named = os.environ.get("SIMTMM_COMPILED")
    root = Path(named) if named else cache_folder()
    folder = own_folder("simtmm" if named else "compiled", root)
    if not folder.is_relative_to(root):
        return None
    chosen = folder / f"{module}-{sources_of(module)}"
    if not chosen.is_dir():
        with contextlib.suppress(OSError):
            chosen.mkdir(mode=0o700)
            others = [other for other in folder.glob(f"{module}-*") if other != chosen]
            for old in sorted(others, key=lambda other: other.stat().st_mtime, reverse=True)[KEPT - 1 :]:
                shutil.rmtree(old, ignore_errors=True)
    return chosen if chosen.is_dir() else None


def sources_of(module: str) -> str:
    """A hash of the sources of a module and of all modules of its package that it imports, however far away.

    module: its dotted name.
    """
    found: dict[Path, bytes] = {}
    _collect(_file_of(module), found)
    digest, within = hashlib.sha256(), len(PACKAGE.parts)
    for parts, content in sorted((path.parts[within:], content) for path, content in found.items()):
        digest.update("/".join(parts).encode() + b"\0" + content)
    return digest.hexdigest()[:20]


def _collect(path: Path | None, found: dict[Path, bytes]) -> None:
    """Add hashes of the contents of a file and of all that it imports, by path."""
    if path is None or path in found:
        return
    status = os.stat(path)
    found[path], imported = _content_of(path, status.st_mtime_ns, status.st_size)
    for each in imported:
        _collect(each, found)


@cache
def _content_of(path: Path, changed: int, size: int) -> tuple[bytes, tuple[Path, ...]]:
    """A hash of a source, and the files of this package that it imports, as modules or as names in these.

    changed, size: of the file, which is read anew once they differ.
    """
    text = path.read_bytes()
    modules: list[str] = []
    begins = dict.fromkeys(text.rfind(b"\n", 0, at.start()) + 1 for at in _NAMED.finditer(text))
    for of, listed, names, plain in (found.groups(b"") for at in begins if (found := _IMPORT.match(text, at))):
        module = (of or plain).decode()
        named = re.findall(r"\w+", re.sub(r"\bas\s+\w+", "", (listed or names).decode()))
        modules += [module, *(f"{module}.{name}" for name in named)]
    files = dict.fromkeys(map(_file_of, modules))
    return hashlib.sha256(text).digest(), tuple(file for file in files if file is not None)


@cache
def _file_of(module: str) -> Path | None:
    """The source of a module of this package; None for what is none.

    Most that is asked for is none, but a name in a module: folders are listed, as a look for each name takes longer.
    """
    first, *parts = module.split(".")
    if first != PACKAGE.name:
        return None
    root = os.fspath(PACKAGE)
    if parts:
        beside = os.path.join(root, *parts[:-1])
        if f"{parts[-1]}.py" in _names_in(beside):
            return Path(beside, f"{parts[-1]}.py")
        if parts[-1] not in _names_in(beside):
            return None
    folder = os.path.join(root, *parts)
    return Path(folder, "__init__.py") if "__init__.py" in _names_in(folder) else None


@cache
def _names_in(folder: str) -> frozenset[str]:
    """What a folder of this package holds, by name; nothing where there is no such folder."""
    try:
        return frozenset(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
