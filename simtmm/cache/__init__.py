"""The user's cache: files that took long to build, stored by their inputs, and checked before each use.

It is in folders that no other user may write to. A file's name ends with a hash of its content, so that one that was
cut, changed, or put there under another's name is not taken, and built anew.
"""

import atexit
import functools
import hashlib
import logging
import os
import shutil
import stat
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from simtmm.cache.room import MOST_KEPT, prune, used
from simtmm.errors import OutputError
from simtmm.files import cache_folder
from simtmm.temporary import end_part, own_prefix, part_file, remove_parts

logger = logging.getLogger("simtmm")

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OWN = stat.S_IRWXU
LOOKED_AT = "0"  # how the hash begins of new files, one in 16, at which a folder's room is looked at

_LISTED: dict[Path, tuple[int, Mapping[str, list[str]]]] = {}  # folders' names, with when they had changed
_TEMPORARY: set[Path] = set()  # folders of this process alone
_BUILT_AGAIN = "warning: cache folder %s: its contents will be built again each time"


def own_folder(kind: str, root: Path | None = None) -> Path:
    """The folder of that name in the user's cache folder, or in `root`, created if need be; only the user may enter it.

    Where it can't be had, or others could have put something there, one for this process alone, and a warning where
    that is worth one.

    kind: of what lies there, as "programs".
    """
    return _own(root or cache_folder(), kind)


def find(folder: Path, label: str, key: str, suffix: str) -> Path | None:
    """The file that was kept there under a label and a key; None where there is none, or only what is not sound.

    folder: of the cache.
    label: the beginning of the file's name, for people.
    key: what it was made of, as a hash.
    suffix: the file's ending.
    """
    for path in _under(folder, label, key, suffix):
        if path.name == _name(label, key, _content(path), suffix):
            used(path)
            return path
        path.unlink(missing_ok=True)
    return None


def is_kept(folder: Path, label: str, key: str, suffix: str) -> bool:
    """Whether something lies there under a label and a key, sound or not: a quick look.

    folder: of the cache.
    label: the beginning of the file's name, for people.
    key: what it was made of, as a hash.
    suffix: the file's ending.
    """
    return bool(_under(folder, label, key, suffix))


def _under(folder: Path, label: str, key: str, suffix: str) -> list[Path]:
    """The files that lie there under a label and a key. One that somebody else has just put there may be missing."""
    begin = f"{label}-{key}-"
    return [folder / name for name in _listed(folder).get(begin, ()) if name.endswith(suffix)]


def _listed(folder: Path) -> Mapping[str, list[str]]:
    """The names of a folder by what they begin with, read anew where something was put there or taken out."""
    try:
        changed = folder.stat().st_mtime_ns
        if (known := _LISTED.get(folder)) is not None and known[0] == changed:
            return known[1]
        names: dict[str, list[str]] = defaultdict(list)
        for name in os.listdir(folder):
            names[name[: name.rfind("-") + 1]].append(name)
    except OSError:
        return {}
    _LISTED[folder] = changed, names
    return names


def keep(
    folder: Path, label: str, key: str, suffix: str, make: Callable[[Path], object], most: int | None = MOST_KEPT
) -> Path:
    """Make a file, at the path that `make` is called with, and keep it there whole.

    Where nothing can be written, a full disk say, it is stored for this process only, with a warning. Raises
    OutputError where that can't be either.

    folder: of the cache.
    label: the beginning of the file's name, for people.
    key: what it was made of, as a hash.
    suffix: the file's ending.
    make: writes the file, at a path.
    most: bytes that the folder's files may take; what was used least recently goes. None where somebody else looks at
    that.
    """
    try:
        return _kept(folder, label, key, suffix, make, most)
    except OutputError as error:
        if folder in _TEMPORARY:
            raise
        instead = _instead_of(folder, str(error))
        return _kept(instead, label, key, suffix, make, most)


def _kept(folder: Path, label: str, key: str, suffix: str, make: Callable[[Path], object], most: int | None) -> Path:
    remove_parts(folder)
    temporary = _part_in(folder)
    try:
        make(temporary)
        temporary.chmod(OWN)
        content = _content(temporary)
        kept = folder / _name(label, key, content, suffix)
        os.replace(temporary, kept)
        if most is not None and content.startswith(LOOKED_AT):
            prune(folder, "*", most, kept.__eq__, lambda path: path.unlink(missing_ok=True))
    except OSError as error:
        raise OutputError(f"{folder}: can't be written ({error.strerror or error})") from None
    finally:
        end_part(temporary)
    return kept


@functools.cache
def _instead_of(folder: Path, why: str) -> Path:
    logger.warning(_BUILT_AGAIN, why)
    return _temporary(folder.name)


def _part_in(folder: Path) -> Path:
    """A file there that is not kept, for its maker to remove. Raises OutputError."""
    try:
        return part_file(folder)
    except OSError as error:
        raise OutputError(f"{folder}: can't be written ({error.strerror})") from None


def _name(label: str, key: str, content: str, suffix: str) -> str:
    return f"{label}-{key}-{content}{suffix}"


def _content(path: Path) -> str:
    """A hash of a file of one's own; of anything else, what no name has."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if path.is_symlink() or not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
                return "-"
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]
    except OSError:
        return "-"


@functools.cache
def _own(root: Path, kind: str) -> Path:
    folder = root / kind
    try:
        if not root.exists():
            root.parent.mkdir(parents=True, exist_ok=True)
            root.mkdir(mode=OWN, exist_ok=True)
        folder.mkdir(mode=OWN, exist_ok=True)
        for part, status in ((root, root.stat()), (folder, folder.lstat())):
            if why := _shared(status):
                logger.warning(
                    "warning: cache folder %s %s: it is not used, and what it holds is built again each time; make it "
                    "your own (chmod 700), or name another in SIMTMM_CACHE",
                    part,
                    why,
                )
                return _temporary(kind)
        if stat.S_IMODE(folder.lstat().st_mode) != OWN:
            folder.chmod(OWN)
        if os.access(folder, os.W_OK):
            return folder
        why = "Permission denied"
    except OSError as error:  # a read-only home, say
        why = error.strerror or str(error)
    instead = _temporary(kind)
    logger.warning(_BUILT_AGAIN, f"{folder}: can't be written ({why})")
    return instead


def outlasts() -> bool:
    """Whether stored files outlast this process, as far as it has asked for a folder."""
    return not _TEMPORARY


def _shared(status: os.stat_result) -> str:
    """Why a folder of this kind is not the user's own; empty if it is."""
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid != os.getuid():
        return "belongs to another user"
    if status.st_mode & OTHERS_WRITE:
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return ""


def _temporary(kind: str) -> Path:
    try:
        folder = Path(tempfile.mkdtemp(prefix=own_prefix(kind)))  # of mode 0700
    except OSError as error:
        raise OutputError(f"{tempfile.gettempdir()}: can't be written ({error.strerror})") from None
    _TEMPORARY.add(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
