"""Messages: one line that a terminal takes for text, whatever was put into it."""

import pickle

import pytest

from simtmm.errors import LONGEST_WORD, MOST_CHARACTERS, CompilerError, MachineError, SimtmmError, shown


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a\nb", "a b"),
        (" a \r\n\tb\v", "a b"),
        ("x.toml: k = '\x1b[2J'", "x.toml: k = '\\x1b[2J'"),
        ("a\u2028b\x85c", "a b c"),
        ("\udcff.toml", "\\udcff.toml"),
        ("a\u202eb", "a\\u202eb"),
        ("two  blanks/é.toml", "two  blanks/é.toml"),
    ],
)
def test_a_message_is_one_line_of_text(given, told):
    assert str(SimtmmError(given)) == told
    assert str(pickle.loads(pickle.dumps(MachineError(given)))) == told


def test_a_long_message_keeps_its_ends():
    word = str(SimtmmError("x.toml: " + "a" * 100_000 + ": unknown"))
    assert word.startswith("x.toml: aaa")
    assert word.endswith("aaa: unknown")
    assert len(word) < LONGEST_WORD + 30
    words = str(SimtmmError("x.toml: " + "b " * 100_000 + "unknown"))
    assert (words[:9], words[-7:], len(words) <= MOST_CHARACTERS) == ("x.toml: b", "unknown", True)


def test_what_a_compiler_said_is_kept_beside_the_line():
    error = CompilerError("does not\ncompile", "all\nof\nit")
    assert (str(error), error.log) == ("does not compile", "all\nof\nit")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 << 20_000, "2^20000..."),
        (-(1 << 20_000), "-2^20000..."),
        ([1 << 20_000, "a"], "[2^20000..., 'a']"),
        ({"a": -(1 << 20_000)}, "{'a': -2^20000...}"),
        ("a\nb", "'a\\nb'"),
        (12, "12"),
    ],
    ids=["large", "negative", "in a list", "in a table", "text", "small"],
)
def test_a_value_of_any_size_can_be_shown(value, text):
    assert shown(value) == text


def test_a_value_that_can_not_tell_itself_can_be_shown():
    class Broken:
        def __repr__(self):
            raise ValueError("no")

    assert "Broken instance" in shown(Broken())
