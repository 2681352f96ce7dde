"""Words of a line of text, as the compiled importers read them: what each is, and where it ends."""

import numpy as np
import pytest

from simtmm.trace.importers.words import blank, decimal, hash_of, hexadecimal, line_end, starts, word_hash


def line(words):
    return np.frombuffer(f"{words}\n".encode(), np.uint8)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("7", (7, 1)),
        ("-12 3", (-12, 3)),
        ("12,3", (12, 2)),
        ("12.3", (0, 0)),  # goes on as something else
        ("12a", (0, 0)),
        ("-", (0, 0)),
        ("", (0, 0)),
        ("9" * 18, (10**18 - 1, 18)),
        ("9" * 19, (0, 0)),  # more digits than are read
    ],
)
def test_a_whole_number_ends_at_a_blank_or_a_comma(words, found):
    assert decimal(line(words), 0) == found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("0x1F", (31, 4)),
        ("aB 1", (171, 2)),
        ("0", (0, 1)),
        ("0x", (0, 0)),
        ("", (0, 0)),
        (" 1", (0, 0)),
        ("12g", (0, 0)),  # goes on as something else
        ("12,3", (0, 0)),
        ("0x3fffffffffffffff", (2**62 - 1, 18)),
        ("0x40000000000000000", (0, 0)),  # more than is read
    ],
)
def test_a_hexadecimal_number_ends_at_a_blank(words, found):
    assert hexadecimal(line(words), 0) == found


def test_blanks_are_passed_over_and_no_line_s_end():
    assert blank(line(" \t\r x"), 0) == 4
    assert blank(line("x"), 0) == 0
    assert blank(line("  "), 0) == 2
    assert line_end(line("a b"), 1) == 4


@pytest.mark.parametrize(
    ("words", "behind"), [("-thread  block = 3", 17), ("-thread block =", 15), ("-thread blok = 3", -1), ("-threa", -1)]
)
def test_a_phrase_is_found_whatever_blanks_it_has(words, behind):
    assert starts(line(words), 0, np.frombuffer(b"-thread block =", np.uint8)) == behind


def test_a_word_s_hash_is_the_same_in_a_line_and_alone():
    with np.errstate(over="ignore"):  # it wraps around
        assert word_hash(line("a LDG.E b"), 2) == (hash_of("LDG.E"), 7)
    assert len({hash_of(word) for word in ("", "a", "b", "ab", "ba")}) == 5
