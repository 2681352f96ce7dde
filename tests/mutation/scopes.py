"""Where a node of a source stands: its bytes, its statement, its function, and the names that are known there."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef
APART = {"__all__", "__slots__"}  # names whose values say nothing of what is computed
TOLD = {"logger", "warnings"}  # what is told about, in words


@dataclass(frozen=True)
class Text:
    """A source as bytes, with where each line begins."""

    source: bytes
    begins: tuple[int, ...]

    @classmethod
    def of(cls, source: bytes) -> "Text":
        """A source's."""
        begins = [0]
        for line in source.splitlines(keepends=True):
            begins.append(begins[-1] + len(line))
        return cls(source, tuple(begins))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """From where to where a node stands, in bytes."""
        at = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return self.begins[at[0] - 1] + at[1], self.begins[at[2] - 1] + at[3]


@dataclass(frozen=True)
class Place:
    """A node, and what is around it. around: from the module inwards."""

    whole: Text
    node: ast.AST
    around: tuple[ast.AST, ...]

    @property
    def source(self) -> bytes:
        """All of the source."""
        return self.whole.source

    def span(self, node: ast.AST) -> tuple[int, int]:
        """From where to where a node stands, in bytes."""
        return self.whole.span(node)

    def text(self, node: ast.AST) -> str:
        """A node as it is written."""
        begin, end = self.span(node)
        return self.source[begin:end].decode()

    @cached_property
    def statement(self) -> ast.stmt:
        """The innermost statement that the node is, or is in."""
        return next(each for each in reversed((*self.around, self.node)) if isinstance(each, ast.stmt))

    @property
    def last(self) -> int:
        """The last line of the statement; of one with a body, of its head."""
        body = getattr(self.statement, "body", None)
        if isinstance(body, list) and body:
            return max(self.statement.lineno, body[0].lineno - 1)
        return self.statement.end_lineno or self.statement.lineno

    @property
    def _functions(self) -> list[Function]:
        return [each for each in self.around if isinstance(each, Function)]

    @property
    def function(self) -> str:
        """The dotted name of the function or class that it is in; empty at the top."""
        return ".".join(each.name for each in self.around if isinstance(each, (*Function.__args__, ast.ClassDef)))

    @property
    def targets(self) -> list[str]:
        """The names that its statement assigns."""
        statement = self.statement
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        return [each.id for each in targets if isinstance(each, ast.Name)]

    def called(self, call: ast.Call) -> str:
        """The last name of what is called."""
        return getattr(call.func, "attr", getattr(call.func, "id", ""))

    def number(self, node: ast.expr) -> int | None:
        """The whole number that an expression is, or that its name was given once and for all at the module's top."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if not isinstance(node, ast.Name) or not node.id.isupper() or not isinstance(self.around[0], ast.Module):
            return None
        given = [
            each.value
            for each in self.around[0].body
            if isinstance(each, ast.Assign)
            and [getattr(target, "id", None) for target in each.targets] == [node.id]
            and isinstance(each.value, ast.Constant)
        ]
        return self.number(given[0]) if len(given) == 1 else None

    def calls_around(self, node: ast.AST) -> list[ast.Call]:
        """The calls that a node is or stands in."""
        inside = self.around[self.around.index(self.statement) :] if self.statement in self.around else ()
        return [each for each in (*inside, self.node) if isinstance(each, ast.Call)]

    def without(self, kind: str, parts: Sequence[ast.AST], at: int, first: ast.AST | None = None) -> tuple:  # type: ignore[type-arg]
        """A list of parts without one, with the comma behind it, or before the last.

        first: what stands at the part's beginning, if that is another node: a key.
        """
        begin = self.span(first or parts[at])[0]
        starred = isinstance(parts[at], ast.keyword) and parts[at].arg is None  # type: ignore[attr-defined]
        begin -= 2 if starred and self.source[begin - 2 : begin] == b"**" else 0
        end = self.span(parts[at])[1]
        behind = self.source[end:]
        rest = behind.lstrip()
        if rest.startswith(b","):
            end += len(behind) - len(rest) + 1
            end += len(self.source[end:]) - len(self.source[end:].lstrip(b" "))
        elif at and self.source[:begin].rstrip().endswith(b","):
            begin = self.source[:begin].rstrip().rfind(b",")
        return kind, parts[at], begin, end, ""

    def others_like(self, name: ast.Name) -> list[str]:
        """Parameters of the same function that are annotated alike, where the name is one of them."""
        if not self._functions or name in [getattr(each, "func", None) for each in self.around]:
            return []
        arguments = self._functions[-1].args
        known = [each for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if each.annotation]
        own = next((self.text(each.annotation) for each in known if each.arg == name.id), None)  # type: ignore[arg-type]
        return [each.arg for each in known if each.arg != name.id and self.text(each.annotation) == own]  # type: ignore[arg-type]

    def is_unpacked(self, node: ast.AST) -> bool:
        """Whether a tuple's parts go into as many names, or are types, or stand in a `for`."""
        holder = self.around[-1] if self.around else None
        if isinstance(holder, ast.Assign):
            return any(isinstance(each, (ast.Tuple, ast.List)) for each in holder.targets)
        return isinstance(holder, ast.Subscript)

    def is_again(self, node: ast.stmt) -> bool:
        """Whether a statement assigns what was assigned before, or an attribute: without it the code still runs."""
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if getattr(node, "value", None) is None or not self._functions:
            return False
        if all(isinstance(each, (ast.Attribute, ast.Subscript)) for each in targets):
            return self._functions[-1].name != "__init__"
        names = {each.id for each in targets if isinstance(each, ast.Name)}
        earlier = {
            each.id
            for each in ast.walk(self._functions[-1])
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.lineno < node.lineno
        }
        return bool(names) and names <= earlier

    @cached_property
    def returns_nothing(self) -> bool:
        """Whether its function gives nothing, so that it may end anywhere."""
        if not self._functions or not isinstance(self.node, ast.stmt) or self.around[-1] is not self._functions[-1]:
            return False
        return not any(
            isinstance(each, (ast.Yield, ast.YieldFrom)) or (isinstance(each, ast.Return) and each.value is not None)
            for each in ast.walk(self._functions[-1])
        )

    def is_first(self, node: ast.stmt) -> bool:
        """Whether it opens its function, behind the docstring."""
        body = [each for each in self._functions[-1].body if not _is_text(each)]
        return not body or node is body[0] or _is_text(node)

    def is_last(self, node: ast.stmt) -> bool:
        """Whether nothing stands behind it."""
        return node is self._functions[-1].body[-1] and isinstance(node, ast.Pass)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def places(source: bytes) -> Iterator[Place]:
    """All nodes in which a fault could be planted: no annotations, docstrings, texts, assertions, nor words told."""
    yield from _inside(Text.of(source), ast.parse(source), ())


def _inside(whole: Text, node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[Place]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_apart(child):
                continue
            if hasattr(child, "lineno") and not _is_text(child):
                yield Place(whole, child, (*around, node))
            yield from _inside(whole, child, (*around, node))


def _is_apart(node: ast.AST) -> bool:
    """Whether faults in it would be of no use: nobody computes with it, or Python says not where it stands."""
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))) if name in TOLD:
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) if name in APART:
            return True
        case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar" | "NewType"))):
            return True
    return False
