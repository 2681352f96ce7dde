"""All expressions of a function: calls, beside `Operations`."""

import ast
import builtins
import ctypes
from typing import Any

import numpy as np

from simtmm.native.columns import Columns
from simtmm.native.operations import Operations
from simtmm.native.values import (
    SIGNED,
    TRUTH,
    TYPES,
    UNSIGNED,
    Array,
    Given,
    Parameter,
    Record,
    RecordOf,
    Records,
    Struct,
    Table,
    Value,
    constant,
)

WORD = 64  # bits


def prefetch(array: Any, *indices: Any) -> None:
    """Have an element of an array brought into the cache; changes nothing else, and is no access.

    array: of any shape.
    indices: of the element, one for each dimension.
    """


def bits_equal(value: Any, array: Any, *indices: Any) -> Any:
    """Which of the 64 elements of an array from one on, along its last dimension, are a value: a bit each.

    value: a value of the array's type.
    array: of any shape.
    indices: of the first of the 64 elements, one for each dimension.
    """
    *row, first = indices
    return np.uint64(sum(1 << k for k in range(WORD) if array[(*row, first + k)] == value))


def trailing_zeros(word: Any) -> Any:
    """How many zeros stand below the lowest set bit of a uint64; 64 where there is none.

    word: a uint64.
    """
    bits = int(word)
    return np.int64((bits & -bits).bit_length() - 1 if bits else 64)


def sum_overflows(left: Any, right: Any) -> bool:
    """Whether the sum of two int64 needs more bits; the sum itself wraps around.

    left, right: int64.
    """
    return not -(1 << WORD - 1) <= int(left) + int(right) < 1 << WORD - 1


def difference_overflows(left: Any, right: Any) -> bool:
    """Whether the difference of two int64 needs more bits; the difference itself wraps around.

    left, right: int64.
    """
    return not -(1 << WORD - 1) <= int(left) - int(right) < 1 << WORD - 1


def product_overflows(left: Any, right: Any) -> bool:
    """Whether the product of two int64 needs more bits; the product itself wraps around.

    left, right: int64.
    """
    return not -(1 << WORD - 1) <= int(left) * int(right) < 1 << WORD - 1


OVERFLOWS: dict[Any, str] = {sum_overflows: "sadd", difference_overflows: "ssub", product_overflows: "smul"}  # LLVM's


def call_bound(entry: Any, table: Any) -> int:
    """Call a loop whose arguments stand in a table (Bound, in simtmm/native/loop.py), by both addresses: what it gives.

    It may write to any array; one that another thread writes to meanwhile is the caller's care.

    entry: address of the loop's code.
    table: address of its arguments.
    """
    given: int = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(int(entry))(int(table))
    return given


def acquire(array: Any, *indices: Any) -> Any:
    """An element of int64 that another thread releases; what that thread wrote before is seen behind this.

    array: int64[...].
    indices: of the element, one for each dimension.
    """
    return array[indices]


def release(array: Any, *indices_and_value: Any) -> None:
    """Write an element of int64 for another thread that acquires it, and sees with it all that was written before.

    array: int64[...].
    indices_and_value: indices of the element, one for each dimension, and the value.
    """
    *indices, value = indices_and_value
    array[tuple(indices)] = value


def exchange(array: Any, *indices_and_values: Any) -> bool:
    """Write a value, the last one, to an element of int64 if it is the last but one: whether it was.

    Of several threads one alone does so. It acquires and releases.

    array: int64[...].
    indices_and_values: indices of the element, one for each dimension; the value that is expected there, and the
        new one.
    """
    *indices, expected, value = indices_and_values
    if array[tuple(indices)] != expected:
        return False
    array[tuple(indices)] = value
    return True


