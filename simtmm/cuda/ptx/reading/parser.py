"""PTX text to a Module. The bodies of functions are read when they are needed: a library has hundreds."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property

from simtmm.cuda.ptx.reading.body import BodyParser
from simtmm.cuda.ptx.reading.declarations import parameters, variables
from simtmm.cuda.ptx.reading.token_stream import TokenStream
from simtmm.cuda.ptx.reading.tokens import tokens
from simtmm.cuda.ptx.syntax import Function, Module, Variable
from simtmm.documents import COMMENT
from simtmm.errors import PtxError, shown

_LINKAGE = {".extern", ".visible", ".weak", ".common"}
_SPACES = {".global", ".const", ".shared"}
_BOUNDS = {
    ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank", ".reqnctapercluster",
}  # fmt: skip
_FLAGS = {".noreturn", ".explicitcluster", ".blocksareclusters"}
_PRAGMA = re.compile(r"\.(?:entry|func)\b.*\.pragma\s*\Z", re.DOTALL)
_SKIPPED = re.compile(rf'{COMMENT}|"(?:[^"\\]|\\.)*"', re.DOTALL)


def parse_module(text: str, name: str = "") -> Module:
    """A module from its text. Raises PtxError, naming the line.

    name: of the text, to begin messages with, those of functions that are read later as well; none if left out.
    """
    with _named(name):
        return _ModuleParser(text, name).module()


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except PtxError as error:
        raise PtxError(f"{name}: {error}" if name else str(error)) from None


class _Functions(Mapping[str, Function]):
    """Functions by name, each parsed when it is first needed."""

    def __init__(self, pending: dict[str, BodyParser], name: str) -> None:
        self._pending, self._name = pending, name
        self._done: dict[str, Function] = {}

    def __getitem__(self, name: str) -> Function:
        if name not in self._done:
            with _named(self._name):
                self._done[name] = self._pending[name].function()
        return self._done[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pending)

    def __len__(self) -> int:
        return len(self._pending)

    def is_entry(self, name: str) -> bool:
        """Whether a function is a kernel, its body unread."""
        return self._pending[name].entry

    def is_defined(self, name: str) -> bool:
        """Whether it has a body."""
        return self._pending[name].has_body

    def lines_of(self, name: str) -> range:
        """Lines of the text that the body of a function has, its body unread."""
        return self._pending[name].lines


class _LazyModule(Module):
    """A module that lists its kernels without reading their bodies."""

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The names of its kernels."""
        functions = self.functions
        assert isinstance(functions, _Functions)
        return tuple(name for name in functions if functions.is_entry(name))

    def is_defined(self, name: str) -> bool:
        """Whether a function has a body, which stays unread."""
        functions = self.functions
        assert isinstance(functions, _Functions)
        return functions.is_defined(name)

    def functions_at(self, lines: Collection[int]) -> Iterable[str]:
        """The names of functions in whose text some of these lines are; the others stay unread."""
        functions, ordered = self.functions, sorted(lines)
        assert isinstance(functions, _Functions)
        for name in functions:
            body = functions.lines_of(name)
            if bisect_left(ordered, body.start) < bisect_left(ordered, body.stop):
                yield name


