"""Which machines are known by name, and where their files lie."""

from pathlib import Path

from simtmm.catalogue.names import Known, known_names, places, taken
from simtmm.errors import MachineError, nearest
from simtmm.files import is_file

FAMILIES = "families"  # the folder, beside machines, of what these take from their families


def known_machines() -> dict[str, Known]:
    """All machines that can be named; several of one name are one, with the others hidden."""
    return known_names("machines", lambda folder: sorted(folder.glob("*.toml")), lambda path: path.stem)


def machine_files() -> dict[str, Path]:
    """The machines that are known by name, and their files."""
    return {name: known.path for name, known in known_machines().items()}


def family_files(beside: Path | None = None) -> dict[str, Path]:
    """The families that are known by name, and their files.

    beside: a machine's file. A family in the folder of its own comes first, then families are looked up as machines
        are.
    """
    folders = [] if beside is None else [beside.parent.resolve()]
    folders += [folder for _, some in places("machines") for folder in some]
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
        return taken(known[alike[0]], "machine")
    meant = alike or _meant(name, known)
    if meant:
        raise MachineError(f"machine {name!r}: {'ambiguous' if alike else 'unknown'}; did you mean "
                           f"{' or '.join(map(repr, meant))}?{'' if alike else f' {NEW}'}")  # fmt: skip
    if is_file(f"{name}.toml"):
        raise MachineError(f"machine {name!r}: unknown; the file of that name is ./{name}.toml")
    near = nearest(name.casefold(), known)
    raise MachineError(f"machine {name!r}: unknown{near}{' ' if near.endswith('?') else '. '}{NEW}")


def _meant(name: str, known: dict[str, Known]) -> list[str]:
    """The machines whose names hold this one, hyphens and blanks apart: h100 is in h100-pcie and in h100-sxm."""
    plain = {each: _plain(each) for each in known}
    word = _plain(name)
    if not word:
        return []
    for fits in (str.__eq__, str.startswith, str.__contains__):
        if found := [each for each, text in plain.items() if fits(text, word)]:
            return found if len(found) <= MOST_MEANT else []
    return [each for each, text in plain.items() if len(text) > 2 and text in word][:MOST_MEANT]


NEW = "`simtmm machines new` makes one from a data sheet"
MOST_MEANT = 6  # suggestions that are still read


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
