"""Selection: names, patterns, numbers, and how many."""

import pytest

from simtmm.errors import RecordingError
from simtmm.recorder.selection import Selection

PROGRAM = ["fill", "gemm_nn", "gemm_nt", "fill", "gemm_nn", "sum"]


def taken(**words):
    chooser = Selection(**words).chooser()
    return [number for number, kernel in enumerate(PROGRAM) if chooser.takes(kernel)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"kernel": "fill"}, [0, 3]),
        ({"kernel": "gemm"}, []),
        ({"kernel": "gemm_*"}, [1, 2, 4]),
        ({"kernel": "regex:^(fill|sum)$"}, [0, 3, 5]),
        ({"kernel": "regex:nn"}, [1, 4]),
        ({"launch": 3}, [3]),
        ({"launch": "0,4-7"}, [0, 4, 5]),
        ({"kernel": "gemm_*", "launch": "2-9"}, [2, 4]),
        ({"skip": 4}, [4, 5]),
        ({"kernel": "gemm_*", "skip": 1, "count": 1}, [2]),
        ({"count": 2}, [0, 1]),
    ],
)
def test_all_that_is_reported_must_hold_and_what_is_skipped_is_counted_among_what_matches(words, expected):
    assert taken(**words) == expected


@pytest.mark.parametrize(
    "words",
    [{"kernel": ""}, {"kernel": "regex:("}, {"launch": "3-1"}, {"launch": "x"}, {"launch": -1}, {"skip": -1},
     {"count": 0}, {"launch": True}, {"count": 1.5}],
)  # fmt: skip
def test_what_is_no_selection_is_refused_in_a_line_that_names_it(words):
    with pytest.raises(RecordingError, match=f"^{next(iter(words))} = "):
        Selection(**words)


@pytest.mark.parametrize(
    ("selection", "text"),
    [
        (Selection(), ""), (Selection(kernel="gemm_*"), "--kernel gemm_*"), (Selection(launch=0), "--launch 0"),
        (Selection(launch="0,4-7"), "--launch 0,4-7"), (Selection(skip=2, count=3), "--skip 2 --count 3"),
        (Selection("k", "3", 1, 1), "--kernel k --launch 3 --skip 1 --count 1"),
    ],
)  # fmt: skip
def test_a_selection_is_told_as_the_command_line_has_it(selection, text):
    assert str(selection) == text
