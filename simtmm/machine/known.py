"""Which machines are known by name, and where their files lie.

They are looked for in the folders that the user gave (simtmm.files.given_folders), then among the shipped ones, then in
./machines of the working directory: a file that happens to lie here never takes a shipped machine's name, and where one
would, a warning says so.
"""

import logging
import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from simtmm.errors import MachineError, nearest
from simtmm.files import given_folders, is_folder, shipped_folders

Origin = Literal["given", "shipped", "here"]  # here: in ./machines of the working directory

HERE = Path("machines")
FAMILIES = "families"  # the folder, beside machines, of what these take from their families

_told: set[str] = set()  # names that the warning about several machines of a name has been given for


@dataclass(frozen=True)
class KnownMachine:
    """A machine that is known by name. hidden: others of the name, which are not taken."""

    name: str
    path: Path
    origin: Origin
    hidden: "tuple[KnownMachine, ...]" = ()


def known_machines() -> dict[str, KnownMachine]:
    """All machines that can be named; several of one name are one, with the others hidden."""
    found: dict[str, list[KnownMachine]] = {}
    for origin, folders in _places():
        for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
            same = found.setdefault(path.stem, [])
            if all(path.resolve() != other.path.resolve() for other in same):
                same.append(KnownMachine(path.stem, path, origin))
    return {
        name: KnownMachine(first.name, first.path, first.origin, tuple(others))
        for name, (first, *others) in sorted(found.items())
    }


def machine_files() -> dict[str, Path]:
    """The machines that are known by name, and their files."""
    return {name: known.path for name, known in known_machines().items()}


def family_files(beside: Path | None = None) -> dict[str, Path]:
    """The families that are known by name, and their files.

    beside: a machine's file. A family in the folder of its own comes first, then they are looked for as machines are.
    """
    folders = [] if beside is None else [beside.parent.resolve()]
    folders += [folder for _, some in _places() for folder in some]
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted((folder / FAMILIES).glob("*.toml")):
            found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def named_machine(name: str) -> Path:
    """The file of the machine of that name, whatever its capitals. Raises MachineError, with what may be meant."""
    known = known_machines()
    alike = [name] if name in known else [each for each in known if each.casefold() == name.casefold()]
    if len(alike) == 1:
        return _taken(known[alike[0]])
    meant = alike or _meant(name, known)
    if meant:
        raise MachineError(f"machine {name!r}: {'several are called so' if alike else 'unknown'}; did you mean "
                           f"{' or '.join(map(repr, meant))}?")  # fmt: skip
    raise MachineError(f"machine {name!r}: unknown{nearest(name.casefold(), known)}")


def _meant(name: str, known: dict[str, KnownMachine]) -> list[str]:
    """The machines whose names hold this one, hyphens and blanks apart: h100 is in h100-pcie and in h100-sxm."""
    plain = {each: _plain(each) for each in known}
    word = _plain(name)
    if not word:
        return []
    for fits in (str.__eq__, str.startswith, str.__contains__):
        if found := [each for each, text in plain.items() if fits(text, word)]:
            return found if len(found) <= MOST_MEANT else []
    return [each for each, text in plain.items() if len(text) > 2 and text in word][:MOST_MEANT]


MOST_MEANT = 6  # suggestions that are still read


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _places() -> list[tuple[Origin, list[Path]]]:
    return [
        ("given", given_folders("machines")),
        ("shipped", shipped_folders("machines")),
        ("here", [HERE.resolve()] if is_folder(HERE) else []),
    ]


def _taken(known: KnownMachine) -> Path:
    """The file of a machine that is used; says once, in the process that was started first, what it hides."""
    hidden = {other.origin: other for other in reversed(known.hidden)}
    if known.name not in _told and multiprocessing.parent_process() is None:
        _told.add(known.name)
        log = logging.getLogger("simtmm")
        if known.origin == "given" and "shipped" in hidden:
            log.warning("machine %s: %s is taken, and not the shipped one of that name", known.name, known.path)
        if "here" in hidden:
            own = HERE / f"{known.name}.toml"
            taken = "the shipped one" if known.origin == "shipped" else known.path
            log.warning(
                "machine %s: %s is taken, and not %s; to have that one, name its path or give --machine-path %s",
                known.name, taken, own, HERE,
            )  # fmt: skip
    return known.path
