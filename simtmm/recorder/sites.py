"""A kernel's source as the instrumented builds take it: in one piece, its sites numbered.

LD(a, i) becomes SIMTMM_LD(7, a, i), and a table says what 7 is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from simtmm.documents import COMMENT
from simtmm.errors import KernelError
from simtmm.kernel import Kernel
from simtmm.recorder.statements import blanked, is_statement
from simtmm.trace.schema import Kind, TraceSite

MACROS = {
    "LD": Kind.LOAD,
    "LD_ASYNC": Kind.ASYNC,
    "ST": Kind.STORE,
    "JOIN": Kind.JOIN,
    "SHARED": Kind.SHARED_ARRAY,
    "LDS": Kind.SHARED_LOAD,
    "STS": Kind.SHARED_STORE,
    **{f"ATOMIC_{update}": Kind.ATOMIC for update in ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "CAS")},
    "SYNC": Kind.BARRIER,
    "OP": Kind.WORK,
}

# What looks like a macro in here is none. A number comes first: the ' in 1'000 begins no character.
SKIPPED = rf"{COMMENT}|\b\d(?:'?[\w.])*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"

_TOKENS = re.compile(
    rf"(?P<skipped>{SKIPPED})"
    rf"|(?<![\w.])(?P<macro>{'|'.join(sorted(MACROS, key=len, reverse=True))})(?P<open>\s*\()"
    rf"(?P<empty>(?:\s|{COMMENT})*\))?",
    re.DOTALL,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<own>[^"\n]+)"|<(?P<system>[^>\n]+)>)[^\n]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A kernel's source with the headers of its folder in their places, its sites numbered.

    system: the headers in angle brackets, which were taken out: they stand before everything else.
    """

    text: str
    sites: list[TraceSite]
    system: list[str]


def read_source(kernel: Kernel) -> Source:
    """The source of a kernel. Raises KernelError for a file that can't be read."""
    system: list[str] = []
    lines = tuple(_lines(kernel.source(), kernel.source_path.name, kernel.folder, system, set()))
    text, sites = _in_one_piece(lines)
    return Source(text, list(sites), list(dict.fromkeys(system)))


@lru_cache(maxsize=4)  # a recording asks several times
def _in_one_piece(lines: tuple[tuple[str, int, str], ...]) -> tuple[str, tuple[TraceSite, ...]]:
    """The text of lines of files, its sites numbered, and these."""
    parts: list[str] = []
    origins: list[tuple[str, int]] = []
    for file, number, line in lines:
        if not origins or origins[-1] != (file, number - 1):
            parts.append(f'#line {number} "{file}"\n')
            origins.append((file, number - 1))
        parts.append(line + "\n")
        origins.append((file, number))
    text, sites = number_sites("".join(parts), origins)
    return text, tuple(sites)


def has_macros(kernel: Kernel) -> bool:
    """Whether a kernel's source marks what it does with the macros of device.cuh. Raises KernelError."""
    return "device.cuh" in kernel.source() and bool(read_source(kernel).sites)


def _lines(text: str, file: str, folder: Path, system: list[str], seen: set[Path]) -> Iterator[tuple[str, int, str]]:
    """The lines of a file, those of the folder's headers instead of their #include: (file, number, line)."""
    for number, line in enumerate(text.split("\n"), start=1):
        found = _INCLUDE.match(line)
        if found is None:
            yield file, number, line
        elif found["system"] is not None:
            system.append(found["system"])
            yield file, number, ""
        elif not (folder / found["own"]).is_file():
            yield file, number, line  # device.cuh, or the compiler's to complain of
        else:
            header = (folder / found["own"]).resolve()
            try:
                inner = header.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise KernelError(f"{header}: can't be read ({error})") from None
            if header in seen and (_ONCE.search(inner) or len(seen) > 100):
                continue
            seen.add(header)
            yield from _lines(_ONCE.sub("", inner), found["own"], folder, system, seen)


def number_sites(source: str, origins: list[tuple[str, int]] | None = None) -> tuple[str, list[TraceSite]]:
    """The source with each use of a macro numbered, in textual order, and the site table.

    Lines stay where they are. A use within a macro of the kernel's own is one site, however often that is used.
    origins: for each line, the file and the line that it comes from; kernel.cu as it is if left out.
    """
    sites: list[TraceSite] = []
    lines, plain = source.split("\n"), blanked(source)
    line, counted = 0, 0  # the lines up to there

    def number(found: re.Match[str]) -> str:
        nonlocal line, counted
        if found["skipped"] is not None:
            return found[0]
        line, counted = line + source.count("\n", counted, found.start()), found.start()
        file, origin = origins[line] if origins else ("kernel.cu", line + 1)
        site, kind = len(sites), MACROS[found["macro"]]
        unused = kind == Kind.ATOMIC and is_statement(plain, found.start(), found.end("open") - 1)
        sites.append(TraceSite(site, kind.name.lower(), file, origin, lines[line].strip(), unused=unused))
        opened = f"SIMTMM_{found['macro']}{found['open']}{site}"
        return opened + (found["empty"] if found["empty"] is not None else ", ")

    return _TOKENS.sub(number, source), sites


def global_functions(source: str) -> list[str]:
    """The names of the __global__ functions of a CUDA source, templates apart, in textual order."""
    text = re.sub(SKIPPED, lambda found: '""' if found[0].startswith('"') else " ", source, flags=re.DOTALL)
    text = re.sub(r"^[ \t]*#(?:[^\\\n]|\\.)*", " ", text, flags=re.MULTILINE | re.DOTALL)
    names = []
    for found in re.finditer(r"\b__global__\b", text):
        before = re.sub(r'(?:\s|\b(?:static|inline|void|extern)\b|"")+$', "", text[: found.start()])
        if before.endswith(">"):
            continue  # a template, whose instances nobody names
        behind = text[found.end() :]
        while attribute := re.match(
            r"\s*(?:\b(?:void|static|inline|__noinline__|__forceinline__)\b|__launch_bounds__\s*)", behind
        ):
            behind = behind[attribute.end() :]
            if attribute[0].strip() == "__launch_bounds__":
                behind = behind[_closing(behind) :]
        name = re.match(r"\s*(\w+)\s*\(", behind)
        if name:
            names.append(name[1])
    return list(dict.fromkeys(names))


def no_functions(path: Path, source: str) -> str:
    """The message for a source without `global_functions`."""
    message = f"{path}: has no __global__ function"
    if re.search(r"\b__global__\b", re.sub(SKIPPED, " ", source, flags=re.DOTALL)):
        return f"{message} but only templates without named instances: add a __global__ function that is not a template"
    return message


def _closing(text: str) -> int:
    """Behind the parenthesis that closes the one that the text begins with."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position + 1
    return len(text)
