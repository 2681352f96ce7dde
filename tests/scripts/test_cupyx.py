"""cupyx beside cupy: arrays of the host that kernels may read, and additions at indices, as NumPy has them."""

import numpy as np
import pytest

from simtmm.scripts import cupyx


@pytest.mark.parametrize("made", ["empty", "zeros"])
@pytest.mark.parametrize(
    ("shape", "dtype", "order"), [((3, 4), "int32", "F"), (5, "float64", "C"), ((2, 3), "u1", "C")]
)
def test_a_pinned_array_has_the_shape_the_type_and_the_order_that_were_asked_for(made, shape, dtype, order):
    found = getattr(cupyx, f"{made}_pinned")(shape, dtype, order)
    expected = np.zeros(shape, dtype, order)
    assert (found.shape, found.dtype, found.strides) == (expected.shape, expected.dtype, expected.strides)
    assert made == "empty" or not found.any()


@pytest.mark.parametrize("made", ["empty", "zeros"])
@pytest.mark.parametrize("dtype", [None, "int16"])
def test_a_pinned_array_like_another_has_its_shape_and_its_type_or_the_one_that_was_asked_for(made, dtype):
    found = getattr(cupyx, f"{made}_like_pinned")(np.ones((2, 3), np.float32), dtype)
    assert (found.shape, found.dtype) == ((2, 3), np.dtype(dtype or np.float32))
    assert made == "empty" or not found.any()


@pytest.mark.parametrize("made", ["empty", "zeros"])
@pytest.mark.parametrize(
    "options", [{"order": "F"}, {"order": "C"}, {}, {"shape": (5, 4)}, {"shape": 6, "dtype": "u2"}]
)
def test_a_pinned_array_like_another_has_the_order_and_the_shape_that_were_asked_for(made, options):
    like = np.ones((2, 3), np.float32, order="F")
    found = getattr(cupyx, f"{made}_like_pinned")(like, **options)
    expected = np.zeros_like(like, **options)
    assert (found.shape, found.dtype, found.strides) == (expected.shape, expected.dtype, expected.strides)


@pytest.mark.parametrize("made", ["empty_like_pinned", "zeros_like_pinned"])
def test_what_cupy_does_not_take_is_refused(made):
    with pytest.raises(TypeError, match="subok"):
        getattr(cupyx, made)(np.ones(3), subok=True)


@pytest.mark.parametrize("made", ["empty_pinned", "zeros_pinned"])
def test_the_host_may_write_a_pinned_array_as_long_as_there_is_one(monkeypatch, made):
    told = []
    monkeypatch.setattr("simtmm.scripts.cupy.memory.host_may_write", lambda *given: told.append(given))
    monkeypatch.setattr("simtmm.scripts.cupy.memory.host_lets_go", lambda at: told.append(at))
    array = getattr(cupyx, made)((3, 4), "int32")
    at = array.ctypes.data
    assert told == [(at, 48)]
    del array
    assert told == [(at, 48), at]


@pytest.mark.parametrize(("name", "expected"), [("add", [7, 1, 4]), ("max", [4, 1, 3]), ("min", [2, 1, -1])])
def test_values_are_put_at_indices_as_often_as_each_is_named(name, expected):
    array = np.array([2, 1, 1])
    values = {"add": [1, 4, 3], "max": [4, 3, 3], "min": [9, 3, -1]}[name]
    getattr(cupyx, f"scatter_{name}")(array, np.array([0, 0, 2]), np.array(values))
    assert array.tolist() == expected
