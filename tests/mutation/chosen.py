"""Which faults are planted: drawn by a seed from the rooms, more of what makes keys, and of each kind."""

import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.faults import KINDS, Fault, candidates_of, is_python

OF_KEY = 4  # times as likely
DERIVED = {"report": 2, "analysis": 2, "model": 2, "study": 2, "sampling": 2, "stalls": 2}  # values beside the result
MOST_IN_FUNCTION = 2
MOST_EQUIVALENT = 0.05
LIST = Path(__file__).with_name("equivalents.toml")
HUNK = re.compile(r"^--- a/(?P<file>\S+)\n\+\+\+ .*\n@@ -(?P<line>\d+).*\n(?P<lines>(?:[ +-].*\n?)+)", re.MULTILINE)


@dataclass(frozen=True)
class Equivalent:
    """A fault that changes nothing that anybody could see, with the reason. before, after: the lines it changes."""

    file: str
    function: str
    before: str
    after: str
    reason: str


def equivalents(path: Path = LIST) -> dict[tuple[str, str, str, str], str]:
    """The reasons, by what a fault says of itself."""
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    return {
        (one.file, one.function, one.before, one.after): one.reason for one in (Equivalent(**each) for each in listed)
    }


def name_of(fault: Fault, source: bytes) -> tuple[str, str, str, str]:
    """What a fault is listed by."""
    return fault.file, fault.function, *fault.lines(source)


def sources(tree: Path, rooms: Iterable[str]) -> list[str]:
    """The sources of these folders, or modules, of simtmm. Raises ValueError for a room that has none."""
    found = []
    for room in rooms:
        at = tree / "simtmm" / room
        files = sorted(at.rglob("*.py")) if at.is_dir() else [at.with_suffix(".py")]
        if not files or not files[0].is_file():
            raise ValueError(f"--rooms {room}: simtmm has no such folder or module")
        found += [file.relative_to(tree).as_posix() for file in files]
    return found


def drawn(tree: Path, files: Sequence[str], count: int, seed: int, kinds: Sequence[str] = KINDS) -> list[Fault]:
    """So many faults of these sources and kinds, in the order of the draw; fewer where there are no more."""
    chance = random.Random(seed)
    by_kind: dict[str, list[tuple[Fault, float]]] = {kind: [] for kind in kinds}
    texts = {file: (tree / file).read_bytes() for file in files}
    for file, source in texts.items():
        for fault in candidates_of(file, source):
            weight = DERIVED.get(file.split("/")[1], 1) * (OF_KEY if fault.of_key else 1)
            if fault.kind in by_kind:
                by_kind[fault.kind].append((fault, weight))
    chosen: list[Fault] = []
    places: Counter[tuple[str, str]] = Counter()
    while len(chosen) < count:
        kinds = [kind for kind, found in by_kind.items() if found]
        if not kinds:
            break
        found = by_kind[chance.choice(kinds)]
        at = chance.choices(range(len(found)), [weight for _, weight in found])[0]
        fault, _ = found.pop(at)
        is_new = places[fault.file, fault.function] < MOST_IN_FUNCTION
        if is_new and is_python(fault.planted(texts[fault.file])):
            places[fault.file, fault.function] += 1
            chosen.append(fault)
    return chosen


def written(tree: Path, text: str) -> tuple[list[Fault], list[str]]:
    """The faults of a run's survivors.diff, and the headings of those whose lines are no longer there."""
    found: list[Fault] = []
    gone: list[str] = []
    for hunk in HUNK.finditer(text):
        file, line = hunk["file"], int(hunk["line"])
        source = (tree / file).read_bytes() if (tree / file).is_file() else b""
        changed = _applied(source, hunk["lines"].splitlines(), line)
        faults = [each for each in candidates_of(file, source) if each.planted(source) == changed]
        found += faults[:1]
        gone += [] if faults else [f"{file}:{line}"]
    return found, gone


def _applied(source: bytes, lines: Sequence[str], line: int) -> bytes | None:
    """A source with a hunk of a diff, at the place nearest to its line; None where it fits nowhere."""
    before, after = (
        "\n".join(each[1:] for each in lines if each[0] in " " + sign).encode().rstrip(b"\n") for sign in "-+"
    )
    places = [place.start() for place in re.finditer(re.escape(before), source)]
    if not places:
        return None
    at = min(places, key=lambda place: abs(source[:place].count(b"\n") + 1 - line))
    return source[:at] + after + source[at + len(before) :]
