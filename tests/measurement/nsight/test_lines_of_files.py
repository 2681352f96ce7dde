"""Which line of a run a measured one is, where files have the same name: by their folders, and by what stands there."""

import pytest

from simtmm.analysis.nsight.lines import _line
from simtmm.errors import StudyError
from simtmm.measurement.nsight.source import SourcePage, SourceRow

LINES = {
    "a/one/k.cu": {1: "x = 1;", 2: "y = 2;"},
    "b/one/k.cu": {1: "x = 1;", 2: "y = 3;"},
    "b/two/k.cu": {1: "x = 1;", 2: "y = 2;"},
    "b/two/m.cu": {1: "x = 1;"},
}


def line(file, number, text, values=(("samples", 1.0),), lines=LINES):
    row = SourceRow("p.csv:4", number, text, dict(values))
    return _line(SourcePage("k", "k", file, False, (row,)), row, lines)


@pytest.mark.parametrize(
    ("file", "number", "text", "found"),
    [
        ("one/k.cu", 2, " y =  3; ", ("b/one/k.cu", 2)),  # two end so; one has that text
        ("b/one/k.cu", 1, "x = 1;", ("b/one/k.cu", 1)),
        ("C:\\b\\two\\k.cu", 2, "", ("b/two/k.cu", 2)),
        ("else/m.cu", 1, "x = 1;", ("b/two/m.cu", 1)),
        ("", 2, "y = 3;", ("b/one/k.cu", 2)),  # of no file: by its text
        ("n.cu", 1, "x = 1;", None),
        ("m.cu", 2, "z;", None),  # no such line
    ],
)
def test_a_line_is_the_one_of_the_file_that_is_named_so(file, number, text, found):
    assert line(file, number, text) == found


def test_one_of_several_lines_is_not_guessed():
    with pytest.raises(StudyError, match=r"p.csv:4: line 1 may be one of a/one/k.cu, b/one/k.cu: export"):
        line("one/k.cu", 1, "x = 1;")
    with pytest.raises(StudyError, match=r"may be one of a/one/k.cu, b/one/k.cu, b/two/k.cu, b/two/m.cu"):
        line("", 1, "x = 1;")


def test_another_text_is_refused_where_something_was_counted():
    with pytest.raises(StudyError, match=r"p.csv:4: line 1 = 'z;': must be the source here, 'x = 1;'"):
        line("two/m.cu", 1, "z;")
    assert line("two/m.cu", 1, "z;", (("samples", 0.0),)) is None
