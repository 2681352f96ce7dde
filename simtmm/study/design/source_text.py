"""Source text: what of a source file decides what it does, without comments and blank space.

What can't be read for sure stays whole: then an edit counts that changes nothing, and none is missed that does.
"""

import ast
import re
from pathlib import Path

from simtmm.python_text import parsed

CPP = (".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl")
PYTHON = ".py"
NEW_LINE = b"\n"

# Where one of these stands, a program may look at its own lines or comments.
_CPP_LOOKS = re.compile(rb"__LINE__|\bsource_location\b|__builtin_LINE")
_PYTHON_LOOKS = re.compile(rb"__doc__|__file__|\b(?:inspect|getdoc|traceback|linecache)\b|lineno")

_CONTINUED = rb"\\[ \t\r]*\n"
_TOKENS = re.compile(
    rb"""
      (?P<comment> //(?:"""
    + _CONTINUED
    + rb"""|[^\n])* | /\*.*?\*/ )
    | (?P<whole>
        ^[ \t]*\#[ \t]*include[ \t]*<[^>\n]+>               # sys//types.h holds no comment
      | (?:u8|[uUL])?R"(?P<end>[^ ()\\\t\v\f\n]{0,16})\(.*?\)(?P=end)"
      | (?:u8|[uUL])?"(?:"""
    + _CONTINUED
    + rb"""|\\.|[^"\\\n])*"
      | (?:u8|[uUL])?'(?:"""
    + _CONTINUED
    + rb"""|\\.|[^'\\\n])+'
      | [A-Za-z_\x80-\xff$][\w\x80-\xff$]*
      | \.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*                   # the ' in 1'000 begins no character
      )
    | (?P<blank> [ \t\v\f\r]+ )
    | (?P<other> . )
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_APART = b"()[]{},;"  # a blank beside them divides nothing


def deciding_text(path: Path, content: bytes) -> bytes:
    """What a file's content does, as a text that is equal for files that do the same; other files unchanged.

    path: of the file, whose suffix tells the language.
    """
    if path.suffix in CPP:
        return content if _CPP_LOOKS.search(content) else _cpp(content)
    if path.suffix == PYTHON:
        return content if _PYTHON_LOOKS.search(content) else _python(content)
    return content


def _cpp(content: bytes) -> bytes:
    """C++ without comments and blank space that divides nothing; each directive on a line of its own."""
    parts = [NEW_LINE]
    in_directive = False
    blank = begins_line = True
    for token in _TOKENS.finditer(content):
        text = token[0].strip(b" \t")
        if text == NEW_LINE:
            if in_directive and parts[-1] != b"\\":
                parts.append(NEW_LINE)
                in_directive = False
            blank = begins_line = True
        elif token.lastgroup in ("comment", "blank"):  # C++ reads a comment as a blank
            blank = True
        else:
            if begins_line and text.startswith(b"#"):
                in_directive = True
                parts += [NEW_LINE] if parts[-1] != NEW_LINE else []
            divides = parts[-1] != NEW_LINE and (in_directive or not (text in _APART or parts[-1] in _APART))
            parts += [b" ", text] if blank and divides else [text]
            blank = begins_line = False
    return b"".join(parts)


def _python(content: bytes) -> bytes:
    """Python as its syntax tree is written, without docstrings."""
    try:
        tree = parsed(content)
        for node in ast.walk(tree):
            if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        return ast.unparse(tree).encode("utf-8", "surrogatepass")
    except (SyntaxError, ValueError, RecursionError):
        return content
