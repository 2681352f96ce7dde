"""Executions: what warps and threads do at each site of traces written by hand."""

import numpy as np
import pytest

from simtmm.errors import TraceError
from simtmm.native import Loop, as_python
from simtmm.trace.schema import TraceSite
from simtmm.validation.counters.executions import executions
from tests.trace.build import barrier, load, shared, store, trace, work

WARP = 32
KINDS = ("work", "async", "store", "shared_load", "barrier", "local_store")
SITES = tuple(TraceSite(number, kind, "k.cu", number, "") for number, kind in enumerate(KINDS))
WORK, LOAD, STORE, SHARED, BARRIER, LOCAL = range(len(KINDS))


@pytest.fixture(autouse=True, params=["machine code", "Python"])
def run_as(request, monkeypatch):
    """As Python an index outside of its array is refused, which machine code reads beside it."""
    if request.param == "Python":
        monkeypatch.setattr(Loop, "__call__", lambda self, *arguments: as_python(self.function)(*arguments) or 0)


def counted(threads, followers=None, **more):
    return executions(trace([threads], sites=SITES, **more), followers)


def warp(event_of, lanes=range(WARP)):
    """A warp's threads: of these lanes each has one event."""
    return [[event_of(lane)] if lane in lanes else [] for lane in range(WARP)]


def of(table, site):
    """The number of the only block."""
    (value,) = table[:, site].tolist()
    return value


def test_a_warp_counts_once_however_many_of_its_threads_come():
    found = counted([*warp(lambda lane: store(STORE, 4 * lane)), *warp(lambda lane: store(STORE, 0), range(5))])
    assert (of(found.warps, STORE), of(found.threads, STORE)) == (2, 37)


def test_work_counts_as_often_as_the_thread_with_most_does_it():
    found = counted(warp(lambda lane: work(WORK, 1 + lane % 3)))
    assert (of(found.warps, WORK), of(found.threads, WORK)) == (3, sum(1 + lane % 3 for lane in range(WARP)))


def test_threads_that_parted_come_to_a_site_by_themselves():
    late = [[work(WORK, 1), load(LOAD, 0), work(WORK, 1)] if lane < 8 else [work(WORK, 1)] for lane in range(WARP)]
    found = counted(late)
    assert (of(found.warps, WORK), of(found.threads, WORK)) == (2, 40)


def test_a_barrier_counts_once_for_each_warp():
    found = counted([[barrier(BARRIER)] for _ in range(40)])
    assert (of(found.warps, BARRIER), of(found.threads, BARRIER)) == (2, 40)


def test_onwards_are_threads_whose_next_event_is_of_the_site_that_follows():
    threads = [[work(WORK, 1), (load if lane < 10 else store)(LOAD if lane < 10 else STORE, 0)] for lane in range(WARP)]
    assert of(counted(threads, {WORK: LOAD}).onwards, WORK) == 10
    assert of(counted(threads, {WORK: STORE}).onwards, WORK) == 22
    assert of(counted(threads).onwards, WORK) == 0


@pytest.mark.parametrize(
    ("stride", "wavefronts"), [(0, 1), (1, 1), (2, 2), (3, 1), (8, 8), (32, 32), (33, 1)], ids=lambda value: str(value)
)
def test_words_at_a_stride_take_as_many_wavefronts_as_words_share_a_bank(stride, wavefronts):
    assert of(counted(warp(lambda lane: shared(SHARED, 4 * stride * lane))).wavefronts, SHARED) == wavefronts


@pytest.mark.parametrize(("size", "wavefronts"), [(8, 2), (16, 4)])
def test_wide_accesses_are_served_for_a_part_of_the_warp_at_a_time(size, wavefronts):
    row = warp(lambda lane: shared(SHARED, size * lane, size))
    assert of(counted(row).wavefronts, SHARED) == wavefronts
    half = warp(lambda lane: shared(SHARED, size * lane, size), range(16))
    assert of(counted(half).wavefronts, SHARED) == wavefronts // 2
    column = warp(lambda lane: shared(SHARED, 128 * lane, size))
    assert of(counted(column).wavefronts, SHARED) == WARP


