"""Arrays of the stand-in behave as CuPy's: on the device, never scalars, copied from and to the host."""

import numpy as np
import pytest

import simtmm.scripts.cupy as cp
from simtmm.device.host import IN, OUT
from simtmm.recorder.direct import current
from simtmm.scripts import notes
from simtmm.scripts.cupy.libraries import libraries


@pytest.fixture
def x():
    return np.random.default_rng(0).random((4, 3))


def test_an_array_of_the_device_is_a_copy_and_no_array_of_numpys(x):
    device = cp.asarray(x)
    device[0] = 9
    assert x[0, 0] < 1
    host = device.get()
    host[1] = 7
    assert (type(device), type(host), float(device[1, 0])) == (cp.ndarray, np.ndarray, x[1, 0])
    assert cp.asarray(device) is device
    assert cp.array(device) is not device
    assert np.ndarray is not cp.ndarray


def test_what_would_be_a_scalar_is_an_array_without_axes_and_a_view(x):
    device = cp.asarray(x)
    for each in (
        device[0, 0],
        device.sum(),
        cp.max(device),
        cp.sqrt(device[0, 0]),
        device.any(),
        cp.linalg.norm(device),
    ):
        assert (type(each), each.shape) == (cp.ndarray, ())
    device[1, 1][...] = 5
    assert device.get()[1, 1] == 5
    assert [float(row.sum()) for row in cp.asarray(x)] == pytest.approx(list(x.sum(axis=1)))
    assert f"{cp.asarray(x).sum():.3f}" == f"{x.sum():.3f}"


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: 2 * x + x[0] - x.mean(axis=0), lambda m, x: m.exp(x) @ x.T, lambda m, x: m.where(x > 0.5, x, 0),
        lambda m, x: m.sort(x, axis=0), lambda m, x: m.concatenate([x, x]), lambda m, x: m.einsum("ij,kj->ik", x, x),
        lambda m, x: m.linalg.svd(x)[1], lambda m, x: m.fft.fft(x), lambda m, x: m.percentile(x, 30),
        lambda m, x: m.add.reduce(x), lambda m, x: m.maximum.accumulate(x), lambda m, x: m.array([x.sum(), x.max()]),
        lambda m, x: x[x > 0.5], lambda m, x: m.unique(m.array([3, 1, 3])), lambda m, x: m.mgrid[0:3, 0:2],
        lambda m, x: m.zeros_like(x).astype(m.float32), lambda m, x: m.cumsum(x), lambda m, x: m.nonzero(x > 0.5)[0],
    ],
)  # fmt: skip
def test_functions_give_what_numpy_gives_as_arrays_of_the_device(function, x):
    found, expected = function(cp, cp.asarray(x)), function(np, x)
    assert (type(found), found.dtype, found.shape) == (cp.ndarray, expected.dtype, expected.shape)
    np.testing.assert_allclose(found.get(), expected, rtol=1e-12, atol=1e-12)


def test_what_runs_in_numpy_is_counted_where_a_gpu_would_run_a_kernel(x):
    device = cp.asarray(x)
    notes.taken()
    _ = (
        device + device,
        device.sum(),
        cp.sqrt(device),
        device.T.reshape(-1),
        cp.sort(device),
        np.exp(device),
        device + 1,
    )
    assert notes.taken()[0] == [("cupy.add", 2), ("cupy.sum", 1), ("cupy.sqrt", 1), ("cupy.sort", 1), ("cupy.exp", 1)]


