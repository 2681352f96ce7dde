"""Arguments in the form that a kernel takes them: pointers, numbers of each width, and what does not fit."""

import numpy as np
import pytest

from simtmm.errors import KernelError
from simtmm.recorder.arguments import ArgumentKind, Taken, argument_value

BOOL, FLOAT, SIGNED, UNSIGNED = ArgumentKind.BOOL, ArgumentKind.FLOAT, ArgumentKind.SIGNED, ArgumentKind.UNSIGNED


def value(argument, kind, size):
    return argument_value(argument, kind, size, {}, 0, "launch 0 of k: n")


@pytest.mark.parametrize(
    ("argument", "kind", "size", "expected"),
    [
        (5, SIGNED, 4, np.int32(5)), (-5, SIGNED, 1, np.int8(-5)), (-128, SIGNED, 1, np.int8(-128)),
        (127, SIGNED, 1, np.int8(127)), (255, UNSIGNED, 1, np.uint8(255)), (0, UNSIGNED, 2, np.uint16(0)),
        (2**64 - 1, UNSIGNED, 8, np.uint64(2**64 - 1)), (-(2**63), SIGNED, 8, np.int64(-(2**63))),
        (6.0, SIGNED, 4, np.int32(6)), (np.float32(7), UNSIGNED, 4, np.uint32(7)),
        (np.int8(-3), SIGNED, 8, np.int64(-3)),
        (True, SIGNED, 4, np.int32(1)), (np.True_, SIGNED, 4, np.int32(1)), (np.False_, UNSIGNED, 1, np.uint8(0)),
        (np.True_, BOOL, 1, np.bool_(True)), (0, BOOL, 1, np.bool_(False)), (2, BOOL, 1, np.bool_(True)),
        (np.True_, FLOAT, 4, np.float32(1)), (3, FLOAT, 8, np.float64(3)), (0.1, FLOAT, 4, np.float32(0.1)),
        (65504, FLOAT, 2, np.float16(65504)), (-65504.0, FLOAT, 2, np.float16(-65504)),
        (float("inf"), FLOAT, 2, np.float16("inf")), (-np.inf, FLOAT, 4, np.float32("-inf")),
    ],
)  # fmt: skip
def test_a_number_has_the_width_that_the_kernel_takes(argument, kind, size, expected):
    found = value(argument, kind, size)
    assert (found.dtype, found.shape, found[0]) == (expected.dtype, (1,), expected)


def test_what_is_no_number_stays_none():
    assert np.isnan(value(float("nan"), FLOAT, 4)[0])


@pytest.mark.parametrize(
    ("argument", "kind", "size", "why"),
    [
        (128, SIGNED, 1, "n = 128: does not fit int8"), (-129, SIGNED, 1, "n = -129: does not fit int8"),
        (-1, UNSIGNED, 4, "n = -1: does not fit uint32"), (2**32, UNSIGNED, 4, "n = 4294967296: does not fit uint32"),
        (1.5, SIGNED, 4, "n = 1.5: must be a whole number (int32)"),
        (float("nan"), UNSIGNED, 8, "n = nan: must be a whole number (uint64)"),
        (float("inf"), SIGNED, 8, "n = inf: must be a whole number (int64)"),
        (0.5, BOOL, 1, "n = 0.5: must be a whole number (bool)"),
        (65520, FLOAT, 2, "n = 65520: does not fit float16"), (-1e39, FLOAT, 4, "n = -1e+39: does not fit float32"),
        ("x", SIGNED, 4, "n = 'x': must be a number (int32)"), (None, FLOAT, 4, "n = None: must be a number (float32)"),
        (1j, FLOAT, 8, "n = 1j: must be a number (float64)"), ([1], BOOL, 1, "n = [1]: must be a number (bool)"),
        (3, ArgumentKind.STRUCTURE, 8, "n: structures can't be passed by value; pass an array of one"),
        (3, ArgumentKind.POINTER, 8, "n = 3: must be the name of an array: x, y"),
        ("z", ArgumentKind.POINTER, 8, "n = 'z': must be the name of an array: x, y"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_its_name_and_value(argument, kind, size, why):
    with pytest.raises(KernelError) as told:
        argument_value(argument, kind, size, {"x": 512, "y": 1024}, 0, "launch 0 of k: n")
    assert str(told.value) == f"launch 0 of k: {why}"


def test_a_pointer_is_the_address_of_its_array():
    found = argument_value("y", ArgumentKind.POINTER, 8, {"x": 512, "y": 1024}, 1 << 40, "n")
    assert (found.dtype, found.tolist()) == (np.uint64, [(1 << 40) + 1024])


@pytest.mark.parametrize(
    ("pointee", "dtype", "fits"),
    [
        ("i4", "i4", True), ("i4", "u4", True), ("u8", "i8", True), ("f4", "f4", True), ("f8", "f4", False),
        ("i4", "f4", False), ("f4", "i4", False), ("i4", "i8", False), ("u2", "i2", True), ("f2", "i2", False),
        ("i1", "f8", True), ("u1", "i4", True), ("i4", "i1", True), ("f4", "u1", True),  # bytes may be anything
        ("i4", "?", True), ("i8", "c8", True), ("f4", [("a", "i8")], True), ("", "f8", True), ("s16", "f8", True),
    ],
)  # fmt: skip
def test_a_pointer_to_numbers_takes_arrays_of_these(pointee, dtype, fits):
    taken = Taken(ArgumentKind.POINTER, 8, False, pointee)
    if fits:
        taken.check_array(dtype, "x")
        return
    with pytest.raises(KernelError, match=rf"^x = an array of \w+: the kernel takes one of {np.dtype(pointee)}$"):
        taken.check_array(dtype, "x")
