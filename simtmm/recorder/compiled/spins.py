"""Grid barriers as they are recorded: how often a thread looks for other blocks there says nothing of the program."""

from dataclasses import replace

# simtmm/native compiles `looks_at_all` from the names of its arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np

from simtmm.native import Loop
from simtmm.trace.runs.distances import spelled_out
from simtmm.trace.runs.layout import DISTANCE, KIND_MASK, KIND_SHIFT
from simtmm.trace.schema import GRID_WORKSPACE, GRID_WORKSPACE_BYTES, Batch, Kind


def looks_at_all(words):
    """1 if any event has an address in the workspace, else 0. words: int64, two an event, the address first."""
    for place in range(0, len(words), 2):
        is_there = GRID_WORKSPACE <= words[place] < GRID_WORKSPACE + GRID_WORKSPACE_BYTES
        if is_there and (words[place + 1] >> KIND_SHIFT) & KIND_MASK != DISTANCE:
            return np.int64(1)
    return np.int64(0)


_LOOKS_AT_ALL = Loop(looks_at_all)


def without_spins(batch: Batch) -> Batch:
    """A batch in which a thread looks once whether the other blocks of its grid have come.

    What a thread does behind its first load at the workspace, up to its next barrier, is to look again: how often
    decides the order in which blocks were run here. Cooperative groups have a barrier of the block there.
    """
    events = batch.events
    if not _LOOKS_AT_ALL(events.view(np.int64)):  # no other kernel is held up by this
        return batch
    batch = spelled_out(batch)
    events = batch.events
    values, kinds = events["value"], events["kind"]
    looks = (values >= GRID_WORKSPACE) & (values < GRID_WORKSPACE + GRID_WORKSPACE_BYTES)
    looks &= (kinds == Kind.LOAD) | (kinds == Kind.ASYNC)
    place = np.arange(len(events))
    begins = (kinds == Kind.BARRIER) | (np.diff(events["thread"].astype(np.int64), prepend=-1) != 0)
    first = np.concatenate([np.zeros(1, np.int64), batch.ends[:-1]])
    begins[first[first < len(events)]] = True
    since = np.maximum.accumulate(np.where(begins, place, -1))
    looked = np.maximum.accumulate(np.where(looks, place, -1))
    kept = np.append(-1, looked[:-1]) < since
    ends = np.append(0, np.cumsum(kept))[batch.ends]
    return replace(batch, events=events[kept], ends=ends)
