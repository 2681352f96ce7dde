"""Calls in a rule: of what Python has, and of other functions, which are written where they are called."""

import ast
import builtins
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from simtmm.engine.own_rule.operands import (
    ANSWER,
    CALLABLE,
    GROUP,
    INTEGER,
    LIST,
    NONE,
    NOTHING,
    SELF,
    TUPLE,
    Operand,
    number,
)
from simtmm.engine.own_rule.sequences import Sequences
from simtmm.engine.own_rule.source import definition_of
from simtmm.engine.own_rule.writing import Frame
from simtmm.rules.seen import Idle

DEEPEST = 24  # calls within calls

Function = ast.FunctionDef | ast.Lambda


class Calls(Sequences):
    """Calls."""

    def _call(self, node: ast.Call) -> Operand:
        if any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        ):
            raise self.refused(node, "no such call is compiled")
        if isinstance(node.func, ast.Attribute):
            of = self.evaluate(node.func.value)
            if of.kind == LIST and node.func.attr == "count" and len(node.args) == 1 and not node.keywords:
                return self.counted(node, of, self.copy(self.evaluate(node.args[0])))
            called = self.attribute(node.func, of)
            itself = [of] if of.kind == SELF else []
        else:
            called, itself = self.evaluate(node.func), []
        if called.kind != CALLABLE:
            raise self.refused(node, f"{called.kind} is called")
        function = called.value
        if isinstance(function, (FunctionType, tuple)):
            arguments = [*itself, *(self.copy(self.evaluate(argument)) for argument in node.args)]
            named = {str(each.arg): self.copy(self.evaluate(each.value)) for each in node.keywords}
            return self.applied(node, called, arguments, named)
        if function is Idle:
            return self._idle(node)
        name = getattr(function, "__name__", "")
        method: Callable[[ast.Call], Operand] | None = getattr(self, f"_of_{name}", None)
        if getattr(builtins, name, None) is not function or method is None:
            raise self.refused(node, "no such function is compiled")
        return method(node)

    def _idle(self, node: ast.Call) -> Operand:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if len(given) > 1 or any(keyword.arg != "until" for keyword in node.keywords):
            raise self.refused(node, "Idle() or Idle(until)")
        until = self.evaluate(given[0]) if given else NONE
        if until.kind == NOTHING:
            return Operand(ANSWER, items=(number(-1), number(0)))
        if until.kind != INTEGER:
            raise self.refused(node, f"Idle until {until.kind}")
        return Operand(ANSWER, items=(number(-2), self.copy(until)))

    # What Python has

    def _options(self, node: ast.Call, *names: str) -> dict[str, ast.expr]:
        """The keyword arguments of a call, which may have these."""
        found = {str(keyword.arg): keyword.value for keyword in node.keywords}
        if set(found) - set(names):
            raise self.refused(node, "no such argument is compiled")
        return found

    def _key(self, node: ast.Call, given: ast.expr | None) -> Callable[[Operand], Operand]:
        if given is None:
            return lambda element: element
        called = self.evaluate(given)
        if called.kind != CALLABLE or not isinstance(called.value, (FunctionType, tuple)):
            raise self.refused(node, "a key that is no function")
        return lambda element: self.applied(node, called, [element], {})

    def _of_min(self, node: ast.Call) -> Operand:
        return self._extreme(node, least=True)

    def _of_max(self, node: ast.Call) -> Operand:
        return self._extreme(node, least=False)

    def _extreme(self, node: ast.Call, least: bool) -> Operand:
        given = self._options(node, "key", "default")
        if len(node.args) == 1:
            of = self.as_list(node.args[0])
            otherwise = self.copy(self.evaluate(given["default"])) if "default" in given else None
            return self.extreme_of_list(node, of, self._key(node, given.get("key")), least, otherwise)
        if given or not node.args:
            raise self.refused(node, "no such call is compiled")
        numbers = [self.copy(self.number(argument)) for argument in node.args]
        best = self.keep(INTEGER, numbers[0].text)
        for other in numbers[1:]:
            with self.block(f"if {other.text} {'<' if least else '>'} {best.text}:"):
                self.write(f"{best.text} = {other.text}")
        return best

    def _of_sorted(self, node: ast.Call) -> Operand:
        given = self._options(node, "key", "reverse")
        backwards = self.condition(given["reverse"]) if "reverse" in given else None
        if len(node.args) != 1 or (backwards is not None and not backwards.is_constant):
            raise self.refused(node, "no such call is compiled")
        least = backwards is None or not backwards.value
        return self.in_order(node, self.as_list(node.args[0]), self._key(node, given.get("key")), least)

    def _single(self, node: ast.Call) -> ast.expr:
        if len(node.args) != 1 or node.keywords:
            raise self.refused(node, "one argument only")
        return node.args[0]

    def _of_list(self, node: ast.Call) -> Operand:
        return self.as_list(self._single(node))

    def _of_tuple(self, node: ast.Call) -> Operand:
        return self.as_list(self._single(node))

    def _of_len(self, node: ast.Call) -> Operand:
        of = self.evaluate(self._single(node))
        if of.kind == TUPLE:
            return number(len(of.items))
        if of.kind != LIST:
            raise self.refused(node, f"the length of {of.kind}")
        return self.keep(INTEGER, of.count)

    def _of_sum(self, node: ast.Call) -> Operand:
        if not 1 <= len(node.args) <= 2 or node.keywords:
            raise self.refused(node, "no such call is compiled")
        begin = self.copy(self.number(node.args[1])) if len(node.args) == 2 else number(0)
        return self.summed(node, node.args[0], begin)

    def _of_any(self, node: ast.Call) -> Operand:
        return self.any_or_all(self._single(node), wanted=True)

    def _of_all(self, node: ast.Call) -> Operand:
        return self.any_or_all(self._single(node), wanted=False)

    def _of_next(self, node: ast.Call) -> Operand:
        if not 1 <= len(node.args) <= 2 or node.keywords:
            raise self.refused(node, "no such call is compiled")
        # Python evaluates it first as well, so what goes wrong in it does so in any case.
        otherwise = self.copy(self.evaluate(node.args[1])) if len(node.args) == 2 else None
        return self.first(node, node.args[0], otherwise)

    def _of_range(self, node: ast.Call) -> Operand:
        if not node.args or node.keywords:
            raise self.refused(node, "no such call is compiled")
        return self.range_of(node)

    def _of_abs(self, node: ast.Call) -> Operand:
        value = self.copy(self.number(self._single(node)))
        return self.keep(INTEGER, f"max({value.text}, {self.operate(node, 'Sub', number(0), value).text})")

    def _of_int(self, node: ast.Call) -> Operand:
        return self.number(self._single(node))

    def _of_bool(self, node: ast.Call) -> Operand:
        return self.condition(self._single(node))

    # Other functions

    def applied(
        self, node: ast.AST, called: Operand, arguments: Sequence[Operand], named: dict[str, Operand]
    ) -> Operand:
        """What a function of Python gives for these arguments."""
        if len(self.frames) > DEEPEST:
            raise self.refused(node, "calls itself, or too deep")
        if isinstance(called.value, tuple):
            definition, outer = called.value
            frame = Frame(outer.function, outer)
        else:
            definition = definition_of(called.value)
            frame = Frame(called.value)
        self._bind(node, definition, frame, arguments, named)
        self.frames.append(frame)
        line = self.line
        given = self.evaluate(definition.body) if isinstance(definition, ast.Lambda) else self.body(definition)
        self.line = line
        self.frames.pop()
        return given

    def _bind(
        self, node: ast.AST, definition: Function, frame: Frame, arguments: Sequence[Operand], named: dict[str, Operand]
    ) -> None:
        """Have a function's parameters stand for arguments."""
        takes = definition.args
        if takes.vararg or takes.kwarg or takes.defaults or any(takes.kw_defaults):
            raise self.refused(node, "a function with such parameters is not compiled")
        names = [each.arg for each in (*takes.posonlyargs, *takes.args)]
        keywords = {each.arg for each in takes.kwonlyargs}
        positional = dict(zip(names, arguments, strict=False))
        given = positional | named
        if len(arguments) > len(names) or set(given) != {*names, *keywords} or positional.keys() & named.keys():
            raise self.refused(node, "other arguments than the function takes")
        frame.assigned = frozenset() if isinstance(definition, ast.Lambda) else assigned_in(definition)
        for name, value in given.items():
            if name not in frame.assigned:
                frame.names[name] = value
                continue
            if value.kind in (GROUP, SELF, CALLABLE):
                raise self.refused(definition, f"{name} becomes something else")
            place = frame.variables[name] = self.place_for(value)
            self.move(node, place, value)

    def body(self, definition: ast.FunctionDef) -> Operand:
        """What a function gives."""
        raise NotImplementedError


def assigned_in(definition: ast.FunctionDef) -> frozenset[str]:
    """The names that a function's own statements assign to."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(definition.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda | ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
            continue  # names of their own
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return frozenset(found)


def stored_once(definition: ast.FunctionDef, name: str) -> bool:
    """Whether one place alone assigns to a name."""
    stores: list[Any] = [
        node for node in ast.walk(definition)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]  # fmt: skip
    return len(stores) == 1
