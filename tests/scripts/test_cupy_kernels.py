"""Elementwise kernels, reductions, fused functions and raw kernels of the stand-in, each compared with NumPy."""

import numpy as np
import pytest

import simtmm
import simtmm.scripts.cupy as cp
from simtmm.device.host import host_of
from simtmm.errors import KernelError, RecordingError
from simtmm.scripts import notes
from simtmm.scripts.cupy import elementwise, reduction
from simtmm.scripts.options import options
from tests.cuda.compilers.conftest import needs_nvrtc

pytestmark = needs_nvrtc

DIFFERENCE = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
LENGTH = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length")


def same(found, expected, rtol=1e-6):
    assert type(found) is cp.ndarray
    assert (found.dtype, found.shape) == (np.asarray(expected).dtype, np.shape(expected))
    np.testing.assert_allclose(found.get(), expected, rtol=rtol)


def drawn(shape, dtype="f"):
    return (np.random.default_rng(0).random(shape) * 9).astype(dtype)


@pytest.mark.parametrize("dtype", ["f", "e", "i", "F"])
def test_a_letter_stands_for_any_type_and_arrays_may_be_strided_or_broadcast(dtype):
    x, y = drawn((6, 4), dtype), drawn(4, dtype)
    same(DIFFERENCE(cp.asarray(x), cp.asarray(y)), (x - y) ** 2, 1e-2 if dtype == "e" else 1e-5)
    same(DIFFERENCE(cp.asarray(x).T[::2], cp.asarray(x).T[1::2]), (x.T[::2] - x.T[1::2]) ** 2, 1e-2)
    same(DIFFERENCE(cp.asarray(x), 2), (x - x.dtype.type(2)) ** 2, 1e-2 if dtype == "e" else 1e-5)


ADDED = ("T x, T y", "T z", "z = x + 2 * y", "added")
AT = ("raw T x, int32 end", "T y", "y = x[end - i]", "at")
SUMMED = ("T x", "T y", "x", "a + b", "y = a", "0", "summed")
VIEWS = [
    lambda x: x, lambda x: x.T, lambda x: x[::2], lambda x: x[:, ::-1], lambda x: x[..., 1:], lambda x: x[1:].T,
    lambda x: x[0], lambda x: x[:, 0], lambda x: x[:1], lambda x: x[0, 0],
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "call"),
    [
        (lambda: cp.ElementwiseKernel(*ADDED), lambda kernel, x: kernel(x, cp.asarray(np.ones(x.shape, x.dtype)))),
        (lambda: cp.ElementwiseKernel(*ADDED), lambda kernel, x: kernel(cp.asarray(np.ones(x.shape, x.dtype)), x)),
        (lambda: cp.ElementwiseKernel(*ADDED), lambda kernel, x: kernel(3, x)),
        (lambda: cp.ElementwiseKernel(*ADDED), lambda kernel, x: kernel(3, 4, x)),
        (lambda: cp.ElementwiseKernel(*AT), lambda kernel, x: kernel(x, 0, size=x.size)),
        (lambda: cp.ReductionKernel(*SUMMED), lambda kernel, x: kernel(x)),
        (lambda: cp.ReductionKernel(*SUMMED), lambda kernel, x: kernel(x, axis=0)),
    ],
)
def test_code_that_was_compiled_for_other_arguments_is_not_taken_for_these(make, call, monkeypatch):
    """Of a kernel that is called with all layouts and types in turn, each call runs the code of a new kernel."""
    ran = []

    class Uncompiled:
        def __init__(self, code, name, options=()):
            self.code = code

        def __call__(self, *launch, stream=0):
            ran.append(self.code)

    for module in (elementwise, reduction):
        monkeypatch.setattr(module, "RawKernel", Uncompiled)
    kernel = make()
    for shape, dtype in [((6, 4), "f"), ((4, 3, 2), "f"), ((4, 3, 2), "d"), ((6, 4), "i"), ((2, 64), "i")]:
        for view in VIEWS:
            x = view(cp.asarray(drawn(shape, dtype)))
            if x.ndim:
                call(kernel, x)
                call(make(), x)
                assert ran[-1] == ran[-2]
    assert len(set(ran)) > 3


