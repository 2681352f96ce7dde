"""Of how often a thread looks at a grid barrier for other blocks a trace holds once."""

import numpy as np

from simtmm.recorder.compiled.spins import without_spins
from simtmm.trace.schema import EVENT, GRID_WORKSPACE, Batch, Kind


def batch(*blocks):
    """blocks: of each, (thread, kind, value) of its events."""
    rows = [row for block in blocks for row in block]
    events = np.zeros(len(rows), EVENT)
    for place, (thread, kind, value) in enumerate(rows):
        events[place]["thread"], events[place]["kind"], events[place]["value"] = thread, kind, value
    numbers = np.arange(len(blocks), dtype=np.int32)
    return Batch(events, np.zeros_like(numbers), numbers, np.cumsum([len(block) for block in blocks]))


def told(found):
    return [(int(event["thread"]), Kind(event["kind"])) for event in found.events], found.ends.tolist()


LOOK, WORK, BARRIER = (Kind.ASYNC, GRID_WORKSPACE + 4), (Kind.WORK, 1), (Kind.BARRIER, 0)
COUNT, STORE = (Kind.ATOMIC, GRID_WORKSPACE + 4), (Kind.STORE, 4096)


def test_a_thread_looks_once_and_what_is_behind_its_barrier_stays():
    spins = [(0, *each) for each in (COUNT, WORK, LOOK, WORK, LOOK, WORK, LOOK, WORK, BARRIER, WORK, STORE)]
    events, ends = told(without_spins(batch(spins, [(0, *WORK), (1, *WORK)])))
    kinds = [Kind.ATOMIC, Kind.WORK, Kind.ASYNC, Kind.BARRIER, Kind.WORK, Kind.STORE]
    assert events == [*((0, kind) for kind in kinds), (0, Kind.WORK), (1, Kind.WORK)]
    assert ends == [6, 8]


def test_other_threads_and_other_blocks_keep_what_they_do():
    spins = [(0, *LOOK), (0, *LOOK), (1, *WORK), (1, *WORK)]
    events, ends = told(without_spins(batch(spins, [(1, *WORK), (1, *STORE)], [], spins)))
    looked = [(0, Kind.ASYNC), (1, Kind.WORK), (1, Kind.WORK)]
    assert events == [*looked, (1, Kind.WORK), (1, Kind.STORE), *looked]
    assert ends == [3, 5, 5, 8]


def test_loads_of_arrays_are_no_looks():
    given = batch([(0, Kind.ASYNC, 512), (0, *WORK), (0, Kind.LOAD, GRID_WORKSPACE - 4), (0, *WORK)])
    assert without_spins(given) is given
