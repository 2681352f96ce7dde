"""What a launch's events say of arrays, for recorders that the kernel does not inform."""

import numpy as np
import pytest

from simtmm.recorder.cpu.unrecorded import Touched
from simtmm.trace.schema import EVENT, Batch, Kind, TraceArray

ARRAYS = [TraceArray("a", 256, 64, "<f4", (16,)), TraceArray("b", 512, 64, "<f4", (16,))]
OF_MEMORY = {Kind.LOAD, Kind.ASYNC, Kind.STORE, Kind.ATOMIC, Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC}


def touched(*events):
    """Events of a block, each a kind and an address."""
    found = np.zeros(len(events), EVENT)
    found["kind"], found["value"] = np.array(events, np.uint64).reshape(-1, 2).T
    of = Touched(ARRAYS)
    of.add(Batch(found, np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([len(events)])))
    return of


@pytest.mark.parametrize("kind", Kind)
def test_an_access_is_one_of_memory_by_all_threads_or_by_a_block(kind):
    assert touched((kind, 256)).has_accessed == (kind in OF_MEMORY)
    assert not touched().has_accessed


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(("address", "name"), [(256, "a"), (319, "a"), (512, "b"), (575, "b")])
def test_stores_and_atomics_are_of_the_array_that_has_their_address(kind, address, name):
    of = touched((kind, address), (Kind.LOAD, 256), (Kind.LOAD, 512))
    is_stored = kind in (Kind.STORE, Kind.ATOMIC)
    assert [of.has_stored(each.name) for each in ARRAYS] == [is_stored and each.name == name for each in ARRAYS]


def test_what_a_launch_touched_is_not_the_next_one_s():
    of = touched((Kind.STORE, 256))
    of.begin()
    assert (of.has_accessed, of.has_stored("a")) == (False, False)
