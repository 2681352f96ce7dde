"""What a sweep of one key also changes, and what holds where its own limit does not."""

import pytest

from simtmm.study.alongside import carried_along
from simtmm.study.findings import findings
from simtmm.study.sweep import sweep
from tests.study.programs import designed, write

BANDWIDTH = "bandwidth of global memory"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("traced"), blocks=32)


def carried(folder, **tables):
    return {(one.axis, one.what): one for one in carried_along(designed(folder, **tables))}


def test_a_chunk_carries_the_bandwidth_with_it_unless_that_is_given(folder):
    axes = {"memory.chunk_words": [8, 16, 32]}
    found = carried(folder, axes=axes, set={"memory.service": 4})["memory.chunk_words", BANDWIDTH]
    assert (found.unit, found.first, found.last) == ("bytes/s", 8e9, 32e9)  # a chunk of 32 bytes in 4 cycles of 1 ns
    assert "memory.bandwidth" in found.remedy
    assert not carried(folder, axes=axes, set={"memory.bandwidth": 8e9, "ticks_per_cycle": 100})
    assert not carried(folder, axes=axes)  # there is no limit


def test_what_an_axis_is_about_is_no_surprise(folder):
    fixed = {"memory.service": 4, "memory.l1.sets": 4, "memory.l1.ways": 2, "memory.l1.latency": 5}
    assert not carried(folder, set=fixed, axes={"memory.partitions": [1, 2]})
    assert set(carried(folder, set=fixed, axes={"memory.word_bytes": [4, 8]})) == {
        ("memory.word_bytes", BANDWIDTH),
        ("memory.word_bytes", "size of the L1"),
    }


def test_along_a_limit_that_another_holds_it_is_said_which(folder):
    """Blocks of 16 threads, 16 of them for each group of 8 cores: X = 4 holds 2 of them, the limit 4."""
    axes = {"cores.max_threads_per_core": [2, 4, 8, 16, 32]}
    study = sweep(designed(folder, axes=axes, set={"limits.blocks_per_group": 4}), workers=1)
    (held,) = findings(study).held
    own, limit = "cores.max_threads_per_core", "limits.blocks_per_group"
    assert held.spans == ((2, 4, own), (8, 8, f"{limit} and {own}"), (16, 32, limit))
    times = [row.cycles("simulated") for row in study.rows]
    assert times[2] == times[3] == times[4] < times[1]
    assert not findings(sweep(designed(folder, axes={own: [2, 4]}), workers=1)).held
