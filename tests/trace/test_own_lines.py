"""Places of what compilers bring along are of the line that calls it."""

from dataclasses import replace

import numpy as np
import pytest

from simtmm.stalls import THREADS, Place, Places
from simtmm.trace.own_lines import computed_at, own_lines
from simtmm.trace.schedule import NO_SITE, Listing
from simtmm.trace.schema import TraceSite

OWN = TraceSite(0, "work", "/data/k.cu", 9, "s += pow(v, 2.5);", function="powers")
HEADER = "/usr/include/c++/12/cmath"


def lines_of(*sites):
    return list(own_lines([replace(site, site=number) for number, site in enumerate(sites)]).values())


def test_a_line_of_a_compilers_header_is_that_of_the_call_in_the_programs_own_file():
    inner = "/opt/nvidia/cuda/include/math.h", 7
    site = replace(OWN, file=HEADER, line=418, source="", inlined=(inner, ("/data/k.cu", 9)))
    assert lines_of(OWN, site) == [("/data/k.cu", 9, "s += pow(v, 2.5);")] * 2


def test_what_has_no_line_is_of_the_line_before_in_its_function():
    bare = replace(OWN, line=0, source="")
    other = replace(bare, function="another")
    assert lines_of(OWN, bare, other)[1:] == [("/data/k.cu", 9, "s += pow(v, 2.5);"), ("/data/k.cu", 0, "")]


def test_a_programs_own_headers_and_what_nobody_of_it_calls_keep_their_lines():
    own = replace(OWN, file="/data/math.cuh", line=3, source="x", inlined=(("/data/k.cu", 9),))
    alone = replace(OWN, file=HEADER, line=418, source="y")
    assert lines_of(own, alone) == [("/data/math.cuh", 3, "x"), (HEADER, 418, "y")]


ABOVE, BELOW = ("k.cu", 3), ("k.cu", 4)


def listed(*instructions, code="sass"):
    """A listing of instructions, each its place and its site."""
    places, sites = zip(*instructions, strict=True)
    return Listing("k", code, ("IMAD",) * len(sites), places, sites)


LINES = {0: (*ABOVE, "q = a / n;"), 1: (*BELOW, "x[q] = 1;"), 2: ("k.cu", 9, "}")}


@pytest.mark.parametrize(
    ("instructions", "found"),
    [
        ([(ABOVE, 1)] * 8 + [(BELOW, 1)] * 4, {1: LINES[0]}),
        ([(ABOVE, 1)] * 7 + [(BELOW, 1)], {}),  # too few
        ([(ABOVE, 1)] * 9 + [(BELOW, 1)] * 5, {}),  # less than twice as many
        ([(ABOVE, 1)] * 8 + [(BELOW, 1)] * 2 + [(("k.cu", 9), 1)] * 5, {1: LINES[0]}),  # by its own line alone
        ([(ABOVE, NO_SITE)] * 20 + [(BELOW, 1)], {}),  # not recorded
        ([(("other.cu", 3), 1)] * 20 + [(BELOW, 1)], {}),  # whose text nobody knows
        ([(ABOVE, 7)] * 20, {}),  # a site that is not there
    ],
)
def test_what_most_instructions_of_a_site_compute_is_of_their_line(instructions, found):
    assert computed_at(LINES, [listed(*instructions)]) == found


def test_machine_code_says_so_before_ptx():
    sass, ptx = listed(*[(ABOVE, 1)] * 8), listed(*[(BELOW, 1)] * 30, *[(ABOVE, 2)] * 8, code="ptx")
    assert computed_at(LINES, [ptx, sass]) == {1: LINES[0], 2: LINES[0]}


def test_work_is_at_its_line_and_the_access_at_its_own():
    """So are an access to no known array, and a barrier, which have no work apart."""
    computed = ("k.cu", 3, "q = a / n;")
    sites = tuple(Place(kind, "k.cu", 4, "x[q] = 1;", computed=computed) for kind in ("store", "work", "barrier"))
    threads = np.zeros((6, len(THREADS)), np.int64)
    places = Places(sites, ("", "x"), threads)
    assert [places.place(number)[0].line for number in range(6)] == [3, 4, 3, 4, 4, 4]
    assert places.place(0) == (Place("store", *computed, computed=computed), "")
    assert [places.work(site).line for site in range(3)] == [3, 3, 4]
    threads[0, THREADS.index("executions")] = 1
    assert [places.place(number)[0].line for number in range(2)] == [4, 4]
