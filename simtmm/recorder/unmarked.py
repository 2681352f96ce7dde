"""Lines of a kernel with macros where its compiled form touches arrays and no macro marks that.

What such a line does is missing in a recording as written. The plain form is compiled, as it would be for a GPU, and
the lines of its accesses are compared with those of the macros. Where there is no compiler, or it does not take the
kernel, there is no warning.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.compilers.architecture import OF_TODAY
from simtmm.documents import COMMENT
from simtmm.errors import CompilerError
from simtmm.kernel import Kernel
from simtmm.recorder.compiler import HERE
from simtmm.recorder.sites import MACROS, SKIPPED

MOST_TOLD = 5  # lines that are named
SOURCE = "kernel.cu"
HEADERS = (".cuh", ".h", ".hpp", ".inl")

_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_ACCESS = re.compile(r"(?:@!?%\w+\s+)?(?:ld|ldu|st|atom|red|cp\.async)((?:\.[\w:]+)+)\s")
_ELSEWHERE = re.compile(r"\.(?:shared|local|const|param)\b")
_GLOBAL = re.compile(r"\.global\b")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\\\n]|\\.)*)", re.MULTILINE | re.DOTALL)

_SUBSCRIPT = re.compile(r"\[|->|(?:^|[-=(,;{}+/%&|<>!~?:]|\breturn\b)\s*\*+\s*[\w(]")
_PARENTHESES = re.compile(rf"{SKIPPED}|[()]", re.DOTALL)
_CALL = re.compile(r"(\w+)(?:<[\w:,\s]*>)?\s*\(")
_NO_CALLS = ("if", "while", "for", "switch", "return", "sizeof")

Place = tuple[int, int, int]  # file, line and column, as `.loc` has them


@dataclass(frozen=True)
class _Touched:
    """Lines of a source where arrays are touched and nothing marks it: file, line, text."""

    lines: tuple[tuple[str, int, str], ...]


def unmarked_warnings(kernel: Kernel, parameters: Mapping[str, Any]) -> list[str]:
    """A warning for each line whose accesses a recording as written misses; for the first few, and their number.

    Raises KernelError as `Kernel.source` and `Kernel.defines` do.
    """
    defines = tuple(f"-D{name}={value}" for name, value in kernel.defines(parameters).items())
    try:
        headers = tuple(_headers(kernel.folder))
        lines = _touched(kernel.source(), headers, defines).lines
    except (CompilerError, OSError, UnicodeDecodeError):
        return []
    warnings = [
        f"{file}:{line}: `{text}` accesses an array without a macro: this access is not recorded"
        for file, line, text in lines[:MOST_TOLD]
    ]
    if len(lines) > MOST_TOLD:
        warnings.append(f"{len(lines) - MOST_TOLD} more lines access arrays without a macro")
    return warnings


@lru_cache(maxsize=64)
def _touched(source: str, headers: tuple[tuple[str, str], ...], defines: tuple[str, ...]) -> _Touched:
    """headers: of the kernel's folder, by name. It is compiled as a text, wherever it lies, so that it is cached
    once.
    """
    module = compile_source(
        source, name=SOURCE, architecture=OF_TODAY, options=[*defines, f"-I{HERE}"], headers=dict(headers)
    )
    files = {number: name for number, name in module.files.items() if name in module.texts}
    places = set(_accesses(module.ptx, set(files)))
    texts = {number: module.texts[files[number]] for number, _ in places}
    names = _marking_names(texts.values())
    marked = {number: marked_lines(text, names) for number, text in texts.items()}
    by_file = {files[number]: text.split("\n") for number, text in texts.items()}
    found = sorted((files[number], line) for number, line in places if line not in marked[number])
    touched = ((file, line, _line(by_file[file], line)) for file, line in found)
    return _Touched(tuple(each for each in touched if _may_touch(each[2])))


def _may_touch(line: str) -> bool:
    """Whether a line can touch an array: not the one where values meet whose loads the compiler has joined."""
    plain = re.sub(COMMENT, " ", line)
    return bool(_SUBSCRIPT.search(plain)) or any(name not in _NO_CALLS for name in _CALL.findall(plain))


def _headers(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in HEADERS and path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _accesses(ptx: str, own: set[int]) -> Iterator[tuple[int, int]]:
    """File and line of each access to what may be global memory: the innermost in the kernel's own files."""
    callers: dict[Place, Place] = {}
    here: Place | None = None
    for line in ptx.split("\n"):
        text = line.strip()
        if found := _LOC.match(text):
            here = (int(found[1]), int(found[2]), int(found[3]))
            if found[4]:
                callers[here] = (int(found[4]), int(found[5]), int(found[6]))
            else:
                callers.pop(here, None)
        elif (found := _ACCESS.match(text)) and _may_be_global(found[1]):
            place, seen = here, 0
            while place is not None and place[0] not in own and seen < len(callers) + 1:
                place, seen = callers.get(place), seen + 1
            if place is not None and place[0] in own and place[1]:
                yield place[0], place[1]


def _may_be_global(modifiers: str) -> bool:
    return bool(_GLOBAL.search(modifiers)) or not _ELSEWHERE.search(modifiers)


def _marking_names(texts: Iterable[str]) -> frozenset[str]:
    """The macros of device.cuh, and the kernel's own that use them."""
    bodies = [(found[1], found[2]) for text in texts for found in _DEFINE.finditer(text)]
    names = set(MACROS)
    while True:
        pattern = _use(frozenset(names))
        more = {name for name, body in bodies if name not in names and any(True for _ in _uses(pattern, body))}
        if not more:
            return frozenset(names)
        names |= more


def _use(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<skipped>{SKIPPED})|(?<![\w.])(?P<macro>{'|'.join(sorted(names))})\b(?P<open>\s*\()?", re.DOTALL
    )


def _uses(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return (found for found in pattern.finditer(text) if found["skipped"] is None)


def marked_lines(text: str, names: frozenset[str] = frozenset(MACROS)) -> set[int]:
    """The lines of a source on which a macro stands; one that spans several marks all of them."""
    marked: set[int] = set()
    for found in _uses(_use(names), text):
        end = _closed(text, found.end() - 1) if found["open"] else found.end()
        first = text.count("\n", 0, found.start()) + 1
        marked.update(range(first, first + text.count("\n", found.start(), end) + 1))
    return marked


def _closed(text: str, opening: int) -> int:
    """Behind the parenthesis that closes the one at a place."""
    depth = 0
    for found in _PARENTHESES.finditer(text, opening):
        depth += (found[0] == "(") - (found[0] == ")")
        if depth == 0:
            return found.end()
    return len(text)
