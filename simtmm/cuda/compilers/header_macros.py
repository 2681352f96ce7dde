"""Names of headers that macros spell: `#define HEADER(name) <cuda/std/name>`, and then `#include HEADER(cstdint)`."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence

MOST_STEPS = 1000  # from a macro to the next that stands in its place; where there are more, names are missing
_DEPTH = 8  # macros in a row, each in the place of the one before
_COMMENT = re.compile(rb"/\*.*?\*/|//.*")
_CALL = re.compile(rb"([A-Za-z_]\w*)[ \t]*(?:\(([^()]*)\))?")
_HEADER = re.compile(rb'"([^"\n]+)"|<([^>\n]+)>')
_STRING_OF = re.compile(rb"#[ \t]*([A-Za-z_]\w*)")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_DEFINED = re.compile(rb"(?:#|%:)[ \t]*define[ \t]+(\w+)")

Use = tuple[bytes, bytes | None]
"""A macro's name, and what stands in its parentheses; None without any."""


def defined(texts: Iterable[bytes]) -> frozenset[bytes]:
    """Names of the macros that texts define."""
    return frozenset(name for text in texts for name in _DEFINED.findall(text))


def spelled(use: Use, texts: Sequence[bytes], macros: Container[bytes]) -> tuple[set[bytes], bool]:
    """Names of headers that a macro may spell, by each of its definitions, and whether these are all.

    use: as `#include` has it.
    texts: that may define macros, without spliced lines.
    macros: all that these define; a compiler would put others in their place where they stand in a header's name.
    """
    found: set[bytes] = set()
    waiting, are_all, steps = [(use, 0)], True, 0
    while waiting:
        (name, arguments), depth = waiting.pop()
        steps += 1
        if depth == _DEPTH or steps > MOST_STEPS:
            return found, False
        bodies = dict.fromkeys(_bodies(name, arguments, texts))
        are_all = are_all and bool(bodies)
        for body in bodies:
            header, call = _HEADER.fullmatch(body), _CALL.fullmatch(body)
            if header:
                found.add(header[1] or header[2])
                are_all = are_all and not any(word in macros for word in _WORD.findall(body))
            elif call:
                waiting.append(((call[1], call[2]), depth + 1))
            else:
                are_all = False
    return found, are_all


def _bodies(name: bytes, arguments: bytes | None, texts: Iterable[bytes]) -> Iterable[bytes]:
    """What each definition of a macro puts in its place; an empty text where that is not known."""
    definition = re.compile(rb"(?:#|%:)[ \t]*define[ \t]+" + name + rb"\b(?:\(([^()\n]*)\))?([^\n]*)")
    for text in (each for each in texts if name in each):
        for parameters, body in ((found[1], found[2]) for found in definition.finditer(text)):
            body = _COMMENT.sub(b" ", body).strip()
            if parameters is None:
                yield body if arguments is None else b""
                continue
            names = [each.strip() for each in parameters.split(b",")]
            values = [each.strip() for each in (arguments or b"").split(b",")]
            if arguments is None or len(names) != len(values) or b"##" in body:
                yield b""
                continue
            yield _with_arguments(body, dict(zip(names, values, strict=True)))


def _with_arguments(body: bytes, of: Mapping[bytes, bytes]) -> bytes:
    """A macro's text with its arguments, by parameter."""
    strings = _STRING_OF.sub(lambda found: b'"%s"' % of[found[1]] if found[1] in of else found[0], body)
    return _WORD.sub(lambda found: of.get(found[0], found[0]), strings)
