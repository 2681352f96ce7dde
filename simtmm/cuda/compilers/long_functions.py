"""Refuses CUDA C++ functions that would take a compiler longer than a minute."""

import re

from simtmm.errors import CompilerError

MOST_STATEMENTS = 100_000  # of one function: as many of PTX are translated, and NVRTC takes minutes for more

# What a semicolon or a brace in here is part of, and the words behind parentheses that may come before a body
_TOKENS = re.compile(
    rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|(?P<own>[;{}])|(?P<other>[^\s\w;{}/\"']|\w+|/)",
    re.DOTALL,
)
_BEHIND = {b"const", b"noexcept", b"override", b"final", b"mutable", b"volatile"}


def check_functions(name: str, source: bytes) -> None:
    """name: of the source. Raises CompilerError for a function of more than MOST_STATEMENTS statements."""
    if source.count(b";") <= MOST_STATEMENTS:
        return
    outside, statements = 0, 0  # braces of namespaces and the like that are open; what the function has so far
    inside = 0  # those of a function
    last = b""
    for found in _TOKENS.finditer(source):
        if found["other"]:
            if found["other"] not in _BEHIND:
                last = found["other"]
            continue
        match found["own"]:
            case b"{" if inside or last == b")":
                statements = statements if inside else 0
                inside += 1
            case b"{":
                outside += 1
            case b"}":
                inside, outside = (inside - 1, outside) if inside else (0, outside - 1)
            case b";" if inside:
                statements += 1
                if statements > MOST_STATEMENTS:
                    line = source.count(b"\n", 0, found.start()) + 1
                    raise CompilerError(
                        f"{name}:{line}: a function has over {MOST_STATEMENTS:,} statements: must have fewer"
                    )
        last = found["own"] or last
