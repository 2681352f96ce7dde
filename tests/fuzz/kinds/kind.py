"""A kind of input for `python -m tests.fuzz`."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

Make = Callable[[Random], bytes]
Use = Callable[[Path, bytes], object]


@dataclass(frozen=True)
class Kind:
    """make: an input. use: all that is made of one, in a folder; it raises SimtmmError for what is refused."""

    name: str
    about: str
    make: Make
    use: Use


def as_json(document: Any) -> bytes:
    """As Python writes it, NaN, infinities and lone surrogates too, which it reads again."""
    return json.dumps(document).encode()


def written(name: str, use: Callable[[Path], object]) -> Use:
    """What is made of a file of that name."""

    def of(folder: Path, content: bytes) -> object:
        path = folder / name
        path.write_bytes(content)
        return use(path)

    return of
