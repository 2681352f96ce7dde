"""Values in files between processes: the same again, mapped, and nobody else's when they are written to."""

from dataclasses import dataclass

import numpy as np
import pytest

from simtmm.parallel.value_files import ALIGNED, keep_value, kept_value


@dataclass(frozen=True)
class Value:
    name: str
    arrays: tuple


@pytest.fixture
def value():
    arrays = (
        np.arange(5, dtype=np.uint8),
        np.zeros((0, 3)),
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.eye(3)),
    )
    return Value("some", arrays)


def test_a_value_comes_back_as_it_was(value, tmp_path):
    keep_value(value, tmp_path / "kept")
    read = kept_value(tmp_path / "kept")
    assert read.name == value.name
    for one, other in zip(read.arrays, value.arrays, strict=True):
        assert (one.dtype, one.shape, one.flags.f_contiguous) == (other.dtype, other.shape, other.flags.f_contiguous)
        np.testing.assert_array_equal(one, other)


def test_a_value_without_arrays(tmp_path):
    keep_value({"n": 1}, tmp_path / "kept")
    assert kept_value(tmp_path / "kept") == {"n": 1}


def test_arrays_outlive_the_file_and_begin_at_a_cache_line(value, tmp_path):
    keep_value(value, tmp_path / "kept")
    read = kept_value(tmp_path / "kept")
    (tmp_path / "kept").unlink()
    assert read.arrays[2].sum() == 66
    assert all(array.ctypes.data % ALIGNED == 0 for array in read.arrays if array.size)


def test_what_one_writes_nobody_else_reads(value, tmp_path):
    keep_value(value, tmp_path / "kept")
    mine, others = kept_value(tmp_path / "kept"), kept_value(tmp_path / "kept")
    mine.arrays[0][:] = 7
    assert others.arrays[0].tolist() == kept_value(tmp_path / "kept").arrays[0].tolist() == [0, 1, 2, 3, 4]
