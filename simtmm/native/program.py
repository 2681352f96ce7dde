"""A function with all that it calls, as LLVM assembly."""

from collections.abc import Sequence
from typing import Any

from simtmm.native.columns import named_columns
from simtmm.native.expressions import type_of
from simtmm.native.machine_code import ENTRY
from simtmm.native.statements import Function
from simtmm.native.values import (
    SIGNED,
    VECTORIZED,
    Array,
    Given,
    Parameter,
    Records,
    Struct,
    TranslationError,
    with_columns,
)
from simtmm.native.written import parameters_of

_DECLARED = [
    *(f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("smin", "smax", "umin", "umax")),
    "declare i64 @llvm.cttz.i64(i64, i1)",
    *(f"declare {{ i64, i1 }} @llvm.{name}.with.overflow.i64(i64, i64)" for name in ("sadd", "ssub", "smul")),
    "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
]


class Program:
    """Functions by what they are translated for, each once."""

    def __init__(self, checked: bool = False) -> None:
        self.texts: list[str] = []
        self.tables: dict[str, str] = {}  # constant arrays, by LLVM's names
        self._checked = checked
        self._known: dict[tuple[Any, tuple[Parameter, ...]], tuple[str, Given] | None] = {}

    def translate(self, function: Any, parameters: tuple[Parameter, ...]) -> tuple[str, Given]:
        """LLVM's name of a function for some parameters, and the kinds of what it returns."""
        key = function, parameters
        if key in self._known:
            found = self._known[key]
            if found is None:
                raise TranslationError(f"{function.__name__}: calls itself")
            return found
        self._known[key] = None
        name = f'@"{function.__module__}.{function.__name__}.{len(self._known)}"'
        translated = Function(function, name, parameters, self.translate, self._checked)
        self.texts.append(translated.text)
        self.tables |= translated.tables
        self._known[key] = found = name, translated.given
        return found


def assembly(function: Any, parameters: Sequence[Parameter], checked: bool = False) -> str:
    """A module with ENTRY, which takes the table of arguments and returns a number: 0 where the function gives nothing.

    The table: room for the line of what `checked` finds, then of each argument that is no constant either its value or,
    for each array, its address and its shape.
    """
    program = Program(checked)
    columns = named_columns(function)
    named = tuple(
        with_columns(parameter, columns.get(word))
        for word, parameter in zip(parameters_of(function), parameters, strict=True)
    )
    name, kind = program.translate(function, named)
    arrays: list[Array | Records] = []
    loads, passed, entry = [], ["ptr %table"], 1
    for parameter in parameters:
        if isinstance(parameter, str):
            loads.append(f"  %at{entry} = getelementptr inbounds i64, ptr %table, i64 {entry}")
            loads.append(f"  %number{entry} = load i64, ptr %at{entry}")
            passed.append(f"i64 %number{entry}")
            entry += 1
        elif isinstance(parameter, Array | Records | Struct):
            of = list(parameter.arrays()) if isinstance(parameter, Struct) else [parameter]
            entry += sum(1 + array.dimensions for array in of)
            arrays += of
    call = f"call {type_of(kind)} {name}({', '.join(passed)})"
    given = {None: [f"  {call}", "  ret i64 0"], SIGNED: [f"  %given = {call}", "  ret i64 %given"]}
    if kind not in given:
        raise TranslationError(f"{function.__name__}: gives {kind}")
    body = [f"define i64 @{ENTRY}(ptr %table) nounwind {{", *loads, *given[kind], "}"]
    return "\n".join([*_DECLARED, *program.tables.values(), *program.texts, *body, *_marks(arrays), ""])


def _marks(arrays: Sequence[Array | Records]) -> list[str]:
    """Metadata: no two arrays share an element, so LLVM need not read one anew after another was written to. And what
    marks the loops whose turns it takes several at once.
    """
    enabled = '!{!"llvm.loop.vectorize.enable", i1 true}'
    lines = ["!0 = !{}", f"!{VECTORIZED} = distinct !{{!{VECTORIZED}, {enabled}}}"]
    free = 1 + max((array.entry for array in arrays), default=0)
    lines.append(f'!{free} = !{{!"elements"}}')
    for number, array in enumerate(arrays, start=free + 1):
        lines.append(f'!{number} = !{{!"{array.name}", !{free}}}')
        lines.append(f"!{array.entry} = !{{!{number}, !{number}, i64 0}}")
    return lines
