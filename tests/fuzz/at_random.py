"""Mutations by a seeded generator, thousands a second: `mutations` draws the same by Hypothesis, which shrinks them.

Bytes are flipped, cut, spliced, doubled, nested and truncated, words and numbers become extreme; values, keys and
tables of documents become others, or move to where something else belongs.
"""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from tests.fuzz.mutations import KEYS, PIECES, VALUES, WORDS, WORST, places

_NUMBER, _WORD = re.compile(rb"\d+(?:\.\d+)?"), re.compile(rb"[^\s=,]+")
_PAIRS = [(b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b"[[", b"]]"), (b'"', b'"'), (b"/*", b""), (b"<", b">")]
DEEP = (2, 40, 400, 3000)
LENGTHS = (1, 1, 2, 4, 16, 64, 300)


def changed_bytes(random: Random, texts: Sequence[bytes]) -> bytes:
    """One of the texts with one to four mutations, or, one time in 50, noise."""
    if random.random() < 0.02:
        return random.randbytes(random.choice([0, 1, 10, 1000]))
    content = bytearray(random.choice(texts))
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        random.choice(_MUTATIONS)(random, content, texts)
    return bytes(content)


def _place(random: Random, content: bytearray) -> tuple[int, int]:
    at = random.randint(0, len(content))
    return at, min(at + random.choice(LENGTHS), len(content))


def _flip(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    if content:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)


def _another_byte(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    if content:
        content[random.randrange(len(content))] = random.randrange(256)


def _cut(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    start, end = _place(random, content)
    del content[start:end]


def _truncate(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    del content[random.randint(0, len(content)) :]


def _splice(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    """A stretch of one of the texts, itself perhaps, here."""
    other = random.choice(texts)
    start, end = _place(random, bytearray(other))
    at, behind = _place(random, content)
    content[at : at if random.random() < 0.5 else behind] = other[start:end]


def _double(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    start, end = _place(random, content)
    content[start:start] = content[start:end] * random.choice((1, 1, 2, 50))


def _nest(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    start, end = _place(random, content)
    before, behind = random.choice(_PAIRS)
    deep = random.choice(DEEP)
    content[start:end] = before * deep + content[start:end] + behind * (deep if random.random() < 0.7 else 0)


def _insert(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    start, end = _place(random, content)
    content[start : random.choice((start, min(start + 1, len(content)), end))] = random.choice(PIECES)


def _another(pattern: re.Pattern[bytes]) -> "Mutation":
    def change(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
        found = list(pattern.finditer(bytes(content)))
        if found:
            one = random.choice(found)
            own = random.choice(found)[0] if random.random() < 0.4 else random.choice(WORDS)
            content[one.start() : one.end()] = own

    return change


def _other_lines(random: Random, content: bytearray, texts: Sequence[bytes]) -> None:
    lines = bytes(content).split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            lines.insert(one, lines[other])
        case 2:
            del lines[one]
        case 3:
            lines.insert(one, random.choice(random.choice(texts).split(b"\n")))
    content[:] = b"\n".join(lines)


Mutation = Callable[[Random, bytearray, Sequence[bytes]], None]
_MUTATIONS: list[Mutation] = [
    _flip, _another_byte, _cut, _truncate, _splice, _double, _nest, _insert, _insert, _another(_NUMBER),
    _another(_NUMBER), _another(_NUMBER), _another(_WORD), _another(_WORD), _another(_WORD), _other_lines,
]  # fmt: skip


def value(random: Random, worst: Sequence[Any] = WORST, more: Sequence[Any] = ()) -> Any:
    """A value: as often one of the worst as any other. more: others of the kind."""
    chosen = worst if random.random() < 0.4 else more if more and random.random() < 0.6 else VALUES
    return copy.deepcopy(random.choice(chosen))


def changed_document(random: Random, documents: Sequence[Any], values: Callable[[Random], Any] = value) -> Any:
    """One of the documents with up to three of its values, keys and tables changed. values: what comes there."""
    copied = copy.deepcopy(random.choice(documents))
    for _ in range(random.choice((1, 1, 2, 3))):
        known = list(places(copied))
        if not known:
            break
        *way, last = random.choice(known)
        table = _at(copied, way)
        match random.randrange(7):
            case 0 | 1 | 2:
                table[last] = values(random)
            case 3:
                del table[last]
            case 4 if isinstance(table, dict):
                table[random.choice(KEYS)] = values(random)
            case 4:
                table[last:last] = [copy.deepcopy(table[last])] * random.choice((1, 2, 100))
            case 5:
                table[last] = copy.deepcopy(_at(copied, random.choice(known)))
            case 6:
                nested = table[last]
                for _ in range(random.choice((1, 2, 40))):
                    nested = [nested] if random.random() < 0.5 else {"a": nested}
                table[last] = nested
    return copied


def _at(document: Any, way: Sequence[Any]) -> Any:
    for key in way:
        document = document[key]
    return document


def words(random: Random, known: Sequence[str], most: int = 3) -> Iterator[str]:
    """Some of the known words, some of them changed."""
    for _ in range(random.randint(0, most)):
        word = random.choice(known)
        yield word if random.random() < 0.7 else changed_text(random, [word, *known[:8]])


def changed_text(random: Random, texts: Sequence[str]) -> str:
    """One of the texts changed, as a command line or a page has it: bytes that are no UTF-8 among it."""
    raw = changed_bytes(random, [text.encode("utf-8", "surrogateescape") for text in texts])
    return raw.decode("utf-8", "surrogateescape")
