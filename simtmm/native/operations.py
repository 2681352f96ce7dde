"""Arithmetic, comparisons and conditions, as Python has them, to LLVM's instructions."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from simtmm.native.elements import Elements
from simtmm.native.values import (
    SIGNED,
    TRUTH,
    TYPES,
    UNSIGNED,
    Value,
    constant,
)

_COMPARED = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
_PLAIN = {"Add": "add", "Sub": "sub", "Mult": "mul", "BitAnd": "and", "BitOr": "or", "BitXor": "xor", "LShift": "shl"}


class Operations(Elements):
    """Operations on integers of 64 bits, and on truths."""

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
        how = _COMPARED[operator]
        if left.kind == right.kind == TRUTH and how in ("eq", "ne"):
            if left.constant is None or right.constant is None:
                return Value(TRUTH, self.emit(f"icmp {how} i1 {left.text}, {right.text}"))
        elif len(kinds) > 1 or TRUTH in (left.kind, right.kind):
            raise self.refused(node, f"{left.kind} and {right.kind}")
        if left.constant is not None and right.constant is not None:
            return constant(bool(getattr(left.constant, f"__{how}__")(right.constant)))
        prefix = "" if how in ("eq", "ne") else "u" if UNSIGNED in kinds else "s"
        return Value(TRUTH, self.emit(f"icmp {prefix}{how} i64 {left.text}, {right.text}"))
