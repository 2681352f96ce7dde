"""Where the project's data lies, and how files are written: whole or not at all."""

import contextlib
import logging
import multiprocessing
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from simtmm.errors import OutputError, SimtmmError, nearest, one_line
from simtmm.temporary import end_part, part_file, remove_parts

PACKAGE = Path(__file__).resolve().parent
# Environment variables, which options of the command line set
KERNEL_PATH = "SIMTMM_KERNEL_PATH"
MACHINE_PATH = "SIMTMM_MACHINE_PATH"
KERNEL_TIMEOUT, KERNEL_MEMORY = "SIMTMM_KERNEL_TIMEOUT", "SIMTMM_KERNEL_MEMORY"  # simtmm/recorder/limits.py

logger = logging.getLogger("simtmm")
_missed: set[tuple[str, str]] = set()  # variables with a folder that is not there, as was told


def data_folders(kind: str) -> list[Path]:
    """Folders that hold data of a `kind`, as "traces", the one to be looked at first leading.

    The user's own come first: `given_folders`, then the working directory, and then `shipped_folders`. Kernels and
    machines have another order: simtmm.catalogue and simtmm.machine.known find them.
    """
    return _there((*given_folders(kind), Path.cwd() / kind, *shipped_folders(kind)))


def given_folders(kind: str) -> list[Path]:
    """Folders of a `kind` ("machines", "kernels", "traces") that the user gave.

    Of kernels those named in the environment variable SIMTMM_KERNEL_PATH (each with a folder a kernel; the command
    line's --kernel-path puts its own before them), of machines those in SIMTMM_MACHINE_PATH (each with a file a
    machine; --machine-path likewise), then of all kinds those in the folders named in SIMTMM_PATH (each with subfolders
    machines, kernels, traces).
    """
    variables = {"kernels": KERNEL_PATH, "machines": MACHINE_PATH}
    own = _listed(variables[kind]) if kind in variables else []
    return _there((*own, *(root / kind for root in _listed("SIMTMM_PATH"))))


def shipped_folders(kind: str) -> list[Path]:
    """Folders of a `kind` that came with simtmm: of the checkout that this package lies in, and of the wheel."""
    checkout = [PACKAGE.parent / kind] if (PACKAGE.parent / "pyproject.toml").is_file() else []
    return _there((*checkout, PACKAGE / "_data" / kind))


def data_file(kind: str, name: str) -> Path | None:
    """The file of that name that ships with simtmm, or the user's in a folder given instead; None where none has it.

    kind: a folder of what ships, as "machines".
    name: of a file in it.
    """
    folders = (*given_folders(kind), *shipped_folders(kind))
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def is_folder(path: str | Path) -> bool:
    """Whether there is a folder at that path, as far as one may look; what can't be a path is none."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def why_no_file(path: str | Path) -> str:
    """Why a path that `is_file` refuses is no file, and the file of its folder that may have been meant."""
    path = Path(path)
    try:
        if path.is_dir():
            return "is a folder"
        beside = [each.name for each in path.parent.iterdir() if each.suffix == path.suffix and each.is_file()]
    except (OSError, ValueError):
        return "no such file"
    return f"no such file{nearest(path.name, beside, ())}"


def is_file(path: str | Path) -> bool:
    """Whether there is a file at that path, likewise."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def check_regular(path: str | Path, error: type[SimtmmError]) -> None:
    """Raise `error` for a pipe, a socket or a device, which would be waited for; what is not there passes."""
    if is_there(path) and not (is_file(path) or is_folder(path)):
        raise error(f"{path}: is a pipe or a device: must be a file")


def is_same_file(path: str | Path, other: str | Path) -> bool:
    """Whether both lead to one file that is there, likewise.

    path, other: paths, of files that need not be there.
    """
    try:
        return os.path.samefile(path, other) and is_file(path)
    except (OSError, ValueError):
        return False


def is_there(path: str | Path) -> bool:
    """Whether there is anything at that path, likewise."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def _there(folders: Iterable[Path]) -> list[Path]:
    """Those that are there, each once."""
    return list(dict.fromkeys(each.resolve() for each in folders if is_folder(each)))


def _listed(variable: str) -> list[Path]:
    """The folders that an environment variable names; a missing one is reported once."""
    entries = [entry for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
    found = [_of_home(entry) for entry in entries]
    for entry, folder in zip(entries, found, strict=True):
        if (variable, entry) not in _missed and not is_folder(folder) and multiprocessing.parent_process() is None:
            _missed.add((variable, entry))
            logger.warning("%s", one_line(f"warning: {variable}: {entry}: no such folder; skipped"))
    return found


def cache_folder() -> Path:
    """The user's cache folder for simtmm: $SIMTMM_CACHE, else simtmm under $XDG_CACHE_HOME or ~/.cache."""
    explicit = os.environ.get("SIMTMM_CACHE")
    if explicit:
        return _of_home(explicit)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else _of_home("~/.cache")) / "simtmm"


def _of_home(path: str) -> Path:
    """A path that may begin with ~ or ~USER; one in which nothing can stand where nobody knows that home."""
    expanded = os.path.expanduser(path)  # pathlib's raises RuntimeError for a home that nobody knows
    return Path(os.devnull, expanded.lstrip("~/")) if expanded.startswith("~") else Path(expanded)


@contextlib.contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` at the end, or remove it after an exception.

    A reader sees the old file or the new one, never half of one. A link stays a link, to the new content; what is no
    regular file, such as /dev/null or a pipe, gets the content when it is whole. Raises OutputError if the folder is
    missing or can't be written.
    """
    target = _target(path)
    special = is_there(target) and not is_file(target)
    try:
        if not special:
            remove_parts(target.parent)
        temporary = part_file(None if special else target.parent)
    except OSError as error:
        raise OutputError(f"{path}: can't be written ({error.strerror})") from None
    try:
        yield temporary
        if special:
            target.write_bytes(temporary.read_bytes())
        else:
            _give_usual_permissions(temporary)
            os.replace(temporary, target)
    except OSError as error:
        raise OutputError(f"{path}: can't be written ({error.strerror or error})") from None
    finally:
        end_part(temporary)


def write_text(path: Path, text: str) -> None:
    """Write a text; of words that are no Unicode, as a name on the command line may be, the bytes by their escapes.

    path: of the file, which is written over.
    text: what it is to hold.
    """
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def check_writable(path: str | Path) -> None:
    """Raise OutputError if `written_whole(path)` would fail: to be called before long work, not after it."""
    folder = Path(path).parent
    _target(path)
    if is_folder(path):
        raise OutputError(f"{path}: can't be written (it is a folder)")
    if not is_folder(folder):
        raise OutputError(f"{path}: can't be written (there is no folder {folder})")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: can't be written (no permission to write in {folder})")


def _target(path: str | Path) -> Path:
    """Where a file lies that is to be written, behind all links. Raises OutputError."""
    try:
        return Path(path).resolve()
    except FileNotFoundError:
        raise OutputError(f"{path}: can't be written (the working directory was removed)") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise OutputError(f"{path}: can't be written ({error})") from None


def _give_usual_permissions(path: Path) -> None:
    """mkstemp makes files private; a result file gets what the user's umask gives any other file."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
