"""A finding of the loops: counted, with its first example."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.state import (
    ADDRESS,
    BLOCK,
    COUNT,
    DROPPED,
    EARLIER,
    KIND,
    LATER,
    OTHER_BLOCK,
    OTHER_THREAD,
    SAME,
    SPACE,
    THREAD,
    USED,
    WHO,
    WIDTH,
)
from simtmm.native import SPREAD


def note(s, kind, who, where, harmless, earlier, later, block, other_block, thread, other_thread, address, width):  # noqa: PLR0913, PLR0917 - each is a column of the row
    """Count a finding; the first of its kind and instructions is the example. Gives the row of a new one, else -1."""
    key = (((kind << 3 | who) << 2 | where) << 1 | harmless) << 32 | earlier << 16 | later
    at = (key * SPREAD >> 24) & (len(s.found) - 1)
    while s.found[at, COUNT] != 0 and not (
        s.found[at, KIND] == kind
        and s.found[at, WHO] == who
        and s.found[at, SPACE] == where
        and s.found[at, SAME] == harmless
        and s.found[at, EARLIER] == earlier
        and s.found[at, LATER] == later
    ):
        at = (at + 1) & (len(s.found) - 1)
    if s.found[at, COUNT] == 0:
        if s.now[USED] > len(s.found) // 2:
            s.now[DROPPED] += 1
            return np.int64(-1)
        s.now[USED] += 1
        s.found[at, KIND] = kind
        s.found[at, WHO] = who
        s.found[at, SPACE] = where
        s.found[at, SAME] = harmless
        s.found[at, EARLIER] = earlier
        s.found[at, LATER] = later
        s.found[at, BLOCK] = block
        s.found[at, OTHER_BLOCK] = other_block
        s.found[at, THREAD] = thread
        s.found[at, OTHER_THREAD] = other_thread
        s.found[at, ADDRESS] = address
        s.found[at, WIDTH] = width
    s.found[at, COUNT] += 1
    return at if s.found[at, COUNT] == 1 else np.int64(-1)
