"""Functions of Python to functions of LLVM: assignments, branches and loops over what `Expressions` gives."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from simtmm.native.elements import Evaluated
from simtmm.native.expressions import Expressions, type_of
from simtmm.native.values import (
    SIGNED,
    TYPES,
    VECTORIZED,
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
from simtmm.native.written import Written
from simtmm.python_text import parsed


def vectorized(turns: range) -> range:
    """Of a loop over a range: LLVM does several turns at once, in the lanes of a vector, which is worth it where there
    are many. No turn may write to an array, and what they have in common is a sum, `min`, `max`, `|`, `&` or `^`.

    turns: the range that the loop goes over.
    """
    return turns


@dataclass
class _Loop:
    """A loop around a statement: where to go on, and what has a value at each way out."""

    following: str
    end: str
    leaving: list[set[str]] = field(default_factory=list)


class Function(Expressions):
    """A function for some parameters. given: the kinds of what it returns, None for nothing; `text` is all of it."""

    def __init__(
        self,
        function: Any,
        name: str,
        parameters: tuple[Parameter, ...],
        call: Callable[[Any, tuple[Parameter, ...]], tuple[str, Given]],
        checked: bool = False,
    ) -> None:
        super().__init__(function, call, checked)
        self.given: Given = None
        self._open = True  # whether a statement would be reached here
        self._returned: set[Given] = set()
        self._loops: list[_Loop] = []
        text = function.source if isinstance(function, Written) else textwrap.dedent(inspect.getsource(function))
        tree = parsed(text).body[0]
        assert isinstance(tree, ast.FunctionDef)
        names = [argument.arg for argument in tree.args.args]
        if len(names) != len(parameters) or tree.args.defaults or tree.args.kwonlyargs or tree.args.vararg:
            raise self.refused(tree, f"called with {len(parameters)} arguments")
        changed = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        passed = ["ptr %table"]
        for parameter_name, parameter in zip(names, parameters, strict=True):
            if isinstance(parameter, str):
                passed.append(f"{TYPES[parameter]} %p.{parameter_name}")
                value = Value(parameter, f"%p.{parameter_name}")
                if parameter_name in changed:
                    self._assign(parameter_name, value)
                else:
                    self.names[parameter_name] = value
                continue
            if parameter_name in changed:
                raise self.refused(tree, f"{parameter_name} is constant, and changes")
            if isinstance(parameter, RecordOf):
                passed.append(f"i64 %p.{parameter_name}")
                self.names[parameter_name] = Record(parameter.of, f"%p.{parameter_name}")
            else:
                self.names[parameter_name] = constant(parameter) if isinstance(parameter, int) else parameter
        self._block(tree.body)
        if self._open:
            self._returned.add(None)
            self.lines.append("  ret void")
        if len(self._returned) > 1:
            raise self.refused(tree, "returns now one kind, now another, or nothing")
        (self.given,) = self._returned or {None}
        how = " alwaysinline" if getattr(function, "is_inlined", False) else ""
        head = f"define internal {type_of(self.given)} {name}({', '.join(passed)}) nounwind{how} {{"
        places = [f"  %x.{variable} = alloca {TYPES[kind]}" for variable, kind in self.variables.items()]
        self.text = "\n".join([head, *places, *self.lines, "}", ""])

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if not self._open:
                return  # what is behind a branch that a constant has decided
            self.line = statement.lineno
            method = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if method is None:
                raise self.refused(statement, f"no {type(statement).__name__} is translated")
            method(statement)

    def _go(self, label: str, mark: str = "") -> None:
        """Leave for a label."""
        self.lines.append(f"  br label %{label}{mark}")
        self._open = False

    def _begin(self, label: str, assigned: set[str]) -> None:
        """What follows begins at a label; assigned: what has a value there."""
        self.lines.append(f"{label}:")
        self._open, self.assigned = True, set(assigned)

    # Simple statements

    def _do_expr(self, statement: ast.Expr) -> None:
        if isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
            return  # a docstring
        if not isinstance(statement.value, ast.Call):
            raise self.refused(statement, "does nothing")
        self.called(statement.value)

    def _do_assign(self, statement: ast.Assign) -> None:
        (target,) = statement.targets if len(statement.targets) == 1 else (None,)
        if target is None:
            raise self.refused(statement, "one target at a time")
        if not isinstance(target, ast.Tuple):
            self._put(statement, target, self.evaluate(statement.value))
            return
        if isinstance(statement.value, ast.Tuple):
            values: list[Evaluated] = [self.evaluate(node) for node in statement.value.elts]
        else:
            called = self.called(statement.value) if isinstance(statement.value, ast.Call) else None
            values = list(called) if isinstance(called, tuple) else []
        if len(values) != len(target.elts):
            raise self.refused(statement, f"{len(values)} values for {len(target.elts)} targets")
        for place, value in zip(target.elts, values, strict=True):
            self._put(statement, place, value)

    def _do_augassign(self, statement: ast.AugAssign) -> None:
        target = statement.target
        if any(isinstance(node, ast.Call) for node in ast.walk(target)):
            raise self.refused(statement, "a call would be evaluated twice")
        before = type(target)(**{**vars(target), "ctx": ast.Load()})
        left, right = self.number(before), self.number(statement.value)
        self._put(statement, target, self.operate(statement, type(statement.op).__name__, left, right))

    def _put(self, statement: ast.stmt, place: ast.expr, value: Evaluated) -> None:
        if isinstance(place, ast.Name) and place.id not in self.names:
            if isinstance(value, Value):
                if place.id in self.aliases or self.variables.get(place.id, value.kind) != value.kind:
                    raise self.refused(statement, f"{place.id} has been {self.variables.get(place.id, 'an array')}")
                self._assign(place.id, value)
            else:
                self._name_it(statement, place.id, value)
        elif isinstance(place, ast.Subscript | ast.Attribute) and isinstance(value, Value):
            self.store(place, value)
        else:
            raise self.refused(statement, "can't be assigned to")

    def _name_it(self, statement: ast.stmt, name: str, value: Evaluated) -> None:
        """A name for an array or a tuple of them, the same one wherever it is assigned; or for a record, of one array.

        The name is an array's all through the function, since what is translated is found by it.
        """
        if not isinstance(value, Array | Records | Struct | Table | Record):
            raise self.refused(statement, "can't have a name")
        alias = RecordOf(value.of) if isinstance(value, Record) else value
        if self.aliases.setdefault(name, alias) != alias or (name in self.variables and not isinstance(value, Record)):
            raise self.refused(statement, f"{name} has been something else")
        if isinstance(value, Record):
            self._assign(name, Value(SIGNED, value.index))
        self.assigned.add(name)

    def _assign(self, name: str, value: Value) -> None:
        self.variables[name] = value.kind
        self.assigned.add(name)
        self.lines.append(f"  store {TYPES[value.kind]} {value.text}, ptr %x.{name}")

    def _do_return(self, statement: ast.Return) -> None:
        if statement.value is None:
            self._returned.add(None)
            self.lines.append("  ret void")
        elif isinstance(statement.value, ast.Tuple):
            values = [self.value(node) for node in statement.value.elts]
            given = tuple(value.kind for value in values)
            self._returned.add(given)
            whole = "undef"
            for place, value in enumerate(values):
                part = f"{TYPES[value.kind]} {value.text}, {place}"
                whole = self.emit(f"insertvalue {type_of(given)} {whole}, {part}")
            self.lines.append(f"  ret {type_of(given)} {whole}")
        else:
            value = self.value(statement.value)
            self._returned.add(value.kind)
            self.lines.append(f"  ret {TYPES[value.kind]} {value.text}")
        self._open = False

    # Branches and loops

    def _do_if(self, statement: ast.If) -> None:
        condition = self.condition(statement.test)
        if condition.constant is not None:
            self._block(statement.body if condition.constant else statement.orelse)
            return
        yes, no, end = self.fresh("yes"), self.fresh("no"), self.fresh("end")
        self.lines.append(f"  br i1 {condition.text}, label %{yes}, label %{no}")
        before, leaving = set(self.assigned), []
        for label, statements in ((yes, statement.body), (no, statement.orelse)):
            self._begin(label, before)
            self._block(statements)
            if self._open:
                leaving.append(self.assigned)
                self._go(end)
        if leaving:
            self._begin(end, set.intersection(*leaving))

    def _do_while(self, statement: ast.While) -> None:
        if statement.orelse:
            raise self.refused(statement, "no else of a loop is translated")
        head, body = self.fresh("head"), self.fresh("body")
        loop = _Loop(head, self.fresh("end"))
        self._go(head)
        self._begin(head, self.assigned)
        condition = self.condition(statement.test)
        if condition.constant is None or not condition.constant:
            loop.leaving.append(set(self.assigned))
        self.lines.append(f"  br i1 {condition.text}, label %{body}, label %{loop.end}")
        self._begin(body, self.assigned)
        self._repeat(loop, statement.body)
        if self._open:
            self._go(head)
        self._end(loop)

    def _do_for(self, statement: ast.For) -> None:
        turns, target, mark = statement.iter, statement.target, ""
        if isinstance(turns, ast.Call) and self._call_of(turns) is vectorized and len(turns.args) == 1:
            turns = turns.args[0]
            mark = "" if self._checked else f", !llvm.loop !{VECTORIZED}"  # what is noted is written
        is_range = isinstance(turns, ast.Call) and isinstance(turns.func, ast.Name) and turns.func.id == "range"
        if not is_range or not isinstance(target, ast.Name) or statement.orelse or target.id in self.names:
            raise self.refused(statement, "only loops of a name over a range are translated")
        assert isinstance(turns, ast.Call)
        bounds = [self.number(bound) for bound in turns.args]
        begin, stop = (constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2].constant if len(bounds) > 2 else 1
        if not step or {begin.kind, stop.kind} != {SIGNED}:
            raise self.refused(statement, "of signed integers, by a constant step")
        counter, head, body, following = (self.fresh(name) for name in ("turn", "head", "body", "next"))
        self.variables[counter] = SIGNED
        loop = _Loop(following, self.fresh("end"), [set(self.assigned)])
        self.lines.append(f"  store i64 {begin.text}, ptr %x.{counter}")
        self._go(head)
        self._begin(head, self.assigned)
        at = self.emit(f"load i64, ptr %x.{counter}")
        goes_on = self.emit(f"icmp {'slt' if step > 0 else 'sgt'} i64 {at}, {stop.text}")
        self.lines.append(f"  br i1 {goes_on}, label %{body}, label %{loop.end}")
        self._begin(body, self.assigned)
        self._put(statement, target, Value(SIGNED, at))
        self._repeat(loop, statement.body)
        if self._open:
            self._go(following)
        self._begin(following, loop.leaving[0])
        after = self.emit(f"add i64 {self.emit(f'load i64, ptr %x.{counter}')}, {step}")
        self.lines.append(f"  store i64 {after}, ptr %x.{counter}")
        self._go(head, mark)
        self._end(loop)

    def _repeat(self, loop: _Loop, statements: list[ast.stmt]) -> None:
        self._loops.append(loop)
        self._block(statements)
        self._loops.pop()

    def _end(self, loop: _Loop) -> None:
        if loop.leaving:
            self._begin(loop.end, set.intersection(*loop.leaving))
        else:
            self.lines += [f"{loop.end}:", "  unreachable"]

    def _do_break(self, statement: ast.Break) -> None:
        self._loops[-1].leaving.append(set(self.assigned))
        self._go(self._loops[-1].end)

    def _do_continue(self, statement: ast.Continue) -> None:
        self._go(self._loops[-1].following)
