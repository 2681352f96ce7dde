"""Which of a user's headers a source may read: what a kept module hangs on, without asking a compiler.

Lines `#include` are followed, whatever the conditions around them say, through all folders where one may lie: more is
found than is read, never less. NVIDIA's headers and the host's are not looked at; they change with their compilers.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simtmm.cuda.compilers.header_macros import Use, defined, spelled
from simtmm.files import is_file, is_there

LARGEST = 64 << 20  # bytes of a header that is looked at
_GAP = rb"(?:[ \t]|/\*.{0,1000}?\*/)*"
_INCLUDE = re.compile(
    rb"(?:#|%:|\?\?=)" + _GAP + rb"(?:include|include_next|import)\b" + _GAP
    + rb'(?:"([^"\n]+)"|<([^>\n]+)>|([A-Za-z_]\w*)[ \t]*(\([^()\n]*\))?)'
    rb'|__has_include(?:_next)?\s*\(\s*(?:"([^"\n]+)"|<([^>\n]+)>|([A-Za-z_]\w*)[ \t]*(\([^()\n]*\))?)'
)  # fmt: skip
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
    given = list(sources)
    places = list(dict.fromkeys([*folders, *(place for _, place in given)]))
    given += [(text.encode(), place) for text in (headers or {}).values() for place in places[:1] or [Path()]]
    followed = _Followed(places)
    for text, own in given:
        followed.read(text, own)
    while followed.follow():
        pass
    found = tuple(sorted((str(path), digest) for path, digest in followed.digests.items()))
    return Included(found, followed.is_whole, followed.is_of_one)


class _Followed:
    """Texts that were read, and the headers that these name."""

    def __init__(self, places: Sequence[Path]) -> None:
        """places: folders that are searched for headers, beside a text's own."""
        self.digests: dict[Path, str] = {}
        self.is_of_one = False
        self._places, self._texts = places, list[bytes]()
        self._waiting: list[tuple[bytes, Path]] = []  # names of headers, and the folder of the text that names each
        self._tried: set[tuple[bytes, Path]] = set()
        self._macros: dict[tuple[Use, Path], None] = {}  # likewise
        self._spelled: set[tuple[bytes, Path]] = set()  # names that macros spell
        self._is_whole, self._are_all_known = True, True

    @property
    def is_whole(self) -> bool:
        """Whether each header that may be read was found, and read."""
        return self._is_whole and self._are_all_known

    def read(self, text: bytes, own: Path) -> None:
        """Note the headers that a text names. own: the folder that it lies in."""
        text = _SPLICE.sub(b"", text)
        self._texts.append(text)
        self.is_of_one = self.is_of_one or OF_ONE_ARCHITECTURE.search(text) is not None
        for quoted, pointed, macro, arguments, *tested in _INCLUDE.findall(text):
            if macro or tested[2]:
                within = arguments or tested[3]
                self._macros[(macro or tested[2], within[1:-1] if within else None), own] = None
            else:
                self._waiting.append((quoted or pointed or tested[0] or tested[1], own))

    def follow(self) -> bool:
        """Read the headers that are named so far; whether macros name more of them."""
        while self._waiting:
            name, own = self._waiting.pop()
            for folder in [own, *self._places]:
                if (name, folder) in self._tried:
                    continue
                self._tried.add((name, folder))
                self._look_at(folder / name.decode("utf-8", "surrogateescape"))
        macros = defined(self._texts) if self._macros else frozenset()
        uses = {use: spelled(use, self._texts, macros) for use in {use for use, _ in self._macros}}
        self._are_all_known = all(are_all for _, are_all in uses.values())
        spelled_now = {(name, own) for use, own in self._macros for name in uses[use][0]}
        self._waiting = sorted(spelled_now - self._spelled)
        self._spelled |= spelled_now
        return bool(self._waiting)

    def _look_at(self, path: Path) -> None:
        if path in self.digests:
            return
        if not is_file(path):
            self._is_whole = self._is_whole and not is_there(path)  # a device or a pipe, of which nobody knows the end
            return
        try:
            content = _content(path)
        except OSError:
            return
        if content is None:
            self._is_whole = False
            return
        self.digests[path] = hashlib.sha256(content).hexdigest()
        self.read(content, path.parent)


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
