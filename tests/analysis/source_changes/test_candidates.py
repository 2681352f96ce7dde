"""Which changes a line's counts suggest, at the edge of each: what is told and handed on is computed by hand here."""

import numpy as np
import pytest

from simtmm import Workload, load_machine
from simtmm.analysis.source_changes import candidates
from simtmm.analysis.source_changes.candidates import _of_access, _of_atomics
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import Candidate, Line
from simtmm.analysis.source_changes.loads import _is_once
from simtmm.analysis.source_changes.operations import Operations
from simtmm.analysis.source_changes.shared_memory import of_banks
from simtmm.analysis.turns import Turns
from simtmm.trace.schema import TraceLaunch

MACHINE = load_machine("gtx480")  # chunks of 128 bytes, warps of 32
AT = ("k.cu", 7, "x")
NOTHING = Excerpt(MACHINE, Workload.from_dict({"blocks": []}), "")


def line_of(**counts):
    return Line(AT, counts.pop("kind", "load"), [3, 5], **counts)


def access(chunks, requests, bytes_asked, across=32, executions=10, threads=320, **others):
    line = line_of(
        chunks=chunks, requests=requests, bytes_asked=bytes_asked, executions=executions, threads=threads, **others
    )
    return list(_of_access(MACHINE, line, 0.25, across))


@pytest.mark.parametrize(
    ("bytes_asked", "across", "threads", "ideal", "rows", "window", "passes"),
    [
        (1280, 32, 320, 1, 1, 32, 1),  # 128 bytes a request, 4 a thread
        (1290, 32, 320, 2, 1, 31, 2),  # a byte more
        (640, 32, 320, 1, 1, 64, 1),
        (1280, 64, 320, 1, 1, 32, 1),
        (1280, 16, 320, 2, 2, 32, 2),  # of two rows, each in a chunk of its own
        (5120, 16, 320, 4, 2, 8, 4),
        (12800, 5, 320, 12, 6, 3, 12),  # six rows, and part of a seventh
        (1280, 0, 320, 32, 32, 32, 32),
        (1280, 32, 13, 1, 1, 2, 1),  # 98 bytes a thread: two requests at least
        (1280, 32, 2560, 1, 1, 128, 1),  # half a byte
    ],
)
def test_requests_for_half_as_many_chunks_again_as_would_do_suggest_to_coalesce(
    bytes_asked, across, threads, ideal, rows, window, passes, monkeypatch
):
    handed = []
    monkeypatch.setattr(candidates.changes, "coalesced", lambda *given: handed.append(given))
    assert access(15 * ideal - 1, 10, bytes_asked, across, threads=threads) == []
    (found,) = access(15 * ideal, 10, bytes_asked, across, threads=threads)
    assert (found.change, found.at, found.weight, found.how, found.numbers) == (
        "coalesce",
        AT,
        0.5,
        "simulated",
        (3, 5),
    )
    assert found.words == (
        "let consecutive threads read consecutive elements of x: change the indices or the layout, or go through a "
        f"tile in shared memory; a request takes {1.5 * ideal:.3g} lines, where {ideal} would do"
    )
    found.make("operations", "chosen")
    assert handed == [("operations", "chosen", ideal, rows, window, passes, 0)]


def test_a_store_is_told_as_one_and_what_has_no_name_as_the_array():
    (found,) = access(15, 10, 1280, kind="store")
    assert "threads store to consecutive elements of x:" in found.words
    line = Line(("k.cu", 7, ""), "load", [3], chunks=15, requests=10, bytes_asked=1280, executions=10, threads=320)
    (found,) = _of_access(MACHINE, line, 1.0, 32)
    assert "threads read consecutive elements of the array:" in found.words


@pytest.mark.parametrize("none", ["requests", "executions", "threads"])
def test_what_was_not_counted_suggests_nothing(none):
    counts = {"chunks": 15, "requests": 10, "bytes_asked": 1280, "executions": 10, "threads": 320}
    assert access(**counts)
    assert access(**{**counts, none: 0}) == []


@pytest.mark.parametrize(
    ("conflicts", "executions", "times"), [(2, 100, None), (3, 100, "1.03"), (250, 100, "3.5"), (9, 0, None)]
)
def test_three_conflicts_in_a_hundred_accesses_suggest_to_pad(conflicts, executions, times):
    found = list(of_banks([line_of(conflicts=conflicts, executions=executions, ticks=25)], 100, NOTHING))
    assert len(found) == (times is not None)
    if found:
        assert (found[0].change, found[0].weight, found[0].numbers) == ("pad", 0.5, (3, 5))
        assert found[0].words == (
            "pad or swizzle x, or let consecutive threads access consecutive words: bank conflicts make each access "
            f"take {times} passes instead of 1"
        )
        assert found[0].make is candidates.changes.without_conflicts


