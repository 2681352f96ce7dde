"""Which calls in C++ are statements of their own: nobody uses what they give."""

import re

from simtmm.documents import COMMENT

_COMMENT_OR_TEXT = rf"{COMMENT}|\"(?:\\.|[^\"\\\n])*\""
_DIRECTIVE = r"^[ \t]*#(?![ \t]*define\b)(?:[^\\\n]|\\.)*"  # what a macro stands for may hold statements
_NOTHING = re.compile(rf"{_COMMENT_OR_TEXT}|{_DIRECTIVE}|\\(?=\n)", re.DOTALL | re.MULTILINE)
_VOID = re.compile(r"\(\s*void\s*\)\s*$")
_CONTROL = re.compile(r"\b(?:if|for|while|switch)(?:\s+constexpr)?\s*$")
_WORD = re.compile(r"\b(?:else|do)$")


def blanked(source: str) -> str:
    """A source of the same length in which comments, texts and directives are blanks."""
    return _NOTHING.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def is_statement(plain: str, begin: int, open_at: int) -> bool:
    """Whether a call is all of a statement, as far as that can be told from its surroundings; False where it can't.

    plain: a `blanked` source. begin: of the call. open_at: where its parenthesis opens.
    """
    end = _closing(plain, open_at)
    if end is None:
        return False
    behind = plain[end:].lstrip()
    if not behind.startswith(";"):
        return False
    further = behind[1:].lstrip()
    if further.startswith("}") and further[1:].lstrip().startswith(")"):
        return False  # ({ ...; }) has the value of its last statement
    return _begins(plain[:begin])


def _begins(before: str) -> bool:
    """Whether a statement begins behind a text."""
    before = _VOID.sub("", before).rstrip()
    if not before or before[-1] in ";{}":
        return bool(before)
    if before[-1] != ")":
        return _WORD.search(before) is not None
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] == ")") - (before[at] == "(")
        if depth == 0:
            return _CONTROL.search(before[:at]) is not None
    return False


def _closing(text: str, open_at: int) -> int | None:
    """Behind the parenthesis that closes the one at a place; None where none does."""
    depth = 0
    for at in range(open_at, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at + 1
    return None