def test_rows_of_a_tile_meet_in_banks():
    """4 threads to a row of 18 words: rows begin at banks 0, 18, 4, 22, 8, 26, 12 and 30, the last reaching round."""
    found = counted(warp(lambda lane: shared(SHARED, 4 * (lane // 4 * 18 + lane % 4))))
    assert of(found.wavefronts, SHARED) == 2


def test_words_of_two_arrays_are_two_words():
    found = counted(warp(lambda lane: shared(SHARED, 0, array=1 + lane % 2)))
    assert of(found.wavefronts, SHARED) == 2


def test_sectors_of_a_request_count_once_and_those_that_a_block_loads_once_over_all_requests():
    row = warp(lambda lane: load(LOAD, 4 * lane))
    shifted = warp(lambda lane: load(LOAD, 4 * lane + 16))
    found = counted([*row, *shifted])
    assert of(found.warps, LOAD) == 2
    assert of(found.sectors, LOAD) == 4 + 5
    assert found.read_sectors.tolist() == [5]


def test_each_store_counts_its_own_sectors_and_none_is_read():
    halves = [[store(STORE, 8 * lane), store(STORE, 8 * lane + 4)] for lane in range(WARP)]
    found = counted(halves)
    assert of(found.warps, STORE) == 2
    assert of(found.sectors, STORE) == 8 + 8
    assert found.read_sectors.tolist() == [0]


def test_blocks_do_not_share_what_they_load():
    blocks = [warp(lambda lane: load(LOAD, 4 * lane)) for _ in range(3)]
    found = executions(trace(blocks, sites=SITES))
    assert found.blocks.tolist() == [0, 1, 2]
    assert found.read_sectors.tolist() == [4, 4, 4]


def test_local_words_of_a_warp_lie_side_by_side():
    found = counted(warp(lambda lane: (LOCAL, "local_store", 8, 4)), local=64)
    assert of(found.sectors, LOCAL) == 4
    found = counted(warp(lambda lane: (LOCAL, "local_store", 16, 16), range(8)), local=64)
    assert of(found.sectors, LOCAL) == 4  # of each of 4 words the 8 lanes' sector


def test_what_can_not_be_counted_is_refused():
    one = [[[work(WORK, 1)]]]  # a launch of a block of a thread
    with pytest.raises(TraceError, match="2 launches"):
        executions(trace(one, one, sites=SITES))
    with pytest.raises(TraceError, match="warps of 64 threads"):
        executions(trace(one, sites=SITES, warp_size=64))
    with pytest.raises(TraceError, match="no events"):
        executions(trace([[[]]], sites=SITES))


def test_tables_are_of_whole_numbers():
    found = counted(warp(lambda lane: work(WORK, 1)))
    assert found.warps.dtype == found.read_sectors.dtype == np.int64


ACCESSES = {
    # kind: sectors of 32 lanes at a stride of 32 bytes, wavefronts of them, and sectors that are read
    "load": (32, 0, 32), "async": (32, 0, 32), "store": (32, 0, 0), "atomic": (32, 0, 0),
    "shared_load": (0, 8, 0), "shared_store": (0, 8, 0), "shared_atomic": (0, 8, 0),
    "local_load": (32, 0, 0), "local_store": (32, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("kind", ACCESSES)
def test_each_kind_of_access_counts_sectors_or_wavefronts(kind):
    def event_of(lane):
        if "shared" in kind:
            return shared(0, 32 * lane, kind=kind)
        # Of local memory the words of all threads lie side by side: eight rows of 32 words, of which each has a fourth
        return 0, kind, 32 * (lane % 8 if "local" in kind else lane), 4

    site = TraceSite(0, kind, "k.cu", 1, "")
    found = executions(trace([warp(event_of)], sites=(site,), local=256, shared_memory=1024))
    assert (of(found.sectors, 0), of(found.wavefronts, 0), *found.read_sectors.tolist()) == ACCESSES[kind]