def test_outputs_are_written_in_place_where_they_are_given_and_several_come_as_a_tuple():
    x, out = drawn((5, 3)), cp.zeros((3, 5), cp.float32)
    assert DIFFERENCE(cp.asarray(x), 1, out.T) is not None
    np.testing.assert_allclose(out.get().T, (x - 1) ** 2, rtol=1e-6)
    both = cp.ElementwiseKernel("T x", "T s, int32 w", "s = -x; w = (int)x", "two_results")
    negative, whole = both(cp.asarray(x))
    same(negative, -x)
    same(whole, x.astype(np.int32))


def test_raw_arrays_are_indexed_by_the_code_and_size_says_how_far():
    x = drawn(10, "d")
    reverse = cp.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reversed")
    same(reverse(cp.asarray(x), cp.asarray(x)), x + x[::-1])
    every_other = cp.ElementwiseKernel("raw T x, int64 k", "raw T y", "y[i] = x[2 * i] * k", "every_other")
    same(every_other(cp.asarray(x), 3, size=5), x[::2] * 3)
    strided = cp.ElementwiseKernel("raw T x", "T y", "int at[] = {(int)i, 1}; y = x[at] + x.shape()[1]", "second")
    table = drawn((4, 6))
    same(strided(cp.asarray(table).T, cp.empty(6, "f")), table.T[:, 1] + 4)
    count = cp.ElementwiseKernel("int32 x", "raw int32 hits", "atomicAdd(&hits[x], 1)", "count", no_return=True)
    hits = cp.zeros(3, cp.int32)
    assert count(cp.array([0, 2, 2, 1, 2], cp.int32), hits) is None
    same(hits, np.array([1, 1, 3], np.int32))


PLACES = "raw T x", "T y, T z", "y = x[_ind.get()]; z = 10 * _ind.get()[0] + _ind.get()[_ind.ndim - 1]", "places"


def test_the_place_of_an_element_is_told_by_axis_unless_axes_are_one():
    table = drawn((4, 6))
    places = cp.ElementwiseKernel(*PLACES, reduce_dims=False)
    for given in (cp.asarray(table), cp.asarray(table).T):
        y, z = places(given, cp.empty(given.shape, "f"), cp.empty(given.shape, "f"))
        same(y, given.get())
        same(z, np.add.outer(10 * np.arange(given.shape[0]), np.arange(given.shape[1])).astype("f"))
    flat = cp.ElementwiseKernel(*PLACES)  # CuPy makes one axis of those that lie as one
    y, z = flat(cp.asarray(table.ravel()), cp.empty((4, 6), "f"), cp.empty((4, 6), "f"))
    same(y, table)
    same(z, 11 * np.arange(24, dtype="f").reshape(4, 6))
    y, z = flat(cp.asarray(table), cp.empty((4, 6), "f"), cp.empty((6, 4), "f").T)
    same(y, table)
    same(flat(cp.asarray(table.ravel()), size=24)[0], table.ravel())


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3, 4), [(12, 4, 1)], (24,)),
        ((2, 3, 4), [(12, 4, 1), (0, 4, 1)], (2, 12)),
        ((2, 3, 4), [(12, 4, 1), (12, 0, 1)], (2, 3, 4)),
        ((2, 1, 4), [(4, 9, 1), (8, 1, 2)], (8,)),
        ((1, 1), [(5, 5)], ()),
    ],
)
def test_axes_are_one_that_lie_as_one_in_all_arrays(shape, strides, expected):
    assert elementwise.merged(shape, strides) == expected


def test_a_reduction_has_a_type_of_its_preamble_and_knows_where_an_element_is():
    preamble = """struct Best {
      float value; long long at;
      __device__ Best(float value = -1, long long at = -1) : value(value), at(at) {}
    };"""
    best = cp.ReductionKernel(
        "T x", "int64 at", "Best(x, _J)", "a.value >= b.value ? a : b", "at = a.at", "Best()", "best",
        reduce_type="Best", preamble=preamble,
    )  # fmt: skip
    table = drawn((7, 300))
    same(best(cp.asarray(table), axis=1), table.argmax(axis=1))
    same(best(cp.asarray(table), axis=0), table.argmax(axis=0))


