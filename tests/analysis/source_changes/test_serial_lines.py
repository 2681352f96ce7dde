"""Which lines are told to be of a single thread that goes round a loop, by what was counted there."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Workload, load_machine
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.operations import Operations
from simtmm.analysis.source_changes.serial import of_serial_work
from simtmm.stalls import Place, Reason
from simtmm.stalls.places import THREADS, Places
from simtmm.trace.schema import TraceLaunch

ARRAYS = ("", "x")
LOOP, WAIT, OTHER, COPY = range(4)  # places
LAUNCH = TraceLaunch("k", (2, 1, 1), (64, 1, 1), 0, 0)


def found(*, rounds=4, threads=1, ticks=(20, 10, 970, 0), line=7, launch=LAUNCH, counted=True, warps=1, kind="load"):
    """What is suggested where, in two blocks, some warps go round a loop; all of a run of 1000 ticks.

    kind: of what the loop does; a "copy" loads, and stores in shared memory.
    """
    copies, kind = kind == "copy", "load" if kind == "copy" else kind
    loop = [["load", [1]], ["compute", 1]] * rounds
    block = {"warps": [*[loop] * warps, *[[["compute", 5]]] * (2 - warps)]}
    workload = Workload.from_dict({"blocks": [block] * 2})
    is_loop = np.repeat(np.tile([True] * warps + [False] * (2 - warps), 2), np.diff(workload.warp_operations))
    lists = np.zeros(workload.operations, bool)
    lists[is_loop] = np.tile([True, False], rounds * warps * 2)
    place = np.where(is_loop, np.where(lists, 2 * LOOP + 1, 2 * COPY if copies else 2 * LOOP), 2 * OTHER).astype(
        np.int32
    )
    sites = (
        Place(kind, "k.cu", line),
        Place("barrier", "k.cu", 8),
        Place("work", "k.cu", 9),
        Place("shared_store", "k.cu", line) if copies else Place("store", "k.cu", 9),
    )
    of_threads = np.zeros((8, len(THREADS)), np.int64)
    executions, of = THREADS.index("executions"), THREADS.index("threads")
    of_threads[2 * LOOP + 1, [executions, of]] = 10, 10 * threads
    of_threads[2 * COPY, [executions, of]] = 10 * copies, 10 * threads * copies
    of_threads[2 * WAIT, [executions, of]] = 10, 10  # one thread that waits is no work of one
    of_threads[2 * OTHER, [executions, of]] = 10, 320
    places = Places(sites, ARRAYS, threads=of_threads if counted else None)
    table = np.zeros((9, len(Reason)), np.int64)
    for site, each in enumerate(ticks):
        table[2 * site, Reason.ISSUING], table[2 * site + 1, Reason.ISSUING] = each - each // 2, each // 2
    part = Excerpt(load_machine("gtx480"), replace(workload, place=place), "")
    return list(of_serial_work(SimpleNamespace(places=places, ticks=table), part, launch))


def test_a_loop_of_one_thread_is_told_with_its_rounds_and_the_ticks_that_others_wait_for_it():
    (share,) = found()
    assert (share.change, share.at, share.how) == ("share", ("k.cu", 7, ""), "estimate")
    assert share.weight == 2 * (20 + 10) / 1000
    assert share.numbers == (2 * LOOP, 2 * LOOP + 1)  # what is computed for the access as well
    assert "all threads of the block share it: a tree" in share.words
    assert "one thread of 64 goes round this loop 4 times" in share.words


def test_a_line_that_stores_is_a_copy():
    assert "all threads of the block load and store a part each" in found(kind="store")[0].words
    assert "all threads of the block load and store a part each" in found(kind="shared_store")[0].words


def test_what_one_warp_copies_is_a_part_of_each():
    (share,) = found(threads=32, kind="copy")
    assert (share.change, share.at, share.how) == ("share", ("k.cu", 7, ""), "estimate")
    assert (
        "all warps of the block load and store a part each; one warp of 2 goes round this loop 4 times" in share.words
    )


@pytest.mark.parametrize("given", [{}, {"kind": "copy", "warps": 2}, {"kind": "copy", "rounds": 3}])
def test_a_warp_that_does_not_copy_or_is_not_alone_or_does_little_may_go_on(given):
    assert found(threads=32, **given) == []


@pytest.mark.parametrize(
    "given",
    [
        {"rounds": 3},
        {"threads": 2},
        {"ticks": (19, 10, 971, 0)},  # less than three in a hundred
        {"line": 0},
        {"launch": None},
        {"launch": TraceLaunch("k", (2, 1, 1), (1, 1, 1), 0, 0)},  # nobody else is there
        {"counted": False},
        {"warps": 2},  # one thread of each warp
        {"kind": "barrier"},
        {"kind": "join"},
    ],
)
def test_what_is_no_such_loop_or_takes_little_suggests_nothing(given):
    assert found(**given) == []


def test_what_is_done_instead_is_a_part_of_the_rounds():
    (share,) = found(rounds=64)
    workload = Workload.from_dict({"blocks": [{"warps": [[["load", [1]], ["compute", 1]] * 64]}]})
    workload = replace(workload, place=np.tile([2 * LOOP + 1, 2 * LOOP], 64).astype(np.int32))
    made = share.make(Operations(workload), np.ones(workload.operations, bool))
    kinds = [operation[0] for operation in made.warp(0)]
    assert kinds.count("load") == 1  # of 64 rounds, by 64 threads
    assert kinds.count("compute") <= 1
