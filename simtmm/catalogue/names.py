"""What is known by name, kernels and machines: where it lies, and what it hides of the same name.

It is looked up in the folders that the user gave (simtmm.files.given_folders), then among what is shipped, then in a
folder of the working directory: what happens to lie here never takes a shipped one's name, and where it would, a
warning says so.
"""

import logging
import multiprocessing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from simtmm.files import given_folders, is_folder, shipped_folders

Origin = Literal["given", "shipped", "here"]  # here: in a folder of the working directory

_told: set[tuple[str, str]] = set()  # what the warning about several of a name has been given for


@dataclass(frozen=True)
class Known:
    """A kernel or a machine that is known by name. path: a kernel's folder, a machine's file. hidden: others of the
    name, which are not taken.
    """

    name: str
    path: Path
    origin: Origin
    hidden: "tuple[Known, ...]" = ()


def places(what: str) -> list[tuple[Origin, list[Path]]]:
    """The folders in which "kernels" or "machines" are looked up, in that order.

    what: "kernels" or "machines".
    """
    here = Path(what)
    return [
        ("given", given_folders(what)),
        ("shipped", shipped_folders(what)),
        ("here", [here.resolve()] if is_folder(here) else []),
    ]


def known_names(
    what: str, paths_in: Callable[[Path], Iterable[Path]], name_of: Callable[[Path], str]
) -> dict[str, Known]:
    """All that can be named; several of one name are one, with the others hidden.

    what: "kernels" or "machines". paths_in: those in a folder. name_of: what one is called.
    """
    found: dict[str, list[Known]] = {}
    seen: set[Path] = set()
    for origin, folders in places(what):
        for folder in folders:
            real = folder.resolve()
            if real in seen:
                continue
            seen.add(real)
            for path in paths_in(folder):
                same = found.setdefault(name_of(path), [])
                if all(path.resolve() != other.path.resolve() for other in same):
                    same.append(Known(name_of(path), path, origin))
    return {
        name: Known(first.name, first.path, first.origin, tuple(others))
        for name, (first, *others) in sorted(found.items())
    }


def taken(known: Known, noun: str) -> Path:
    """Where what is used lies; says once, in the process that was started first, what it hides. noun: "kernel" or
    "machine".
    """
    hidden = {other.origin: other for other in reversed(known.hidden)}
    if (noun, known.name) not in _told and multiprocessing.parent_process() is None:
        _told.add((noun, known.name))
        log = logging.getLogger("simtmm")
        if known.origin == "given" and "shipped" in hidden:
            log.warning("%s %s: using %s instead of the shipped one of that name", noun, known.name, known.path)
        if "here" in hidden:
            here = Path(f"{noun}s")
            log.warning(
                "%s %s: using %s, not %s; to use that one, give its path or --%s-path %s",
                noun, known.name, "the shipped one" if known.origin == "shipped" else known.path,
                here / hidden["here"].path.name, noun, here,
            )  # fmt: skip
    return known.path
