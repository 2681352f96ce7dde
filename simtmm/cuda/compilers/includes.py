"""Which of a user's headers a source may read: what a kept module hangs on, without asking a compiler.

Lines `#include` are followed, whatever the conditions around them say, through all folders where one may lie: more is
found than is read, never less. NVIDIA's headers and the host's are not looked at; they change with their compilers.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simtmm.files import is_file, is_there

LARGEST = 64 << 20  # bytes of a header that is looked at
_GAP = rb"(?:[ \t]|/\*.{0,1000}?\*/)*"
_INCLUDE = re.compile(
    rb"(?:#|%:|\?\?=)" + _GAP + rb"(?:include|include_next|import)\b" + _GAP
    + rb'(?:"([^"\n]+)"|<([^>\n]+)>|([A-Za-z_]\w*))'
    rb'|__has_include(?:_next)?\s*\(\s*(?:"([^"\n]+)"|<([^>\n]+)>)'
)  # fmt: skip
_DEFINED = re.compile(rb'(?:#|%:)[ \t]*define[ \t]+(\w+)[ \t]+(?:"([^"\n]+)"|<([^>\n]+)>)')
OF_ONE_ARCHITECTURE = re.compile(
    rb"\b(?:wgmma|setmaxnreg|tensormap\.replace|sm_90a|compute_90a|__CUDA_ARCH_FEAT_SM90_ALL|__CUDA_ARCH_SPECIFIC__)\b"
)
"""What a text names that is for sm_90 alone, and not for what comes after it: it must be compiled for sm_90a."""

_HEAVY = (
    (re.compile(rb"#\s*include\s*<(?:thrust|cub)/"), 9.0),
    (re.compile(rb"#\s*include\s*[<\"](?:cutlass|cute)/"), 20.0),
)  # libraries of templates, and how many times as long as a plain file one takes that includes them, about
_SPLICE = re.compile(rb"\\\r?\n")


@dataclass(frozen=True)
class Included:
    """A user's headers.

    digests: path and hash of the content of each, sorted.
    complete: whether these are all; not where the name of one comes from a macro that could not be followed, or is of
        no file, as a device, or of one larger than any header.
    is_of_one: whether the texts or these name what one architecture alone has.
    """

    digests: tuple[tuple[str, str], ...]
    complete: bool
    is_of_one: bool = False


def included(
    sources: Iterable[tuple[bytes, Path]], folders: Sequence[Path], headers: Mapping[str, str] | None = None
) -> Included:
    """The headers that texts may read.

    sources: each text, and the folder that it lies in.
    folders: that are searched for headers.
    headers: those in memory, by name; their texts are followed, too.
    """
    waiting = list(sources)
    places = list(dict.fromkeys([*folders, *(place for _, place in waiting)]))
    waiting += [(text.encode(), place) for text in (headers or {}).values() for place in places[:1] or [Path()]]
    digests: dict[Path, str] = {}
    whole, is_of_one = True, False
    named_by_macros: set[bytes] = set()
    defined: set[bytes] = set()
    while waiting:
        text, own = waiting.pop()
        text = _SPLICE.sub(b"", text)
        is_of_one = is_of_one or OF_ONE_ARCHITECTURE.search(text) is not None
        names = []
        for quoted, pointed, macro, tested, tested_pointed in _INCLUDE.findall(text):
            if macro:
                named_by_macros.add(macro)
            names.append(quoted or pointed or tested or tested_pointed)
        if named_by_macros or b"include" in text:
            for name, quoted, pointed in _DEFINED.findall(text):
                defined.add(name)
                names.append(quoted or pointed)
        for name in filter(None, names):
            for folder in dict.fromkeys([own, *places]):
                path = folder / name.decode("utf-8", "surrogateescape")
                if path in digests:
                    continue
                if not is_file(path):
                    whole = whole and not is_there(path)  # a device or a pipe, of which nobody knows the end
                    continue
                try:
                    content = _content(path)
                except OSError:
                    continue
                if content is None:
                    whole = False
                    continue
                digests[path] = hashlib.sha256(content).hexdigest()
                waiting.append((content, path.parent))
    found = tuple(sorted((str(path), digest) for path, digest in digests.items()))
    return Included(found, whole and named_by_macros <= defined, is_of_one)


def times_as_long(texts: Iterable[bytes]) -> float:
    """How many times as long as a plain file nvcc takes, about, for one that includes libraries of templates.

    texts: the file, and its own headers.
    """
    found = list(texts)
    return max((times for pattern, times in _HEAVY if any(pattern.search(text) for text in found)), default=1.0)


def _content(path: Path) -> bytes | None:
    """What is in a header; None where it is larger than any is."""
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    return content if len(content) <= LARGEST else None
