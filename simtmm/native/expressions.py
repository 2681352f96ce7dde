"""All expressions of a function: calls, beside `Operations`."""

import ast
import builtins
import ctypes
from typing import Any

import numpy as np

from simtmm.native.operations import Operations
from simtmm.native.values import (
    SIGNED,
    TRUTH,
    TYPES,
    Array,
    Parameter,
    Struct,
    Value,
    constant,
)


def prefetch(array: Any, *indices: Any) -> None:
    """Have an element of an array brought into the cache; changes nothing else, and is no access."""


def call_bound(entry: Any, table: Any) -> int:
    """Call a loop whose arguments stand in a table (Bound, in simtmm/native/loop.py), by both addresses: what it gives.

    It may write to any array; one that another thread writes to meanwhile is the caller's care.
    """
    given: int = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(int(entry))(int(table))
    return given


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
        if found is None:
            raise self.refused(node, "gives nothing")
        return found

    def called(self, node: ast.Call) -> Value | None:
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
            if isinstance(array, Array):
                return self.extent(array, 0)
        if function is prefetch and count > 1:
            array = self.evaluate(node.args[0])
            if isinstance(array, Array) and array.dimensions == count - 1:
                address = self.address(array, [self.number(index) for index in node.args[1:]])
                self.lines.append(f"  call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")
                return None
        if function is call_bound and count == 2:
            entry, table = (self.emit(f"inttoptr i64 {self.number(of).text} to ptr") for of in node.args)
            return Value(SIGNED, self.emit(f"call i64 {entry}(ptr {table}) nounwind"))
        if not hasattr(function, "__code__"):
            raise self.refused(node, "no such call is translated")
        return self._passed(node, function)

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

    def _passed(self, node: ast.Call, function: Any) -> Value | None:
        parameters: list[Parameter] = []
        passed = ["ptr %table"]
        for argument in node.args:
            value = self.evaluate(argument)
            if isinstance(value, Array | Struct):
                parameters.append(value)
            elif isinstance(value, Value):
                # What is constant in the caller's own parameters is constant in the function that is called.
                if isinstance(argument, ast.Name) and argument.id in self.names and value.constant is not None:
                    parameters.append(value.constant)
                    continue
                parameters.append(value.kind)
                passed.append(f"{TYPES[value.kind]} {value.text}")
            else:
                raise self.refused(node, "can't be passed")
        name, kind = self._translate(function, tuple(parameters))
        call = f"call {TYPES[kind] if kind else 'void'} {name}({', '.join(passed)})"
        if kind:
            return Value(kind, self.emit(call))
        self.lines.append(f"  {call}")
        return None