def test_updates_are_combined_in_warps_or_kept_in_blocks():
    found = list(_of_atomics(line_of(), 0.5))
    assert [(each.change, each.weight, each.at, each.numbers, each.make) for each in found] == [
        ("aggregate", 0.5, AT, (3, 5), candidates.changes.combined_in_warps),
        ("privatize", 0.75, AT, (3, 5), candidates.changes.combined_in_blocks),
    ]


def test_accesses_of_one_tile_are_padded_together_at_all_of_its_lines():
    lines = [
        Line(("k.cu", 7, ""), "shared_load", [1], ticks=10, conflicts=10, executions=10),
        Line(("k.cu", 8, ""), "shared_store", [2], ticks=10, conflicts=50, executions=10),
        Line(("k.cu", 9, ""), "shared_atomic", [3], ticks=10, conflicts=90, executions=10),  # whose passes are updates
    ]
    (found,) = of_banks(lines, 100, NOTHING)
    assert (found.at, found.numbers) == (("k.cu", 8, ""), (1, 2))
    assert "the tile, or let consecutive threads access consecutive words, here and at 1 more line" in found.words
    assert "take 4 passes" in found.words


@pytest.mark.parametrize(("again", "found"), [(0, (True, False)), (1, (True, False)), (2, (False, False))])
def test_loads_that_come_to_a_chunk_less_than_half_again_may_be_vectors(again, found):
    """Of four chunks, so many are loaded a second time, all of each."""
    chunks = [0, 40, 80, 120, *[0, 40][:again]]
    of = Operations(Workload.from_dict({"blocks": [{"warps": [[["load", [chunk]] for chunk in chunks]]}]}))
    line = line_of(requests=len(chunks), bytes_asked=128 * len(chunks))
    assert _is_once(MACHINE, line, of, np.ones(len(chunks), bool)) == found


@pytest.mark.parametrize(("bytes_asked", "found"), [(32, (True, True)), (47, (True, True)), (48, (False, False))])
def test_so_may_those_of_which_several_warps_take_a_part_of_a_chunk_each(bytes_asked, found):
    """Four warps of a block load a chunk of 128 bytes, so many bytes each."""
    of = Operations(Workload.from_dict({"blocks": [{"warps": [[["load", [7]]]] * 4}]}))
    line = line_of(requests=4, bytes_asked=4 * bytes_asked)
    assert _is_once(MACHINE, line, of, np.ones(4, bool)) == found


def test_layouts_of_one_array_change_together_at_all_of_its_lines():
    def one(line, array, weight):
        return candidates.Candidate(
            "coalesce", f"of {array}; why", ("k.cu", line, array), weight, "simulated", (line,), None
        )

    several = [one(3, "p", 0.1), one(4, "p", 0.3), one(4, "p", 0.2), one(9, "q", 0.4), one(7, "", 0.5)]
    found = {(each.at[1], each.at[2]): each for each in candidates._of_arrays(several)}
    assert set(found) == {(4, "p"), (9, "q"), (7, "")}
    assert found[4, "p"].numbers == (3, 4, 4)
    assert found[4, "p"].weight == pytest.approx(0.6)
    assert "of p, here and at 1 more line: change the indices or the layout" in found[4, "p"].words
    assert found[4, "p"].words.endswith("; why")


def test_what_is_spilled_is_to_have_more_registers_and_an_array_that_is_indexed_to_lie_in_shared_memory():
    local = [line_of(kind="local_store", ticks=10, chunks=1), line_of(kind="local_load", ticks=30, chunks=1)]
    (array,) = candidates._of_local_memory(local, 100, 4, None)
    assert (array.change, array.how, array.weight) == ("local memory", "estimate", pytest.approx(1.8))
    assert array.words.startswith("keep this array in registers")
    launch = TraceLaunch("k", (1, 1, 1), (32, 1, 1), 32, 0, spill_bytes_per_thread=48)
    (spill,) = candidates._of_local_memory(local, 100, 4, launch)
    assert (spill.how, "48 bytes of each thread are spilled" in spill.words) == ("bound", True)
    assert list(candidates._of_local_memory([line_of(ticks=90)], 100, 4, launch)) == []
    for ticks, found in ((3, 1), (2, 0)):  # from WORTH_TRYING, 3 %, on
        few = line_of(kind="local_load", ticks=ticks, chunks=0)
        assert len(list(candidates._of_local_memory([few], 100, 4, None))) == found


