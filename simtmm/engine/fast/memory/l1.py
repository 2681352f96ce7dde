"""The cache of a group: where a chunk lies in it, and what falls out (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import LINE_CHUNK, LINE_FILL, P_L1_SETS, P_L1_SKEWED, P_L1_WAYS, P_LOCAL_BACK, WRITTEN
from simtmm.engine.fast.memory.cache import modulo
from simtmm.engine.fast.memory.l2 import write_down
from simtmm.engine.fast.memory.sectors import insert_empty
from simtmm.native import inlined


@inlined
def insert_into_l1(s, row, chunk, t):
    """Put a chunk into an L1, with none of its sectors; a line that falls out and is to be written is stored in what
    lies below.
    """
    last = s.parameters[P_L1_WAYS] - 1
    if (
        s.parameters[P_LOCAL_BACK] != 0
        and s.l1[row, last, LINE_CHUNK] >= 0
        and s.l1[row, last, LINE_FILL] & WRITTEN != 0
    ):
        write_down(s, s.l1[row, last, LINE_CHUNK], t)
    insert_empty(s.l1, row, chunk, s.parameters[P_L1_WAYS])


@inlined
def l1_row(s, g, chunk):
    """Where the set of a group's L1 lies that a chunk belongs to."""
    sets = s.parameters[P_L1_SETS]
    if s.parameters[P_L1_SKEWED] != 0:
        chunk += np.int64(np.uint64(chunk) // np.uint64(sets))
    return g * sets + modulo(chunk, sets)
