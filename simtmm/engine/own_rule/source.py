"""The syntax tree of a function that runs: found in its file, and compared with what Python runs of it."""

import ast
import linecache
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType

from simtmm.engine.own_rule.operands import NotCompiledError
from simtmm.python_text import parsed

Definition = ast.FunctionDef | ast.Lambda


def definition_of(function: FunctionType) -> Definition:
    """The definition of a function. Raises NotCompiledError where its file does not have it as it runs."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    if not text:
        raise NotCompiledError(0, "its source is not in a file", function.__name__)
    tree, codes = _parsed(text, code.co_filename)
    if code not in codes:
        raise NotCompiledError(code.co_firstlineno, "its file has another text than what runs", function.__name__)
    found = [node for node in ast.walk(tree) if isinstance(node, Definition) and _is_of(node, code)]
    if len(found) != 1:
        raise NotCompiledError(code.co_firstlineno, "its definition is not found", function.__name__)
    return found[0]


@cache
def _parsed(text: str, name: str) -> tuple[ast.Module, frozenset[CodeType]]:
    """A file's tree, and all that Python compiles of it; nothing is run."""
    try:
        module = compile(text, name, "exec", dont_inherit=True)
        return parsed(text), frozenset(_codes(module))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotCompiledError(0, "its file can't be read", name) from None


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _is_of(node: Definition, code: CodeType) -> bool:
    """Whether a definition is the one that such code comes from."""
    if isinstance(node, ast.FunctionDef):
        line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        return node.name == code.co_name and line == code.co_firstlineno
    if code.co_name != "<lambda>" or node.lineno != code.co_firstlineno:
        return False
    body = node.body
    place = body.lineno, body.end_lineno, body.col_offset, body.end_col_offset
    return place in set(code.co_positions())