class _ModuleParser:
    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.version, self.target = (0, 0), ""
        self.files: dict[int, str] = {}
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, BodyParser] = {}
        self.aliases: dict[str, str] = {}

    def module(self) -> Module:
        """The whole of it."""
        strings = _debug_strings(self.text)
        for start, line, end, body in _statements(self.text):
            stream = TokenStream(tokens(self.text, line, start, end))
            if stream.peek() is not None:
                self._statement(stream, body, strings)
        if not self.target:
            raise PtxError("PTX without .target")
        for alias, of in self.aliases.items():
            if of not in self.functions:
                raise PtxError(f".alias {alias}: {of} is not a function")
            self.functions[alias] = self.functions[of].renamed(alias)
        functions = _Functions(self.functions, self.name)
        for name, parser in self.functions.items():
            if parser.declares_global:
                functions[name]
        return _LazyModule(self.version, self.target, self.files, self.variables, functions)

    def _statement(self, stream: TokenStream, body: tuple[int, int, int] | None, strings: dict[str, str]) -> None:  # noqa: C901 - a case for each kind of statement
        linkage: set[str] = set()
        while (token := stream.next()).text in _LINKAGE:
            linkage.add(token.text)
        match token.text:
            case ".version":
                version = stream.next().text
                if not (found := re.fullmatch(r"([0-9]{1,4})(?:\.([0-9]{1,4}))?", version)):
                    raise PtxError(f"PTX line {token.line}: .version: {shown(version)}: must be a number, as 8.0")
                self.version = (int(found[1]), int(found[2] or 0))
            case ".target":
                self.target = stream.next().text
            case ".address_size":
                if stream.next().text != "64":
                    raise PtxError(f"PTX line {token.line}: .address_size: must be 64")
            case ".file":
                number = stream.whole()
                self.files[number] = stream.next().text.strip('"')
            case ".section" | ".pragma" | ".branchtargets":
                pass
            case ".alias":
                alias = stream.next().text
                stream.expect(",")
                self.aliases[alias] = stream.next().text
            case ".entry" | ".func":
                self._function(token.text == ".entry", stream, body, strings, token.line)
            case space if space in _SPACES:
                for declared in variables(stream, space[1:], extern=".extern" in linkage):
                    if declared.name not in self.variables or not declared.extern:
                        self.variables[declared.name] = declared
            case _:
                raise PtxError(f"PTX line {token.line}: {token.text} is not supported here")

    def _function(
        self, entry: bool, stream: TokenStream, body: tuple[int, int, int] | None, strings: dict[str, str], line: int
    ) -> None:
        returns = parameters(stream) if stream.at("(") else ()
        while stream.peek_text().startswith("."):
            stream.next()  # .attribute(.unified(...)) and the like stand in front of a name
            if stream.at("("):
                stream.skip_group()
        name = stream.next().text
        taken = parameters(stream) if stream.at("(") else ()
        bounds: dict[str, tuple[int, ...]] = {}
        while (token := stream.peek()) is not None:
            stream.next()
            if token.text in _BOUNDS:
                sizes = [stream.whole()]
                while stream.accept(","):
                    sizes.append(stream.whole())
                bounds[token.text[1:]] = tuple(sizes)
            elif token.text in _FLAGS:
                bounds[token.text[1:]] = ()
            elif token.text == ".pragma":
                stream.next()
            elif token.text != ";":
                raise PtxError(f"PTX line {token.line}: {token.text} is not supported after a function's parameters")
        if body is None and name in self.functions:
            return  # declared again
        self.functions[name] = BodyParser(
            self.text, body, name, entry, returns, taken, bounds, strings, line, self.variables
        )


def _statements(text: str) -> Iterator[tuple[int, int, int, tuple[int, int, int] | None]]:
    """The statements of a module: start, line, end, and where a body in braces stands behind it: start, line, end."""
    plain = _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    position, line = 0, 1
    for found in re.finditer(r"[;{]|^[ \t]*\.(?:version|target|address_size|file)\b[^\n]*", plain, re.MULTILINE):
        if found.start() < position:
            continue
        start, first = position, line
        if found.group() not in "{;":
            yield found.start(), first + plain.count("\n", start, found.start()), found.end(), None
            position = found.end()
        elif found.group() == ";" and _PRAGMA.search(plain, start, found.start()):
            continue  # of a function, in front of its body
        elif found.group() == ";":
            yield start, first, found.end(), None
            position = found.end()
        else:
            end = _closing(plain, found.start())
            head = plain[start : found.start()]
            if "=" in head:  # an initialiser, which goes on to its semicolon
                end = plain.find(";", end)
                if end < 0:
                    raise PtxError(f"PTX line {first}: ends in the middle of a statement")
                yield start, first, end, None
            else:
                begin = first + plain.count("\n", start, found.start())
                yield start, first, found.start(), (found.start() + 1, begin, end)
            position = end + 1
        line = first + plain.count("\n", start, position)


def _closing(plain: str, opening: int) -> int:
    """Where the brace that opens there is closed."""
    depth = 0
    for found in re.finditer(r"[{}]", plain[opening:]):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return opening + found.start()
    raise PtxError(f"PTX line {plain.count(chr(10), 0, opening) + 1}: this brace is never closed")


def _debug_strings(text: str) -> dict[str, str]:
    """The strings of .debug_str by their labels: names of inlined functions."""
    found = re.search(r"\.section\s+\.debug_str\s*\{(.*?)\}", text, re.DOTALL)
    if not found:
        return {}
    strings = {}
    for label, block in re.findall(r"([\w$]+):((?:\s*\.b8[^\n]*\n?)*)", found.group(1)):
        codes = bytes(int(code) % 256 for code in re.findall(r"\b\d{1,3}\b", re.sub(r"\.b8", "", block)))
        strings[label] = codes.split(b"\0")[0].decode(errors="replace")
    return strings
