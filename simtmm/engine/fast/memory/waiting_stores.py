"""Chunks come to their slice of the L2, where stores wait that later ones of the same sectors join (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.traffic import L2_LOADS, L2_SECTORS, L2_STORES, note
from simtmm.engine.fast.layout import Group
from simtmm.engine.fast.memory.cache import mix
from simtmm.engine.fast.memory.l2 import through_slice
from simtmm.engine.fast.memory.partitions import moves
from simtmm.native import inlined
from simtmm.workload import STORE


@inlined
def waiting_row(s, chunk):
    """Which line of a group's waiting stores a chunk belongs to."""
    return np.int64(mix(chunk) % np.uint64(s.parameters.waiting_stores))


@inlined
def comes_to_slice(s, g, what, here, chunk, wanted, start, t):
    """When a chunk's slice takes it up, as `through_slice` has it; a store that joins another in no time of its own.
    The last value is the tick at which it does, -1 if it joins none.
    """
    waits = what == STORE and s.parameters.waiting_stores > 0
    row = np.int64(0)
    joined = np.int64(-1)
    if waits:
        row = waiting_row(s, chunk)
        begin = s.waiting[g, row].begin
        same = s.waiting[g, row].chunk == chunk and wanted & ~s.waiting[g, row].sectors == 0
        if same and start < begin:
            joined = begin
    at_slice, behind = through_slice(s, g, what, here, chunk, wanted, start, joined, t)
    note(s, L2_STORES if what == STORE else L2_LOADS, at_slice, np.int64(1))
    if joined < 0:
        moves(s, g, Group.l2_sectors, L2_SECTORS, at_slice, wanted)
        if waits:
            s.waiting[g, row].chunk = chunk
            s.waiting[g, row].sectors = wanted
            s.waiting[g, row].begin = at_slice
    return at_slice, behind, joined
