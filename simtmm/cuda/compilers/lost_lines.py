"""Lines of source that the compiler does not name: it gives divisions of 64 bits, which it expands, line 0."""

import re
from dataclasses import replace
from itertools import islice

from simtmm.cuda.compilers.module import CompiledModule

_LOC = re.compile(r"^([ \t]*\.loc[ \t]+(\d+)[ \t]+)(\d+)([ \t]+\d+.*)$")
_LOST = re.compile(r"^[ \t]*\.loc[ \t]+\d+[ \t]+0[ \t]", re.MULTILINE)
_DIVIDES = re.compile(r"\b(?:div|rem)\.[su](?:32|64)\b")
_DIVISION = re.compile(r"[\w)\]]\s*[/%]=?\s*[\w(]")
_COMMENT = re.compile(r"//.*|/\*.*?\*/")
FAR = 20  # lines between the two that are named around it, from which on they tell nothing of it


def with_lost_lines(module: CompiledModule) -> CompiledModule:
    """The module with the line of each division that has none: the first between those around it that divides."""
    if not _LOST.search(module.ptx):
        return module
    text = module.ptx.split("\n")
    places = [(at, int(found[2]), int(found[3])) for at, row in enumerate(text) if (found := _LOC.match(row))]
    latest: dict[int, int] = {}  # line that was named, by the file
    for number, (at, file, line) in enumerate(places):
        if line:
            latest[file] = line
        end = places[number + 1][0] if number + 1 < len(places) else len(text)
        if line or not any(_DIVIDES.search(row) for row in text[at:end]):
            continue
        first = latest.get(file, 0)
        last = next((of for _, where, of in islice(places, number + 1, None) if where == file and of >= first), first)
        if first and last - first < FAR:
            known = next((each for each in range(first, last + 1) if _divides(module.source_line(file, each))), None)
            if known:
                text[at] = _LOC.sub(rf"\g<1>{known}\g<4>", text[at])
    return replace(module, ptx="\n".join(text))


def _divides(line: str | None) -> bool:
    return bool(line and _DIVISION.search(_COMMENT.sub("", line)))
