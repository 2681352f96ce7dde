"""Where the project's data lies, and how files are written: whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from simtmm.errors import OutputError

PACKAGE = Path(__file__).resolve().parent
KERNEL_PATH = "SIMTMM_KERNEL_PATH"  # an environment variable


def data_folders(kind: str) -> list[Path]:
    """Folders that hold `kind` ("machines", "kernels", "traces"), the one to be looked at first leading.

    The user's own come first: of kernels the folders named in the environment variable SIMTMM_KERNEL_PATH (each with
    a folder a kernel; the command line's --kernel-path puts its own before them), then of all kinds the folders named
    in SIMTMM_PATH (each with subfolders machines, kernels, traces), then the working directory, then the checkout
    this package lies in, then the data that travelled in the wheel.
    """
    roots = _listed("SIMTMM_PATH")
    roots.append(Path.cwd())
    if (PACKAGE.parent / "pyproject.toml").is_file():
        roots.append(PACKAGE.parent)
    roots.append(PACKAGE / "_data")
    own = _listed(KERNEL_PATH) if kind == "kernels" else []
    folders = dict.fromkeys(folder.resolve() for folder in (*own, *(root / kind for root in roots)))
    return [folder for folder in folders if folder.is_dir()]


def data_file(kind: str, name: str) -> Path | None:
    """The file of that name in the first folder of `kind` that has one; None where none has."""
    return next((folder / name for folder in data_folders(kind) if (folder / name).is_file()), None)


def _listed(variable: str) -> list[Path]:
    """The folders that an environment variable names."""
    return [Path(entry).expanduser() for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def cache_folder() -> Path:
    """The user's cache folder for simtmm: $SIMTMM_CACHE, else simtmm under $XDG_CACHE_HOME or ~/.cache."""
    explicit = os.environ.get("SIMTMM_CACHE")
    if explicit:
        return Path(explicit).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "simtmm"


@contextlib.contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` at the end, or remove it after an exception.

    A reader sees the old file or the new one, never half of one. A link stays a link, to the new content; what is no
    regular file, such as /dev/null or a pipe, gets the content when it is whole. Raises OutputError if the folder is
    missing or can't be written.
    """
    target = Path(path).resolve()
    special = target.exists() and not target.is_file()
    try:
        folder = None if special else target.parent
        handle, name = tempfile.mkstemp(dir=folder, prefix=".simtmm-", suffix=".part")
    except OSError as error:
        raise OutputError(f"{path}: can't be written ({error.strerror})") from None
    os.close(handle)
    temporary = Path(name)
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
        temporary.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """Raise OutputError if `written_whole(path)` would fail: to be asked before long work, not after it."""
    folder = Path(path).parent
    if Path(path).is_dir():
        raise OutputError(f"{path}: can't be written (it is a folder)")
    if not folder.is_dir():
        raise OutputError(f"{path}: can't be written (there is no folder {folder})")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: can't be written (no permission to write in {folder})")


def _give_usual_permissions(path: Path) -> None:
    """mkstemp makes files private; a result file gets what the user's umask gives any other file."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
