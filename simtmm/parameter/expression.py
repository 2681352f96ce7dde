"""Expressions that data may hold: `threads * 4 <= resources.shared_memory`, `ceil(n / block_size)`.

Arithmetic (+ - * / // %), comparisons, and, or, not, parentheses, and the functions in FUNCTIONS; names are kernel
parameters and dotted keys of machines. Nothing else is understood, so a file can't run code.
"""

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simtmm.errors import SimtmmError, nearest, shown, shown_error
from simtmm.python_text import parsed_expression
from simtmm.renamed import MACHINE_KEYS, tell

MOST_CHARACTERS = 10_000
DEEPEST = 200  # operations within one another, as many as there are in a sum

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min, "max": max, "ceil": math.ceil, "floor": math.floor, "log2": math.log2, "sqrt": math.sqrt,
}  # fmt: skip
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}


@dataclass(frozen=True)
class Expression:
    """What is computed from names.

    what: it is, for errors. fault: the error that is raised for it.
    """

    text: str
    tree: ast.expr
    what: str
    fault: type[SimtmmError]

    @property
    def names(self) -> set[str]:
        """The names in it."""
        return {self._new_name(name) for name in _names(self.tree)}

    def value(self, values: Mapping[str, Any]) -> Any:
        """What it gives with these values.

        values: values by name.

        Raises its error for a name that has no value.
        """
        try:
            return self._value(self.tree, values)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise self.fault(f"{self.what} {self.text!r}: can't be computed ({shown_error(error)})") from None

    def _value(self, node: ast.expr, values: Mapping[str, Any]) -> Any:
        match node:
            case ast.Constant(value=value) if isinstance(value, (int, float, str)):
                return value
            case ast.Name() | ast.Attribute():
                name = self._new_name(_dotted(node))
                if name not in values:
                    raise self.fault(f"{self.what} {self.text!r}: {name}: has no value{nearest(name, values, ())}")
                return values[name]
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self._value(operand, values))
            case ast.BinOp(left=left, op=op, right=right):
                sides = [self._value(side, values) for side in (left, right)]
                for side in sides:  # a text times a number may be as long as memory
                    if not isinstance(side, (int, float)):
                        raise self.fault(f"{self.what} {self.text!r}: {shown(side)}: must be a number to compute with")
                return _BINARY[type(op)](*sides)
            case ast.BoolOp(op=op, values=parts):
                met = (self._value(part, values) for part in parts)
                return all(met) if isinstance(op, ast.And) else any(met)
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [self._value(side, values) for side in (left, *others)]
                pairs = zip(ops, sides, sides[1:], strict=False)
                return all(_COMPARE[type(op)](one, other) for op, one, other in pairs)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return FUNCTIONS[name](*(self._value(argument, values) for argument in arguments))
        raise AssertionError(node)  # `expression` lets nothing else through

    def _new_name(self, name: str) -> str:
        if name not in MACHINE_KEYS:
            return name
        tell(self.what, name, MACHINE_KEYS[name])
        return MACHINE_KEYS[name]


def expression(text: str, what: str, fault: type[SimtmmError]) -> Expression:
    """An expression from its text. what, fault: see Expression.

    text: what is read, as "n * 4 // block".
    what: what messages call it.
    fault: the error that is raised.

    Raises `fault` for what is not understood.
    """
    if len(text) > MOST_CHARACTERS:
        raise fault(f"{what} {shown(text)}: must have at most {MOST_CHARACTERS} characters")
    try:
        tree = parsed_expression(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise fault(f"{what} {text!r}: is not an expression ({shown_error(error)})") from None
    parsed = Expression(text, tree, what, fault)
    _check(parsed, tree)
    return parsed


def _check(whole: Expression, node: ast.expr, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise whole.fault(f"{whole.what} {shown(whole.text)}: must be nested at most {DEEPEST} deep")
    allowed = False
    inner: list[ast.expr] = []
    match node:
        case ast.Constant(value=value):
            allowed = isinstance(value, (int, float, str))
        case ast.Name() | ast.Attribute():
            allowed = bool(_dotted(node))
        case ast.UnaryOp(op=op, operand=operand):
            allowed, inner = type(op) in _UNARY, [operand]
        case ast.BinOp(left=left, op=op, right=right):
            allowed, inner = type(op) in _BINARY, [left, right]
        case ast.BoolOp(values=parts):
            allowed, inner = True, parts
        case ast.Compare(left=left, ops=ops, comparators=others):
            allowed, inner = all(type(op) in _COMPARE for op in ops), [left, *others]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            allowed, inner = name in FUNCTIONS, arguments
    if not allowed:
        part = ast.get_source_segment(whole.text.strip(), node)
        raise whole.fault(
            f"{whole.what} {whole.text!r}: {part!r}: only names, numbers, arithmetic, comparisons, and, or, not "
            f"and {', '.join(FUNCTIONS)} are allowed"
        )
    for each in inner:
        _check(whole, each, depth + 1)


def _names(node: ast.AST) -> Iterator[str]:
    dotted = _dotted(node) if isinstance(node, ast.expr) else ""
    if dotted:
        yield dotted
        return
    # A function's name is none of the values'
    for part in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
        yield from _names(part)


def _dotted(node: ast.expr) -> str:
    """memory.latency from the tree of it; empty where it is something else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