GIVEN = {  # to methods; () to the others
    "dot": ([1.0, 2.0, 3.0],), "partition": (1,), "argpartition": (1,), "clip": (0.2, 0.6), "take": ([1, 2],),
    "put": ([0, 5], [7.0, 8.0]), "repeat": (2,), "searchsorted": (0.5,), "compress": ([True, False, True],),
    "astype": ("f4",), "fill": (3.5,), "choose": ([[0, 1, 2], [3, 4, 5], [6, 7, 8]],),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["sum", "prod", "mean", "std", "var", "max", "min", "argmax", "argmin", "all", "any", "dot", "cumsum", "cumprod",
     "sort", "argsort", "partition", "argpartition", "round", "clip", "take", "put", "nonzero", "trace", "repeat",
     "searchsorted", "choose", "compress", "conj", "conjugate", "astype", "fill"],
)  # fmt: skip
def test_methods_give_and_leave_what_numpy_s_do_and_are_counted(name, x):
    own = np.array([2, 0, 1]) if name == "choose" else np.sort(x[0]) if name == "searchsorted" else x
    host, device = own.copy(), cp.asarray(own)
    given = [np.asarray(each) if isinstance(each, list) else each for each in GIVEN.get(name, ())]
    notes.taken()
    found = getattr(device, name)(*[cp.asarray(each) if isinstance(each, np.ndarray) else each for each in given])
    assert notes.taken()[0] == [(f"cupy.{name}", 1)]
    expected = getattr(host, name)(*given)
    np.testing.assert_array_equal(device.get(), host)
    if name == "nonzero":
        assert [each.get().tolist() for each in found] == [each.tolist() for each in expected]
    elif expected is None:
        assert found is None
    else:
        assert type(found) is cp.ndarray
        np.testing.assert_array_equal(found.get(), expected)


def test_arrays_of_host_and_device_do_not_mix_and_devices_have_numbers_alone(x):
    device = cp.asarray(x)
    for mix in (lambda: device + x, lambda: x * device, lambda: cp.sqrt(x)):
        with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy.ndarray'>"):
            mix()
    with pytest.raises(ValueError, match="Unsupported dtype <U1"):
        cp.array(["a"])


def test_out_is_given_back_itself(x):
    device = cp.asarray(x)
    out = cp.empty_like(device)
    assert cp.multiply(device, 2, out=out) is out
    np.testing.assert_array_equal(out.get(), 2 * x)


def test_scipy_takes_and_gives_arrays_of_the_device(x):
    found = libraries()
    smooth = found["cupyx.scipy.ndimage"].gaussian_filter(cp.asarray(x), 1)
    assert type(smooth) is cp.ndarray
    sparse, linalg = found["cupyx.scipy.sparse"], found["cupyx.scipy.sparse.linalg"]
    matrix = sparse.csr_matrix(cp.eye(5) * 2)
    solution, information = linalg.cg(matrix, matrix @ cp.ones(5))
    np.testing.assert_allclose(solution.get(), np.ones(5))
    assert (information, matrix.nnz, type(matrix.data), (matrix.T @ matrix).toarray().shape) == (
        0,
        5,
        cp.ndarray,
        (5, 5),
    )


def test_what_numpy_lacks_is_no_attribute_and_one_line():
    assert not hasattr(cp, "nothing")
    with pytest.raises(AttributeError, match=r"cupy\.nothing: is not supported by simtmm's stand-in for CuPy"):
        cp.nothing  # noqa: B018 - it raises


MADE = [
    lambda m, x: m.array(x), lambda m, x: m.array(x, "d"), lambda m, x: m.array(x, order="C"),
    lambda m, x: m.array(x, order="F"), lambda m, x: m.array(x, ndmin=3), lambda m, x: m.asarray(x),
    lambda m, x: m.asarray(x, "i2"), lambda m, x: m.asarray(x, order="F"), lambda m, x: m.asarray(x, "d", "C"),
    lambda m, x: m.asanyarray(x), lambda m, x: m.ascontiguousarray(x), lambda m, x: m.ascontiguousarray(x, "d"),
    lambda m, x: m.asfortranarray(x), lambda m, x: m.asfortranarray(x, "d"),
]  # fmt: skip


@pytest.mark.parametrize("source", ["C", "F", "strided", "list"])
@pytest.mark.parametrize("make", MADE)
def test_an_array_is_made_as_numpy_makes_it_with_its_type_and_order(make, source):
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    given = {"C": base, "F": np.asfortranarray(base), "strided": base[::2, ::3], "list": base.tolist()}[source]
    wanted = make(np, given)
    for each in [given, *([cp.asarray(given)] if source in "CF" else [])]:
        found = make(cp, each)
        assert (type(found), found.dtype, found.shape) == (cp.ndarray, wanted.dtype, wanted.shape)
        assert (found.get() == wanted).all()
        if source != "strided":  # a copy on the device is in one piece, NumPy's array may be the view itself
            for order in ("c_contiguous", "f_contiguous"):
                assert getattr(found.flags, order) == getattr(wanted.flags, order)