class Expressions(Operations):
    """Calls of functions of the source, of NumPy's conversions, of bound loops, and of what Python has."""

    def _call_of(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name):
            of = self.function.__globals__
            return of.get(node.func.id, getattr(builtins, node.func.id, None))
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            return getattr(self.function.__globals__.get(node.func.value.id), node.func.attr, None)
        return None

    def _call(self, node: ast.Call) -> Value:
        found = self.called(node)
        if not isinstance(found, Value):
            raise self.refused(node, "gives nothing, or several values")
        return found

    def called(self, node: ast.Call) -> Value | tuple[Value, ...] | None:  # noqa: C901 - a case for each function that is known
        """What a call gives; None if that is nothing."""
        function, count = self._call_of(node), len(node.args)
        if node.keywords or function is None:
            raise self.refused(node, "no such call is translated")
        if function in (np.int64, np.uint64) and count == 1:
            return self._converted(function, self.value(node.args[0]))
        if function in (min, max) and count > 1:
            return self._extreme(node, "min" if function is min else "max")
        if function is len and count == 1:
            array = self.evaluate(node.args[0])
            if isinstance(array, Array | Records | Table):
                return self.extent(array, 0)
            if isinstance(array, Columns):
                return constant(np.int64(len(array)))
        if function is prefetch and count > 1:
            array = self.evaluate(node.args[0])
            if isinstance(array, Array) and array.dimensions == count - 1:
                address = self.address(array, [self.number(index) for index in node.args[1:]])
                self.lines.append(f"  call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")
                return None
        if function is bits_equal and count > 2:
            return self._bits_equal(node)
        if function is trailing_zeros and count == 1:
            word = self.value(node.args[0])
            if word.kind != UNSIGNED:
                raise self.refused(node, "of a uint64 alone")
            return Value(SIGNED, self.emit(f"call i64 @llvm.cttz.i64(i64 {word.text}, i1 false)"))
        if function in (acquire, release, exchange):
            return self._shared(node, function)
        if function in OVERFLOWS and count == 2:
            return self._overflows(node, OVERFLOWS[function])
        if function is call_bound and count == 2:
            entry, table = (self.emit(f"inttoptr i64 {self.number(of).text} to ptr") for of in node.args)
            return Value(SIGNED, self.emit(f"call i64 {entry}(ptr {table}) nounwind"))
        if not hasattr(function, "__code__"):
            raise self.refused(node, "no such call is translated")
        return self._passed(node, function)

    def _overflows(self, node: ast.Call, operation: str) -> Value:
        left, right = (self.number(argument) for argument in node.args)
        if {left.kind, right.kind} != {SIGNED}:
            raise self.refused(node, "of int64 alone")
        pair = self.emit(f"call {{ i64, i1 }} @llvm.{operation}.with.overflow.i64(i64 {left.text}, i64 {right.text})")
        return Value(TRUTH, self.emit(f"extractvalue {{ i64, i1 }} {pair}, 1"))

    def _shared(self, node: ast.Call, function: Any) -> Value | None:
        """An access to an element that several threads use."""
        array = self.evaluate(node.args[0]) if node.args else None
        values = {acquire: 0, release: 1, exchange: 2}[function]
        if not isinstance(array, Array) or array.element != SIGNED or len(node.args) != 1 + array.dimensions + values:
            raise self.refused(node, "an array of int64, its indices, and what is written")
        numbers = [self.number(argument) for argument in node.args[1:]]
        indices, given = numbers[: array.dimensions], numbers[array.dimensions :]
        address = self.address(array, list(self.inside(array, indices)))
        if function is acquire:
            return Value(SIGNED, self.emit(f"load atomic i64, ptr {address} acquire, align 8"))
        if function is release:
            self.lines.append(f"  store atomic i64 {given[0].text}, ptr {address} release, align 8")
            return None
        pair = self.emit(f"cmpxchg ptr {address}, i64 {given[0].text}, i64 {given[1].text} acq_rel acquire, align 8")
        return Value(TRUTH, self.emit(f"extractvalue {{ i64, i1 }} {pair}, 1"))

    def _bits_equal(self, node: ast.Call) -> Value:
        value, array = self.number(node.args[0]), self.evaluate(node.args[1])
        if not isinstance(array, Array) or array.element != value.kind or len(node.args) != array.dimensions + 2:
            raise self.refused(node, "of 64 bits each, and an array of them with its indices")
        *row, first = (self.number(index) for index in node.args[2:])
        last = Value(SIGNED, self.emit(f"add i64 {first.text}, {WORD - 1}"))
        self.inside(array, [*row, last])
        address = self.address(array, self.inside(array, [*row, first]))
        elements = self.emit(f"load <{WORD} x i64>, ptr {address}, align 8, !tbaa !{array.entry}")
        one = self.emit(f"insertelement <{WORD} x i64> poison, i64 {value.text}, i64 0")
        each = self.emit(f"shufflevector <{WORD} x i64> {one}, <{WORD} x i64> poison, <{WORD} x i32> zeroinitializer")
        equal = self.emit(f"icmp eq <{WORD} x i64> {elements}, {each}")
        return Value(UNSIGNED, self.emit(f"bitcast <{WORD} x i1> {equal} to i64"))

    def _converted(self, to: type, value: Value) -> Value:
        if value.constant is not None:
            return constant(to(value.constant))
        text = self.emit(f"zext i1 {value.text} to i64") if value.kind == TRUTH else value.text
        return Value(to.__name__, text)

    def _extreme(self, node: ast.Call, which: str) -> Value:
        found, *others = (self.number(argument) for argument in node.args)
        for other in others:
            if other.kind != found.kind:
                raise self.refused(node, f"{found.kind} and {other.kind}")
            name = f"@llvm.{'s' if found.kind == SIGNED else 'u'}{which}.i64"
            found = Value(found.kind, self.emit(f"call i64 {name}(i64 {found.text}, i64 {other.text})"))
        return found

    def _passed(self, node: ast.Call, function: Any) -> Value | tuple[Value, ...] | None:
        parameters: list[Parameter] = []
        passed = ["ptr %table"]
        for argument in node.args:
            value = self.evaluate(argument)
            if isinstance(value, Array | Struct | Records | Table):
                parameters.append(value)
            elif isinstance(value, Record):
                parameters.append(RecordOf(value.of))
                passed.append(f"i64 {value.index}")
            elif isinstance(value, Value):
                # What is constant in the caller's own parameters is constant in the function that is called.
                if isinstance(argument, ast.Name) and argument.id in self.names and value.constant is not None:
                    parameters.append(value.constant)
                    continue
                parameters.append(value.kind)
                passed.append(f"{TYPES[value.kind]} {value.text}")
            else:
                raise self.refused(node, "can't be passed")
        name, given = self._translate(function, tuple(parameters))
        call = f"call {type_of(given)} {name}({', '.join(passed)})"
        if given is None:
            self.lines.append(f"  {call}")
            return None
        found = self.emit(call)
        if isinstance(given, str):
            return Value(given, found)
        parts = [self.emit(f"extractvalue {type_of(given)} {found}, {place}") for place in range(len(given))]
        return tuple(Value(kind, part) for kind, part in zip(given, parts, strict=True))


def type_of(given: Given) -> str:
    """What a function returns, in LLVM's words."""
    if isinstance(given, tuple):
        return f"{{ {', '.join(TYPES[kind] for kind in given)} }}"
    return TYPES[given] if given else "void"
