"""The source page of Nsight Compute, as lines, as instructions and as both.

All texts here are written by hand, from the columns that Nsight Compute's documentation names: no GPU printed them.
"""

import pytest

from simtmm.errors import StudyError
from simtmm.measurement.nsight import load_profile

COLUMNS = '"# Samples","Instructions Executed","Thread Instructions Executed","L1 Tag Requests Global"'


@pytest.fixture
def load(tmp_path):
    def call(text):
        path = tmp_path / "f.csv"
        path.write_text(text)
        return load_profile([path]).pages

    return call


def test_a_line_has_its_counters_and_the_page_its_kernel_and_file(load):
    (page,) = load(
        '"Kernel Name","void a::f<int>(int *)"\n"File Path","/there/k.cu"\n'
        f'"#","Source",{COLUMNS}\n"1","int i;","0","0","0","0"\n"2","x[i] = 1;","7","1,024","32,768","128"\n'
    )
    assert (page.name, page.kernel, page.file, page.is_code) == (
        "void a::f<int>(int *)",
        "a::f<int>",
        "/there/k.cu",
        False,
    )
    assert [row.line for row in page.rows] == [1, 2]
    assert page.rows[1].values == {"samples": 7, "instructions": 1024, "thread_instructions": 32768, "lines": 128}


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("Warp Stall Sampling (All Samples)", "samples"),
        ("Warp Stall Sampling (All Cycles)", "samples"),
        ("Sampling Data (All)", "samples"),
        ("# Samples", "samples"),
        ("# Instructions Executed", "instructions"),
        ("inst_executed", "instructions"),
        ("# Thread Instructions Executed", "thread_instructions"),
        ("memory_l1_tag_requests_global", "lines"),
        ("L1 Wavefronts Shared", "shared_wavefronts"),
    ],
)
def test_columns_go_by_the_names_of_each_release(load, column, name):
    (page,) = load(f'"Line No","Source","Live Registers","{column}"\n"3","x;","8","5"\n')
    assert page.rows[0].values == {name: 5}


def test_instructions_without_lines_are_code(load):
    (page,) = load('"Kernel Name","f(int)"\n"#","Address","Source","# Samples"\n"0","7f00","LDG.E R1, [R2]","5"\n')
    assert page.is_code
    assert [(row.line, row.text, row.values) for row in page.rows] == [(0, "LDG.E R1, [R2]", {"samples": 5})]


MERGED = '"Line No","Source","Address","SASS","# Samples"\n'


def test_instructions_below_a_line_are_not_counted_twice(load):
    rows = '"4","x;","","","9"\n"","","7f00","LDG R1","5"\n"","","7f10","STG R1","4"\n"5","y;","","","1"\n'
    (page,) = load(MERGED + rows)
    assert [(row.line, row.values["samples"]) for row in page.rows] == [(4, 9), (5, 1)]


def test_a_line_without_sums_has_those_of_its_instructions(load):
    rows = '"4","x;","","",""\n"","","7f00","LDG R1","5"\n"","","7f10","STG R1","4"\n'
    (page,) = load(MERGED + rows)
    assert [(row.line, row.text, row.values["samples"]) for row in page.rows] == [(4, "x;", 9)]


def test_instructions_that_name_their_line_are_added_up(load):
    (page,) = load(
        MERGED + '"4","x;","7f00","LDG R1","5"\n"5","y;","7f10","FADD R1","1"\n"4","x;","7f20","STG R1","4"\n'
    )
    assert [(row.line, row.values["samples"]) for row in page.rows] == [(4, 9), (5, 1)]


def test_each_kernel_and_file_is_a_page(load):
    page = '"Kernel Name","{}"\n"File Path","{}"\n"#","Source","# Samples"\n"1","x;","5"\n'
    pages = load(page.format("f(int)", "a.cu") + page.format("f(int)", "b.cuh") + page.format("g(int)", "a.cu"))
    assert [(page.kernel, page.file) for page in pages] == [("f", "a.cu"), ("f", "b.cuh"), ("g", "a.cu")]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (("Access Size", "8"), "f.csv:1: has no column with a counter"),
        (("# Samples", "4,5"), "f.csv:2: # Samples = '4,5': must have a decimal point"),
        (("# Samples", "4.5"), "f.csv:2: # Samples = '4.5': must be a whole number"),
        (("# Samples", "x"), "f.csv:2: # Samples = 'x': must be a number"),
    ],
)  # fmt: skip
def test_mistakes_are_named_by_line_and_column(load, cell, message):
    column, value = cell
    with pytest.raises(StudyError, match=message):
        load(f'"#","Source","Live Registers","{column}"\n"1","x;","8","{value}"\n')


def test_a_line_must_have_a_number(load):
    with pytest.raises(StudyError, match=r"f.csv:2: # = 'a': must be the number of a line"):
        load('"#","Source","# Samples"\n"a","x;","4"\n')
