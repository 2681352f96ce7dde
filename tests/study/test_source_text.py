"""Source text: comments and blank space decide nothing, all else does."""

from pathlib import Path

import pytest

from simtmm.study.design.source_text import deciding_text

SOURCE = r"""#define STEP(x) \
    (x + 1)
__global__ void f(int *a) {
    a[threadIdx.x] = 1'000 - STEP(2) / 3;
    const char *text = "no // comment", *raw = R"-(// "kept" /* too)-";
}
"""


def same(name, one, other):
    return deciding_text(Path(name), one.encode()) == deciding_text(Path(name), other.encode())


@pytest.mark.parametrize(
    ("part", "edited"),
    [
        ("__global__", "// said at length,\n/* and\n again */ __global__"),
        ("    a[", "// goes on \\\n a[0] = 7;\n\t a["),
        ("1'000 - STEP", "\n 1'000\n\n- STEP"),
        ("a[threadIdx.x]", "a[ threadIdx.x /* it's */ ]"),
        ("/ 3;", "/  /* a third */ 3; // 'half"),
        ("void f(int *a) {", "void f( int *a ) {  \r"),
        ("(x + 1)", "(x + 1) // of a macro\n\n"),
    ],
)
def test_comments_and_blank_space_of_cuda_decide_nothing(part, edited):
    assert same("kernel.cu", SOURCE, SOURCE.replace(part, edited, 1))


@pytest.mark.parametrize(
    ("part", "edited"),
    [
        ("- STEP", "+ STEP"),
        ("1'000 -", "1'000 /* -"),
        ("no // comment", "no // words"),
        ("/* too", "/*  too"),
        ("STEP(x)", "STEP (x)"),
        ("a[threadIdx.x] = 1", "//a[threadIdx.x] = 1"),
        ("    a[", "    // \\\n    a["),
        ("/ 3", "/ /**/ 3 / /**/ /3"),
        ("(x + 1)\n", "(x + 1) "),
        ("const char", "\n#undef STEP\nconst char"),
        ("const char", "\n# undef STEP\nconst char *b; char"),
    ],
)
def test_all_else_of_cuda_does(part, edited):
    assert part in SOURCE
    assert not same("kernel.cu", SOURCE, SOURCE.replace(part, edited, 1))


def test_a_source_that_looks_at_its_lines_is_kept_whole():
    assert not same("kernel.cu", "int a = __LINE__;", "\nint a = __LINE__;")
    assert not same("host.py", "def f():\n    '''4'''\nN = int(f.__doc__)", "def f():\n    '''5'''\nN = int(f.__doc__)")


def test_of_python_docstrings_comments_and_layout_decide_nothing():
    source = "'''One.'''\nclass A:\n    '''Two.'''\n    def f(self):\n        '''Three.'''\n        return 'text'\n"
    assert same("host.py", source, '# four\nclass A:\n\n  def f( self ): return "text" # five\n')
    assert not same("host.py", source, source.replace("text", "test"))
    assert not same("host.py", "def f(:  # one", "def f(:  # two")


def test_of_other_files_every_byte_decides():
    assert not same("table.txt", "1 // 2", "1")
