"""Lines at which few lanes work, for which other threads could be chosen: not those of a function's branches."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Workload
from simtmm.analysis.source_changes.cooperation import (
    _lines_of_functions,
    _of_lanes,
    _of_rounds_of_lanes,
    of_whole_blocks,
)
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.stalls import Place
from simtmm.stalls.places import Places


def stalls(*sites):
    """Places with their executions and threads; each takes 100 ticks."""
    places = tuple(Place("work", "k.cu", line, source) for line, source, _, _ in sites)
    threads = np.array([[executions, threads, 0, executions] for *_, executions, threads in sites])
    found = Places(places, threads=threads)
    return SimpleNamespace(places=found, ticks=np.full((len(sites), 1), 100), counts=np.ones((len(sites), 8)))


FULL, HALF = (10, 320), (10, 160)  # executions and threads of warps of 32


@pytest.mark.parametrize(
    ("source", "is_of_a_function"),
    [
        ("float c = cosf(angle), s = sinf(angle);", True),
        ("y[i] = pow(x, 2.5);", True),
        ("v = log1pf(v) + expm1f(v);", True),
        ("v = v * v % m;", True),  # of 64 bits, which is shorter for small numbers
        ("if (v % 2) v = v % m;", False),
        ("v = norm(v);", False),
        ("if (t % 2) v = cosf(v);", False),
        ("v = t % 2 ? cosf(v) : v;", False),
        ("v = is_odd && cosf(v) > 0;", False),
    ],
)
def test_branches_of_a_line_without_one_are_those_of_the_function_that_it_calls(source, is_of_a_function):
    given = stalls((7, source, *FULL), (7, source, *HALF))
    assert _lines_of_functions(given, np.array([True, False])) == ({("k.cu", 7)} if is_of_a_function else set())
    changed = [each.at for each in _of_lanes(given, 200)]
    assert changed == ([] if is_of_a_function else [("k.cu", 7, "")])


def test_a_function_that_few_lanes_come_to_is_called_by_few():
    """As where a line above chooses them."""
    given = stalls((6, "if (t % 2)", *FULL), (7, "v = cosf(v);", *HALF))
    assert [each.at for each in _of_lanes(given, 200)] == [("k.cu", 7, "")]


def with_barrier(times, rounds, function="k"):
    """A barrier that each of ten warps comes to so often, and a loop that half of their lanes go round so often."""
    places = (
        Place("work", "k.cu", 4, "v = x[i];", "k"),
        Place("barrier", "k.cu", 5, "__syncthreads();", "k"),
        Place("work", "k.cu", 6, "v = f(v);", function),
    )
    executions = np.array([10, 10 * times, 10 * rounds])
    lanes = executions * np.array([32, 32, 16])
    threads = np.stack([executions, lanes, 0 * lanes, lanes], axis=1)
    return SimpleNamespace(
        places=Places(places, threads=threads), ticks=np.full((3, 1), 100), counts=np.tile(executions[:, None], 8)
    )


@pytest.mark.parametrize(
    ("times", "rounds", "function", "is_uneven"),
    [(5, 5, "k", False), (5, 6, "k", True), (1, 5, "k", True), (5, 5, "other", True)],
)
def test_threads_that_meet_each_round_go_round_as_often(times, rounds, function, is_uneven):
    """As in a sum that halves its threads: fewer add in each round, but all come to the barrier."""
    found = [each.change for each in _of_rounds_of_lanes(with_barrier(times, rounds, function), 200)]
    assert found == (["balance"] if is_uneven else [])


@pytest.mark.parametrize(
    ("warps", "operation", "is_told"), [(1, "barrier", False), (2, "barrier", True), (1, "compute", True)]
)
def test_a_warp_alone_at_its_barriers_has_no_full_warp_to_give_its_lanes_to(warps, operation, is_told):
    last = ["barrier"] if operation == "barrier" else ["compute", 1]
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 5], last]] * warps}]})
    given = stalls((6, "if (t < d)", *FULL), (7, "x = x + y;", *HALF))
    found = {each.change for each in of_whole_blocks(given, [], Excerpt(None, workload, ""))}
    assert ("compact" in found) == is_told


@pytest.mark.parametrize(
    ("warps", "words"),
    [(1, "leave out barriers of the block, which is one warp"), (2, "let the last warp go on alone")],
)
def test_who_needs_no_barrier_is_told_so(warps, words):
    alone = [["shared", 4, 1], ["barrier"], ["shared", 4, 1]]
    block = {"warps": [alone, [["compute", 1], ["barrier"]]][:warps]}
    given = stalls((6, "part[t] += part[t + d];", *FULL))
    found = of_whole_blocks(given, [], Excerpt(None, Workload.from_dict({"blocks": [block]}), ""))
    assert [each.words[: len(words)] for each in found if each.change == "last warp"] == [words]