def test_what_stands_before_behind_and_around_the_loop():
    prepared = cp.ElementwiseKernel(
        "float32 x", "float32 y", "y = twice(x) + base", "prepared",
        preamble="__device__ float twice(float x) { return FACTOR * x; }", loop_prep="float base = 1",
        after_loop="__syncthreads()", options=("-DFACTOR=2",),
    )  # fmt: skip
    x = drawn(300)
    same(prepared(cp.asarray(x), block_size=64), 2 * x + 1)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda x: DIFFERENCE(x), TypeError, "1: must be 2 or 3"),
        (lambda x: DIFFERENCE(x, x.get()), TypeError, "Unsupported type <class 'numpy.ndarray'>"),
        (lambda x: DIFFERENCE(x, x.astype("d")), TypeError, "Type is mismatched. y float64 float32"),
        (lambda x: DIFFERENCE(x, x[:2]), ValueError, "cannot be broadcast"),
        (lambda x: cp.ElementwiseKernel("float32", "float32 y", "", "k"), ValueError, "Syntax error in parameters"),
        (lambda x: cp.ElementwiseKernel("T x", "U y", "y = x", "k")(x), ValueError, "Type of y is unknown"),
        (lambda x: cp.ReductionKernel("T x", "T y", "x", "a", "y = a", None, "k")(x[:0]), ValueError, "no identity"),
    ],
)
def test_wrong_calls_raise_what_cupy_raises(call, error, told):
    with pytest.raises(error, match=told):
        call(cp.asarray(drawn(5)))


@pytest.mark.parametrize("shape", [(3, 500), (600, 3), (4, 5, 6)])
def test_reductions_over_any_axes(shape):
    x = drawn(shape, "d")
    for axis in (None, 0, -1, (0, 1)):
        same(LENGTH(cp.asarray(x), axis=axis), np.sqrt((x**2).sum(axis=axis)))
    same(LENGTH(cp.asarray(x), axis=1, keepdims=True), np.sqrt((x**2).sum(axis=1, keepdims=True)))
    same(LENGTH(cp.asarray(x).T, axis=0), np.sqrt((x.T**2).sum(axis=0)))


def test_a_reduction_has_a_type_of_its_own_several_inputs_and_an_output_that_is_given():
    x = drawn(1000)
    dot = cp.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot", reduce_type="double")
    same(dot(cp.asarray(x), cp.asarray(x)), (x.astype("d") ** 2).sum().astype("f"))
    largest = cp.ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", None, "largest")
    out = cp.empty((), "f")
    assert largest(cp.asarray(-x), out=out) is out
    same(out, (-x).max())


def test_a_fused_function_is_one_launch_and_one_that_can_not_be_fused_is_reported(capsys):
    @cp.fuse
    def wave(x, y, scale):
        return cp.where(x > y, cp.sqrt(x * y) + scale, -x) * 2, cp.maximum(x, 1.5)

    @cp.fuse()
    def total(x):
        return (x + 1).sum()

    x, y = drawn((4, 5)), drawn(5)[::-1].copy()
    notes.taken()
    with simtmm.recording(kernel="none") as recording:
        first, second = wave(cp.asarray(x), cp.asarray(y), 3)
    same(first, np.where(x > y, np.sqrt(x * y) + 3, -x) * 2, 1e-5)
    same(second, np.maximum(x, np.float32(1.5)))
    assert (recording.launched, notes.taken()) == (1, ([], []))
    same(total(cp.asarray(x)), (x + 1).sum(), 1e-5)
    assert notes.taken()[1] == ["cupy.fuse: total is not a chain of elementwise operations (sum): it ran step by step."]


