"""Elements of neighbouring threads in vectors, elements kept in registers, and tiles that are larger: by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Workload, load_machine
from simtmm.analysis.source_changes import blocks, loads, reloads, reuse, shared_memory
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import Line
from simtmm.analysis.source_changes.operations import Operations
from simtmm.stalls.places import THREADS
from simtmm.trace.schema import TraceLaunch
from tests.analysis.source_changes.test_changes import are, of, warps

MACHINE = load_machine("gtx480")  # 15 groups, lines of 128 bytes
SECTORED = load_machine("rtx-3080")
AT = ("k.cu", 7, "x")


def element_wise(number):
    return [["compute", 3], ["load", [number]], ["compute", 2], ["store", [10 + number]]]


def test_warps_become_one_that_accesses_what_both_did_and_computes_their_address_once():
    whole = of([element_wise(0), element_wise(1)], [element_wise(2), element_wise(3)])
    changed = blocks.widened(whole, 2, limit=5, chunk_bytes=64)
    assert warps(changed) == [
        [["compute", 3], ["load", [0, 1]], ["compute", 4], ["store", [10, 11]]],
        [["compute", 3], ["load", [2, 3]], ["compute", 4], ["store", [12, 13]]],
    ]
    assert np.diff(changed.block_warps).tolist() == [2]  # as many threads as before
    assert changed.launch_limits.tolist() == [5]


def test_warps_that_do_different_things_or_are_an_odd_number_do_not_become_one():
    alike = [element_wise(0), element_wise(1)]
    assert blocks.are_alike(of(alike, alike), 2)
    assert not blocks.are_alike(of(alike, alike), 4)
    assert not blocks.are_alike(of([*alike, element_wise(2)]), 2)
    assert not blocks.are_alike(of([element_wise(0), element_wise(1)[:-1]]), 2)
    assert not blocks.are_alike(of([element_wise(0), element_wise(1)[::-1]]), 2)


def neighbours(count=60, each=1, between=(), kind="load", chunks_each=1, lanes=32):
    """What is suggested for blocks of four warps, whose threads load and store so many bytes each."""
    warp = [["load", [0]], *between, ["store", [1]]]
    workload = Workload.from_dict({"blocks": [{"warps": [warp] * 4}] * count})
    requests = 4 * count
    own = [
        Line(("k.cu", 7, name), of_kind, [number], 10, requests, chunks_each * requests, 0, requests, lanes * requests,
             lanes * requests * each)
        for number, (name, of_kind) in enumerate((("x", kind), ("y", "store")))
    ]  # fmt: skip
    launch = TraceLaunch("k", (count, 1, 1), (128, 1, 1), registers_per_thread=8, shared_memory_bytes=0)
    return list(loads.of_neighbours(MACHINE, own, 100, Excerpt(MACHINE, workload, ""), launch))


@pytest.mark.parametrize(
    ("count", "each", "words"),
    [
        (
            60,
            1,
            "take 4 neighbouring elements, and access them as a vector (uchar4, say): a thread accesses 1 byte here",
        ),
        (59, 1, "take 2 neighbouring elements"),  # four would leave groups without a block
        (60, 8, "take 2 neighbouring elements, and access them as a vector (float2, say): a thread accesses 8 bytes"),
    ],
)
def test_threads_take_as_many_neighbours_as_a_vector_and_the_blocks_have_room_for(count, each, words):
    (found,) = neighbours(count, each)
    assert (found.change, found.at, found.how) == ("vectorize", ("k.cu", 7, ""), "estimate")
    assert words in found.words


def test_nothing_is_said_of_vectors_where_they_are_full_apart_or_shared():
    assert neighbours(each=16) == []
    assert neighbours(count=29) == []  # one block for each group is left by no vector
    assert neighbours(between=[["barrier"]]) == []
    assert neighbours(between=[["shared", 1]]) == []
    assert neighbours(kind="atomic") == []
    assert neighbours(lanes=28) == []  # of a warp, as every eighth is left out
    assert neighbours(chunks_each=2) == []  # threads are not side by side


def sectors(*each):
    return sum(size << 8 * number for number, size in enumerate(each))


def of_sectors(listed):
    """One warp that lists these chunks, each with its bytes of sectors."""
    workload = of([[["load", [chunk]] for chunk, _ in listed]]).workload
    return Operations(replace(workload, sectors=np.array([word for _, word in listed], np.uint32)))


@pytest.mark.parametrize(
    ("listed", "needed"),
    [
        ([(0, 0)] * 6, 1),  # all of a chunk, six times
        ([(0, sectors(4))] * 20, 8),  # an element at a time: the eight of a sector may be different
        ([(0, sectors(4))] * 20 + [(0, sectors(0, 4))] * 20, 16),  # those of two sectors
        ([(0, sectors(32, 8)), (0, sectors(24, 16)), (0, sectors(16, 24))], 3 * 8),  # a window that goes along
    ],
)
def test_a_chunk_is_needed_as_often_as_requests_may_access_different_elements_of_it(listed, needed):
    operations = of_sectors(listed)
    here = np.arange(len(listed))
    assert reloads._needed(operations, here, None, 4).tolist() == [needed] * len(listed)
    left = reloads._once(operations, np.ones(len(listed), bool), None, 4)
    assert len(left.chunks) == min(needed, len(listed))


@pytest.mark.parametrize(
    ("listed", "needed", "at_most"),
    [
        ([(0, sectors(4, 4))] * 9 + [(0, sectors(4))] * 9 + [(0, sectors(0, 4))] * 9, 8, 24),
        ([(0, 0)] * 3 + [(0, sectors(4))] * 9, 1, 9),  # of which all access all of a chunk
        ([(0, sectors(4))] * 9 + [(0, sectors(0, 4))] * 9, 16, 16),  # none has what both have
    ],
)
def test_a_part_of_the_threads_that_branched_apart_needs_no_chunk_of_its_own(listed, needed, at_most):
    operations, here = of_sectors(listed), np.arange(len(listed))
    assert reloads._needed(operations, here, None, 4, True).tolist() == [needed] * len(listed)
    assert reloads._needed(operations, here, None, 4).tolist() == [at_most] * len(listed)
    left = reloads._once(operations, np.ones(len(listed), bool), None, 4, True)
    assert len(left.chunks) == min(needed, len(listed))


def test_threads_that_share_elements_may_access_a_different_one_each_time():
    operations = of_sectors([(0, sectors(32))] * 4)
    line = Line(AT, "load", [0], requests=4, executions=4, threads=128, bytes_asked=4 * 128)
    assert reloads._elements(SECTORED, line, operations, np.arange(4), 4) == SECTORED.chunk_bytes / 4
    line.bytes_asked = 4 * 32  # eight threads of four bytes each
    assert reloads._elements(SECTORED, line, operations, np.arange(4), 4) is None


def in_tiles(of_blocks, numbers=(0, 1)):
    """What is said of blocks that load these chunks into shared memory."""
    workload = Workload.from_dict(
        {"blocks": [{"warps": [[["load", [chunk]], ["shared", 1], ["barrier"]]]} for chunk in of_blocks]}
    )
    own = [Line(AT, "load", [numbers[0]], 20, chunks=9), Line(("k.cu", 7, ""), "shared_store", [numbers[1]])]
    own[0].numbers = [0]
    workload = replace(workload, place=np.where(workload.kind == workload.kind[0], 0, 1).astype(np.uint32))
    return list(reuse.of_larger_tiles(own, 100, 100, Excerpt(MACHINE, workload, "")))


def test_tiles_that_two_blocks_load_are_to_be_larger_and_half_of_the_loads_go():
    (found,) = in_tiles([0, 0, 1, 1])
    assert (found.change, found.how, found.at) == ("tile", "bound", ("k.cu", 7, ""))
    assert "4 times as many results" in found.words
    assert "2 blocks load each chunk now" in found.words
    assert in_tiles([0, 1, 2, 2]) == []
    operations = of([[["load", [0]], ["load", [1]], ["load", [2]], ["load", [3]]]])
    operations = Operations(replace(operations.workload, place=np.zeros(4, np.uint32)))
    assert len(found.make(operations, are(operations, operations.workload.kind[0])).chunks) == 2


@pytest.mark.parametrize(("written", "is_said"), [(33, True), (34, False)])
def test_values_of_shared_memory_are_kept_in_registers_where_each_is_read_three_times(written, is_said):
    site = SimpleNamespace(file="k.cu", line=7, floating_point_instructions=1)
    threads = np.zeros((1, len(THREADS)), np.int64)
    threads[0, THREADS.index("times")] = 100
    stalls = SimpleNamespace(places=SimpleNamespace(threads=threads, sites=[site], arrays=[""]))
    lines = [
        Line(AT, "shared_load", [0], 50, threads=100, executions=4),
        Line(AT, "shared_store", [0], 50, threads=written, executions=4),
    ]
    assert bool(list(shared_memory._of_registers(stalls, lines, 100))) is is_said
