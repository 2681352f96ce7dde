"""The ledger of accuracy says what the tables say, and nothing becomes worse without a word."""

from tests.validation import ledger


def test_the_last_row_of_each_set_is_what_its_table_says():
    last = {name: (int(row["points"]), row["mean_error"]) for name, row in ledger.latest(ledger.rows()).items()}
    assert last == ledger.errors()


def test_what_has_become_worse_says_why():
    assert ledger.unexplained(ledger.rows()) == []


def test_half_a_point_without_a_reason_is_found():
    columns = ("landing", "set", "points", "mean_error", "why")
    history = [
        ("first", "streams", 10, "0.0200", ""),
        ("first", "sums", 6, "0.1000", ""),
        ("second", "streams", 10, "0.0249", ""),
        ("second", "sums", 6, "0.2000", "shared memory passes a pipe"),
        ("third", "streams", 10, "0.0300", ""),
    ]
    found = ledger.unexplained([dict(zip(columns, row, strict=True)) for row in history])
    assert found == ["streams at third: 0.0249 became 0.0300"]
