"""Pointers, copies, devices and streams of the stand-in, as CuPy's manual has them."""

import ctypes

import numpy as np
import pytest

import simtmm.scripts.cupy as cp
from simtmm.device.properties import CUDA_VERSION
from simtmm.errors import RecordingError
from simtmm.scripts import cupyx, notes
from simtmm.scripts.cupy.cuda.runtime import CUDARuntimeError
from simtmm.scripts.cupy.device_array import MissingError
from simtmm.scripts.cupyx import profiler

ALLOCATED = {
    "alloc": cp.cuda.alloc, "malloc_async": cp.cuda.malloc_async, "malloc_managed": cp.cuda.malloc_managed,
    "a pool's": cp.get_default_memory_pool().malloc, "an array's": lambda size: cp.zeros(size, "u1").data,
}  # fmt: skip


def content(pointer, size):
    return cp.ndarray((size,), "u1", pointer).get().tolist()


@pytest.mark.parametrize("allocate", ALLOCATED.values(), ids=ALLOCATED)
def test_a_pointer_counts_bytes_and_memset_fills_as_many_as_it_is_told(allocate):
    memory = allocate(8)
    memory.memset(7, 8)
    (memory + 2).memset(1, 3)
    (4 + memory - 3).memset_async(9, 1)
    assert content(memory, 8) == [7, 9, 1, 1, 1, 7, 7, 7]
    assert content(memory + 4, 3) == [1, 7, 7]
    assert int(memory + 5) == int(memory) + 5 == memory.ptr + 5 == 5 + memory.ptr
    assert (memory.ptr + 5) - memory.ptr == 5
    assert (memory.ptr + 5) - 2 == memory.ptr + 3
    assert (memory.ptr + 5).array().nbytes == (memory + 5).array().nbytes == 3
    assert (memory.device_id, memory.mem.device_id, memory.device) == (0, 0, cp.cuda.Device())
    assert (memory.mem.size, memory.mem.ptr) == (8, memory.ptr)


def at(array):
    return array.ctypes.data


HOST = {"an array": lambda each: each, "an address": at, "a pointer of C": lambda each: ctypes.c_void_p(at(each))}


@pytest.mark.parametrize("name", ["", "_async"])
@pytest.mark.parametrize("of_host", HOST.values(), ids=HOST)
def test_bytes_are_copied_from_and_to_what_stands_for_the_hosts_memory_and_no_more_of_them(of_host, name):
    host, back, memory = np.arange(3, 9, dtype="u1"), np.full(6, 1, "u1"), cp.cuda.alloc(6)
    memory.memset(2, 6)
    getattr(memory, f"copy_from_host{name}")(of_host(host), 4)
    assert content(memory, 6) == [3, 4, 5, 6, 2, 2]
    getattr(memory + 1, f"copy_to_host{name}")(of_host(back), 3)
    assert back.tolist() == [4, 5, 6, 1, 1, 1]
    memory.copy_from(of_host(back), 2)
    assert content(memory, 6) == [4, 5, 5, 6, 2, 2]


@pytest.mark.parametrize("name", ["copy_from_device", "copy_from_device_async", "copy_from"])
def test_bytes_are_copied_on_the_device_and_no_more_of_them(name):
    memory, other = cp.cuda.alloc(4), cp.arange(10, 16, dtype="u1").data
    memory.memset(0, 4)
    getattr(memory + 1, name)(other + 2, 2)
    assert content(memory, 4) == [0, 12, 13, 0]


def test_the_pointer_of_an_array_is_that_of_its_first_element():
    whole = cp.arange(12, dtype="i2").reshape(3, 4)
    assert whole[1:, 2:].data.ptr == whole.data.ptr + 2 * 6
    assert content(whole[2].data, 4) == [8, 0, 9, 0]
    assert whole[1:].data.array().nbytes == 16
    assert cp.asfortranarray(whole).data.array().nbytes == 24
    assert cp.empty((0, 3)).data.array().nbytes == 0
    with pytest.raises(ValueError, match=r"the array is not contiguous: make a contiguous one"):
        _ = np.ndarray((3,), "i2", bytearray(24), strides=(8,)).view(cp.ndarray).data


