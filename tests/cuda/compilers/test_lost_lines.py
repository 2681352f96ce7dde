"""The line of a division that the compiler gives none: that of the source between its neighbours which divides."""

import re

import pytest

from simtmm.cuda.compilers.lost_lines import FAR, with_lost_lines
from simtmm.cuda.compilers.module import CompiledModule

SOURCE = """\
__global__ void k(long long n) {
    long long i = n * 2;  // a / b
    long long x = i % n;
    long long y = x / n;
    out[i] = x;
}
"""


def lines(ptx, source=SOURCE):
    """The lines that the module's directives name then."""
    module = CompiledModule(f'.file 1 "k.cu"\n{ptx}', 90, texts={"k.cu": source})
    return [int(line) for line in re.findall(r"\.loc\s+\d+\s+(\d+)", with_lost_lines(module).ptx)]


def test_a_lost_division_is_of_the_first_line_around_it_that_divides():
    assert lines(".loc 1 2 5\nmul;\n.loc 1 0 5\nrem.s64 %rd1;\n.loc 1 5 5\nst;") == [2, 3, 5]


def test_what_comes_behind_is_the_next_that_goes_on():
    """Compilers name the loop's own line again between two rounds."""
    assert lines(".loc 1 2 5\n.loc 1 0 5\nrem.s64 %rd1;\n.loc 1 1 5\nadd;\n.loc 1 5 5\nst;") == [2, 3, 1, 5]


@pytest.mark.parametrize(
    "ptx",
    [
        ".loc 1 2 5\n.loc 1 0 5\nmul.s64 %rd1;\n.loc 1 5 5",  # divides nothing
        ".loc 1 1 5\n.loc 1 0 5\ndiv.s64 %rd1;\n.loc 1 2 5",  # a comment does
        ".loc 1 0 5\ndiv.s64 %rd1;\n.loc 1 5 5",  # begins nowhere
        ".loc 2 2 5\n.loc 1 0 5\ndiv.s64 %rd1;\n.loc 1 5 5",  # in another file
        f".loc 1 3 5\n.loc 1 0 5\ndiv.s64 %rd1;\n.loc 1 {3 + FAR} 5",  # far away
    ],
)
def test_where_the_source_does_not_tell_it_stays_without(ptx):
    assert 0 in lines(ptx)


def test_the_rest_of_a_directive_stays():
    module = CompiledModule(
        '.file 1 "k.cu"\n.loc 1 2 5\n.loc\t1 0 9, function_name $x, inlined_at 1 7 2\nrem.u64 %rd1;\n.loc 1 5 5',
        90,
        texts={"k.cu": SOURCE},
    )
    assert ".loc\t1 3 9, function_name $x, inlined_at 1 7 2" in with_lost_lines(module).ptx
