"""A rule as a loop of machine code, made once for each text and what it names."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from simtmm.engine.own_rule.columns import Asked, Asking
from simtmm.engine.own_rule.lookups import Lookups, Place
from simtmm.engine.own_rule.operands import (
    ANSWER,
    CALLABLE,
    GROUP,
    LIST,
    SELF,
    WARP,
    WIDEST,
    NotCompiledError,
    Operand,
    RuleLeftError,
)
from simtmm.engine.own_rule.statements import Statements
from simtmm.native import Loop, TranslationError, Written, difference_overflows, product_overflows, sum_overflows
from simtmm.rules.guarded import original
from simtmm.rules.seen import rule_name

NAMES = {
    "np": np, "sum_overflows": sum_overflows, "difference_overflows": difference_overflows,
    "product_overflows": product_overflows,
}  # fmt: skip
PLAIN = ("__getattr__", "__getattribute__", "__setattr__", "__slots__", "__delattr__")
DIMENSIONS = (1, 2, 1, 2, 2, 1)  # of the arrays of Asked
MOST_KEPT = 256  # translations
_LOOPS: dict[str, Loop] = {}  # by their text
_TRANSLATIONS: "dict[tuple[object, ...], _Translation]" = {}  # by code and fields, the one used last at the end


@dataclass(frozen=True)
class CompiledRule:
    """A rule that the fast engine runs.

    name: of the rule. loop: takes Asked, and gives a row of `seen`, NOBODY or IDLE. lists: rows of Asked.lists. make:
    its class, None for a function. fields: of its objects, and whether each is a truth. first: an object for the first
    launch, or none.
    """

    name: str
    loop: Loop
    lists: int
    make: type | None
    fields: dict[str, bool]
    first: list[object] = field(default_factory=list)

    def begin(self) -> object:
        """A new object of the rule, for a launch; None for a function. Raises RuleLeftError where there is none."""
        if self.make is None or self.first:
            return self.first.pop() if self.first else None
        try:
            return self.make()
        except Exception:
            raise RuleLeftError(f"scheduler {self.name}: its __init__ raises") from None

    def values(self, of: object) -> list[int]:
        """The fields of such an object. Raises RuleLeftError where it has others than the one before."""
        if self.make is None:
            return []
        try:
            fields = _fields_of(self.make, vars(of))
        except NotCompiledError:
            fields = {}
        if fields != self.fields:
            raise RuleLeftError(f"scheduler {self.name}: __init__ sets other fields each time")
        return [int(value) for value in vars(of).values()]

    def end(self, of: object, values: Sequence[int]) -> None:
        """The object as the launch leaves it: whoever has it may look."""
        for (name, is_truth), value in zip(self.fields.items(), values, strict=False):
            setattr(of, name, bool(value) if is_truth else value)


def compiled(rule: object) -> CompiledRule:
    """A user's rule as machine code. Raises NotCompiledError for what is not compiled: line, reason and word."""
    rule = original(rule)
    name = rule_name(rule)
    if isinstance(rule, type):
        function = vars(rule).get("__call__")
        if rule.__mro__ != (rule, object) or any(each in vars(rule) for each in PLAIN) or type(rule) is not type:
            raise NotCompiledError(0, "a class with parents or attributes of its own making", name)
        try:
            first = [rule()]
        except Exception:
            raise NotCompiledError(0, "its __init__ raises", name) from None
        fields = _fields_of(rule, vars(first[0]))
        arguments = [Operand(SELF)]
    else:
        function, fields, arguments, first = rule, {}, [], []
    if not isinstance(function, FunctionType):
        raise NotCompiledError(0, "neither a function nor a class of rules", name)
    make = rule if isinstance(rule, type) else None
    found = _translation(function, make, fields, arguments)
    return CompiledRule(name, _loop_of(name, found.text, found.lines), found.lists, make, fields, first)


def _fields_of(rule: type, values: dict[str, Any]) -> dict[str, bool]:
    """Of each field of a rule's object whether it is a truth."""
    for name, value in values.items():
        if type(value) not in (int, bool) or not -WIDEST < value < WIDEST:
            raise NotCompiledError(0, f"self.{name} is {type(value).__name__}, no number of 64 bits", rule.__name__)
    return {name: isinstance(value, bool) for name, value in values.items()}


@dataclass(frozen=True)
class _Translation:
    """A rule as text for simtmm/native.

    function, of: what was translated, and its class. lines: of the rule, that each line of the text is for. lists: rows
    of Asked.lists. lookups: what the text depends on beside the code.
    """

    function: FunctionType
    of: type | None
    text: str
    lines: tuple[int, ...]
    lists: int
    lookups: Lookups

    def serves(self, function: FunctionType, of: type | None) -> bool:
        """Whether a function of the same code has the same translation."""
        instead: dict[Place, Place] = {self.function: function}
        if self.of is not None and of is not None:
            instead[self.of] = of
        return self.lookups.hold(instead)


def _translation(
    function: FunctionType, of: type | None, fields: dict[str, bool], arguments: list[Operand]
) -> _Translation:
    """The translation of a rule, made anew where no function of its code was translated, or names have changed."""
    code = function.__code__
    key = (code, code.co_filename, of is None, tuple(fields.items()))
    kept = _TRANSLATIONS.pop(key, None)
    if kept is None or not kept.serves(function, of):
        kept = _translated(function, of, fields, arguments)
    _TRANSLATIONS[key] = kept
    if len(_TRANSLATIONS) > MOST_KEPT:
        del _TRANSLATIONS[next(iter(_TRANSLATIONS))]
    return kept


def _translated(
    function: FunctionType, of: type | None, fields: dict[str, bool], arguments: list[Operand]
) -> _Translation:
    writing = Statements(of, fields)
    writing.line = function.__code__.co_firstlineno
    ready = Operand(LIST, "s.ready[{}]", count=f"s.asking[{Asking.ready}]", element=WARP, sure=True)
    writing.write(f"s.asking[{Asking.turns}] = 0")
    node = ast.Name(function.__name__, lineno=writing.line)
    given = writing.applied(node, Operand(CALLABLE, value=function), [*arguments, ready, Operand(GROUP)], {})
    row, until = writing.as_kind(node, given, ANSWER).items
    writing.write(f"s.asking[{Asking.until}] = {until.text}")
    writing.write(f"return np.int64({row.text})")
    text = "\n".join(["def rule(s):", *writing.lines, ""])
    return _Translation(function, of, text, (0, *writing.of_lines), writing.lists, writing.lookups)


def _loop_of(name: str, text: str, lines: tuple[int, ...]) -> Loop:
    """The loop of a text, which is compiled here if it is new."""
    loop = _LOOPS.get(text)
    if loop is None:
        loop = Loop(Written("rule", "rule", text, NAMES))
        try:
            loop.bind(Asked(*(np.zeros((1,) * dimensions, np.int64) for dimensions in DIMENSIONS)))
        except TranslationError as error:
            found = re.search(r"line (\d+): ([^:]+)", str(error))
            line = lines[int(found[1]) - 1] if found else 0
            raise NotCompiledError(line, found[2] if found else str(error), name) from None
        _LOOPS[text] = loop
    return loop
