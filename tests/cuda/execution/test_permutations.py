"""Bytes that prmt takes in each mode, by the rules of the PTX ISA and not from its table."""

import pytest

from simtmm.cuda.execution.instructions.numbers.logic import _PERMUTE_MODES

RULES = {
    "f4e": lambda n, place: n + place,  # forward
    "b4e": lambda n, place: (n - place) % 8,  # backward
    "rc8": lambda n, place: n,
    "ecl": lambda n, place: max(n, place),  # edges clamped to the left
    "ecr": lambda n, place: min(n, place),  # and to the right
    "rc16": lambda n, place: 2 * (n % 2) + place % 2,
}


@pytest.mark.parametrize("mode", RULES)
def test_each_value_of_the_two_bits_takes_the_bytes_that_its_mode_says(mode):
    assert RULES.keys() == _PERMUTE_MODES.keys()
    assert _PERMUTE_MODES[mode] == [[RULES[mode](n, place) for place in range(4)] for n in range(4)]
