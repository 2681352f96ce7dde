"""Python's text as a tree, read by one thread at a time.

CPython 3.11 counts the depth of all threads' trees together: two that are made at once may end in a SystemError, "AST
constructor recursion depth mismatch".
"""

import ast
from threading import Lock

_ONE_AT_A_TIME = Lock()


def parsed(text: str | bytes, path: str = "<unknown>") -> ast.Module:
    """The tree of a module.

    text: of a module.
    path: what messages call it.

    Raises SyntaxError, and ValueError for a text with null bytes, as `ast.parse` does.
    """
    with _ONE_AT_A_TIME:
        return ast.parse(text, path)


def parsed_expression(text: str) -> ast.expr:
    """The tree of an expression.

    text: of an expression.

    Raises as `parsed` does.
    """
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode="eval").body
