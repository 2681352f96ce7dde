"""How many launches a program's source has, where its loops say so: for what is foreseen of its time, and no more."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from pathlib import Path

MOST_BYTES = 1 << 18  # of a source that is looked at
MOST = 10**7  # launches, from which on a number is none
_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_CONSTANT = re.compile(
    r"\b(?:const|constexpr)\b[^;=(){}]{0,80}?\b(\w+)\s*=\s*([^;,{}]{1,200});|^[ \t]*#\s*define\s+(\w+)[ \t]+(\S.*)$",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"\b(\w+)\s*\([^;{}]{0,1000}\)\s*(?:const\s*|noexcept\s*)*\{")
_FOR = re.compile(
    r"\s*[\w:]+\s+(\w+)\s*=\s*([^;]+);\s*\1\s*(<=?)\s*([^;]+);"
    r"\s*(?:(?:\+\+\s*\1|\1\s*\+\+)|\1\s*\+=\s*(.+))\s*$"
)
_WORD = re.compile(r"\b(for|while|do|if|else|switch)\b")
_SUFFIX = re.compile(r"\b(\d+)[uUlL]+\b")
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv, ast.LShift: lambda one, by: one << min(by, 64), ast.Mod: operator.mod,
}  # fmt: skip


class _UnknownError(Exception):
    """A loop whose rounds are not known from its text alone."""


def launches_of(path: str | Path) -> int | None:
    """How many launches a Python script, or a CUDA program, makes; None where its text alone does not say.

    Of branches the one with more launches is taken. Calls of libraries, which launch on their own, are not seen.

    path: of its source.
    """
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            return None
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        found = _Script(text).launches if Path(path).suffix == ".py" else _Program(text).launches
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError, ArithmeticError, LookupError, _UnknownError):
        return None
    return found if 0 < found <= MOST else None


def _value(node: ast.expr, known: Mapping[str, int]) -> int:
    """Of an expression of whole numbers and known names."""
    match node:
        case ast.Constant(value=bool()):
            raise _UnknownError
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, known)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, known), _value(right, known))
        case _:
            raise _UnknownError


def _once(found: dict[str, int | None], name: str, count: Callable[[], int]) -> int:
    """What a function launches, counted at its first call; one that calls itself is not counted."""
    if name not in found:
        found[name] = None
        found[name] = count()
    known = found[name]
    if known is None:
        raise _UnknownError
    return known


class _Script:
    """A Python script: kernels that a decorator makes, launched by kernel[...](...)."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        self._kernels = {each.name for each in functions if any(map(_compiles, each.decorator_list))}
        self._functions = {each.name: each for each in functions if each.name not in self._kernels}
        self._known: dict[str, int] = {}
        self._found: dict[str, int | None] = {}  # of functions; None: of one that is under way
        self.launches = self._of_all(tree.body)

    def _of_all(self, body: list[ast.stmt]) -> int:
        return sum(self._of(each) for each in body)

    def _of(self, node: ast.stmt) -> int:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                return 0
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._known.pop(name, None)
                try:
                    self._known[name] = _value(value, self._known)
                except _UnknownError:
                    return self._of_calls(value)
                return 0
            case ast.For():
                each = self._of_all(node.body)
                return each * self._rounds(node.iter) if each else 0
            case ast.While():
                if self._of_all(node.body):
                    raise _UnknownError
                return 0
            case ast.If():
                return max(self._of_all(node.body), self._of_all(node.orelse))
            case ast.With():
                return self._of_all(node.body)
            case ast.Try():
                return self._of_all(node.body)
            case _:
                return self._of_calls(node)

    def _of_calls(self, within: ast.AST) -> int:
        found = 0
        for node in ast.walk(within):
            match node:
                case ast.Call(func=ast.Subscript(value=ast.Name(id=name))) if name in self._kernels:
                    found += 1
                case ast.Call(func=ast.Name(id=name)) if name in self._functions:
                    found += self._of_function(name)
        return found

    def _of_function(self, name: str) -> int:
        return _once(self._found, name, lambda: self._of_all(self._functions[name].body))

    def _rounds(self, of: ast.expr) -> int:
        match of:
            case ast.Call(func=ast.Name(id="range"), args=[*bounds], keywords=[]):
                return len(range(*(_value(each, self._known) for each in bounds)))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return len(elements)
            case _:
                raise _UnknownError