def test_memory_of_the_host_is_bytes_that_numpy_takes():
    memory = cp.cuda.alloc_pinned_memory(24)
    array = np.frombuffer(memory, np.float64, 3)
    array[...] = [1, 2, 3]
    assert (memory.nbytes, array.tolist()) == (24, [1, 2, 3])
    for pool in (cp.get_default_memory_pool(), cp.get_default_pinned_memory_pool()):
        assert [pool.used_bytes(), pool.free_bytes(), pool.total_bytes(), pool.n_free_blocks()] == [0] * 4
        assert pool.free_all_blocks() is None


def test_an_array_is_set_whole_from_one_of_its_shape_and_added_to_at_indices():
    x = cp.zeros((2, 3), "i4")
    x.set(np.arange(6).reshape(2, 3))
    x.scatter_add(([0, 0, 1], [1, 1, 2]), cp.asarray([10, 20, 30]))
    assert x.tolist() == [[0, 31, 2], [3, 4, 35]]
    for wrong in (np.zeros(6), np.zeros((3, 2)), [[1, 2, 3], [4, 5, 6]]):
        with pytest.raises(ValueError, match=r"^Shape mismatch\. Expected shape: \(2, 3\), actual shape: \("):
            x.set(wrong)
    assert (x.reduced_view().shape, x.T.reduced_view().shape) == ((6,), (3, 2))
    assert (x.device, x.device.id, int(x.device)) == (cp.cuda.Device(0), 0, 0)
    assert (repr(x), str(x)) == (repr(x.get()), str(x.get()))


def test_numbers_of_arrays_without_axes():
    x = cp.asarray(2.5)
    assert (complex(x), float(x), int(x), bool(x), bool(x - x)) == (2.5 + 0j, 2.5, 2, True, False)
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        iter(x)
    with pytest.raises(MissingError, match=r"^cupy\.ndarray\.cstruct: is not supported$"):
        _ = x.cstruct
    assert not hasattr(x, "cstruct")


def test_there_is_one_device_which_is_number_0():
    first = cp.cuda.Device()
    assert (first.id, int(first), repr(first), first.pci_bus_id) == (0, 0, "<CUDA Device 0>", "0000:00:00.0")
    assert first == cp.cuda.Device(0) != 0
    assert len({first, cp.cuda.Device(0)}) == 1
    assert first.use() is first
    with first as used:
        assert used is first
    assert first.synchronize() is cp.cuda.synchronize() is cp.cuda.runtime.deviceSynchronize() is None
    runtime = cp.cuda.runtime
    assert (runtime.getDeviceCount(), runtime.getDevice(), cp.cuda.get_device_id()) == (1, 0, 0)
    assert cp.cuda.device.get_device_id() == 0
    assert cp.cuda.device.get_compute_capability() == first.compute_capability
    assert runtime.runtimeGetVersion() == runtime.driverGetVersion() == CUDA_VERSION
    assert cp.is_available()
    assert cp.cuda.is_available()
    assert runtime.setDevice(0) is None
    for wrong in (lambda: cp.cuda.Device(1), lambda: runtime.setDevice(2), lambda: runtime.getDeviceProperties(1)):
        with pytest.raises(CUDARuntimeError, match=r"^cudaErrorInvalidDevice: invalid device ordinal$"):
            wrong()


@pytest.mark.parametrize(
    ("get", "said"),
    [
        (
            lambda: cp.cuda.runtime.deviceGetAttribute(9999, 0),
            "cupy.cuda.runtime.deviceGetAttribute(9999): is not supp",
        ),
        (lambda: cp.cuda.runtime.memPrefetch, "cupy.cuda.runtime.memPrefetch: is not supported by simtmm's stand-in"),
        (lambda: cp.cuda.nothing, "cupy.cuda.nothing: is not supported by simtmm's stand-in for CuPy"),
        (
            lambda: cp.cuda.Stream().begin_capture(),
            "cupy.cuda.Stream.begin_capture: graphs are not supported by simtmm",
        ),
        (lambda: cp.random.nothing, "cupy.random.nothing: is not supported by simtmm's stand-in for CuPy, and NumPy h"),
        (lambda: cupyx.nothing, "cupyx.nothing: is not supported by simtmm's stand-in for CuPy"),
        (lambda: cp.linalg.nothing, "cupy.linalg.nothing: is not supported by simtmm's stand-in for CuPy, and numpy.l"),
    ],
)
def test_what_is_missing_is_named(get, said):
    with pytest.raises(MissingError) as told:
        get()
    assert str(told.value).startswith(said)


