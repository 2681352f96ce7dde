"""Catalogue: the kernels that are known by name and their descriptions, without running their code.

A kernel is code, so it matters who names it. A user's call may name any kernel: by its folder's path, or by a name,
which is looked up in the folders that the user gave (simtmm.files.given_folders), then among the shipped
kernels, then in ./kernels of the working directory. What stands in data (a trace, a store, a study file, measured
times) may only name a kernel that is shipped or lies in a folder given, and only by its name.
"""

import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simtmm.catalogue.host_text import HostText, Untold
from simtmm.catalogue.names import Known, known_names, taken
from simtmm.errors import KernelError, nearest, shown
from simtmm.files import is_folder, is_there
from simtmm.parameter import Parameter
from simtmm.renamed import KERNELS, tell

FILES = ("kernel.cu", "host.py")
HERE = Path("kernels")
MOST_BYTES = 1 << 18  # of a host.py that is read


@dataclass(frozen=True)
class Description:
    """The description of a kernel.

    about: the docstring of host.py. algorithm: the name of the papers' algorithm that it follows with its defaults.
    untold: which of about, parameters, paper and algorithm only running host.py tells. fault: why nothing is known, in
    a line; empty where all is well.
    """

    name: str
    folder: Path
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    about: str = ""
    paper: str = ""
    algorithm: str | None = None
    untold: tuple[str, ...] = ()
    fault: str = ""

    @property
    def summary(self) -> str:
        """The first line of what it is about."""
        return self.about.strip().split("\n")[0].rstrip(".")


def known_kernels() -> dict[str, Known]:
    """All kernels that a user can name, ./kernels included; several of one name are one, with the others hidden."""
    return known_names("kernels", _kernels_in, lambda path: path.name)


def kernel_folders() -> dict[str, Path]:
    """The kernels that data can name: shipped ones and those in folders that the user gave, and their folders."""
    return {name: known.path for name, known in known_kernels().items() if known.origin != "here"}


def current_name(name: str) -> str:
    """What a kernel is called now, if that is its old name; the name itself if it is not, or a kernel has it.

    name: as a user or a file has it.
    """
    if name not in KERNELS or name in known_kernels():
        return name
    tell("kernel", name, KERNELS[name])
    return KERNELS[name]


def typed_kernel(kernel: str | Path) -> Path:
    """The folder of a kernel that a user named, by its name or its folder's path.

    kernel: a word of a command line, or a path.

    Raises KernelError.
    """
    if not isinstance(kernel, (str, Path)):
        raise KernelError(f"kernel = {shown(kernel)}: must be a kernel's name, or a path to its folder")
    folder, named = Path(kernel), str(kernel)
    if folder.name == named or not is_folder(folder):  # else it is a path for sure, and no folder need be searched
        known, name = known_kernels(), current_name(named)
        if name in known:
            return taken(known[name], "kernel")
        if not named or not is_folder(folder):
            if named and is_there(folder):
                raise KernelError(
                    f"{named}: unknown kind of file: must be a kernel's name or folder, CUDA (.cu, .ptx, .cubin, "
                    ".fatbin), launches (.toml), a script (.py), a trace (.parquet) or a workload (.json)"
                )
            raise KernelError(f"kernel {named!r}: unknown{nearest(named, known)}")
    return folder


def named_kernel(name: str) -> Path | None:
    """The folder of a kernel that data names; None where no kernel that data can name has exactly that name.

    name: as the data have it.
    """
    known = known_kernels().get(current_name(name))
    return None if known is None or known.origin == "here" else taken(known, "kernel")


def refusal(name: str, folder: Path | None = None) -> str:
    """Why data can't name a kernel so, and what helps. folder: what it is a path to, relative to here.

    name: as the data have it.
    """
    if name in known_kernels():
        return f"is a kernel of ./{HERE}, which a file can name only with --kernel-path {HERE}"
    if folder is not None:
        return f"is a path to a folder that is neither shipped nor given: add --kernel-path {folder.parent}"
    if Path(name).name != name:
        return "is a path; give the kernel's name here, and its parent folder as --kernel-path"
    return f"unknown kernel: neither shipped nor in a folder of --kernel-path{nearest(name, kernel_folders())}"


def describe(name: str, folder: Path) -> Description:
    """The description of a kernel from the text of host.py, which is read and not run.

    name: of the kernel.
    folder: its path.
    """
    path = folder / "host.py"
    try:
        text = HostText(_content(path), str(path))
    except KernelError as error:
        return Description(name, folder, fault=str(error))
    values: dict[str, Any] = {}
    parts: dict[str, Callable[[], Any]] = {
        "about": text.about, "parameters": text.parameters, "paper": text.paper, "algorithm": text.algorithm,
    }  # fmt: skip
    for part, read in parts.items():
        try:
            values[part] = read()
        except (Untold, RecursionError):
            continue
    return Description(name, folder, **values, untold=tuple(part for part in parts if part not in values))


def _content(path: Path) -> bytes:
    """What a host.py holds. Raises KernelError for what is no file, can't be read or is no host.py by its size."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise KernelError(f"{path}: is not a regular file")
        if status.st_size > MOST_BYTES:
            raise KernelError(f"{path}: has {status.st_size:,} bytes: must have at most {MOST_BYTES:,}")
        return path.read_bytes()
    except OSError as error:
        raise KernelError(f"{path}: can't be read ({error.strerror})") from None


def _kernels_in(root: Path) -> Iterator[Path]:
    """The folders in a folder that have the files of a kernel, whatever is in these."""
    try:
        paths = sorted(path for path in root.iterdir() if path.name.isprintable())
    except OSError:  # is not there, or not ours to read
        return
    for path in paths:
        try:
            if all((path / name).lstat() for name in FILES):
                yield path
        except PermissionError:
            yield path  # its content is unknown, and its description says so
        except OSError:
            continue
