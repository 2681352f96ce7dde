"""The description of a kernel, from the text of its host.py: its syntax tree is read and nothing of it is run.

What it assigns at its top is understood: numbers, words, arithmetic, tuples, names of constants, Parameter(...), dicts
that derive from others, and choices counted out as in tuple(2**lg for lg in range(1, 13)). Of `algorithm` the branches
are followed that the parameters' defaults take. What may be something else when it is run is `Untold`, never guessed.
"""

import ast
import operator
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from simtmm.errors import KernelError, shown_error
from simtmm.parameter import SEED, Parameter, resolved
from simtmm.python_text import parsed

NEEDED = ("inputs", "launches", "check")  # functions of a host.py
MOST_BITS = 1000  # of a whole number: what a float can hold
MOST_PARTS = 10_000  # of a tuple, letters of a word
MOST_STEPS = 200_000  # of reading a host.py
DYNAMIC = {  # with these a module may change its own names
    "__builtins__", "__dict__", "__globals__", "__import__", "__setattr__", "delattr", "eval", "exec", "f_globals",
    "globals", "locals", "modules", "setattr", "vars",
}  # fmt: skip

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.In: lambda one, many: one in many, ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip


class Untold(Exception):  # noqa: N818 - no mistake, but a limit of reading
    """Raised for what only running host.py tells."""


@dataclass(frozen=True)
class _Scope:
    """What names stand for within a function or a comprehension.

    parameter: the function's, whose members are the kernel's parameters, with their defaults. local: names that are not
    the module's, and whose values are unknown. counted: those that a comprehension counts out.
    """

    parameter: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    local: frozenset[str] = frozenset()
    counted: Mapping[str, int] = field(default_factory=dict)