@pytest.mark.parametrize("module", [cp, cp.cuda, cp.cuda.runtime, cp.linalg, cp.random, cupyx])
def test_no_module_has_a_name_of_pythons_own_that_it_is_asked_for(module):
    with pytest.raises(AttributeError) as told:
        _ = module.__nothing__
    assert not isinstance(told.value, MissingError)


def test_a_stream_is_the_current_one_as_long_as_its_block_lasts_or_until_another_is_used():
    one, other = cp.cuda.Stream(), cp.cuda.Stream(non_blocking=True)
    assert len({one, other, cp.cuda.Stream.null, cp.cuda.Stream(null=True), cp.cuda.Stream.ptds}) == 3
    assert one != other
    assert one != one.ptr
    assert one == cp.cuda.ExternalStream(one.ptr)
    assert repr(one) == f"<Stream {one.ptr} (device 0)>"
    assert (one.done, one.device_id, one.non_blocking, other.non_blocking, one.priority) == (True, 0, False, True, 0)
    seen = [cp.cuda.get_current_stream()]
    with one:
        seen.append(cp.cuda.get_current_stream())
        with other, one:
            seen.append(cp.cuda.get_current_stream())
        seen.append(cp.cuda.get_current_stream())
    try:
        assert other.use() is other
        seen += [cp.cuda.get_current_stream()]
    finally:
        cp.cuda.Stream.null.use()
    assert seen == [cp.cuda.Stream.null, one, one, one, other]


def test_what_is_called_on_a_stream_is_called_once_with_its_arguments():
    calls, stream = [], cp.cuda.Stream()
    stream.add_callback(lambda *given: calls.append(given), "a")
    stream.launch_host_func(lambda *given: calls.append(given), "b")
    assert calls == [(stream, 0, "a"), ("b",)]
    assert stream.synchronize() is cp.cuda.runtime.streamSynchronize(stream.ptr) is None


def test_an_event_is_recorded_on_a_stream_and_made_where_none_is_given():
    stream, own = cp.cuda.Stream(), cp.cuda.Event()
    assert not own.is_recorded
    assert stream.record(own) is own
    made = stream.record()
    assert (own.is_recorded, made.is_recorded, own.done, own.disable_timing) == (True, True, True, False)
    assert own.ptr != made.ptr
    untimed = cp.cuda.Event(disable_timing=True)
    assert (untimed.disable_timing, untimed.is_timed, own.is_timed) == (True, False, True)


@pytest.mark.parametrize(("repeats", "warmups", "runs"), [(2, 10, 3), (10, 0, 3), (10, 1, 4), (1, 0, 1)])
def test_a_benchmark_runs_a_function_three_times_at_most_and_tells_each_time(monkeypatch, repeats, warmups, runs):
    armed, calls, times = [], [], iter([2.5, 3.5, 4.5])
    clock = type("Clock", (), {"arm": lambda self: armed.append(1), "mark": lambda self, stream: stream})()
    monkeypatch.setattr(profiler.current, "clock", lambda: clock)

    def elapsed(begin, end, *, function):
        assert function == "cupyx.profiler.benchmark"
        return next(times) * (begin.is_recorded and end.is_recorded)

    monkeypatch.setattr(profiler, "get_elapsed_time", elapsed)
    notes.taken()
    found = profiler.benchmark(lambda *args, **more: calls.append((args, more)), (1, 2), {"x": 3}, repeats,
                               name="mine", n_warmup=warmups)  # fmt: skip
    measured = min(repeats, 3)
    assert calls == [((1, 2), {"x": 3})] * runs
    assert armed == [1]
    assert (found.name, found.cpu_times.shape, found.gpu_times.shape) == ("mine", (measured,), (1, measured))
    assert found.gpu_times[0].tolist() == pytest.approx([2.5e-3, 3.5e-3, 4.5e-3][:measured])
    assert all(0 <= each < 60 for each in found.cpu_times)
    told = [f"cupyx.profiler.benchmark: mine ran 3 times, not {repeats}: simulated runs are identical."]
    assert notes.taken()[1] == (told if repeats > 3 else [])


