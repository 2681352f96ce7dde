"""Arrays of one framework in kernels of another: they lie on the device, as one array each, whoever launches."""

import warnings

import numpy as np
import pytest

import simtmm
from simtmm.recorder.direct import current
from simtmm.scripts import cupy
from simtmm.scripts.numba_cuda import ADAPTER

pytest.importorskip("numba_cuda")
pytestmark = pytest.mark.filterwarnings("ignore")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from numba import cuda


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + y[i]


@cuda.jit
def numbered(out):
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] += 10 * row + column


FILL = 'extern "C" __global__ void fill(float* out) { out[threadIdx.x] = 9; }'


def test_arrays_of_cupy_in_kernels_of_numba_are_not_copied(monkeypatch):
    told = []
    x = cupy.arange(100, dtype=cupy.float32)
    out = cupy.zeros_like(x)
    with simtmm.recording(architecture=90) as recording:
        monkeypatch.setattr(current, "copied", lambda *given, **ends: told.append(given))
        monkeypatch.setattr(current, "allocated", lambda *given: told.append(given))
        add[1, 128](x, x, out)
        add[1, 64](x[::-2], x[::2], out[50:])
        add[1, 128](out, x, out)
        cupy.RawKernel(FILL, "fill")((1,), (2,), (out,))
    assert told == []
    expected = 2 * np.arange(100, dtype=np.float32)
    expected[50:] = x.get()[::-2] + x.get()[::2]
    expected += x.get()
    expected[:2] = 9
    np.testing.assert_array_equal(out.get(), expected)
    assert [(each.name, each.dtype, each.shape) for each in recording.trace.info.arrays] == [
        ("x", "<f4", (100,)), ("out", "<f4", (100,)),
    ]  # fmt: skip


def test_an_array_in_fortrans_order_is_changed_where_it_lies():
    out = cupy.zeros((5, 7), order="F")
    with simtmm.recording(architecture=90):
        numbered[(1, 1), (8, 8)](out)
        numbered[(1, 1), (8, 8)](out.T[2:, 1:])
    expected = 10.0 * np.arange(5)[:, None] + np.arange(7)
    expected.T[2:, 1:] += 10 * np.arange(5)[:, None] + np.arange(4)
    np.testing.assert_array_equal(out.get(), expected)


def test_a_device_array_of_an_array_of_cupy_is_a_view():
    with ADAPTER.installed():
        x = cupy.arange(6, dtype=cupy.float32)
        assert cuda.is_cuda_array(x)
        view = cuda.as_cuda_array(x[1:])
        np.testing.assert_array_equal(view.copy_to_host(), [1, 2, 3, 4, 5])
        x[1] = 7
        assert view[0] == 7
        add[1, 32](view, x[1:], view)
        np.testing.assert_array_equal(x.get(), [0, 14, 4, 6, 8, 10])


def test_memory_that_is_gone_is_no_array_of_the_device():
    with ADAPTER.installed():
        for size in (5, 500, 50):
            x = cupy.ones(size, cupy.float64)
            add[4, 128](x, x, x)
            assert x.get().tolist() == [2] * size
            del x


def test_an_array_of_cupy_of_a_device_array_is_a_view_until_a_copy_is_asked_for(monkeypatch):
    with ADAPTER.installed():
        held = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
        told = []
        monkeypatch.setattr(current, "copied", lambda direction, size, **ends: told.append((direction, size)))
        view, copy = cupy.asarray(held), cupy.array(held.T)
        assert told == [(None, 24)]
        monkeypatch.undo()
        view *= 2
        assert (view.shape, copy.shape, view.dtype) == ((2, 3), (3, 2), np.float32)
        np.testing.assert_array_equal(held.copy_to_host(), [[0, 2, 4], [6, 8, 10]])
        np.testing.assert_array_equal(copy.get(), [[0, 3], [1, 4], [2, 5]])
        del held
        np.testing.assert_array_equal(view.get(), [[0, 2, 4], [6, 8, 10]])
