"""Translations of addresses: those that a group holds, and those that it lacks at first (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.memory.cache import find_line, insert_line
from simtmm.native import inlined


@inlined
def known_from(s, g, chunk, start, t):
    """When a chunk's address is known beyond its group, which it is not before `start`."""
    return max(start, translated(s, g, chunk, t)) if s.parameters.tlb_entries > 0 else start


@inlined
def translated(s, g, chunk, t):
    """From when on a group has the translation of a chunk's page, which it looks for at t."""
    page = np.int64(np.uint64(chunk) // np.uint64(s.parameters.tlb_page))
    there = find_line(s.tlb, g, page, s.parameters.tlb_entries)
    if there < 0:
        there = t + s.parameters.tlb_miss
        insert_line(s.tlb, g, page, there, s.parameters.tlb_entries)
    return there


@inlined
def late_of_first(s, g, t):
    """By how much an access at t is later because its group lacks translations at the beginning of the launch."""
    if s.group[g].translated == 0:
        s.group[g].translated = t + s.parameters.first_access
    return max(np.int64(0), s.group[g].translated - t)
