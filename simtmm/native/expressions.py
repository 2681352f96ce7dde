"""Expressions of Python, over integers of 64 bits and elements of arrays, to LLVM's instructions."""

import ast
import builtins
from collections.abc import Callable
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

_COMPARED = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
_PLAIN = {"Add": "add", "Sub": "sub", "Mult": "mul", "BitAnd": "and", "BitOr": "or", "BitXor": "xor", "LShift": "shl"}


def prefetch(array: Any, index: Any) -> None:
    """Have an element of an array of one dimension brought into the cache; changes nothing else, and is no access."""


class Expressions:
    """The body of a function as it is written; `Function` adds statements.

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
        """Put a value into an element."""
        array = self.evaluate(node.value)
        if not isinstance(array, Array) or array.element not in (SIGNED, UNSIGNED):
            raise self.refused(node, "no array of 64-bit integers")
        if value.kind != array.element:
            raise self.refused(node, f"{value.kind} into an array of {array.element}")
        address = self.element(node, array)
        self.lines.append(f"  store i64 {value.text}, ptr {address}, !tbaa !{array.entry}")

    def extent(self, array: Array, which: int) -> Value:
        """How many elements an array has in a dimension."""
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
        place = ""
        for which, index in enumerate(listed):
            at = self.number(index)
            if at.constant is not None and at.constant < 0:
                raise self.refused(node, "indices count from 0 on")
            if self._checked:
                inside = self.emit(f"icmp ult i64 {at.text}, {self.extent(array, which).text}")
                at = Value(SIGNED, self._noted(inside, at.text, 0))
            if place:
                before = self.emit(f"mul i64 {place}, {self.extent(array, which).text}")
                place = self.emit(f"add i64 {before}, {at.text}")
            else:
                place = at.text
        return self._address(array, place)

    def _address(self, array: Array, place: str) -> str:
        base = self.from_table("ptr", array.entry)
        return self.emit(f"getelementptr inbounds i{WIDTHS[array.element]}, ptr {base}, i64 {place}")

    def _noted(self, fine: str, value: str, instead: int) -> str:
        """A value where all is fine, else another; the line is noted in the first entry of the table."""
        line = self.function.__code__.co_firstlineno + self.line - 1
        before = self.emit("load i64, ptr %table")
        self.lines.append(f"  store i64 {self.emit(f'select i1 {fine}, i64 {before}, i64 {line}')}, ptr %table")
        return self.emit(f"select i1 {fine}, i64 {value}, i64 {instead}")

    # Operations

    def _binop(self, node: ast.BinOp) -> Value:
        return self.operate(node, type(node.op).__name__, self.number(node.left), self.number(node.right))

    def operate(self, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        """An operation on two integers of one kind."""
        if left.kind != right.kind:
            raise self.refused(node, f"{left.kind} and {right.kind}")
        kind = left.kind
        if operator in _PLAIN:
            return Value(kind, self.emit(f"{_PLAIN[operator]} i64 {left.text}, {right.text}"))
        if operator == "RShift":
            return Value(kind, self.emit(f"{'ashr' if kind == SIGNED else 'lshr'} i64 {left.text}, {right.text}"))
        if operator not in ("FloorDiv", "Mod"):
            raise self.refused(node, "no such operation is translated")
        below = right.text
        if self._checked:
            below = self._noted(self.emit(f"icmp ne i64 {below}, 0"), below, 1)
        name = "div" if operator == "FloorDiv" else "rem"
        if kind == UNSIGNED:
            return Value(kind, self.emit(f"u{name} i64 {left.text}, {below}"))
        # Python rounds down, LLVM towards zero: they differ where signs do and something is left.
        rest = self.emit(f"srem i64 {left.text}, {below}")
        differ = self.emit(f"icmp slt i64 {self.emit(f'xor i64 {rest}, {below}')}, 0")
        down = self.emit(f"and i1 {differ}, {self.emit(f'icmp ne i64 {rest}, 0')}")
        if name == "rem":
            return Value(kind, self.emit(f"add i64 {rest}, {self.emit(f'select i1 {down}, i64 {below}, i64 0')}"))
        quotient = self.emit(f"sdiv i64 {left.text}, {below}")
        return Value(kind, self.emit(f"sub i64 {quotient}, {self.emit(f'zext i1 {down} to i64')}"))

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        value = self.number(node.operand)
        if isinstance(node.op, ast.Invert):
            if value.constant is not None and value.kind == UNSIGNED:
                return constant(~np.uint64(value.constant))
            return Value(value.kind, self.emit(f"xor i64 {value.text}, -1"))
        if isinstance(node.op, ast.USub) and value.kind == SIGNED:
            if value.constant is not None:
                return constant(-value.constant, value.written)
            return Value(SIGNED, self.emit(f"sub i64 0, {value.text}"))
        raise self.refused(node, "no such operation is translated")

    def _ifexp(self, node: ast.IfExp) -> Value:
        condition = self.condition(node.test)
        if condition.constant is not None:
            return self.value(node.body if condition.constant else node.orelse)
        yes, no, end = self.fresh("yes"), self.fresh("no"), self.fresh("end")
        self.lines.append(f"  br i1 {condition.text}, label %{yes}, label %{no}")
        chosen = []
        for label, branch in ((yes, node.body), (no, node.orelse)):
            self.lines.append(f"{label}:")
            value = self.value(branch)
            last = self.fresh("last")
            self.lines += [f"  br label %{last}", f"{last}:", f"  br label %{end}"]
            chosen.append((value, last))
        (first, after_first), (second, after_second) = chosen
        if first.kind != second.kind:
            raise self.refused(node, f"{first.kind} or {second.kind}")
        self.lines.append(f"{end}:")
        pairs = f"[{first.text}, %{after_first}], [{second.text}, %{after_second}]"
        return Value(first.kind, self.emit(f"phi {TYPES[first.kind]} {pairs}"))

    # Conditions

    def condition(self, node: ast.expr) -> Value:
        """Whether an expression holds, as `if` takes it."""
        self.line = getattr(node, "lineno", self.line)
        if isinstance(node, ast.BoolOp):
            return self._in_turn(isinstance(node.op, ast.And), [(self.condition, part) for part in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self.condition(node.operand)
            if value.constant is not None:
                return constant(not value.constant)
            return Value(TRUTH, self.emit(f"xor i1 {value.text}, true"))
        value = self.value(node)
        if value.kind == TRUTH:
            return value
        if value.constant is not None:
            return constant(value.constant != 0)
        return Value(TRUTH, self.emit(f"icmp ne i64 {value.text}, 0"))

    def _boolop(self, node: ast.BoolOp) -> Value:
        def truth(part: ast.expr) -> Value:
            value = self.value(part)
            if value.kind != TRUTH:
                raise self.refused(node, "`and` and `or` of integers are translated as conditions only")
            return value

        return self._in_turn(isinstance(node.op, ast.And), [(truth, part) for part in node.values])

    def _in_turn(self, both: bool, parts: list[tuple[Callable[[Any], Value], Any]]) -> Value:
        """`and`, or `or`: what comes later is only looked at where it decides."""
        end = self.fresh("end")
        given: list[tuple[str, str]] = []
        for number, (evaluate, part) in enumerate(parts):
            value = evaluate(part)
            if value.constant is not None:
                if bool(value.constant) is both and (number + 1 < len(parts) or given):
                    continue  # the others decide
                if not given:
                    return value
            last, following = self.fresh("last"), self.fresh("next")
            self.lines += [f"  br label %{last}", f"{last}:"]
            given.append((value.text, last))
            decided = (value.constant is not None and bool(value.constant) is not both) or number + 1 == len(parts)
            if decided:
                self.lines.append(f"  br label %{end}")
                break
            labels = (following, end) if both else (end, following)
            self.lines.append(f"  br i1 {value.text}, label %{labels[0]}, label %{labels[1]}")
            self.lines.append(f"{following}:")
        else:
            if not given:
                return constant(both)
            last = self.fresh("last")
            self.lines += [f"  br label %{last}", f"{last}:", f"  br label %{end}"]
            given.append(("true" if both else "false", last))
        self.lines.append(f"{end}:")
        return Value(TRUTH, self.emit("phi i1 " + ", ".join(f"[{text}, %{label}]" for text, label in given)))

    def _compare(self, node: ast.Compare) -> Value:
        """Chains as Python takes them: each part is looked at once, and no further than it has to."""
        left = self.value(node.left)
        held = [left]

        def next_one(pair: tuple[ast.cmpop, ast.expr]) -> Value:
            operator, right_node = pair
            if isinstance(operator, ast.In | ast.NotIn):
                return self._is_among(node, held[0], operator, right_node)
            right = self.value(right_node)
            before, held[0] = held[0], right
            return self._compared(node, before, type(operator).__name__, right)

        return self._in_turn(True, [(next_one, pair) for pair in zip(node.ops, node.comparators, strict=True)])

    def _is_among(self, node: ast.Compare, left: Value, operator: ast.cmpop, right: ast.expr) -> Value:
        if not isinstance(right, ast.Tuple) or len(node.ops) > 1:
            raise self.refused(node, "`in` a tuple only")
        found = constant(False)
        for one in right.elts:
            equal = self._compared(node, left, "Eq", self.value(one))
            if found.constant is None or equal.constant is None:
                found = Value(TRUTH, self.emit(f"or i1 {found.text}, {equal.text}"))
            elif equal.constant:
                found = equal
        if isinstance(operator, ast.In):
            return found
        return Value(TRUTH, self.emit(f"xor i1 {found.text}, true"))

    def _compared(self, node: ast.AST, left: Value, operator: str, right: Value) -> Value:
        if operator not in _COMPARED:
            raise self.refused(node, "no such comparison is translated")
        # An integer as it is written has no kind of its own, unless it is negative.
        kinds = {side.kind for side in (left, right) if not (side.written and (side.constant or 0) >= 0)}
        if len(kinds) > 1 or TRUTH in (left.kind, right.kind):
            raise self.refused(node, f"{left.kind} and {right.kind}")
        how = _COMPARED[operator]
        if left.constant is not None and right.constant is not None:
            return constant(bool(getattr(left.constant, f"__{how}__")(right.constant)))
        prefix = "" if how in ("eq", "ne") else "u" if UNSIGNED in kinds else "s"
        return Value(TRUTH, self.emit(f"icmp {prefix}{how} i64 {left.text}, {right.text}"))

    # Calls

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
        if function is prefetch and count == 2:
            array = self.evaluate(node.args[0])
            if isinstance(array, Array) and array.dimensions == 1:
                address = self._address(array, self.number(node.args[1]).text)
                self.lines.append(f"  call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")
                return None
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
