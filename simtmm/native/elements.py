"""Names, numbers and elements of arrays, to LLVM's instructions."""

import ast
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simtmm.native.columns import Columns
from simtmm.native.values import (
    SIGNED,
    TRUTH,
    TYPES,
    UNSIGNED,
    WIDTHS,
    Array,
    Field,
    Given,
    Parameter,
    Record,
    RecordOf,
    Records,
    Row,
    Shape,
    Struct,
    Table,
    TranslationError,
    Value,
    Whole,
    constant,
)
from simtmm.native.written import first_line

Evaluated = Value | Whole | Shape | Record | Field | Row | Columns


class Elements:
    """The body of a function as it is written.

    call: translates a function of the source for its parameters; gives LLVM's name of it, and the kind of what it
    returns. checked: whether an index outside of its array, or a division by zero, is noted, and 0 or 1 taken.
    """

    def __init__(
        self, function: Any, call: Callable[[Any, tuple[Parameter, ...]], tuple[str, Given]], checked: bool
    ) -> None:
        self.function = function
        self.lines: list[str] = []
        self.tables: dict[str, str] = {}  # the constant arrays that are used: LLVM's name, and its definition
        self.names: dict[str, Value | Whole | Record] = {}  # parameters that never change
        self.variables: dict[str, str] = {}  # of every other number its kind; of a record its place is the number
        self.aliases: dict[str, Whole | RecordOf] = {}  # what other names stand for: an array, say, or one's records
        self.assigned: set[str] = set()  # those that have a value by now
        self.line = 0
        self._translate = call
        self._checked = checked
        self._number = 0

    def refused(self, node: ast.AST, why: str) -> TranslationError:
        """What to raise, with the place."""
        line = first_line(self.function) + getattr(node, "lineno", 1) - 1
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

    def evaluate(self, node: ast.expr) -> Evaluated:
        """Whatever an expression stands for."""
        self.line = getattr(node, "lineno", self.line)
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refused(node, f"no {type(node).__name__} is translated")
        found: Evaluated = method(node)
        return found

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, int):
            raise self.refused(node, "only integers and truths are translated")
        return constant(node.value, written=True)

    def _name(self, node: ast.Name) -> Value | Whole | Record | Columns:
        if node.id in self.names:
            return self.names[node.id]
        if node.id not in self.variables and node.id not in self.aliases:
            return self._of_module(node)
        if node.id not in self.assigned:
            raise self.refused(node, "may have no value here")
        alias = self.aliases.get(node.id)
        if alias is not None and not isinstance(alias, RecordOf):
            return alias
        kind = self.variables[node.id]
        text = self.emit(f"load {TYPES[kind]}, ptr %x.{node.id}")
        return Value(kind, text) if alias is None else Record(alias.of, text)

    def _of_module(self, node: ast.Name) -> Value | Table | Columns:
        known = self.function.__globals__.get(node.id)
        if isinstance(known, Columns):
            return known
        if isinstance(known, np.ndarray):
            return self._table(node, known)
        if not isinstance(known, int | np.integer | np.bool_):
            raise self.refused(node, "no number")
        return constant(known, written=isinstance(known, int))

    def _table(self, node: ast.Name, array: Any) -> Table:
        """A constant array of the source, part of the machine code."""
        if array.ndim != 1 or array.dtype.name not in WIDTHS:
            raise self.refused(node, "no array of one dimension, of integers")
        listed = array.tolist()
        digest = hashlib.sha256(repr((array.dtype.name, listed)).encode()).hexdigest()[:20]
        kind = f"i{WIDTHS[array.dtype.name]}"
        elements = ", ".join(f"{kind} {number}" for number in listed)
        name = f"@table.{digest}"
        self.tables[name] = f"{name} = private unnamed_addr constant [{len(listed)} x {kind}] [{elements}]"
        return Table(name, array.dtype.name, len(listed))

    def _attribute(self, node: ast.Attribute) -> Evaluated:
        of = self.evaluate(node.value)
        if isinstance(of, Struct) and node.attr in (found := dict(of.fields)):
            return found[node.attr]
        if isinstance(of, Array) and node.attr == "shape":
            return Shape(of)
        if isinstance(of, Columns) and node.attr in of:
            return constant(getattr(of, node.attr))
        if (found_in_row := self._in_row(node, of)) is not None:
            return self._loaded(*found_in_row)
        if isinstance(of, Record) and node.attr in (parts := dict(of.of.parts)):
            part = parts[node.attr]
            if part.length is not None:
                return Field(of, part)
            return self._loaded(part.element, *self._in_record(of, part.offset))
        raise self.refused(node, "no such field")

    def _in_row(self, node: ast.Attribute, of: Evaluated) -> tuple[str, str, str] | None:
        """What `_element` gives, of a column by its name, in a row or an array that is one; None where it is none."""
        row = Row(of, ()) if isinstance(of, Array) and of.dimensions == 1 else of
        if not isinstance(row, Row) or row.of.columns is None or node.attr not in row.of.columns:
            return None
        places = [*row.places, constant(getattr(row.of.columns, node.attr))]
        return row.of.element, self.address(row.of, self.inside(row.of, places)), _scope(row.of)

    def _subscript(self, node: ast.Subscript) -> Value | Record | Row:
        of = self.evaluate(node.value)
        if isinstance(of, Shape):
            which = self.value(node.slice).constant
            if which is None or not 0 <= which < of.array.dimensions:
                raise self.refused(node, "no such dimension")
            return self.extent(of.array, which)
        if isinstance(of, Records):
            (place,) = self.inside(of, self._indices(node, 1))
            return Record(of, place.text)
        if isinstance(of, Array) and of.columns is not None and _count_of(node) == of.dimensions - 1:
            return Row(of, tuple(self._indices(node, of.dimensions - 1)))
        return self._loaded(*self._element(node, of))

    def store(self, node: ast.Subscript | ast.Attribute, value: Value) -> None:
        """Put a value into an element or a field; of one that is too large for it the lower bits."""
        of = self.evaluate(node.value)
        if isinstance(of, Table):
            raise self.refused(node, "constant")
        if isinstance(node, ast.Subscript):
            element, address, note = self._element(node, of)
        elif (in_row := self._in_row(node, of)) is not None:
            element, address, note = in_row
        else:
            part = dict(of.of.parts).get(node.attr) if isinstance(of, Record) else None
            if not isinstance(of, Record) or part is None or part.length is not None:
                raise self.refused(node, "fields never change, but those of records that are numbers")
            element, (address, note) = part.element, self._in_record(of, part.offset)
        width = WIDTHS[element]
        if value.kind not in (SIGNED, UNSIGNED) or (width == 64 and value.kind != element):
            raise self.refused(node, f"{value.kind} into an array of {element}")
        text = value.text if width == 64 else self.emit(f"trunc i64 {value.text} to i{width}")
        self.lines.append(f"  store i{width} {text}, ptr {address}, {note}")

    def _loaded(self, element: str, address: str, note: str) -> Value:
        """What stands at an address, as an integer of 64 bits."""
        width = WIDTHS[element]
        found = self.emit(f"load i{width}, ptr {address}, {note}")
        if width < 64:
            found = self.emit(f"{'zext' if element[0] == 'u' else 'sext'} i{width} {found} to i64")
        return Value(UNSIGNED if element == "uint64" else SIGNED, found)

    def _element(self, node: ast.Subscript, of: Evaluated) -> tuple[str, str, str]:
        """Of an element of an array its kind, its address, and its metadata for LLVM."""
        if isinstance(of, Array):
            places = self._indices(node, of.dimensions)
            if of.columns is not None and (places[-1].constant or 0) >= len(of.columns):
                raise self.refused(node, f"no column of {len(of.columns)}")
            return of.element, self.address(of, self.inside(of, places)), _scope(of)
        if not isinstance(of, Table | Field):
            raise self.refused(node, "no array")
        (at,) = self.inside(of, self._indices(node, 1))
        if isinstance(of, Table):
            place = self.emit(f"getelementptr inbounds i{WIDTHS[of.element]}, ptr {of.text}, i64 {at.text}")
            return of.element, place, "!invariant.load !0"
        before, note = self._in_record(of.record, of.part.offset)
        width = WIDTHS[of.part.element]
        return of.part.element, self.emit(f"getelementptr inbounds i{width}, ptr {before}, i64 {at.text}"), note

    def _in_record(self, record: Record, offset: int) -> tuple[str, str]:
        """The address of a place in a record, and its metadata for LLVM; fields lie at any byte."""
        at = self.emit(f"mul i64 {record.index}, {record.of.size}")
        place = self.emit(f"add i64 {at}, {offset}")
        base = self.from_table("ptr", record.of.entry)
        return self.emit(f"getelementptr inbounds i8, ptr {base}, i64 {place}"), f"align 1, {_scope(record.of)}"

    def extent(self, array: Array | Records | Table | Field, which: int) -> Value:
        """How many elements an array has in a dimension."""
        if isinstance(array, Table | Field):
            return constant(np.int64(array.length if isinstance(array, Table) else array.part.length or 0))
        if isinstance(array, Array) and which == array.dimensions - 1 and array.row is not None:
            return constant(np.int64(array.row))
        return Value(SIGNED, self.from_table("i64", array.entry + 1 + which))

    def from_table(self, kind: str, entry: int) -> str:
        """An entry of the table of arguments, which never changes."""
        place = self.emit(f"getelementptr inbounds i64, ptr %table, i64 {entry}")
        return self.emit(f"load {kind}, ptr {place}, !invariant.load !0")

    def _indices(self, node: ast.Subscript, dimensions: int) -> list[Value]:
        listed = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(listed) != dimensions:
            raise self.refused(node, f"an array of {dimensions} dimensions")
        places = []
        for index in listed:
            at = self.number(index)
            if at.constant is not None and at.constant < 0:
                raise self.refused(node, "indices count from 0 on")
            places.append(at)
        return places

    def inside(self, array: Array | Records | Table | Field, places: Sequence[Value]) -> Sequence[Value]:
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
        line = first_line(self.function) + self.line - 1
        before = self.emit("load i64, ptr %table")
        self.lines.append(f"  store i64 {self.emit(f'select i1 {fine}, i64 {before}, i64 {line}')}, ptr %table")
        return self.emit(f"select i1 {fine}, i64 {value}, i64 {instead}")


def _count_of(node: ast.Subscript) -> int:
    """How many indices are written."""
    return len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1


def _scope(array: Array | Records) -> str:
    """No two arrays share an element, as the metadata of each access says."""
    return f"!tbaa !{array.entry}"