def _compiles(decorator: ast.expr) -> bool:
    """Whether it makes a kernel: @cuda.jit, @triton.jit, with arguments or without."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr == "jit"


class _Program:
    """A CUDA program: launches by <<<...>>>."""

    def __init__(self, text: str) -> None:
        self._text = text = _NOISE.sub(" ", text)
        self._known: dict[str, int] = {}
        for constant in _CONSTANT.finditer(text):
            name, value = (constant[1], constant[2]) if constant[1] else (constant[3], constant[4])
            self._known.pop(name, None)
            try:
                self._known[name] = self._number(value)
            except (_UnknownError, SyntaxError):
                continue
        functions = (found for found in _FUNCTION.finditer(text) if not _WORD.fullmatch(found[1]))
        self._bodies = {found[1]: found.end() - 1 for found in functions}
        self._found: dict[str, int | None] = {}  # of functions; None: of one that is under way
        if "main" not in self._bodies:
            raise _UnknownError
        self.launches = self._of_function("main")

    def _number(self, text: str) -> int:
        return _value(ast.parse(_SUFFIX.sub(r"\1", text).strip(), mode="eval").body, self._known)

    def _of_function(self, name: str) -> int:
        return _once(self._found, name, lambda: self._statement(self._bodies[name])[0])

    def _statement(self, at: int) -> tuple[int, int]:
        """The launches of the statement that begins there, and where it ends."""
        text = self._text
        at = self._past_blanks(at)
        if text[at] == "{":
            found, at = 0, self._past_blanks(at + 1)
            while text[at] != "}":
                more, at = self._statement(at)
                found, at = found + more, self._past_blanks(at)
            return found, at + 1
        word = _WORD.match(text, at)
        if word is None:
            end = self._end(at, ";")
            return self._of_calls(text[at:end]), end + 1
        if word[1] == "do":
            found, at = self._statement(word.end())
            if found:
                raise _UnknownError
            return 0, self._end(at, ";") + 1
        begin = text.index("(", word.end())
        end = self._end(begin + 1, ")")
        found, at = self._statement(end + 1)
        header = text[begin + 1 : end]
        if word[1] == "if":
            other = re.compile(r"\s*else\b").match(text, at)
            if other:
                more, at = self._statement(other.end())
                found = max(found, more)
            return found + self._of_calls(header), at
        return (found * self._rounds(word[1], header) if found else 0), at

    def _rounds(self, word: str, header: str) -> int:
        found = _FOR.match(header)
        if word != "for" or found is None:
            raise _UnknownError
        first, last, step = self._number(found[2]), self._number(found[4]), self._number(found[5] or "1")
        if step <= 0:
            raise _UnknownError
        return len(range(first, last + (found[3] == "<="), step))

    def _of_calls(self, text: str) -> int:
        found = text.count("<<<")
        for name in re.findall(r"\b(\w+)\s*\(", text):
            if name in self._bodies:
                found += self._of_function(name)
        return found

    def _past_blanks(self, at: int) -> int:
        while self._text[at].isspace():
            at += 1
        return at

    def _end(self, at: int, of: str) -> int:
        """Where the first such character is that is in no parentheses or braces that begin behind `at`."""
        depth = 0
        while depth or self._text[at] != of:
            depth += (self._text[at] in "([{") - (self._text[at] in ")]}")
            if depth < 0:
                raise _UnknownError
            at += 1
        return at
