"""Variables: what they hold at first."""

import re
import struct

import pytest

from simtmm.cuda.ptx import parse_module
from simtmm.errors import PtxError


def _held(declaration):
    return parse_module(f".version 8.7\n.target sm_90\n.address_size 64\n{declaration}\n").variables["a"].initial


@pytest.mark.parametrize(
    ("declaration", "values"),
    [
        (".global .b32 a[4] = {1, 2};", [1, 2, 0, 0]),
        (".global .b32 a[4] ={1, 2};", [1, 2, 0, 0]),
        (".global .b32 a[4]={1, 2};", [1, 2, 0, 0]),
        (".global .b32 a[2][3] = {{1}, {2, 3}};", [1, 0, 0, 2, 3, 0]),
        (".global .b32 a[2][3] = {1, 2, 3, 4, 5, 6};", [1, 2, 3, 4, 5, 6]),
        (".global .b32 a[2][2][2] = {{{1}, {2}}, {{3}}};", [1, 0, 2, 0, 3, 0, 0, 0]),
        (".global .b32 a[][2] = {{1}, {2}, {3}};", [1, 0, 2, 0, 3, 0]),
        (".global .v2 .b32 a[3] = {{1}, {2, 3}};", [1, 0, 2, 3, 0, 0]),
        (".global .b32 a[] = {1, 2, 3};", [1, 2, 3]),
    ],
)
def test_a_row_that_is_not_given_whole_goes_on_with_zeros(declaration, values):
    assert _held(declaration) == struct.pack(f"<{len(values)}i", *values)


@pytest.mark.parametrize(
    "declaration",
    [
        ".global .b32 a[2] = {1, 2, 3};",
        ".global .b32 a = {1, 2};",
        ".global .b32 a[2][2] = {{1, 2, 3}, {4}};",
        ".global .b8 a[][1000000000] = {{}, {}, {}};",
    ],
)
def test_more_values_than_there_is_room_for_are_refused(declaration):
    with pytest.raises(PtxError, match=re.escape("its initialiser has more values than elements")):
        _held(declaration)