def test_array_functions_are_kernels_where_that_is_requested():
    x, i = drawn((5, 9)) - 4, np.arange(-9, 9)
    device, whole = cp.asarray(x), cp.asarray(i)
    notes.taken()
    with options(elementwise=True), simtmm.recording(kernel="none") as recording:
        found = [
            device * 2 + device[0],
            cp.sqrt(abs(device)),
            device.sum(axis=0),
            cp.max(device),
            whole // 4,
            whole % 4,
        ]
        device += 1
    expected = [x * 2 + x[0], np.sqrt(abs(x)), x.sum(axis=0), x.max(), i // 4, i % 4]
    for each, wanted in zip(found, expected, strict=True):
        same(each, wanted, 1e-5)
    same(device, x + 1)
    assert recording.launched == 9
    assert notes.taken() == ([], [])


def test_a_choice_of_elements_is_a_kernel_of_arrays_and_numbers_of_any_type():
    x, i = drawn((5, 9)) - 4, np.arange(9)
    positive = cp.asarray(x > 0)
    given = [(x, 0.0), (2, x), (x, i), (i, 1.5), (x, x[::-1].copy()), (1, 0), (np.float64(0.5), i)]
    notes.taken()
    with options(elementwise=True), simtmm.recording(kernel="none") as recording:
        found = [
            cp.where(positive, *(cp.asarray(each) if isinstance(each, np.ndarray) else each for each in pair))
            for pair in given
        ]
    for each, pair in zip(found, given, strict=True):
        wanted = np.where(x > 0, *pair)
        assert each.dtype == wanted.dtype
        same(each, wanted)
    assert recording.launched == len(given)
    assert notes.taken() == ([], [])


def test_numbers_whose_bytes_cupy_would_pass_as_they_are_are_reported():
    kernel = cp.RawKernel('extern "C" __global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }', "scale")
    x = cp.ones(32, cp.float32)
    notes.taken()
    kernel((1,), (32,), (x, np.float32(2)))
    assert notes.taken()[1] == []
    kernel((1,), (32,), (x, 2.0))
    assert notes.taken()[1][0].startswith(
        "Kernel scale: float by is given a float of 8 bytes, of which the kernel reads 4"
    )
    same(x, np.full(32, 4, np.float32))


def test_pointers_structures_and_what_is_no_argument():
    code = """struct Pair { float a; int b; };
    extern "C" __global__ void apply(float* x, Pair p) { x[threadIdx.x] += p.a * p.b; }"""
    kernel, x = cp.RawKernel(code, "apply"), cp.zeros((2, 16), cp.float32)
    pair = np.array([(1.5, 4)], np.dtype([("a", "f"), ("b", "i")]))
    kernel((1,), (16,), (x[1].data.ptr, pair))
    kernel((1,), (16,), (x[1].data, pair))
    same(x, np.repeat(np.array([[0], [12]], "f"), 16, axis=1))
    with pytest.raises(TypeError, match="Unsupported type <class 'list'>"):
        kernel((1,), (16,), ([1], pair))
    with pytest.raises(KernelError, match="4 bytes: must be 8"):
        kernel((1,), (16,), (x, np.zeros(1, "i4")))
    for host in (np.zeros((2, 16), "f"), np.zeros(2, "f")):  # eight bytes are no address either
        with pytest.raises(
            KernelError, match=r"x = a NumPy array of float32: the kernel takes float\*, .*cupy.asarray"
        ):
            kernel((1,), (16,), (host, pair))


def test_complex_numbers_by_the_header_of_cupy():
    code = """#include <cupy/complex.cuh>
    extern "C" __global__ void axpy(const complex<float>* x, complex<float>* y, float a) {
      int i = threadIdx.x; y[i] = a * x[i] + y[i] * conj(x[i]);
    }"""
    x = drawn(20) + 1j * drawn(20)[::-1]
    y = cp.asarray(x.astype("F"))
    cp.RawKernel(code, "axpy")((1,), (20,), (cp.asarray(x.astype("F")), y, np.float32(2)))
    same(y, (2 * x + x * x.conj()).astype("F"), 1e-5)


def test_events_of_two_streams_are_read_from_the_simulated_clock():
    kernel = cp.RawKernel('extern "C" __global__ void add_one(float* x) { x[threadIdx.x] += 1; }', "add_one")
    x = cp.zeros(32, cp.float32)

    def elapsed(streams):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        for stream in streams:
            with stream:
                kernel((1,), (32,), (x,))
        end.record()
        end.synchronize()
        return cp.cuda.get_elapsed_time(begin, end)

    first, second = cp.cuda.Stream(), cp.cuda.Stream(non_blocking=True)
    with simtmm.recording("h100-sxm"):
        alone = elapsed([first])
        host = host_of(simtmm.load_machine("h100-sxm"))
        launch, record = 1e3 * host.call("launch"), 1e3 * host.call("record")
        assert alone == pytest.approx(launch + record)  # of a kernel that is shorter than its launch
        assert elapsed([first, second]) == pytest.approx(2 * launch + record)
        assert elapsed([first, first]) == pytest.approx(2 * launch + record)
        assert elapsed([cp.cuda.Stream.null] * 3) == pytest.approx(3 * launch + record)
        before = cp.cuda.Event()
    with pytest.raises(RecordingError, match="needs a machine"):
        cp.cuda.get_elapsed_time(before, before)


def test_devices_are_the_machine_of_the_recording():
    with simtmm.recording("v100"):
        device = cp.cuda.Device()
        assert (device.compute_capability, device.attributes["MultiProcessorCount"]) == ("75", 80)
        assert cp.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"] == 80
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidDevice"):
        cp.cuda.Device(1)


@pytest.mark.parametrize(
    "number", [np.inf, -np.inf, np.nan, 2.5, True, 7, np.float32(0.5), np.int16(-3), np.bool_(True)]
)
def test_a_number_in_a_fused_function_is_that_number(number):
    x = np.array([-1.5, 0.25, 4], "d")
    notes.taken()
    same(cp.fuse(lambda x: x + number)(cp.asarray(x)), x + number)
    assert notes.taken() == ([], [])


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x[1:], "an index"),
        (lambda x: cp.add(x, x, dtype="f8"), "add with options"),
        (lambda x: np.maximum.reduce(x), "maximum with options"),
        (lambda x: x.mean(), "mean"),
        (lambda x: x + np.float32(np.inf), "a value of type float32"),
        (lambda x: x + np.frexp(x)[0], "frexp with options"),
        (lambda x: np.concatenate([x, x]), "concatenate"),
        (lambda x: np.gcd(x.astype(np.int64), 4), "gcd"),
        (lambda x: cp.asarray([each + 1 for each in x.tolist()]) if x is not None else 0, "tolist"),
        (lambda x: x + sum(1 for _ in x), "a loop over elements"),
        (lambda x: x if (x > 99).all() or bool((x > 99)[0]) else -x, "all"),
    ],
)
def test_what_is_no_chain_of_elementwise_operations_runs_step_by_step(function, why):
    x = np.array([3, 1.25, 6], "d")
    notes.taken()
    found = cp.fuse(function, kernel_name="mine")(cp.asarray(x))
    said = f"cupy.fuse: mine is not a chain of elementwise operations ({why}): it ran step by step."
    assert notes.taken()[1] == [said]
    np.testing.assert_allclose(found.get(), function(cp.asarray(x)).get())


def test_a_conversion_and_a_choice_are_fused_and_a_call_without_arrays_is_plain():
    x = np.array([-1.5, 0.25, 4.75], "d")
    notes.taken()
    same(cp.fuse(lambda x: x.astype(np.int32))(cp.asarray(x)), x.astype(np.int32))
    same(cp.fuse(lambda x: np.where(x > 0, x, 1))(cp.asarray(x)), np.where(x > 0, x, 1))
    assert notes.taken() == ([], [])
    assert cp.fuse(lambda x, y=1: (x, y))(3, y=4) == (3, 4)
    assert cp.fuse(lambda x: x + 1)(2) == 3


def test_arguments_that_are_no_tuple_are_refused():
    kernel = cp.RawKernel('extern "C" __global__ void k(int n) {}', "k")
    for given in (5, cp.zeros(3), "n"):
        with pytest.raises(KernelError, match=r"args = .*: must be a tuple of arguments"):
            kernel((1,), (32,), given)
