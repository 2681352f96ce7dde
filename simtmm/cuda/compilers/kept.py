"""Compilers' outputs, stored in the user's cache under a hash of all their inputs."""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from simtmm.cache import find, keep, own_folder
from simtmm.cache.compiled import sources_of
from simtmm.errors import OutputError


def kept(name: str, parts: Iterable[str], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What was built from these parts before, else what `make` builds now, which is stored for the next time.

    name: what it is built from, for people who look into the folder.
    parts: all that decides the result.
    make: gives what JSON can hold.
    """
    key = key_of(parts)
    label = re.sub(r"\W+", "-", Path(name).stem)[:40] or "kernel"
    folder = own_folder("cuda")
    found = find(folder, label, key, ".json")
    if found is not None:
        try:
            before: dict[str, Any] = json.loads(found.read_bytes())
            return before
        except (OSError, ValueError):
            found.unlink(missing_ok=True)  # removed meanwhile, for instance
    value = make()
    text = json.dumps(value)
    with contextlib.suppress(OutputError):  # no disk has room: it is compiled again the next time
        keep(folder, label, key, ".json", lambda path: path.write_text(text, encoding="utf-8"))
    return value


def key_of(parts: Iterable[str]) -> str:
    """A hash of texts, each with its length, so that none runs into the next, and of this package's own sources."""
    digest = hashlib.sha256(_sources().encode())
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(f"\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:32]


@cache
def _sources() -> str:
    return sources_of("simtmm.cuda.compilers")
