"""Expressions of a rule: arithmetic that notices where 64 bits do not do, comparisons, conditions."""

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from simtmm.engine.own_rule.names import NO_OPERATION, Names
from simtmm.engine.own_rule.operands import (
    ANSWER,
    CALLABLE,
    INTEGER,
    LIST,
    NONE,
    NOTHING,
    NUMBERS,
    OPERATION,
    STATE,
    TEXT,
    TRUTH,
    TUPLE,
    WARP,
    WIDEST,
    Operand,
    known,
    number,
    truth,
)
from simtmm.timeline import STATES
from simtmm.workload import OPERATIONS

WORDS = {STATE: STATES, OPERATION: (*OPERATIONS, "")}
SIGNS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
OVERFLOWS = {"Add": ("+", "sum"), "Sub": ("-", "difference"), "Mult": ("*", "product")}
PLAIN = {"BitAnd": "&", "BitOr": "|", "BitXor": "^"}
FOLDED: dict[str, Callable[[int, int], int]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "FloorDiv": operator.floordiv, "Mod": operator.mod,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
}  # fmt: skip
MOST_POWER = 64


class Expressions(Names):
    """Everything but lists and calls."""

    def evaluate(self, node: ast.expr) -> Operand:
        """What an expression stands for."""
        self.line = getattr(node, "lineno", self.line)
        method: Callable[[Any], Operand] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refused(node, f"no {type(node).__name__} is compiled")
        return method(node)

    def number(self, node: ast.expr) -> Operand:
        """An expression that is a number, or a truth as one."""
        return self.integer(node, self.evaluate(node))

    def _constant(self, node: ast.Constant) -> Operand:
        found = known(node.value)
        if found is None:
            raise self.refused(node, "only numbers of 64 bits, truths, texts and None are compiled")
        return found

    def _name(self, node: ast.Name) -> Operand:
        return self.found(node)

    def _attribute(self, node: ast.Attribute) -> Operand:
        return self.attribute(node, self.evaluate(node.value))

    def _tuple(self, node: ast.Tuple) -> Operand:
        return Operand(TUPLE, items=tuple(self.copy(self.evaluate(each)) for each in node.elts))

    def _lambda(self, node: ast.Lambda) -> Operand:
        return Operand(CALLABLE, value=(node, self.frame))

    # Arithmetic

    def _binop(self, node: ast.BinOp) -> Operand:
        left = self.copy(self.number(node.left))
        return self.operate(node, type(node.op).__name__, left, self.number(node.right))

    def operate(self, node: ast.AST, name: str, left: Operand, right: Operand) -> Operand:
        """An operation on two numbers."""
        if left.is_constant and right.is_constant:
            return self._folded(node, name, left.value, right.value)
        if name in OVERFLOWS:
            sign, what = OVERFLOWS[name]
            self.raise_if(f"{what}_overflows({left.text}, {right.text})")
            return self.keep(INTEGER, f"{left.text} {sign} {right.text}")
        if name in PLAIN:
            return self.keep(INTEGER, f"{left.text} {PLAIN[name]} {right.text}")
        if name not in ("FloorDiv", "Mod"):
            raise self.refused(node, "no such operation is compiled")
        below = self.keep(INTEGER, right.text).text
        if right.value in (None, 0, -1):
            widest = f"({below} == -1 and {left.text} == {-WIDEST + 1} - 1)"
            condition = self.keep(TRUTH, f"{below} == 0 or {widest}").text
            self.raise_if(condition)
            with self.block(f"if {condition}:"):
                self.write(f"{below} = 1")
        return self.keep(INTEGER, f"{left.text} {'//' if name == 'FloorDiv' else '%'} {below}")

    def _folded(self, node: ast.AST, name: str, left: int, right: int) -> Operand:
        if name == "Pow" and 0 <= right <= MOST_POWER:
            return self._narrow(node, left**right)
        if name == "LShift" and 0 <= right <= MOST_POWER:
            return self._narrow(node, left << right)
        if name not in FOLDED or (name in ("FloorDiv", "Mod") and right == 0):
            raise self.refused(node, "no such operation is compiled")
        return self._narrow(node, FOLDED[name](left, right))

    def _narrow(self, node: ast.AST, value: int) -> Operand:
        if not -WIDEST < value < WIDEST:
            raise self.refused(node, "more than 64 bits")
        return number(value)

    def _unaryop(self, node: ast.UnaryOp) -> Operand:
        if isinstance(node.op, ast.Not):
            condition = self.condition(node.operand)
            return truth(not condition.value) if condition.is_constant else self.keep(TRUTH, f"not {condition.text}")
        value = self.number(node.operand)
        if isinstance(node.op, ast.USub):
            return self.operate(node, "Sub", number(0), value)
        if isinstance(node.op, ast.UAdd):
            return value
        return self.operate(node, "Sub", number(-1), value)  # ~ of a number

    # Conditions

    def condition(self, node: ast.expr) -> Operand:
        """Whether an expression holds."""
        return self.holds(node, self.evaluate(node))

    def holds(self, node: ast.AST, value: Operand) -> Operand:
        """Whether a value does as a condition."""
        if value.kind == TRUTH:
            return value
        if value.is_constant:
            return truth(value.value != 0)
        if value.kind == NOTHING:
            return truth(False)
        if value.kind == TUPLE:
            return truth(bool(value.items))
        if value.kind == LIST:
            return self.keep(TRUTH, f"{value.count} > 0")
        if value.kind == WARP:
            return truth(True) if value.sure else self.keep(TRUTH, f"{value.text} >= 0")
        if value.kind == INTEGER:
            return self.keep(TRUTH, f"{value.text} != 0")
        if value.kind == STATE:
            return truth(True)
        if value.kind == OPERATION:
            return self.keep(TRUTH, f"{value.text} != {NO_OPERATION}")
        raise self.refused(node, f"{value.kind} as a condition")

    def _boolop(self, node: ast.BoolOp) -> Operand:
        found = self.evaluate(node.values[0])
        for part in node.values[1:]:
            found = self._either(node, found, part, isinstance(node.op, ast.And))
        return found

    def _either(self, node: ast.AST, left: Operand, right: ast.expr, both: bool) -> Operand:
        """`and` or `or`: the left value where it decides, else the right one."""
        condition = self.holds(node, left)
        if condition.is_constant:
            return self.evaluate(right) if bool(condition.value) is both else left
        goes_on = condition.text if both else f"not {condition.text}"
        return self._chosen(node, goes_on, lambda: self.evaluate(right), lambda: left)

    def _ifexp(self, node: ast.IfExp) -> Operand:
        condition = self.condition(node.test)
        if condition.is_constant:
            return self.evaluate(node.body if condition.value else node.orelse)
        return self._chosen(node, condition.text, lambda: self.evaluate(node.body), lambda: self.evaluate(node.orelse))

    def _chosen(
        self, node: ast.AST, condition: str, then: Callable[[], Operand], otherwise: Callable[[], Operand]
    ) -> Operand:
        """One of two values, of which one alone is looked at."""
        with self.block(f"if {condition}:"):
            first = then()
            first_end, first_line = len(self.lines), self.line
        with self.block("else:"):
            second = otherwise()
            place = self._common(node, first, second)
            self.move(node, place, second)
        # The first branch ends with its value as well, which is known of what kind it has to be by now.
        before, self.lines = self.lines, []
        lines_of, self.of_lines = self.of_lines, []
        self.line = first_line
        self._depth += 1
        self.move(node, place, first)
        self._depth -= 1
        self.lines = [*before[:first_end], *self.lines, *before[first_end:]]
        self.of_lines = [*lines_of[:first_end], *self.of_lines, *lines_of[first_end:]]
        return place

    def _common(self, node: ast.AST, first: Operand, second: Operand) -> Operand:
        """A place for either of two values."""
        kinds = {first.kind, second.kind}
        if NOTHING in kinds and kinds <= {WARP, NOTHING}:
            return self.place_for(NONE)
        if kinds == {INTEGER, TRUTH}:
            return self.place_for(first if first.kind == INTEGER else second)
        if ANSWER in kinds and kinds <= {ANSWER, WARP, NOTHING}:
            return self.place_for(first if first.kind == ANSWER else second)
        if len(kinds) > 1 or first.kind not in (*NUMBERS, TUPLE, LIST, ANSWER):
            raise self.refused(node, f"{first.kind} or {second.kind}")
        if first.kind == TUPLE and len(first.items) == len(second.items):
            return Operand(
                TUPLE, items=tuple(self._common(node, *pair) for pair in zip(first.items, second.items, strict=True))
            )
        return self.place_for(first)

    # Comparisons

    def _compare(self, node: ast.Compare) -> Operand:
        left = self.copy(self.evaluate(node.left))
        return self._chain(node, left, list(zip(node.ops, node.comparators, strict=True)))

    def _chain(self, node: ast.Compare, left: Operand, pairs: Sequence[tuple[ast.cmpop, ast.expr]]) -> Operand:
        """Chains as Python takes them: no further than they have to be looked at."""
        (sign, other), *more = pairs
        right = self.copy(self.evaluate(other))
        found = self.compared(node, left, type(sign).__name__, right)
        if not more or (found.is_constant and not found.value):
            return found
        if found.is_constant:
            return self._chain(node, right, more)
        return self._chosen(node, found.text, lambda: self._chain(node, right, more), lambda: truth(False))

    def compared(self, node: ast.AST, left: Operand, sign: str, right: Operand) -> Operand:
        """Whether two values stand in a relation."""
        if sign in ("In", "NotIn"):
            found = self._is_among(node, left, right)
            return self.negated(found) if sign == "NotIn" else found
        if sign in ("Is", "IsNot"):
            if not {left.kind, right.kind} <= {WARP, NOTHING} and NOTHING not in (left.kind, right.kind):
                raise self.refused(node, "`is` of warps and None only")
            sign = {"Is": "Eq", "IsNot": "NotEq"}[sign]
        if TUPLE in (left.kind, right.kind):
            return self._compared_in_turn(node, left, sign, right)
        kinds = {left.kind, right.kind}
        if kinds <= {INTEGER, TRUTH}:
            return self._compared_numbers(node, left, sign, right)
        if sign not in ("Eq", "NotEq"):
            raise self.refused(node, f"{left.kind} and {right.kind} in an order")
        return self._compared_others(node, left, sign == "Eq", right)

    def _compared_others(self, node: ast.AST, left: Operand, equal: bool, right: Operand) -> Operand:
        kinds = {left.kind, right.kind}
        sign = "==" if equal else "!="
        if kinds <= {WARP, NOTHING}:
            if kinds == {NOTHING} or (NOTHING in kinds and (left.sure or right.sure)):
                return truth((kinds == {NOTHING}) is equal)
            return self.keep(TRUTH, f"{left.text} {sign} {right.text}")
        if TEXT in kinds and kinds != {TEXT}:
            word, text = (right, left) if left.kind == TEXT else (left, right)
            if word.kind in WORDS:
                words = WORDS[word.kind]
                if text.value not in words:
                    return truth(not equal)
                return self.keep(TRUTH, f"{word.text} {sign} {words.index(text.value)}")
        if len(kinds) == 1 and left.kind in WORDS:
            return self.keep(TRUTH, f"{left.text} {sign} {right.text}")
        if NOTHING in kinds:
            return truth(not equal)
        raise self.refused(node, f"{left.kind} and {right.kind} compared")

    def _compared_numbers(self, node: ast.AST, left: Operand, sign: str, right: Operand) -> Operand:
        if left.is_constant and right.is_constant:
            holds = {"Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
                     "Gt": operator.gt, "GtE": operator.ge}[sign]  # fmt: skip
            return truth(holds(left.value, right.value))
        first, second = self.integer(node, left), self.integer(node, right)
        return self.keep(TRUTH, f"{first.text} {SIGNS[sign]} {second.text}")

    def _compared_in_turn(self, node: ast.AST, left: Operand, sign: str, right: Operand) -> Operand:
        """Two tuples: by the first items that differ."""
        if left.kind != right.kind or len(left.items) != len(right.items) or not left.items:
            raise self.refused(node, f"{left.kind} and {right.kind} compared")
        (first, second), *_ = pairs = list(zip(left.items, right.items, strict=True))
        if len(pairs) == 1:
            return self.compared(node, first, sign, second)
        rest = [Operand(TUPLE, items=side.items[1:]) for side in (left, right)]
        same = self.compared(node, first, "Eq", second)
        if same.is_constant:
            return self.compared(node, *((rest[0], sign, rest[1]) if same.value else (first, sign, second)))
        return self._chosen(
            node,
            same.text,
            lambda: self.compared(node, rest[0], sign, rest[1]),
            lambda: self.compared(node, first, sign, second),
        )

    def _is_among(self, node: ast.AST, left: Operand, right: Operand) -> Operand:
        if right.kind == LIST:
            return self.is_in_list(node, left, right)
        if right.kind != TUPLE:
            raise self.refused(node, f"`in` {right.kind}")
        found = truth(False)
        for item in right.items:
            equal = self.compared(node, left, "Eq", item)
            if found.is_constant and not found.value:
                found = equal
            elif not equal.is_constant:
                found = self.keep(TRUTH, f"{found.text} or {equal.text}")
            elif equal.value:
                return truth(True)
        return found

    def is_in_list(self, node: ast.AST, left: Operand, right: Operand) -> Operand:
        """Whether a list has a value."""
        raise NotImplementedError

    def negated(self, value: Operand) -> Operand:
        """The other truth."""
        return truth(not value.value) if value.is_constant else self.keep(TRUTH, f"not {value.text}")