def test_a_benchmark_is_shown_in_microseconds_and_needs_a_machine():
    shown = str(profiler.Result("f", [1e-6, 3e-6], [5e-6, 5e-6]))
    assert " ".join(shown.split()) == (
        "f : CPU: 2.000 us +/- 1.000 (min: 1.000 / max: 3.000) us "
        "GPU-0: 5.000 us +/- 0.000 (min: 5.000 / max: 5.000) us"
    )
    assert shown.index(":") == 20
    with pytest.raises(RecordingError):
        profiler.benchmark(int)


def test_blocks_that_profile_or_name_ranges_run_what_is_in_them():
    ran = []
    for block in (
        cp.cuda.profile, cp.cuda.using_allocator, profiler.profile, lambda: profiler.time_range("a"),
        lambda: cp.cuda.nvtx.range("a"),
    ):  # fmt: skip
        with block():
            ran.append(1)
    assert len(ran) == 5
    assert (cp.cuda.nvtx.RangePush("a"), cp.cuda.nvtx.RangePop()) == (0, 0)


RANDOM = {
    "rand": (3, 2), "randn": (4,), "random_sample": (5,), "randint": (3, 9, 7), "permutation": (6,), "poisson": (3, 5),
    "normal": (1, 2, 4), "choice": (9, 5), "uniform": (2, 3, 4), "beta": (2, 3, 5), "standard_normal": ((2, 3),),
}  # fmt: skip


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_those_of_numpy_with_the_same_seed_and_said_to_be_so(name):
    notes.taken()
    cp.random.seed(5)
    found = getattr(cp.random, name)(*RANDOM[name])
    expected = getattr(np.random.RandomState(5), name)(*RANDOM[name])
    assert type(found) is cp.ndarray
    assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
    own = getattr(cp.random.RandomState(5), name)(*RANDOM[name])
    assert own.tolist() == expected.tolist()
    counted, (said,) = notes.taken()
    assert counted == [(f"cupy.random.{name}", 2)]
    assert said == "cupy.random: random numbers are NumPy's, which differ from a GPU's with the same seed."


def test_random_numbers_have_the_type_that_cupy_gives_them():
    assert cp.random.rand(3, dtype="f4").dtype == np.float32
    assert cp.random.poisson(4, 3, dtype="i4").dtype == np.int32
    assert cp.random.randint(0, 9, 4, dtype="u1").dtype == np.uint8
    number = cp.random.rand()
    assert (type(number), number.shape) == (cp.ndarray, ())


def test_random_integers_have_their_last_number_too():
    for given, ends in (((3, 5, 99), (3, 5)), ((2, None, 99), (1, 2)), ((cp.asarray(0), cp.asarray(1), 99), (0, 1))):
        found = cp.random.random_integers(*given).get()
        assert (found.min(), found.max(), len(found)) == (*ends, 99)


@pytest.mark.parametrize("bits", ["XORWOW", "MRG32k3a", "Philox4x3210"])
def test_a_generator_of_its_own_is_numpys_and_shuffles_in_place(bits):
    found = cp.random.default_rng(8).integers(0, 99, 5)
    assert (type(found), found.tolist()) == (cp.ndarray, np.random.default_rng(8).integers(0, 99, 5).tolist())
    own = cp.random.Generator(getattr(cp.random, bits)(8))
    assert own.random(4, dtype="f4").dtype == np.float32
    x = cp.arange(30)
    assert own.shuffle(x) is None
    assert x.tolist() != sorted(x.tolist()) == list(range(30))


def test_random_numbers_without_a_seed_go_on():
    state = cp.random.get_random_state()
    state.seed(1)
    first, second = cp.random.rand(3).tolist(), state.rand(3).tolist()
    assert first + second == np.random.RandomState(1).rand(6).tolist()
