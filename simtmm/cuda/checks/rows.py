"""A finding of the loops: counted, with its first example."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import SPREAD


def note(s, kind, who, where, harmless, earlier, later, block, other_block, thread, other_thread, address, width):  # noqa: PLR0913, PLR0917 - each is a column of the row
    """Count a finding; the first of its kind and instructions is the example. Gives the row of a new one, else -1."""
    key = (((kind << 3 | who) << 2 | where) << 1 | harmless) << 32 | earlier << 16 | later
    at = (key * SPREAD >> 24) & (len(s.found) - 1)
    while s.found[at].count != 0 and not (
        s.found[at].kind == kind
        and s.found[at].who == who
        and s.found[at].space == where
        and s.found[at].same == harmless
        and s.found[at].earlier == earlier
        and s.found[at].later == later
    ):
        at = (at + 1) & (len(s.found) - 1)
    if s.found[at].count == 0:
        if s.now.used > len(s.found) // 2:
            s.now.dropped += 1
            return np.int64(-1)
        s.now.used += 1
        s.found[at].kind = kind
        s.found[at].who = who
        s.found[at].space = where
        s.found[at].same = harmless
        s.found[at].earlier = earlier
        s.found[at].later = later
        s.found[at].block = block
        s.found[at].other_block = other_block
        s.found[at].thread = thread
        s.found[at].other_thread = other_thread
        s.found[at].address = address
        s.found[at].width = width
    s.found[at].count += 1
    return at if s.found[at].count == 1 else np.int64(-1)
