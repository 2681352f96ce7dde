"""Loops that Numba compiles at their first call and stores in the user's cache or in NUMBA_CACHE_DIR.

A stored file is named by a hash of all sources that it was compiled from: the function's module and the modules of this
package that it imports, and those that these import. So a helper or a constant that changes anywhere is seen, which
Numba's own cache, that looks at the function's own file alone, does not do.
"""

import contextlib
import hashlib
import importlib
import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from simtmm.cache import outlasts, own_folder
from simtmm.files import PACKAGE, cache_folder

logger = logging.getLogger("simtmm")

PATIENCE = 1.5  # seconds: a first call takes far less where nothing is compiled
KEPT = 3  # of a module's caches, by the sources they were compiled from: of this version and those before
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(simtmm[\w.]*)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n#]*))|import[ \t]+(simtmm[\w.]*))",
    re.MULTILINE,
)
# No one calls a helper from Python or C: what Numba wraps it in for them takes a third of the time to compile.
_HELPER = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_CHOOSING = threading.Lock()  # Numba takes the folder of a cache from its own configuration


class Compiled:
    """A function that is compiled at its first call; without a folder to keep it in it still runs.

    runtime: whether it makes arrays, which takes Numba's runtime. what: what is compiled, for a message where that
    takes a while; no message if left out.
    """

    def __init__(self, function: Callable[..., Any], runtime: bool = True, what: str = "") -> None:
        self.function = function
        self._options = {"nogil": True, "no_cfunc_wrapper": True} | ({} if runtime else {"_nrt": False})
        self._what = what
        self._compiled: Callable[..., Any] | None = None
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, compiled if it can be."""
        try:
            if self._compiled is not None:
                return self._compiled(*arguments)
            self._compiled = self._built()
            with announced(self._what):
                return self._compiled(*arguments)
        except SystemError as error:  # what Ctrl-C becomes on the way out of compiled code
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise

    def _built(self) -> Callable[..., Any]:
        numba = _numba()
        folder = kept_folder(self.function.__module__)
        with _CHOOSING:
            before = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(folder) if folder else before
            try:
                compiled: Callable[..., Any] = numba.njit(self.function, cache=True, **self._options)
            except RuntimeError:  # Numba found no folder that it may write to
                compiled = numba.njit(self.function, **self._options)
            finally:
                numba.config.CACHE_DIR = before
        return _as_python(self.function) if numba.config.DISABLE_JIT else compiled


def _as_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, to debug it (NUMBA_DISABLE_JIT): with integers that wrap round
    and fields of rows by their names, as it has where it is compiled.
    """
    np = importlib.import_module("numpy")  # late, as Numba

    def with_fields(argument: Any) -> Any:
        if isinstance(argument, tuple):
            converted = map(with_fields, argument)
            return type(argument)(*converted) if hasattr(argument, "_fields") else tuple(converted)
        is_table = isinstance(argument, np.ndarray) and argument.dtype.names is not None
        return argument.view(np.recarray) if is_table else argument

    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*map(with_fields, arguments))

    return call


def inlined(function: Any) -> Any:
    """A helper, compiled without Numba's runtime, that LLVM puts into its callers."""
    return _numba().njit(function, forceinline=True, **_HELPER)


def helper(function: Any) -> Any:
    """A helper, compiled without Numba's runtime, that is called."""
    return _numba().njit(function, **_HELPER)


def _numba() -> Any:
    """Numba, imported late, because that takes a while and not every command needs it; it knows no option _nrt."""
    return importlib.import_module("numba")


@contextlib.contextmanager
def announced(what: str) -> Iterator[None]:
    """Say that this is compiled, should it take longer than a look into the cache ever does."""
    if not what:
        yield
        return
    timer = threading.Timer(PATIENCE, logger.info, [f"compiling {what}{' (kept)' if outlasts() else ''}"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@cache
def kept_folder(module: str) -> Path | None:
    """Where a module's compiled functions are stored; None without the user's cache."""
    named = os.environ.get("NUMBA_CACHE_DIR")  # where Numba's own caches go, if the user has set it
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
    """A hash of the sources of a module and of all modules of its package that it imports, however far away."""
    found: dict[Path, bytes] = {}
    _collect(_file_of(module), found)
    digest = hashlib.sha256()
    for path, text in sorted(found.items()):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode() + hashlib.sha256(text).digest())
    return digest.hexdigest()[:20]


def _collect(path: Path | None, found: dict[Path, bytes]) -> None:
    if path is None or path in found:
        return
    text = found[path] = path.read_bytes()
    for of, listed, names, plain in _IMPORT.findall(text):
        module = (of or plain).decode()
        _collect(_file_of(module), found)
        for name in re.findall(r"\w+", re.sub(r"\bas\s+\w+", "", (listed or names).decode())):
            _collect(_file_of(f"{module}.{name}"), found)


@cache
def _file_of(module: str) -> Path | None:
    """The source of a module of this package; None for what is none."""
    place = PACKAGE.parent.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file() and path.is_relative_to(PACKAGE):
            return path
    return None
