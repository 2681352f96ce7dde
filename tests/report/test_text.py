"""How numbers read, and plain tables."""

import io

import pytest
from rich.console import Console

from simtmm.report.text import bar, number, rate, seconds, share, short, table
from tests.report.aligned import MisalignedError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (7, "7"), (7.0, "7"), (12.5, "12.5"), (12.345, "12.3"), (0.01234, "0.0123"), (99.96, "100"),
        (100.4, "100"), (1234567, "1,234,567"), (1234.5, "1,234"), (1235.5, "1,236"), (1e15, "1,000,000,000,000,000"),
    ],
)  # fmt: skip
def test_cycles_have_a_fraction_below_a_hundred_and_commas_above(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1234.5, "1,234"), (9.99e11, "999,000,000,000"), (1e12, "1e+12"), (2.0834e57, "2.083e+57")]
)
def test_a_number_beyond_reading_has_an_exponent(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"), (1, "1 s"), (61.5, "61.5 s"), (0.5, "500 ms"), (1e-3, "1 ms"), (1.2345e-5, "12.3 us"),
        (1e-6, "1 us"), (9.99e-7, "999 ns"), (1.5e-9, "1.5 ns"), (1e-12, "0.001 ns"), (0, "0 ns"),
    ],
)  # fmt: skip
def test_seconds_have_the_unit_that_leaves_one_to_three_digits(value, text):
    assert seconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.9996, "1 s"), (9.996e-4, "1 ms"), (9.996e-7, "1 us")])
def test_seconds_that_round_up_to_the_next_unit_have_it(value, text):
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "bytes/s", "0 B/s"), (1, "bytes/s", "1 B/s"), (999, "bytes/s", "999 B/s"), (1e3, "bytes/s", "1 kB/s"),
        (999_499, "bytes/s", "999 kB/s"), (1e6, "bytes/s", "1 MB/s"), (2.5e8, "bytes/s", "250 MB/s"),
        (1e9, "bytes/s", "1 GB/s"), (1.34e12, "bytes/s", "1.34 TB/s"), (3.2e15, "bytes/s", "3.2e+03 TB/s"),
        (0.5, "bytes/cycle", "0.5 B/cycle"), (2048, "bytes/cycle", "2.05 kB/cycle"),
        (7, "instructions/s", "7 instructions/s"), (7.5e9, "instructions/s", "7.5 G instructions/s"),
    ],
)  # fmt: skip
def test_a_rate_has_the_letter_that_leaves_one_to_three_digits(value, unit, text):
    assert rate(value, unit) == text


@pytest.mark.parametrize(("value", "text"), [(999.6, "1 kB/s"), (9.996e5, "1 MB/s"), (9.996e8, "1 GB/s")])
def test_a_rate_that_rounds_up_to_the_next_letter_has_it(value, text):
    assert rate(value, "bytes/s") == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 5, "0 %"), (5, 5, "100 %"), (1, 3, "33 %"), (2, 3, "67 %"), (1, 100, "1 %"), (3, 1000, "0.3 %"),
        (3, 2, "150 %"), (0, 0, "0 %"), (7, 0, "0 %"),
    ],
)  # fmt: skip
def test_a_share_is_in_per_cent_with_a_fraction_below_one(part, whole, text):
    assert share(part, whole) == text


@pytest.mark.parametrize(
    ("part", "whole", "width", "length"),
    [(0, 9, 24, 0), (9, 9, 24, 24), (1, 2, 10, 5), (1, 1000, 24, 0), (5, 0, 24, 0)],
)
def test_a_bar_is_as_long_as_the_part_is_of_the_whole(part, whole, width, length):
    assert bar(part, whole, width) == "#" * length


def printed(*arguments, **options):
    stream = io.StringIO()
    Console(file=stream, width=60).print(table(*arguments, **options))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_a_table_sets_the_first_column_flush_left_and_the_others_right():
    assert printed("Title", ("name", "count"), [("a", "1"), ("longer", "1,000")]) == [
        "Title",
        "name     count",
        "a            1",
        "longer   1,000",
    ]


def test_columns_named_are_set_flush_left():
    assert printed("", ("", "", "what"), [("a", "1", "x"), ("b", "10", "xyz")], left=(0, 2)) == [
        "         what",
        "a    1   x",
        "b   10   xyz",
    ]


def test_a_table_without_column_names_has_no_header():
    assert printed("Title", ("", ""), [("a", "1")]) == ["Title", "a   1"]


def test_square_brackets_are_text_and_no_markup():
    assert printed("[bold]T[/bold]", ("", ""), [("[red]a[/red]", "[1]")]) == ["[bold]T[/bold]", "[red]a[/red]   [1]"]


@pytest.mark.parametrize("row", [("a",), ("a", "b", "c")])
def test_a_row_of_a_table_has_a_cell_for_each_column(row):
    assert table("title", ("", "b"), [("a", "b")]).row_count == 1
    with pytest.raises(ValueError, match="zip"):
        table("title", ("", "b"), [row])


@pytest.mark.parametrize(
    ("cells", "left", "stands"),
    [
        (("12.5", "1,234"), False, True), (("12.5", "1,234"), True, False), (("-3 %", "+4.5 %"), True, False),
        (("1.3 GB/s", "-"), True, False), (("stream", "chase"), True, True), (("stream", "chase"), False, False),
        (("stream", "3"), False, True), (("a = 3", "7"), True, True), (("", "-"), True, True),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("title", "place"), [("Times", 1), ("", 1), ("Times", 0), ("Lines of k", 1)])
def test_columns_of_numbers_stand_right_and_of_words_left_in_whatever_a_test_prints(cells, left, stands, title, place):
    """The first column names its rows; the values of axes, without a title, may stand anywhere."""
    rows = [(each, "x") if place == 0 else ("x", each) for each in cells]
    shown = table(title, ("", "time"), rows, left=(place if left else 1 - place, 1 - place))
    console = Console(file=io.StringIO(), width=80)
    if stands or place == 0 or title != "Times":
        console.print(shown)
        assert "time" in console.file.getvalue()
        return
    with pytest.raises(MisalignedError, match=r"^Times: time: "):
        console.print(shown)
