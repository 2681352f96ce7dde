"""What is put in the place of what belongs there: bytes, words, values and tables that no user writes on purpose."""

import copy
import json
import math
import re

from hypothesis import strategies as st


class Written:
    """A value by what stands in a file: one of which Python makes no text, not even to show it."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return f"Written({self.text[:4]}...)"

    def __deepcopy__(self, memo):
        return self


class Many(list):
    """A list that is not shown, as Hypothesis otherwise does at length."""

    def __repr__(self):
        return f"Many({len(self)})"


NUMBERS = [
    math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -1, 0, -0.0, 1, 2, 3, 7, 0.5, 1.5, 33, 1e15, 1e16, 2**31 - 1,
    2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, -(10**30),
]  # fmt: skip
TEXTS = [
    "", "none", "nan", "1e5", "fifo", "\0", "\ud7ff\U0001f600", "é" * 50, "x" * 10_000, "\n\r\t", "\x1b[2J", "'; --",
    "<script>alert(1)</script>", "../../../etc/passwd", "1:3", "1:3:log:2", "%s{}", "x0.5", "72MiB", "0x10", "1_0",
]  # fmt: skip
NESTED = [[], [1], [[]], [1, "a", 2.5], {}, {"a": 1}, {"latency": 1}, [{}], None, True, False]
VALUES = [*NUMBERS, *TEXTS, *NESTED]
WORST = [math.nan, math.inf, 10**400, 2**64, "\0", "x" * 10_000, "\x1b[2J", {}]  # have each its share of what is drawn
WORST_OF_TOML = [*WORST, Written("0x" + "f" * 6000), Written("2026-11-22"), Written("[" * 2000 + "]" * 2000)]
KEYS = ["zz", "", ".", "a.b", "é", "\0", "name", "x" * 300]

PIECES = [
    b"-", b"0", b"9", b".", b"e", b'"', b"[", b"]", b"{", b"}", b"\n", b"=", b"\0", b"\xff", b",", b"nan", b"1e308",
    b"9" * 20, b"0x", b"#", b"'", b"\\u0000", b"true", b"null", b":", b"\r", b"\t", b"(", b")", b"1" * 5000,
]  # fmt: skip
WORDS = [
    b"0", b"-1", b"1e999", b"nan", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"1" * 400,
    b"0x" + b"f" * 5000, b"2147483648", b"1e15", b"0.5", b"3", b'""', b"[]", b"true", b"4294967296", b"", b"-",
    b"(0,0,0)", b"(2147483647,65535,65535)", b"(1000000,1000,1)", b"R255", b"R999999999999", b"\xff", b"ffffffff",
    b"0x8000000000000000",
]  # fmt: skip
_NUMBER, _WORD = re.compile(rb"\d+(?:\.\d+)?"), re.compile(rb"[^\s=,]+")


@st.composite
def changed_bytes(draw, texts):
    """One of the texts, as bytes, with some bytes, words, numbers and lines changed."""
    content = bytearray(draw(st.sampled_from(texts)))
    for _ in range(draw(st.integers(1, 4))):
        content = content or bytearray(b"x")
        at = draw(st.integers(0, len(content) - 1))
        match draw(st.integers(0, 8)):
            case 0:
                content[at] = draw(st.integers(0, 255))
            case 1:
                del content[at : at + draw(st.sampled_from([1, 2, 16, 64]))]
            case 2:
                content[at:at] = draw(st.binary(min_size=1, max_size=4))
            case 3:
                other = draw(st.integers(0, len(content) - 1))
                content[at:at] = content[other : other + draw(st.sampled_from([1, 4, 16, 64]))]
            case 4:
                content[at : at + 1] = draw(st.sampled_from(PIECES))
            case 5 if draw(st.booleans()):
                del content[at:]
            case 6:
                content = _with_another(draw, content, _NUMBER)
            case 7:
                content = _with_another(draw, content, _WORD)
            case 8:
                content = _with_other_lines(draw, content)
    return bytes(content)


def _with_another(draw, content, pattern):
    """Another word in the place of one of those that are found."""
    found = list(pattern.finditer(bytes(content)))
    if found:
        one = found[draw(st.integers(0, len(found) - 1))]
        content[one.start() : one.end()] = draw(st.sampled_from(WORDS))
    return content


def _with_other_lines(draw, content):
    """A line less or more, or two of them exchanged."""
    lines = bytes(content).split(b"\n")
    one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    match draw(st.integers(0, 2)):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            lines.insert(one, lines[other])
        case 2:
            del lines[one]
    return bytearray(b"\n".join(lines))


def places(document, here=()):
    """Where anything stands in a document: keys and indexes from its top."""
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inner:
        yield (*here, key)
        yield from places(value, (*here, key))


def drawn_from(worst, *more):
    """A value: as often one of the worst as any other."""
    return st.sampled_from(Many(worst)) | st.sampled_from(Many([*VALUES, *(value for each in more for value in each)]))


@st.composite
def changed_documents(draw, documents, values=None):
    """One of the documents with some values, keys and tables changed. values: what comes in their place."""
    values = drawn_from(WORST) if values is None else values
    copied = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        known = list(places(copied))
        if not known:
            break
        *way, last = known[draw(st.integers(0, len(known) - 1))]
        table = copied
        for key in way:
            table = table[key]
        match draw(st.integers(0, 5)):
            case 0 | 1 | 2:
                table[last] = copy.deepcopy(draw(values))
            case 3:
                del table[last]
            case 4 if isinstance(table, dict):
                table[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(values))
            case 4 | 5:
                other = copied
                for key in known[draw(st.integers(0, len(known) - 1))]:
                    other = other[key]
                table[last] = copy.deepcopy(other)
    return copied


def toml(tables):
    """The tables as TOML, whatever is in them: each value on a line of its own."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in tables.items()).encode("utf-8", "replace")


def _key(key):
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value):
    match value:
        case bool():
            return str(value).lower()
        case None:
            return '"none"'
        case float() if math.isfinite(value):
            return repr(value) if set(repr(value)) & set(".e") else f"{value}.0"
        case float():
            return str(value)
        case int():
            return str(value)
        case Written():
            return value.text
        case str():
            return json.dumps(value)
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    raise TypeError(value)
