"""Sizes of types, remembered: they are asked for at every operand."""

from functools import cache

from simtmm.cuda.ptx import types

bits_of = cache(types.bits_of)
bytes_of = cache(types.bytes_of)
is_type = types.is_type
