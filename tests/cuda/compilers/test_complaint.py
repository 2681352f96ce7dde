"""A compiler's log as one line."""

import pytest

from simtmm.cuda.compilers.complaint import complaint


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ('k.cu(3): warning #1: w\nk.cu(4): error: "z" is undefined\n  x\nk.cu(5): error: b\n',
         'k.cu:4: does not compile: "z" is undefined'),
        ("k.cu(4): error #20: z\n", "k.cu:4: does not compile: z"),
        ("a b/k.cu:2:10: fatal error: x.h: No such file\n", "a b/k.cu:2: does not compile: x.h: No such file"),
        ('At end of source: error: expected a "}"\n', 'it: does not compile: expected a "}" at the end'),
        ("ptxas x.ptx, line 20; error   : Unknown symbol 'f'\n", "it: line 20 of its PTX: ptxas: Unknown symbol 'f'"),
        ("ptxas fatal   : Unresolved extern function 'f'\n", "it: ptxas: Unresolved extern function 'f'"),
        ("nvcc fatal   : No\n", "it: does not compile: nvcc fatal   : No"),
        ("nonsense\n", "it: does not compile: nonsense"),
        ("", "it: does not compile: the compiler printed nothing"),
    ],
)  # fmt: skip
def test_the_first_error_is_reported_with_file_and_line(log, line):
    error = complaint(log, "it")
    assert (str(error), error.log) == (line, log)


@pytest.mark.parametrize(
    ("header", "advice"),
    [("cuda_fp16.h", ".[compile]"), ("cub/block/x.cuh", ".[compile]"), ("stdint.h", "with nvcc")],
)
def test_a_header_that_is_missing_is_reported_where_it_comes_from(header, advice):
    assert advice in str(complaint(f'k.cu(1): catastrophic error: cannot open source file "{header}"', "k.cu"))


def test_the_users_own_header_comes_from_nowhere():
    line = str(complaint('k.cu(1): catastrophic error: cannot open source file "my.h"', "k.cu"))
    assert line == 'k.cu:1: does not compile: cannot open source file "my.h"'
