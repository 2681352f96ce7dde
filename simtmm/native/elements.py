"""Names, numbers and elements of arrays, to LLVM's instructions."""

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simtmm.native.values import (
    SIGNED,
    TRUTH,
    TYPES,
    UNSIGNED,
    WIDTHS,
    Array,
    Parameter,
    Shape,
    Struct,
    TranslationError,
    Value,
    constant,
)


class Elements:
    """The body of a function as it is written.

    call: translates a function of the source for its parameters; gives LLVM's name of it, and the kind of what it
    returns. checked: whether an index outside of its array, or a division by zero, is noted, and 0 or 1 taken.
    """

    def __init__(
        self, function: Any, call: Callable[[Any, tuple[Parameter, ...]], tuple[str, str | None]], checked: bool
    ) -> None:
        self.function = function
        self.lines: list[str] = []
        self.names: dict[str, Value | Array | Struct] = {}  # parameters that never change
        self.variables: dict[str, str] = {}  # of every other name its kind
        self.assigned: set[str] = set()  # those that have a value by now
        self.line = 0
        self._translate = call
        self._checked = checked
        self._number = 0

    def refused(self, node: ast.AST, why: str) -> TranslationError:
        """What to raise, with the place."""
        line = self.function.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        return TranslationError(f"{self.function.__module__}, line {line}: {why}: {ast.unparse(node)}")

    def fresh(self, prefix: str = "%v") -> str:
        """A name of LLVM's that is not taken."""
        self._number += 1
        return f"{prefix}{self._number}"

    def emit(self, instruction: str) -> str:
        """Add an instruction that gives something; its name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {instruction}")
        return name

    # Values

    def value(self, node: ast.expr) -> Value:
        """A number."""
        found = self.evaluate(node)
        if not isinstance(found, Value):
            raise self.refused(node, "not a number")
        return found

    def number(self, node: ast.expr) -> Value:
        """An integer."""
        found = self.value(node)
        if found.kind == TRUTH:
            raise self.refused(node, "a truth where an integer is needed")
        return found

    def evaluate(self, node: ast.expr) -> Value | Array | Struct | Shape:
        """Whatever an expression stands for."""
        self.line = getattr(node, "lineno", self.line)
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refused(node, f"no {type(node).__name__} is translated")
        found: Value | Array | Struct | Shape = method(node)
        return found

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, int):
            raise self.refused(node, "only integers and truths are translated")
        return constant(node.value, written=True)

    def _name(self, node: ast.Name) -> Value | Array | Struct:
        if node.id in self.names:
            return self.names[node.id]
        if node.id in self.variables:
            if node.id not in self.assigned:
                raise self.refused(node, "may have no value here")
            kind = self.variables[node.id]
            return Value(kind, self.emit(f"load {TYPES[kind]}, ptr %x.{node.id}"))
        return self._of_module(node)

    def _of_module(self, node: ast.Name) -> Value:
        known = self.function.__globals__.get(node.id)
        if not isinstance(known, int | np.integer | np.bool_):
            raise self.refused(node, "no number")
        return constant(known, written=isinstance(known, int))

    def _attribute(self, node: ast.Attribute) -> Array | Shape:
        of = self.evaluate(node.value)
        if isinstance(of, Struct) and node.attr in (found := dict(of.fields)):
            return found[node.attr]
        if isinstance(of, Array) and node.attr == "shape":
            return Shape(of)
        raise self.refused(node, "no such field")

    def _subscript(self, node: ast.Subscript) -> Value:
        of = self.evaluate(node.value)
        if isinstance(of, Shape):
            which = self.value(node.slice).constant
            if which is None or not 0 <= which < of.array.dimensions:
                raise self.refused(node, "no such dimension")
            return self.extent(of.array, which)
        if not isinstance(of, Array):
            raise self.refused(node, "no array")
        address, width, scope = self.element(node, of), WIDTHS[of.element], f"!tbaa !{of.entry}"
        found = self.emit(f"load i{width}, ptr {address}, {scope}")
        kind = UNSIGNED if of.element == "uint64" else SIGNED
        if width < 64:
            found = self.emit(f"{'zext' if of.element[0] == 'u' else 'sext'} i{width} {found} to i64")
        return Value(kind, found)

    def store(self, node: ast.Subscript, value: Value) -> None:
        """Put a value into an element; of one that is too large for it the lower bits."""
        array = self.evaluate(node.value)
        if not isinstance(array, Array):
            raise self.refused(node, "no array")
        width = WIDTHS[array.element]
        if value.kind not in (SIGNED, UNSIGNED) or (width == 64 and value.kind != array.element):
            raise self.refused(node, f"{value.kind} into an array of {array.element}")
        text = value.text if width == 64 else self.emit(f"trunc i64 {value.text} to i{width}")
        address = self.element(node, array)
        self.lines.append(f"  store i{width} {text}, ptr {address}, !tbaa !{array.entry}")

    def extent(self, array: Array, which: int) -> Value:
        """How many elements an array has in a dimension."""
        if which == array.dimensions - 1 and array.row is not None:
            return constant(np.int64(array.row))
        return Value(SIGNED, self.from_table("i64", array.entry + 1 + which))

    def from_table(self, kind: str, entry: int) -> str:
        """An entry of the table of arguments, which never changes."""
        place = self.emit(f"getelementptr inbounds i64, ptr %table, i64 {entry}")
        return self.emit(f"load {kind}, ptr {place}, !invariant.load !0")

    def element(self, node: ast.Subscript, array: Array) -> str:
        """The address of an element."""
        listed = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(listed) != array.dimensions:
            raise self.refused(node, f"an array of {array.dimensions} dimensions")
        places = []
        for index in listed:
            at = self.number(index)
            if at.constant is not None and at.constant < 0:
                raise self.refused(node, "indices count from 0 on")
            places.append(at)
        return self.address(array, self.inside(array, places))

    def inside(self, array: Array, places: Sequence[Value]) -> Sequence[Value]:
        """Indices unchanged; `checked`, those that are in the array, and 0 where one is not, which is noted."""
        if not self._checked:
            return places
        found = []
        for which, at in enumerate(places):
            is_inside = self.emit(f"icmp ult i64 {at.text}, {self.extent(array, which).text}")
            found.append(Value(SIGNED, self._noted(is_inside, at.text, 0)))
        return found

    def address(self, array: Array, places: Sequence[Value]) -> str:
        """The address of the element with these indices."""
        place = places[0].text
        for which, at in enumerate(places[1:], start=1):
            before = self.emit(f"mul i64 {place}, {self.extent(array, which).text}")
            place = self.emit(f"add i64 {before}, {at.text}")
        base = self.from_table("ptr", array.entry)
        return self.emit(f"getelementptr inbounds i{WIDTHS[array.element]}, ptr {base}, i64 {place}")

    def _noted(self, fine: str, value: str, instead: int) -> str:
        """A value where all is fine, else another; the line is noted in the first entry of the table."""
        line = self.function.__code__.co_firstlineno + self.line - 1
        before = self.emit("load i64, ptr %table")
        self.lines.append(f"  store i64 {self.emit(f'select i1 {fine}, i64 {before}, i64 {line}')}, ptr %table")
        return self.emit(f"select i1 {fine}, i64 {value}, i64 {instead}")
