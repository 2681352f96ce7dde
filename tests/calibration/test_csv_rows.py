"""Rows of CSV files of measurements: what is wrong with a file is told in one line."""

import pytest

from simtmm.calibration.csv_rows import chosen_gpu, positive_number, read_rows
from simtmm.errors import StudyError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no rows"),
        ("a,b\n", "has no rows"),
        ("a,c\n1,2\n", "has no column 'b'"),
        ("a,b,b\n1,2,3\n", "column 'b': appears more than once"),
        ("gpu,a,b\nx,1,2\ny,1,2\n", "has several GPUs: choose one of x, y"),
        ("a,b\n1," + "2" * 200_000, "is not CSV (field larger than field limit (131072))"),
        (b"a,b\n1,\xff\n", "is not CSV (line 2 is not UTF-8: invalid start byte)"),
    ],
)
def test_a_file_that_is_no_table_of_measurements_is_refused(tmp_path, text, said):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(StudyError) as caught:
        read_rows(path, None, ("a", "b"))
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_long_number_is_shown_by_its_ends():
    with pytest.raises(StudyError) as caught:
        positive_number("t.csv", {"a": "1" * 100_000}, "a")
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("number", ["1e-300", "1e300"])
def test_what_nobody_measures_is_refused(number):
    """Its square is no number, and a curve of it has levels that nothing told."""
    with pytest.raises(StudyError, match=f"a = '{number}': must be from 1e-09 to 1e\\+15"):
        positive_number("t.csv", {"a": number}, "a")


@pytest.mark.parametrize(
    ("gpu", "names", "found"),
    [
        ("a100_80", ["a100-80", "v100"], "a100-80"),
        ("A100-80", ["a100_80"], "a100_80"),
        ("a100_80, a100", ["a100", "h200"], "a100"),
        (None, ["v100"], "v100"),
    ],
)
def test_a_gpu_is_found_as_each_file_calls_it(gpu, names, found):
    assert chosen_gpu("f.csv", gpu, names) == found


@pytest.mark.parametrize(
    ("gpu", "names", "words"),
    [
        ("a100_80", ["a100", "h200"], "gpu 'a100_80': unknown; did you mean 'a100'"),  # another one, with 40 GB
        ("a100,h200", ["a100", "h200"], "gpu 'a100,h200': may be any of a100, h200"),
        (None, ["a100", "h200"], "has several GPUs: choose one of a100, h200"),
        ("a100", [], "has no rows of such measurements"),
    ],
)
def test_a_gpu_is_not_guessed(gpu, names, words):
    with pytest.raises(StudyError, match=f"f.csv: {words}"):
        chosen_gpu("f.csv", gpu, names)