class HostText:
    """The text of a host.py, part by part; each raises Untold where only running it tells."""

    def __init__(self, text: bytes, path: str) -> None:
        """Raises KernelError for what is no Python, or lacks a function that a kernel needs."""
        try:
            with warnings.catch_warnings():  # of escapes that mean nothing, say; they show when it is run
                warnings.simplefilter("ignore")
                self._tree = parsed(text, path)
        except SyntaxError as error:
            at = path if error.lineno is None else f"{path}:{error.lineno}"
            raise KernelError(f"{at}: SyntaxError: {shown_error(SyntaxError(error.msg))}") from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise KernelError(f"{path}: is not valid Python ({shown_error(error)})") from None
        nodes = list(ast.walk(self._tree))
        self._bound = Counter(name for node in nodes for name in _bound(node))
        self._spread = Counter(_name(part) for node in nodes if isinstance(node, ast.Dict) for part in _spread(node))
        self._mentioned = Counter(node.id for node in nodes if isinstance(node, ast.Name))
        self._top = {name: value for statement in self._tree.body for name, value in _assigned(statement)}
        self._values: dict[str, Any] = {}  # of names; Untold where it is unknown, also while it is being read
        self._steps = 0
        self._free = "*" in self._bound or any(_is_dynamic(node) for node in nodes)
        for needed in NEEDED:
            if needed not in self._bound and not self._may_be_more():
                raise KernelError(f"{path}: must have a function {needed}")

    def about(self) -> str:
        """The docstring."""
        if self._free or "__doc__" in self._bound:
            raise Untold
        return ast.get_docstring(self._tree) or ""

    def paper(self) -> str:
        """PAPER; empty where there is none."""
        if "PAPER" not in self._bound and not self._may_be_more():
            return ""
        paper = self._constant("PAPER")
        return paper if isinstance(paper, str) else _give_up()

    def parameters(self) -> dict[str, Parameter]:
        """PARAMETERS, and `seed`."""
        table = self._constant("PARAMETERS", mutable=True)
        if not isinstance(table, dict) or self._mentioned["PARAMETERS"] != 1 + self._spread["PARAMETERS"]:
            raise Untold
        if not all(isinstance(name, str) and isinstance(value, Parameter) for name, value in table.items()):
            raise Untold
        return {**table, "seed": SEED}

    def algorithm(self) -> str | None:
        """The name of the algorithm that `algorithm` gives for the defaults; None where it gives none."""
        if "algorithm" not in self._bound and not self._may_be_more():
            return None
        found = [node for node in self._tree.body if isinstance(node, ast.FunctionDef) and node.name == "algorithm"]
        if len(found) != 1 or self._bound["algorithm"] != 1 or self._free or found[0].decorator_list:
            raise Untold
        given = found[0].args
        if len(given.posonlyargs + given.args) != 1 or given.vararg or given.kwarg or given.kwonlyargs:
            raise Untold
        try:
            defaults = resolved("", self.parameters(), {})
        except KernelError:
            raise Untold from None
        inner = [node for statement in found[0].body for node in ast.walk(statement)]
        if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inner):
            raise Untold
        parameter, *_ = (*given.posonlyargs, *given.args)
        local = {name for node in inner for name in _bound(node)}
        if parameter.arg in local:
            raise Untold
        answer = self._returned(found[0].body, _Scope(parameter.arg, defaults, frozenset({parameter.arg, *local})))
        return answer[0] if answer else None

    def _may_be_more(self) -> bool:
        """Whether the module may have names that its text does not show."""
        return self._free or "__getattr__" in self._bound

    def _returned(self, body: list[ast.stmt], scope: _Scope) -> tuple[str | None] | None:
        """What these statements return, a name or None in a tuple; None where they run to their end."""
        for statement in body:
            match statement:
                case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                    continue
                case ast.Return(value=None | ast.Constant(value=None)):
                    return (None,)
                case ast.Return(value=ast.Tuple(elts=[name, _])):
                    value = self._value(name, scope)
                    return (value,) if isinstance(value, str) else _give_up()
                case ast.If(test=test, body=then, orelse=otherwise):
                    answer = self._returned(then if self._value(test, scope) else otherwise, scope)
                    if answer:
                        return answer
                case _:
                    raise Untold
        return None

    def _constant(self, name: str, mutable: bool = False) -> Any:
        """What a name of the module stands for: one that is assigned once, at the top."""
        if name not in self._values:
            self._values[name] = Untold  # while it is being read: it can't be defined by itself
            if self._bound[name] == 1 and name in self._top and not self._free:
                self._values[name] = self._value(self._top[name])
        value = self._values[name]
        if value is Untold or (isinstance(value, (dict, list)) and not mutable):
            raise Untold
        return value

    def _value(self, node: ast.expr, scope: _Scope | None = None) -> Any:
        """What an expression comes to, in a function if a scope is given."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise Untold
        try:
            return _small(self._evaluated(node, scope))
        except (TypeError, ValueError, ArithmeticError, RecursionError, MemoryError):
            raise Untold from None

    def _evaluated(self, node: ast.expr, scope: _Scope | None) -> Any:  # noqa: C901 - a case for each kind of syntax
        match node:
            case ast.Constant(value=value) if value is None or isinstance(value, (bool, int, float, str)):
                return value
            case ast.Name(id=name) if scope is None or name not in scope.local:
                return scope.counted[name] if scope and name in scope.counted else self._constant(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if scope and name == scope.parameter:
                return scope.defaults[attribute] if attribute in scope.defaults else _give_up()
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return _UNARY[type(op)](_scalar(self._value(operand, scope)))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _computed(op, self._value(left, scope), self._value(right, scope))
            case ast.BoolOp(op=op, values=parts):
                return self._either(isinstance(op, ast.Or), parts, scope)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](self._value(left, scope), self._value(right, scope))
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                return self._value(then if self._value(test, scope) else otherwise, scope)
            case ast.Tuple(elts=parts):
                return tuple(_scalar(self._value(part, scope)) for part in parts)
            case ast.List(elts=parts):
                return [_scalar(self._value(part, scope)) for part in parts]
            case ast.Dict(keys=keys, values=values) if scope is None:
                return self._dict(keys, values)
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=keywords) if scope is None:
                return self._called(name, parts, keywords)
        raise Untold

    def _either(self, wanted: bool, parts: list[ast.expr], scope: _Scope | None) -> Any:
        """The first part whose truth is the one wanted, else the last: `or` for true, `and` for false."""
        *first, last = parts
        for part in first:
            value = self._value(part, scope)
            if bool(value) is wanted:
                return value
        return self._value(last, scope)

    def _dict(self, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if key is not None:
                entries[_scalar(self._value(key))] = self._value(value)
                continue
            name = _name(value)  # **OTHER, which nothing but such displays may have in hand
            other = self._constant(name, mutable=True) if self._mentioned[name] == 1 + self._spread[name] else None
            entries |= other if isinstance(other, dict) else _give_up()
        return entries

    def _called(self, name: str, parts: list[ast.expr], keywords: list[ast.keyword]) -> Any:
        if name in ("tuple", "list", "range") and not self._bound[name] and not self._free and not keywords:
            if name == "range":
                return range(*(_scalar(self._value(part)) for part in parts))
            (part,) = parts
            many = self._counted(part) if isinstance(part, ast.GeneratorExp) else self._value(part)
            if not isinstance(many, (tuple, list, range)):
                raise Untold
            return tuple(many) if name == "tuple" else list(many)
        if not self._is_parameter(name) or any(keyword.arg is None for keyword in keywords):
            raise Untold
        parameter = Parameter(
            *(self._value(part) for part in parts),
            **{keyword.arg: self._value(keyword.value) for keyword in keywords if keyword.arg},
        )
        ends = all(type(end) in (int, float, type(None)) for end in (parameter.minimum, parameter.maximum))
        choices: object = parameter.choices
        if not isinstance(parameter.help, str) or not ends or not isinstance(choices, (tuple, list, range, type(None))):
            raise Untold
        return parameter

    def _counted(self, node: ast.GeneratorExp) -> tuple[Any, ...]:
        """The values of EXPRESSION for NAME in range(...)."""
        match node.generators:
            case [ast.comprehension(target=ast.Name(id=name), iter=ast.Call() as call, ifs=[], is_async=0)]:
                numbers = self._value(call)
            case _:
                raise Untold
        if not isinstance(numbers, range):
            raise Untold
        return tuple(_scalar(self._value(node.elt, _Scope(counted={name: number}))) for number in numbers)

    def _is_parameter(self, name: str) -> bool:
        """Whether that name is simtmm.kernel's Parameter, imported at the top."""
        imported = [
            (node.module, alias.name)
            for node in self._tree.body
            if isinstance(node, ast.ImportFrom) and not node.level
            for alias in node.names
            if (alias.asname or alias.name) == name
        ]
        return imported == [("simtmm.kernel", "Parameter")] and self._bound[name] == 1 and not self._free


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a node gives a meaning to, members included; "*" where they are unknown."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Names and what a statement at the top assigns to them."""
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                match target, value:
                    case ast.Name(id=name), _:
                        yield name, value
                    case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                        pairs = zip(names, values, strict=True)
                        if not any(isinstance(part, ast.Starred) for part in (*names, *values)):
                            yield from ((name.id, part) for name, part in pairs if isinstance(name, ast.Name))


