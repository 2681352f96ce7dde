"""Constant expressions: what ptxas 13 puts into `.global .u64 v = ...;`."""

import struct

import pytest

from simtmm.cuda.ptx import parse_module
from simtmm.errors import PtxError

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"


def held(expression, kind="u64"):
    return parse_module(f"{HEAD}.global .{kind} v = {expression};").variables["v"].initial


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1+2*3", 7), ("10 - 3 - 2", 5), ("100 / 7 * 7", 98), ("1 << 3 + 1", 16), ("6 & 3 == 3", 0),
        ("5 | 2 ^ 7 & 3", 5), ("1 && 0 || 1", 1), ("1 ? 2 : 3", 2), ("0 ? 2 : 0 ? 4 : 5", 5), ("1 == 1 == 1", 1),
        ("1 > 2 > -1", 1), ("3 >= 3", 1), ("1 != 2", 1), ("!5", 0), ("!0", 1), ("~0", -1), ("~1U", -2), ("5 - -3", 8),
        ("+5", 5), ("-7/2", -3), ("- 7 / 2U", (2**64 - 7) // 2), ("-6 / 3U", (2**64 - 6) // 3),
        ("-7 % 3", 0), ("3 % -2", 3), ("-3 % 2U", 1), ("-8 >> 1", -4), ("-1 >> 60", -1), ("(.u64)-1 >> 60", 15),
        ("-1U >> 60", 15), ("0xFFFFFFFFFFFFFFFF >> 60", 15), ("1 << 64", 1), ("1 << 65", 2), ("1 << -1", 1 << 63),
        ("-1 < 1U", 0), ("(.s64)0xFFFFFFFFFFFFFFFF < 0", 1), ("(-1 & -1) < 0", 1), ("(-1 | 0) < 0", 1), ("~0 < 0", 0),
        ("(1 ? -1 : 1U) < 0", 1), ("(-1 + 1U - 1) < 0", 0), ("(-1 << 1) < 0", 1), ("(3 % 5) - 4 < 0", 0),
        ("(1U < 2) - 2 < 0", 1), ("!1U - 1 < 0", 1), ("-(1U) < 0", 0), ("(.s64)-1U < 0", 1), ("1.5 < 2.5", 1),
        ("1.5 == 1.5", 1), ("0x7FFFFFFFFFFFFFFF + 1", 1 << 63), ("WARP_SZ * 2", 64), ("010", 8), ("0x10U", 16),
    ],
)  # fmt: skip
def test_a_constant_is_what_ptxas_makes_of_it(expression, value):
    assert held(expression) == (value & (2**64 - 1)).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("expression", "value"),
    [("1.5+2.0", 3.5), ("-1.5", -1.5), ("1.0/4.0", 0.25), ("1.5*2.0 - 3.0", 0.0), ("(.5)", 0.5), ("0f3F800000", 1.0)],
)
def test_real_constants_are_of_64_bits(expression, value):
    assert held(expression, "f64") == struct.pack("<d", value)
    assert held(expression, "f32") == struct.pack("<f", value)


@pytest.mark.parametrize(
    "expression",
    ["1.5 + 1", "1.5 ? 2 : 3", "!1.5", "5.0 % 2.0", "1 / 0", "1.0 / 0.0", "(2, 3)", "(.u64)1.5", "09", "1 +", "(1",
     "0f3F800000 + 0f3F800000", "99999999999999999999999", "(" * 5000],
)  # fmt: skip
def test_what_ptxas_does_not_take_is_refused_with_its_line(expression):
    with pytest.raises(PtxError, match="PTX line 4"):
        held(expression)
