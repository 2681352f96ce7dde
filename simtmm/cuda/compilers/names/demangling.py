"""Mangled names of C++ made readable.

A short name may stand for a text of any length, as each of its parts may stand twice in the next one. A name that might
is given to a process of its own, which may take little time and memory.
"""

import re
from functools import lru_cache
from pathlib import Path

from simtmm.children.start import Limits, run_python
from simtmm.cuda.compilers.names import cxx_library
from simtmm.errors import LimitError
from simtmm.launch import bare_name

LONGEST = 100_000  # characters of a readable name: those of templates of templates have some thousands
SURELY = 10_000_000  # characters that the library writes at once
LIMITS = Limits(seconds=60.0, memory=1 << 30)  # of a process of its own, which ends after 2 s of the processor's time
PROCESSOR_SECONDS = 2
_EARLIER = re.compile(r"[ST][0-9A-Z]*_")  # stands for an earlier part
_OF_A_LETTER = 24  # characters, as of "unsigned long long"


@lru_cache(4096)
def demangled(name: str) -> str:
    """A kernel's name and parameters in C++, "void saxpy<float>(int, float*)"; the name itself where it is in C.

    Where the host has no C++ library to ask, or what it says would be too long to read, the bare name alone: "saxpy".

    name: as PTX has it.
    """
    if not name.startswith("_Z"):
        return name
    raw = name.encode("utf-8", "surrogateescape")
    found = cxx_library.readable(raw) if _longest(name) <= SURELY else _readable_apart(raw)
    return found.decode("utf-8", "replace") if 0 < len(found) <= LONGEST else bare_name(name)


def _longest(name: str) -> int:
    """Characters that the readable name has at most: what stands for an earlier part is as long as all before it."""
    lengths: dict[str, int] = {}
    length = end = 0
    for found in _EARLIER.finditer(name):
        length += _OF_A_LETTER * (found.start() - end)
        length += lengths.setdefault(found[0], length)
        end = found.end()
        if length > SURELY:
            break
    return length + _OF_A_LETTER * (len(name) - end)


def _readable_apart(name: bytes) -> bytes:
    """The same of a process of its own; nothing where that takes too long."""
    try:
        done = run_python(
            Path(cxx_library.__file__), [str(LONGEST + 1)], given=name, limits=LIMITS, seconds=PROCESSOR_SECONDS
        )
    except (LimitError, OSError):
        return b""
    return done.output if done.status == 0 else b""