def test_a_number_made_an_array_in_the_order_of_c_has_an_axis():
    assert cp.ascontiguousarray(2.5).get().tolist() == [2.5]
    assert cp.ascontiguousarray(cp.array(2.5)).get().tolist() == [2.5]
    assert cp.asarray(2.5).shape == ()


def test_an_array_that_is_already_so_is_itself_and_any_other_a_copy():
    x = cp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    fortran = cp.asfortranarray(x)
    for same in (
        cp.asarray(x), cp.asarray(x, "f"), cp.asarray(x, order="K"), cp.array(x, copy=False), cp.ascontiguousarray(x),
        cp.ascontiguousarray(x, x.dtype),
    ):  # fmt: skip
        assert same is x
    assert cp.asfortranarray(fortran) is cp.asfortranarray(fortran, fortran.dtype) is fortran
    for copy in (
        cp.array(x), cp.asarray(x, "d"), cp.asarray(x, order="F"), cp.ascontiguousarray(fortran),
        cp.array(x, copy=True), cp.ascontiguousarray(x, "d"), cp.asfortranarray(x), cp.asfortranarray(fortran, "d"),
    ):  # fmt: skip
        copy[0, 0] = 9
        assert x[0, 0] == fortran[0, 0] == 0


def test_a_copy_on_the_host_has_the_order_and_the_place_that_it_is_given():
    x = cp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    host = np.arange(6).reshape(2, 3)
    assert cp.asnumpy(x).flags.c_contiguous
    assert cp.asnumpy(x, order="F").flags.f_contiguous
    assert cp.asnumpy(host) is host
    for source in (x, host):
        out = np.empty((2, 3), np.float32)
        assert cp.asnumpy(source, out=out) is out
        assert (out == host).all()


@pytest.mark.parametrize(
    ("copy", "told"),
    [
        (lambda x: cp.array([1.0, 2.0]), [(IN, 16)]),
        (lambda x: cp.array(x), [(None, 24)]),
        (lambda x: cp.array(x, np.float64), [(None, 48)]),  # as much as is made
        (lambda x: x.get(), [(OUT, 24)]),
        (lambda x: x.get(out=np.zeros((2, 3), "f")), [(OUT, 24)]),
        (lambda x: x.set(np.ones((2, 3))), [(IN, 24)]),
        (lambda x: cp.asarray(x), []),
        (lambda x: x[0, 1].item(), [(OUT, 4)]),
        (lambda x: float(x[0, 1]), [(OUT, 4)]),
        (lambda x: x[0].tolist(), [(OUT, 12)]),
        (lambda x: bool((x > 0).any()), [(OUT, 1)]),
        (lambda x: bool(x[0, 1]), [(OUT, 4)]),
    ],
)
def test_the_clock_is_told_of_each_copy_once_which_way_and_how_much(copy, told, monkeypatch):
    x, found = cp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3)), []
    monkeypatch.setattr(current, "copied", lambda direction, size, **_: found.append((direction, size)))
    copy(x)
    assert found == told


def test_elements_are_copied_where_a_condition_says_so_and_as_far_as_types_allow():
    x = cp.zeros(4, "f")
    cp.copyto(x, cp.asarray([1, 2, 3, 4], "f"), where=cp.asarray([True, False, True, False]))
    assert x.get().tolist() == [1, 0, 3, 0]
    cp.copyto(x, 5)
    assert x.get().tolist() == [5] * 4
    with pytest.raises(TypeError, match="same_kind"):
        cp.copyto(cp.zeros(4, "i"), x)
    whole = cp.zeros(4, "i")
    cp.copyto(whole, x, casting="unsafe")
    assert whole.get().tolist() == [5] * 4


def test_a_module_is_that_of_the_arrays():
    x = cp.zeros(2)
    assert cp.get_array_module(np.zeros(2), x) is cp.get_array_module(x) is cp
    assert cp.get_array_module(np.zeros(2), 3) is cp.get_array_module() is np
