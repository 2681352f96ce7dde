"""Barriers of a grid: what its blocks count and look at, at a few words below all arrays, is one operation each."""

import pytest

from simtmm import Machine, lower
from simtmm.trace.schema import GRID_WORKSPACE, GRID_WORKSPACE_BYTES
from tests.trace.build import load, store, trace, work

LAST = GRID_WORKSPACE + GRID_WORKSPACE_BYTES
MACHINE = Machine.from_dict(
    {
        "name": "m",
        "cores": {"groups": 2, "cores_per_group": 4, "warp_width": 4, "max_threads_per_core": 64},
        "memory": {"latency": 100, "chunk_words": 8, "atomic_service": 1},
        "scheduling": {"grid_barrier": 50},
    }
)


def operations(event, machine=MACHINE):
    """Those of the warp of a thread that works, does this, and stores."""
    lowered = lower(trace([[[work(0, 3), event, store(2, 4096)]]]), machine)
    return [operation[0] for operation in lowered.to_dict()["launches"][0]["blocks"][0]["warps"][0]]


@pytest.mark.parametrize("address", [GRID_WORKSPACE, GRID_WORKSPACE + 4, LAST - 4])
@pytest.mark.parametrize("kind", ["load", "async", "atomic"])
def test_one_that_counts_is_a_barrier_and_looks_for_the_others_are_nothing(kind, address):
    event = (1, kind, address, 4)
    assert operations(event) == ["compute", *(["grid_barrier"] if kind == "atomic" else []), "store"]


@pytest.mark.parametrize("address", [GRID_WORKSPACE - 4, LAST])
@pytest.mark.parametrize("kind", ["load", "async", "atomic"])
def test_what_lies_beside_those_words_is_accessed(kind, address):
    assert operations((1, kind, address, 4)) == ["compute", kind, "store"]


@pytest.mark.parametrize("kind", ["load", "async", "atomic"])
def test_a_machine_without_barriers_of_a_grid_accesses_them_as_any_other(kind):
    alone = MACHINE.replace({"scheduling.grid_barrier": None})
    assert operations((1, kind, GRID_WORKSPACE, 4), alone) == ["compute", kind, "store"]


def test_a_store_there_is_a_store():
    assert operations(store(1, GRID_WORKSPACE)) == ["compute", "store", "store"]
    assert operations(load(1, 8192)) == ["compute", "load", "store"]
