"""Places of what compilers bring along are of the line that calls it."""

from dataclasses import replace

from simtmm.trace.own_lines import own_lines
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
