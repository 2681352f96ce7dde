"""Where finished machine code reads the processor's cycles, as objdump of the compiler's tools says."""

import re

from simtmm.children.start import run
from simtmm.errors import LimitError

_READ = re.compile(r"^\s*([0-9a-f]+):\s+rdtscp?\s*$", re.MULTILINE)


def reads_of_cycles(path: str, begin: int, end: int) -> list[int] | None:
    """The places of rdtsc and rdtscp in a function; None where there is no objdump, or it can't read the file.

    path: of a program or a library.
    begin, end: of the function, as addresses in the file.
    """
    words = ["objdump", "-d", "--no-show-raw-insn", f"--start-address={begin:#x}", f"--stop-address={end:#x}", path]
    try:
        done = run(words)
    except (OSError, LimitError):
        return None
    return None if done.status else [int(place, 16) for place in _READ.findall(done.log)]