def _spread(node: ast.Dict) -> Iterator[ast.expr]:
    """The OTHER of each **OTHER in a dict display."""
    return (value for key, value in zip(node.keys, node.values, strict=True) if key is None)


def _name(node: ast.expr) -> str:
    """The name that an expression is; empty where it is something else."""
    return node.id if isinstance(node, ast.Name) else ""


def _is_dynamic(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            return name in DYNAMIC
    return False


def _computed(op: ast.operator, one: Any, other: Any) -> Any:
    """Arithmetic on numbers, and words or tuples behind one another; nothing that grows beyond what is written."""
    if isinstance(op, ast.Add) and type(one) is type(other) and isinstance(one, (str, tuple)):
        return one + other
    if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
        raise Untold
    if isinstance(op, (ast.Pow, ast.LShift)) and isinstance(one, int) and isinstance(other, int):
        bits = one.bit_length() * other if isinstance(op, ast.Pow) else one.bit_length() + other
        if max(bits, other) > MOST_BITS:
            raise Untold
    return _BINARY[type(op)](one, other)


def _scalar(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else _give_up()


def _small(value: Any) -> Any:
    """A value that is small enough to be shown, and of a kind that is understood."""
    match value:
        case None | bool() | float() | dict() | Parameter():
            return value
        case int() if value.bit_length() <= MOST_BITS:
            return value
        case str() | tuple() | list() | range() if len(value) <= MOST_PARTS:
            return value
    raise Untold


def _give_up() -> NoReturn:
    raise Untold
