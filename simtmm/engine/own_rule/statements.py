"""Statements of a rule: assignments, branches, loops, and what functions return."""

import ast
from collections.abc import Callable, Sequence
from typing import Any

from simtmm.engine.own_rule.calls import Calls, assigned_in, stored_once
from simtmm.engine.own_rule.operands import ANSWER, CALLABLE, INTEGER, NONE, NUMBERS, TRUTH, TUPLE, WARP, Operand


class Statements(Calls):
    """Functions, a statement after the other."""

    def body(self, definition: ast.FunctionDef) -> Operand:
        """What a function gives.

        Where one of several places may return, the function is in a loop of one turn, which a return leaves.
        """
        frame = self.frame
        frame.assigned = assigned_in(definition)
        frame.definition = definition
        statements = definition.body
        *before, last = statements
        returns = [node for node in _own_nodes(before) if isinstance(node, ast.Return)]
        if not returns and isinstance(last, ast.Return):
            self._do(before)
            return NONE if last.value is None else self.copy(self.evaluate(last.value))
        if not returns and not any(isinstance(node, ast.Return) for node in _own_nodes([last])):
            self._do(statements)
            return NONE
        return self._wrapped(definition)

    def _wrapped(self, definition: ast.FunctionDef) -> Operand:
        frame = self.frame
        frame.is_wrapped, frame.left = True, self.fresh("left")
        self.write(f"{frame.left} = 0")
        values = [node.value for node in _own_nodes(definition.body) if isinstance(node, ast.Return)]
        frame.result = self._result_of(values)
        if frame.result is not None:
            self._clear(frame.result)
        start, depth = len(self.lines), self._depth
        with self.block("while True:"):
            self._do(definition.body)
            if not _ends(definition.body):
                self._return(definition, NONE)
        assert frame.result is not None
        before = len(self.lines)
        self._clear(frame.result)  # a place that has a value however the loop is left
        cleared = [line.removeprefix("    " * self._depth) for line in self.lines[before:]]
        del self.lines[before:], self.of_lines[before:]
        self.lines[start:start] = ["    " * depth + line for line in cleared]
        self.of_lines[start:start] = [self.line] * len(cleared)
        return frame.result

    def _result_of(self, values: Sequence[ast.expr | None]) -> Operand | None:
        """A place for what a function returns that may return None, a warp, or that it holds back."""
        if len(self.frames) == 1:
            return self.place_for(Operand(ANSWER, items=(Operand(INTEGER), Operand(INTEGER))))
        if any(value is None or (isinstance(value, ast.Constant) and value.value is None) for value in values):
            return self.place_for(NONE)
        return None

    def _clear(self, place: Operand) -> None:
        """Give a place any value of its kind."""
        for item in place.items:
            self._clear(item)
        if not place.items and place.kind in NUMBERS:
            self.write(f"{place.text} = {'False' if place.kind == TRUTH else '-1'}")
        elif not place.items:
            self.write(f"{place.count} = 0")

    def _do(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.line = statement.lineno
            method: Callable[[Any], None] | None = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if method is None:
                raise self.refused(statement, f"no {type(statement).__name__} is compiled")
            method(statement)
            if isinstance(statement, ast.Return | ast.Break | ast.Continue):
                return

    def _do_pass(self, statement: ast.Pass) -> None:
        pass

    def _do_expr(self, statement: ast.Expr) -> None:
        if not (isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)):
            self.evaluate(statement.value)

    def _do_functiondef(self, statement: ast.FunctionDef) -> None:
        if statement.decorator_list:
            raise self.refused(statement, "no decorators are compiled")
        self.put(statement, statement.name, Operand(CALLABLE, value=(statement, self.frame)))

    # Assignments

    def _do_assign(self, statement: ast.Assign) -> None:
        value = self.evaluate(statement.value)
        if len(statement.targets) > 1 and value.kind in NUMBERS:
            value = self.copy(value)
        for target in statement.targets:
            self._assign(target, value)

    def _do_annassign(self, statement: ast.AnnAssign) -> None:
        if statement.value is not None:
            self._assign(statement.target, self.evaluate(statement.value))

    def _do_augassign(self, statement: ast.AugAssign) -> None:
        target = statement.target
        if not isinstance(target, ast.Name | ast.Attribute):
            raise self.refused(statement, "can't be assigned to")
        before = self.copy(self.number(type(target)(**{**vars(target), "ctx": ast.Load()})))
        value = self.operate(statement, type(statement.op).__name__, before, self.number(statement.value))
        self._assign(target, value)

    def _assign(self, target: ast.expr, value: Operand) -> None:
        if isinstance(target, ast.Name):
            definition = self.frame.definition
            once = self.frame.loops == 0 and definition is not None and stored_once(definition, target.id)
            self.put(target, target.id, value, often=not once)
        elif isinstance(target, ast.Attribute):
            self.put_field(target, self.evaluate(target.value), value)
        elif isinstance(target, ast.Tuple) and value.kind == TUPLE and len(target.elts) == len(value.items):
            copies = [self.copy(item) for item in value.items]
            for place, item in zip(target.elts, copies, strict=True):
                self._assign(place, item)
        else:
            raise self.refused(target, "can't be assigned to")

    # Branches and loops

    def _do_if(self, statement: ast.If) -> None:
        condition = self.condition(statement.test)
        if condition.is_constant:
            self._do(statement.body if condition.value else statement.orelse)
            return
        with self.block(f"if {condition.text}:"):
            self._do(statement.body)
        if statement.orelse:
            with self.block("else:"):
                self._do(statement.orelse)

    def _do_while(self, statement: ast.While) -> None:
        if statement.orelse:
            raise self.refused(statement, "no else of a loop is compiled")
        with self.block("while True:"):
            self.count_turn()
            condition = self.condition(statement.test)
            with self.block(f"if not {condition.text}:"):
                self.write("break")
            self._repeat(statement.body)
        self._leave()

    def _do_for(self, statement: ast.For) -> None:
        if statement.orelse or not isinstance(statement.target, ast.Name):
            raise self.refused(statement, "only loops of one name, without else, are compiled")
        over = self.copy(self.evaluate(statement.iter))
        if over.kind == TUPLE:
            raise self.refused(statement, "a loop over a tuple")
        with self.turns(statement.iter, over) as element:
            self.put(statement.target, statement.target.id, element)
            self._repeat(statement.body)
        self._leave()

    def _repeat(self, statements: Sequence[ast.stmt]) -> None:
        self.frame.loops += 1
        self._do(statements)
        self.frame.loops -= 1

    def _leave(self) -> None:
        """Behind a loop: where the function returned in it, leave what is around it, too."""
        if self.frame.is_wrapped:
            with self.block(f"if {self.frame.left} != 0:"):
                self.write("break")

    def _do_break(self, statement: ast.Break) -> None:
        self.write("break")

    def _do_continue(self, statement: ast.Continue) -> None:
        self.write("continue")

    def _do_return(self, statement: ast.Return) -> None:
        self._return(statement, NONE if statement.value is None else self.evaluate(statement.value))

    def _return(self, node: ast.AST, value: Operand) -> None:
        frame = self.frame
        if frame.result is None:
            frame.result = self.place_for(value)
        elif frame.result.kind == WARP and value.kind == ANSWER:
            raise self.refused(node, "a helper that gives a warp, or holds back")
        self.move(node, frame.result, value)
        if frame.loops:
            self.write(f"{frame.left} = 1")
        self.write("break")


def _own_nodes(statements: Sequence[ast.stmt]) -> list[ast.AST]:
    """All nodes of statements but those of functions within them."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """Whether what is behind these statements is never reached."""
    last = statements[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    return isinstance(last, ast.Return)
