"""Lines at which few lanes work, for which other threads could be chosen: not those of a function's branches."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.analysis.source_changes.cooperation import _lines_of_functions, _of_lanes
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
