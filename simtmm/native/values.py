"""What names and expressions stand for while a function is translated."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simtmm.native.columns import Columns, Named

SIGNED, UNSIGNED, TRUTH = "int64", "uint64", "bool"
WIDTHS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}  # of elements of arrays
VECTORIZED = 1 << 20  # the number of LLVM's metadata of such loops, above that of any array
TYPES = {SIGNED: "i64", UNSIGNED: "i64", TRUTH: "i1"}  # in LLVM's words


class TranslationError(Exception):
    """What is outside of the part of Python that is translated, with its place."""


@dataclass(frozen=True)
class Value:
    """A number: its kind, and LLVM's name of it. constant: what it is, where that is known; written: in the source."""

    kind: str
    text: str
    constant: int | None = None
    written: bool = False


@dataclass(frozen=True)
class Array:
    """An argument that is an array, C-contiguous. entry: where its address and then its shape stand in the table.
    row: its last extent, where the function is translated for that; else None. columns: those that its rows have by
    name; an array is the same one without.
    """

    name: str
    entry: int
    element: str  # of NumPy: "int64", "uint8"
    dimensions: int
    row: int | None = None
    columns: Columns | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Table:
    """A constant array of one dimension, which the source names. text: LLVM's name of it."""

    text: str
    element: str
    length: int


@dataclass(frozen=True)
class Part:
    """A field of a record. offset: bytes from the record's begin. length: its elements, None where it is one number."""

    element: str
    offset: int
    length: int | None


@dataclass(frozen=True)
class Records:
    """An argument that is an array of records, of one dimension. entry: as of an Array. size: bytes of a record."""

    name: str
    entry: int
    parts: tuple[tuple[str, Part], ...]
    size: int
    dimensions: int = 1


@dataclass(frozen=True)
class Struct:
    """An argument that is a named tuple of arrays, or of such tuples."""

    fields: tuple[tuple[str, "Array | Records | Struct"], ...]

    def arrays(self) -> Iterator["Array | Records"]:
        """All arrays, in order, those of inner tuples too."""
        for _, field in self.fields:
            if isinstance(field, Struct):
                yield from field.arrays()
            else:
                yield field


@dataclass(frozen=True)
class Shape:
    """The shape of an array."""

    array: Array


@dataclass(frozen=True)
class Row:
    """A row of an array whose columns have names. places: its indices, all but the last."""

    of: Array
    places: tuple["Value", ...]


@dataclass(frozen=True)
class Record:
    """An element of an array of records. index: LLVM's name of its place."""

    of: Records
    index: str


@dataclass(frozen=True)
class Field:
    """A field of a record that has several elements."""

    record: Record
    part: Part


@dataclass(frozen=True)
class RecordOf:
    """Of a parameter: a record of that array, at a place that is each call's own."""

    of: Records


Whole = Array | Table | Records | Struct  # what a name may stand for that is no number, and never changes
Known = Whole | int  # what a function is translated for: an argument that is no number of each call's own
Parameter = Known | RecordOf | str  # or a record, or the kind of a number
Given = str | tuple[str, ...] | None  # the kinds of what a function returns


def with_columns(parameter: Any, columns: Any) -> Any:
    """A parameter whose arrays have columns by name.

    parameter: what a function is translated for. columns: what its annotation says, see simtmm/native/columns.py.
    """
    if isinstance(parameter, Array) and isinstance(columns, Columns):
        return dataclasses.replace(parameter, columns=columns)
    if isinstance(parameter, Struct) and isinstance(columns, dict):
        known: Named = columns
        return Struct(tuple((name, with_columns(whole, known.get(name))) for name, whole in parameter.fields))
    return parameter


def constant(value: Any, written: bool = False) -> Value:
    """A number of the source, or one that it names: an integer of Python or NumPy, or a truth."""
    name = type(value).__name__
    if name in ("bool", "bool_"):
        return Value(TRUTH, "true" if value else "false", int(value))
    if name == "uint64":
        number = int(value)
        return Value(UNSIGNED, str(number - (1 << 64) if number >> 63 else number), number)
    return Value(SIGNED, str(int(value)), int(value), written)
