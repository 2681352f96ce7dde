"""Which loads and stores are to be vectors, earlier or constants, at the edge of each, and which make a chain."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Workload, load_machine
from simtmm.analysis.source_changes import loads
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import Line
from simtmm.analysis.source_changes.loads import (
    are_scattered,
    in_vectors,
    is_chain,
    of_constants,
    of_divergent_constants,
    of_vectors,
    of_waits,
)
from simtmm.analysis.source_changes.operations import Operations
from simtmm.stalls import Count, Place, Reason
from simtmm.stalls.places import THREADS, Places
from tests.analysis.source_changes.test_changes import warps as warps_of

MACHINE = load_machine("gtx480")  # chunks of 128 bytes, warps of 32
HERE = 3  # a place


def part(*warps, place=HERE, sectors=None):
    """Of a block of these warps; all loads and stores are at a place, all else at another."""
    workload = Workload.from_dict({"blocks": [{"warps": list(warps)}]})
    lists = Operations(workload).listed > 0
    given = {} if sectors is None else {"sectors": np.array(sectors, np.uint32)}
    return Excerpt(MACHINE, replace(workload, place=np.where(lists, place, 9).astype(np.int32), **given), "")


def line_of(kind="load", array="x", **counts):
    return Line(("k.cu", 7, array), kind, [HERE], **counts)


def walk(count, kind="load"):
    return [each for number in range(count) for each in ([kind, [number]], ["compute", 1])]


def vectors(count, of_thread, kind="load", warps=2, weight=0.03, array="x"):
    """Warps that walk along chunks of their own, one request a chunk."""
    walks = [[[kind, [10 * warp + number]] for number in range(count)] for warp in range(warps)]
    line = line_of(kind, array, requests=warps * count, threads=100, bytes_asked=round(100 * of_thread))
    return list(of_vectors(MACHINE, line, weight, part(*walks)))


@pytest.mark.parametrize(
    ("count", "of_thread", "times"),
    [
        (16, 1, 16), (17, 0.5, 16), (15, 1, 8), (8, 2, 8), (8, 2.01, 4), (7, 2, 4), (4, 4, 4), (4, 4.01, 2), (3, 4, 2),
        (2, 8, 2), (2, 8.01, 1), (1, 4, 1), (9, 16, 1),
    ],
)  # fmt: skip
def test_so_many_elements_are_one_vector_as_a_thread_comes_to_and_as_16_bytes_hold(count, of_thread, times):
    found = vectors(count, of_thread)
    assert len(found) == (times > 1)
    for each in found:
        assert f"load {times} elements of x at once" in each.words
        assert ("float" if times <= 4 else "uint4") in each.words
        assert f"{of_thread:.3g} byte{'' if of_thread == 1 else 's'} at a time" in each.words
        assert (each.at, each.weight, each.how, each.numbers) == (("k.cu", 7, "x"), 0.03, "bound", (HERE,))
        made = each.make(Operations(part(walk(count)).workload), np.arange(2 * count) % 2 == 0)
        assert sum(1 for operation in warps_of(made)[0] if operation[0] == "load") == -(-count // times)


def test_stores_are_vectors_too_and_what_takes_little_time_or_was_not_counted_is_left():
    (store,) = vectors(4, 4, kind="store", array="")
    assert "store 4 elements of it at once, as a vector (float4, say): a thread stores 4 bytes" in store.words
    assert vectors(4, 4, weight=0.0299) == []
    for lacks in ({"requests": 0, "threads": 9}, {"requests": 9, "threads": 0}):
        line = line_of(bytes_asked=36, **lacks)
        assert list(of_vectors(MACHINE, line, 0.5, part(walk(8)))) == list(of_waits(line, 0.5, part(walk(8)))) == []


def test_warps_that_take_parts_of_a_chunk_each_share_it_as_an_estimate():
    together = part(*[[["load", [1]], ["load", [2]]]] * 4)
    line = line_of(requests=8, threads=256, bytes_asked=8 * 32)
    (found,) = of_vectors(MACHINE, line, 0.5, together)
    assert found.how == "estimate"
    again = line_of(requests=8, threads=256, bytes_asked=8 * 128)  # all of each
    assert list(of_vectors(MACHINE, again, 0.5, together)) == []


@pytest.mark.parametrize(("of_warps", "found"), [((2, 2), 1), ((3, 1), 1), ((2, 1), 0), ((1, 1), 0)])
def test_a_warp_that_loads_twice_on_the_mean_may_load_ahead(of_warps, found):
    line = line_of(requests=4, threads=128)
    several = list(of_waits(line, 0.03, part(*map(walk, of_warps))))
    assert len(several) == found
    assert list(of_waits(line, 0.0299, part(*map(walk, of_warps)))) == []
    for each in several:
        assert each.words.startswith("load the next elements of x before")
        assert (each.weight, each.how, each.numbers) == (0.03, "bound", (HERE,))
    (unnamed,) = of_waits(line_of(array="", requests=4, threads=128), 0.03, part(walk(4)))
    assert unnamed.words.startswith("load the next elements before")


def test_vectors_at_several_lines_are_one_change():
    def one(line, array, weight, how="bound"):
        return loads.Candidate("vectorize", "", ("k.cu", line, array), weight, how, (line,), None)

    assert list(in_vectors([one(3, "x", 0.5)])) == []
    (same,) = in_vectors([one(3, "x", 0.25), one(3, "y", 0.5)])
    assert (same.at, same.weight, same.how, same.numbers) == (("k.cu", 3, ""), 0.75, "bound", (3, 3))
    assert same.words.endswith("here, of each array")
    (two,) = in_vectors([one(3, "x", 0.5), one(4, "y", 0.25)])
    assert (two.at[1], two.words.endswith("here and at 1 more line")) == (3, True)
    (three,) = in_vectors([one(3, "x", 0.5), one(4, "y", 0.25, "estimate"), one(5, "y", 0.25)])
    assert (three.how, three.words.endswith("here and at 2 more lines")) == ("estimate", True)


FAR = [3, 70, 41, 9, 88, 20, 61, 5, 99]


def chased(chunks=tuple(FAR), waits=True, between=False):
    """A warp that loads from one chunk to the next, each address from the load before."""
    found = []
    for chunk in chunks:
        found += [["async", [chunk]], *([["async", [1000]]] if between else []), *([["join", 0]] if waits else [])]
    return found


def chain(*warps, line=None):
    return is_chain(part(*warps), line or line_of())


def test_loads_that_wait_for_the_one_before_and_go_anywhere_are_a_chain():
    assert chain(chased())
    assert chain(chased(FAR[:8]))
    assert not chain(chased(FAR[:7]))  # too few
    assert not chain(chased(range(9)))  # one step of all
    assert not chain(chased(waits=False))
    assert not chain(chased(), line=replace(line_of(), numbers=[HERE + 1]))
    assert not chain(chased(), walk(9), walk(9))  # of nine in ten


def test_another_load_between_may_say_where_the_next_one_goes():
    workload = part(chased(between=True))
    place = np.where(workload.workload.kind == 9, 9, HERE)
    several = workload.workload
    is_between = np.zeros(several.operations, bool)
    is_between[1::3] = True
    apart = replace(workload, workload=replace(several, place=np.where(is_between, 5, HERE).astype(np.int32)))
    assert len(place) == several.operations
    assert not is_chain(apart, line_of())


@pytest.mark.parametrize(
    ("requests", "scattered"),
    [
        ([FAR], True),
        ([FAR[:8]], True),
        ([FAR[:7]], False),  # too few to say
        ([list(range(0, 90, 10))], False),
        ([[0, 1, 2, 3, 10, 11, 12, 13, 14]], False),
        ([[0, 1, 3, 6, 10, 11, 13, 16, 20]], False),  # four steps of eight
        ([[0, 1, 3, 6, 10, 15, 16, 18, 21]], True),  # five
        ([list(range(9)), FAR], True),  # nine of sixteen
        ([list(range(9)), list(range(9)), FAR], False),
        ([[0, 20, 80, 120, 140, 240, 340, 360, 460]], False),  # some of many rows, five steps of twenty
        ([[0, 20, 80, 120, 140, 241, 340, 360, 460]], True),  # rows, but for one of nine
        ([[7] * 9], False),
        ([], False),
    ],
)
def test_chunks_lie_anywhere_where_more_than_half_of_the_steps_differ(requests, scattered):
    given = part([["load", chunks] for chunks in requests] or [["compute", 1]])
    assert are_scattered(given.workload, [HERE]) is scattered
    assert are_scattered(given.workload, [HERE + 1]) is False


def constants(chunks=(1, 2), bytes_accessed=4, threads=64, executions=2, bytes_asked=None, sectors=True, array="x"):
    """Requests of one chunk each, of which all threads ask for the same four bytes."""
    given = part([["load", [chunk]] for chunk in chunks], sectors=[bytes_accessed] * len(chunks) if sectors else None)
    line = line_of(
        array=array, executions=executions, threads=threads,
        bytes_asked=4 * threads if bytes_asked is None else bytes_asked,
    )  # fmt: skip
    return list(of_constants(MACHINE, line, 0.2, given))


def test_what_all_threads_of_a_warp_read_may_be_constant():
    (found,) = constants()
    assert (found.at, found.weight, found.how, found.numbers) == (("k.cu", 7, "x"), 0.2, "bound", (HERE,))
    assert found.words.startswith("keep x in constant memory")
    assert constants(array="")[0].words.startswith("keep it in constant memory")
    assert len(constants(threads=4)) == 1  # two threads of a warp
    assert constants(threads=3) == []
    assert constants(executions=0) == []
    assert constants(sectors=False) == []  # what is accessed is not known
    assert constants(bytes_accessed=0) == []  # all of it
    assert len(constants(bytes_accessed=4, threads=4)) == 1
    assert constants(bytes_accessed=5, threads=4) == []  # more than a thread asks for
    assert len(constants(bytes_accessed=32)) == 1
    assert constants(bytes_accessed=33) == []  # more than a sector
    assert len(constants(bytes_accessed=31, bytes_asked=2 * 32 * 2)) == 1  # threads share what one sector holds
    assert constants(bytes_accessed=31, bytes_asked=2 * 32 * 2 - 1) == []
    assert len(constants(range(512))) == 1  # 64 KiB, all of constant memory
    assert constants(range(513)) == []


def test_a_request_of_several_chunks_is_no_constant():
    given = part([["load", [1, 2]]], sectors=[4, 4])
    assert list(of_constants(MACHINE, line_of(executions=1, threads=32, bytes_asked=128), 0.2, given)) == []


@pytest.mark.parametrize(("instructions", "words"), [(20 + 10 * 3, 2.0), (20 + 10 * 3 - 1, None), (320 + 30, 32.0)])
def test_threads_that_read_different_constants_are_served_one_word_after_another(instructions, words):
    """Ten executions with three instructions of work each, of constants at both of a line's places."""
    sites = (
        Place("work", "k.cu", 4), Place("constant_load", "k.cu", 4, work=(("integer", 3),)),
        Place("constant_load", "k.cu", 4, work=(("integer", 3),)),
    )  # fmt: skip
    threads = np.zeros((6, len(THREADS)), np.int64)
    threads[[1, 2, 4], THREADS.index("executions")] = [9, 6, 4]
    places = Places(sites, ("", "c"), threads=threads)
    ticks = np.zeros((7, len(Reason)), np.int64)
    counts = np.zeros((7, len(Count)), np.int64)
    ticks[[1, 2, 4], Reason.ISSUING] = [500, 20, 10]
    counts[[1, 2, 4], Count.INSTRUCTIONS] = [999, instructions - 20, 20]
    stalls = SimpleNamespace(places=places, ticks=ticks, counts=counts)
    found = list(of_divergent_constants(load_machine("rtx-3080"), stalls, 1000))
    assert len(found) == (words is not None)
    for each in found:
        assert (each.at, each.weight, each.how) == (("k.cu", 4, ""), 0.06, "estimate")
        assert each.numbers == (2, 4)
        assert f"they read {words:.3g} different words" in each.words
    assert list(of_divergent_constants(load_machine("rtx-3080"), stalls, 1001)) == []  # less than three in a hundred