def changes_of_line(monkeypatch, kind, written=(), ticks=30, chunks=3, is_chain=False):
    """Which of the looks are taken at a line, of a run of 1000 ticks and 100 chunks."""
    looks = []
    monkeypatch.setattr(candidates, "is_chain", lambda *given: is_chain)
    for name in ("of_reloads", "_of_access", "of_vectors", "of_waits", "of_reuse", "of_constants", "_of_atomics"):
        monkeypatch.setattr(candidates, name, lambda *given, name=name: looks.append(name) or [])
    apart = "of_shared_memory", "of_whole_blocks", "_of_blocks", "of_arithmetic", "of_launch_shape", "of_own_data"
    others = "of_results", "of_divergent_constants", "of_serial_work", "of_larger_tiles", "of_neighbours", "turns_of"
    for name in (*apart, *others):
        monkeypatch.setattr(candidates, name, lambda *given: [])
    own = line_of(kind=kind, ticks=ticks, chunks=chunks)
    others = [Line(("k.cu", 9, array), "store", [8]) for array in written]
    others.append(Line(("k.cu", 9, "y"), "shared_store", [9], chunks=100 - chunks))  # at which nothing waits
    stalls = type("Stalls", (), {"ticks": np.array([[400, 100], [500, 0]])})
    list(candidates.candidates_of(MACHINE, stalls, [own, *others], type("Excerpt", (), {"words": "part"}), None))
    return looks


@pytest.mark.parametrize(
    ("kind", "written", "looks"),
    [
        ("load", (), ["of_reloads", "_of_access", "of_vectors", "of_waits", "of_reuse", "of_constants"]),
        ("load", ("y",), ["of_reloads", "_of_access", "of_vectors", "of_waits", "of_reuse", "of_constants"]),
        ("load", ("x",), ["_of_access", "of_vectors", "of_waits"]),  # what is written may not be kept elsewhere
        ("store", (), ["_of_access", "of_vectors"]),
        ("local_load", (), []),
        ("local_store", (), []),
        ("shared_load", (), []),
        ("shared_store", (), []),
        ("atomic", (), ["_of_atomics"]),
    ],
)
def test_a_line_is_looked_at_by_what_it_does(kind, written, looks, monkeypatch):
    assert changes_of_line(monkeypatch, kind, written) == looks


@pytest.mark.parametrize(
    ("change", "line", "numbers", "is_locked", "is_left_out"),
    [
        ("compact", 8, (1, 2), False, True),  # few lanes work behind a lock whatever they do
        ("balance", 5, (1, 2), False, True),
        ("compact", 10, (1, 2), False, False),  # behind the lock's last line
        ("coalesce", 8, (1, 2), False, False),
        ("privatize", 5, (3, 4), False, True),  # the lock itself
        ("privatize", 5, (3, 9), False, False),
        ("spread", 0, (), True, True),  # more blocks would wait
        ("spread", 0, (), False, False),
    ],
)
def test_of_a_lock_changes_are_left_out_that_are_none(change, line, numbers, is_locked, is_left_out):
    lock = Turns(True, "k.cu", 5, "lock", 9, (3, 4))
    each = Candidate(change, "", ("k.cu", line, ""), 1.0, "bound", numbers, lambda of, _: of.workload)
    assert candidates._is_of_turns(each, [lock], is_locked) is is_left_out


def test_loads_of_which_each_says_where_the_next_goes_are_not_to_be_wider_earlier_or_of_a_tile(monkeypatch):
    looks = changes_of_line(monkeypatch, "load", is_chain=True)
    assert looks == ["of_reloads", "_of_access", "of_constants"]
    assert changes_of_line(monkeypatch, "store", is_chain=True) == ["_of_access", "of_vectors"]


@pytest.mark.parametrize(("ticks", "chunks", "looks"), [(30, 0, 2), (29, 0, 0), (0, 3, 2), (0, 2, 0), (29, 2, 0)])
def test_a_line_is_worth_it_from_three_in_a_hundred_ticks_or_chunks_on(ticks, chunks, looks, monkeypatch):
    assert len(changes_of_line(monkeypatch, "store", (), ticks, chunks)) == looks


def candidate(change, at, make=None):
    return candidates.Candidate(change, "do so", at, 0.5, "bound", (1,), make)


def test_threads_that_are_chosen_by_a_remainder_are_found_without_one():
    (both,) = candidates._of_remainders([candidate("compact", AT)], [candidate("divide", AT), candidate("float", AT)])
    assert (both.change, both.at, both.weight) == ("compact", AT, 1.0)
    assert both.words == "do so; and they are found without a division"
    assert list(candidates._of_remainders([candidate("compact", AT)], [candidate("divide", ("k.cu", 8, ""))])) == []
