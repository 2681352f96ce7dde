"""What a NumPy array says of itself to Triton."""

import numpy as np
import pytest

from simtmm.scripts.triton.arrays import ArrayArgument


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 4)])
def test_elements_and_bytes_are_the_array_s(dtype, shape):
    array = ArrayArgument(np.ones(shape, dtype))
    assert array.numel() == int(np.prod(shape))
    assert array.element_size() == np.dtype(dtype).itemsize
    assert array.stride() == tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
    assert [array.stride(axis) for axis in range(len(shape))] == list(array.stride())
    assert array.is_contiguous()
    assert np.asarray(array).dtype == dtype
    assert np.asarray(array, "float64" if dtype != "complex128" else dtype).sum() == array.numel()
    assert array.zero_() is array
    assert not array.array.any()


def test_a_view_has_the_strides_of_what_it_is_a_view_of():
    whole = np.arange(24, dtype=np.int32).reshape(4, 6)
    view = ArrayArgument(whole[1:, ::2])
    assert (view.stride(), view.is_contiguous(), len(view)) == ((6, 2), False, 3)
    assert view.data_ptr() - ArrayArgument(whole).data_ptr() == 6 * 4
    assert view.shape == (3, 3)  # all else is the array's own


def test_hooks_and_heuristics_read_set_and_compute_with_it():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    given = ArrayArgument(array)
    assert given[1, 2] == 5
    assert given[given > 3].tolist() == [4, 5]
    given[0, ...] = 7
    given[:, 0] = ArrayArgument(np.array([8, 9], np.float32))
    given *= 2
    assert isinstance(given, ArrayArgument)
    assert given.array is array
    assert array.tolist() == [[16, 14, 14], [18, 8, 10]]
    assert (given + given).tolist() == (2 * array).tolist()
    assert np.add(given, 1, out=given) is given
    assert array[0, 0] == 17
    np.testing.assert_array_equal(1 - given, 1 - array)
