"""PTX with anything in it is translated, or refused in one line."""

import pytest
from hypothesis import given

from simtmm.errors import PtxError
from tests.examples import examples
from tests.fuzz.bounds import read_or_refused
from tests.fuzz.mutations import Many, changed_bytes
from tests.fuzz.targets.ptx import PTX, translated


def test_the_program_that_is_changed_is_translated():
    assert len(translated(PTX)) == 1


@examples(200)
@given(changed_bytes(Many([PTX.encode()])))
def test_a_program_is_translated_or_refused(content):
    read_or_refused(lambda: translated(content.decode("utf-8", "replace")))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("%r<8>", "%r<99999999999>", "PTX line 11: must be at most 1,048,576 registers, not 99999999999"),
        (".loc 1 3 5", ".loc 1 mov 5", "PTX line 14: a whole number of at most 2,147,483,647 is expected, not 'mov'"),
        (
            '.file 1 "k.cu"',
            '.file x "k.cu"',
            "PTX line 4: a whole number of at most 2,147,483,647 is expected, not 'x'",
        ),
        (".version 8.4", ".version new", "PTX line 1: .version: 'new': must be a number, as 8.0"),
        ("table[16]", "table[x]", "PTX line 5: 'x' is not an operand"),
        ("mul.wide.s32 %rd3, %r5, 4;", "mul.wide.s32 %rd3;", "`mul.wide.s32 %rd3` has operands that it does not take"),
        (".b8 cache[256]", ".b999999999999 cache[256]", "b999999999999"),
    ],
)
def test_what_stands_where_something_else_belongs_is_named(old, new, line):
    assert PTX.count(old) == 1
    with pytest.raises(PtxError) as caught:
        translated(PTX.replace(old, new))
    assert line in str(caught.value)
