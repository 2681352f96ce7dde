"""Stories: effects to be taught. Each is a page of text and links to states, with claims that can be computed.

They stand in simtmm/explorer/stories/*.toml:

    title = "..."                   what it is about
    text = '''...'''                paragraphs, between empty lines
    state = "k=copy&m=classroom"    where it begins

    [[shows]]                       what is to be seen, in the order of the page
    words = "..."
    state = "...&b.stride=32"       two configurations: the first, and behind b. the other one
    least, most                     between which the other's time over the first's lies
"""

import functools
from dataclasses import dataclass
from pathlib import Path

from simtmm.documents import parsed_toml
from simtmm.errors import StudyError, nearest

HERE = Path(__file__).parent / "stories"


@dataclass(frozen=True)
class Shown:
    """What is to be seen. least, most: of the other configuration's time over the first's."""

    words: str
    state: str
    least: float
    most: float


@dataclass(frozen=True)
class Story:
    """name: as on the command line."""

    name: str
    title: str
    text: tuple[str, ...]
    state: str
    shows: tuple[Shown, ...]


@functools.cache
def stories() -> dict[str, Story]:
    """All stories by name, in their order."""
    found = {}
    for path in sorted(HERE.glob("*.toml")):
        tables = parsed_toml(path.read_text(encoding="utf-8"))
        name = path.stem.split("-", 1)[1]
        paragraphs = tuple(" ".join(part.split()) for part in tables["text"].strip().split("\n\n"))
        shows = tuple(Shown(**entry) for entry in tables["shows"])
        found[name] = Story(name, tables["title"], paragraphs, tables["state"], shows)
    return found


def find_story(name: str) -> Story:
    """The story of this name. Raises StudyError."""
    known = stories()
    if name not in known:
        raise StudyError(f"story {name!r}: unknown{nearest(name, known)}")
    return known[name]
