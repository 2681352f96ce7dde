"""What numba-cuda is told of a device that is not there, and that everything is put back."""

import gc
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import simtmm
from simtmm.errors import KernelError, RecordingError
from simtmm.scripts import notes
from simtmm.scripts.numba_cuda import ADAPTER

pytest.importorskip("numba_cuda")
pytestmark = pytest.mark.filterwarnings("ignore")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import numba
    from numba import cuda

rng = np.random.default_rng(19)


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


def state() -> list[object]:
    """All that an adapter changes."""
    from numba.cuda import args, codegen, dispatcher
    from numba.cuda.cudadrv import devices, driver

    return [
        dict(vars(driver.driver)), driver.ExperimentalDevice, driver.ExperimentalStream, driver._alloc_finalizer,
        driver._memory_manager, vars(driver._ActiveContext)["_tls_cache"], devices._runtime._tls,
        vars(args.In)["to_device"], vars(args.Out)["to_device"], vars(args.InOut).get("to_device"),
        vars(codegen.CUDACodeLibrary)["get_cufunc"], vars(dispatcher._Kernel)["__init__"],
        vars(dispatcher._Kernel)["_prepare_args"], vars(dispatcher.CUDADispatcher)["enable_caching"],
        dispatcher.launch, dispatcher.LaunchConfig,
    ]  # fmt: skip


def test_everything_is_put_back_after_an_exception_too():
    before, available, arrays = state(), cuda.is_available(), []

    def fail() -> None:
        assert cuda.is_available()
        with ADAPTER.installed():
            arrays.append(cuda.to_device(np.ones(3)))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), ADAPTER.installed():
        fail()
    assert state() == before
    assert cuda.is_available() == available
    arrays.clear()
    gc.collect()
    assert state() == before


def test_a_recording_is_enough_and_arrays_can_be_read_behind_it():
    x = rng.random(100)
    for architecture in (80, 90):
        with simtmm.recording(architecture=architecture) as recording:
            out = cuda.device_array_like(x)
            double[1, 128](x, out)
        np.testing.assert_array_equal(out.copy_to_host(), 2 * x)
        assert out[3] == 2 * x[3]
        np.testing.assert_array_equal(np.asarray(out[5:9]), 2 * x[5:9])
        assert recording.trace.info.architecture.startswith(f"sm_{architecture}")
        assert [each.name for each in recording.trace.info.arrays] == ["x", "out"]


def test_events_tell_simulated_times():
    with simtmm.recording(machine="h100-sxm"):
        x = cuda.to_device(rng.random(4096))
        out = cuda.device_array_like(x)
        begin, end, stream = cuda.event(), cuda.event(), cuda.stream()
        begin.record(stream)
        double[16, 256, stream](x, out)
        end.record(stream)
        end.synchronize()
        once = cuda.event_elapsed_time(begin, end)
        begin.record(stream)
        for _ in range(2):
            double[16, 256, stream](x, out)
        end.record(stream)
        assert 0 < once < 1
        assert begin.elapsed_time(end) == pytest.approx(2 * once, rel=0.2)
    with simtmm.recording(architecture=80):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        double[1, 32](np.zeros(3), np.zeros(3))
        end.record()
        with pytest.raises(RecordingError, match="needs a machine"):
            cuda.event_elapsed_time(begin, end)


def test_the_device_is_the_machine():
    with simtmm.recording(machine="h100-sxm"):
        device = cuda.get_current_device()
        assert (device.name, device.compute_capability) == ("H100 SXM", (9, 0))
        assert (device.MULTIPROCESSOR_COUNT, device.WARP_SIZE, device.MAX_THREADS_PER_BLOCK) == (132, 32, 1024)
        assert device.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR == 233472
        assert cuda.select_device(0).id == 0
        assert len(cuda.gpus) == len(cuda.list_devices()) == 1
        assert cuda.detect()
        free, total = cuda.current_context().get_memory_info()
        held = cuda.device_array(1 << 20, np.uint8)
        assert cuda.current_context().get_memory_info() == (free - held.nbytes, total)
        with pytest.raises(
            KernelError, match="device attribute MULTI_GPU_BOARD_GROUP_ID: is not known for a simulated device"
        ):
            _ = device.MULTI_GPU_BOARD_GROUP_ID
        with cuda.gpus[0]:
            double[1, 32](np.zeros(3), np.zeros(3))
        cuda.synchronize()


def test_host_arrays_of_all_layouts_go_there_and_back():
    @cuda.jit
    def count(x, y):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            x[i, j] = y[i, j] + 100 * i + j

    y = rng.random((6, 8))
    wanted = y + 100 * np.arange(6)[:, None] + np.arange(8)
    with ADAPTER.installed():
        for x in (
            np.zeros((6, 8)),
            np.zeros((6, 8), order="F"),
            np.zeros((12, 16))[::2, ::2],
            np.zeros((6, 8))[:, ::-1],
        ):
            count[(1, 1), (8, 8)](x, y.copy(order="F"))
            np.testing.assert_array_equal(x, wanted)
        untouched = np.zeros((6, 8))
        count[(1, 1), (8, 8)](cuda.In(untouched), cuda.In(y))
        assert not untouched.any()
        out = np.full((6, 8), np.nan)
        count[(1, 1), (8, 8)](cuda.Out(out), y)
        np.testing.assert_array_equal(out, wanted)


def test_records_and_arrays_that_are_read_only():
    @cuda.jit
    def count(record, x):
        record.n += 1
        record.total = x[0] + x[1]

    record = np.zeros(1, np.dtype([("n", "i4"), ("total", "f8")], align=True))[0]
    x = np.array([1.5, 2.5])
    x.flags.writeable = False
    with ADAPTER.installed():
        count[1, 1](record, x)
        count[1, 1](record, x)
    assert (record["n"], record["total"]) == (2, 4.0)


def test_device_arrays_of_all_kinds():
    with ADAPTER.installed():
        host = rng.random((4, 6)).astype(np.float32)
        held = cuda.to_device(host)
        assert (held.shape, held.dtype, held.strides, held.size, held.nbytes) == ((4, 6), np.float32, (24, 4), 24, 96)
        held[1] = 7
        held[2, 3] = 9
        held[3, :2] = np.array([1, 2], np.float32)
        host[1], host[2, 3], host[3, :2] = 7, 9, (1, 2)
        np.testing.assert_array_equal(held.copy_to_host(), host)
        np.testing.assert_array_equal(held[1:3].copy_to_host(), host[1:3])
        np.testing.assert_array_equal(held.T.copy_to_host(), host.T)
        np.testing.assert_array_equal(held.reshape(24).copy_to_host(), host.ravel())
        np.testing.assert_array_equal(held.view(np.uint32).copy_to_host(), host.view(np.uint32))
        other = cuda.device_array_like(held)
        other.copy_to_device(held)
        target = np.zeros_like(host)
        other.copy_to_host(target)
        np.testing.assert_array_equal(target, host)
        interface = held.__cuda_array_interface__
        assert interface["shape"] == (4, 6)
        np.testing.assert_array_equal(cuda.as_cuda_array(held).copy_to_host(), host)
        for result in (cuda.pinned_array(8), cuda.mapped_array(8), cuda.managed_array(8)):
            result[:] = np.arange(8)
            out = np.zeros(8)
            double[1, 8](result, out)
            np.testing.assert_array_equal(out, 2 * np.arange(8))
        mapped = cuda.mapped_array(8)
        double[1, 8](np.ones(8), mapped)
        np.testing.assert_array_equal(np.asarray(mapped), np.full(8, 2.0))
        with cuda.pinned(host):
            double[1, 8](np.ones(8), np.ones(8))


def test_an_array_of_another_type_than_its_signature_says_is_reported_once_for_each_argument():
    notes.taken()
    with simtmm.recording(architecture=90):

        @cuda.jit("void(float32[:], float32[:])")
        def twice(x, out):
            out[cuda.grid(1)] = 2 * x[cuda.grid(1)]

        out = np.zeros(32, np.float32)
        for given in (np.ones(32), cuda.to_device(np.ones(32)), np.ones(32, np.float32)):
            twice[1, 32](given, out)
        double[1, 32](np.ones(32), np.zeros(32))
    assert out.tolist() == [2] * 32
    assert notes.taken()[1] == [
        "Kernel twice: x is an array of float64, and its signature says float32: the kernel misreads its bytes, here "
        "as on a GPU. Pass an array of that type."
    ]


def test_eager_signatures_forall_and_occupancy():
    with ADAPTER.installed():

        @cuda.jit("float64(float64, float64)", device=True)
        def mean(a, b):
            return (a + b) / 2

        @cuda.jit([numba.void(numba.float64[:], numba.float64[:]), "void(int64[:], int64[:])"])
        def neighbours(x, out):
            i = cuda.grid(1)
            if i < x.size - 1:
                out[i] = mean(x[i], x[i + 1])

        x, out = rng.random(100), np.zeros(99)
        neighbours.forall(100)(x, out)
        np.testing.assert_allclose(out, (x[1:] + x[:-1]) / 2)
        kernel = next(iter(neighbours.overloads.values()))
        assert 0 < kernel.regs_per_thread <= 255
        assert kernel.max_threads_per_block == 1024
        assert kernel.shared_mem_per_block == 0
        assert kernel.max_cooperative_grid_blocks(256) == 132 * 2048 // 256
        assert "entry" in next(iter(neighbours.inspect_asm().values()))


def test_vectorized_functions():
    with ADAPTER.installed():

        @numba.vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
        def hypotenuse(a, b):
            return math.sqrt(a * a + b * b)

        a, b = rng.random(300), rng.random(300)
        np.testing.assert_allclose(hypotenuse(a, b), np.hypot(a, b))

        @numba.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()", target="cuda")
        def dot(x, y, out):
            out[0] = 0
            for i in range(x.shape[0]):
                out[0] += x[i] * y[i]

        x, y = rng.random((5, 7)), rng.random((5, 7))
        np.testing.assert_allclose(dot(x, y), (x * y).sum(1))


def test_linked_functions_in_cuda(tmp_path: Path):
    source = tmp_path / "scale.cu"
    source.write_text(
        'extern "C" __device__ int scaled(float* result, float value) { *result = 3 * value; return 0; }\n'
    )
    with ADAPTER.installed():
        scaled = cuda.declare_device("scaled", "float32(float32)", link=str(source))

        @cuda.jit
        def apply(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = scaled(x[i])

        x = rng.random(40).astype(np.float32)
        before = x.copy()
        apply[1, 64](x)
        np.testing.assert_array_equal(x, before * 3)


def test_what_is_printed_on_the_device(capfd: pytest.CaptureFixture[str]):
    @cuda.jit
    def told(x):
        print("thread", cuda.threadIdx.x, "has", x[cuda.threadIdx.x])

    with ADAPTER.installed():
        told[1, 2](np.array([4.5, 5.5]))
    assert capfd.readouterr().out.splitlines() == ["thread 0 has 4.500000", "thread 1 has 5.500000"]


def test_exceptions_of_a_kernel_compiled_for_debugging():
    @cuda.jit(debug=True, opt=False)
    def divide(x, n):
        x[cuda.threadIdx.x] = 1 // n

    with ADAPTER.installed(), pytest.raises(ZeroDivisionError):
        divide[1, 2](np.zeros(2), 0)


def test_halves_of_a_library_that_is_linked():
    @cuda.jit
    def fused(x, out):
        i = cuda.grid(1)
        out[i] = cuda.fp16.hfma(x[i], x[i], x[i])

    x = rng.random(32).astype(np.float16)
    out = np.zeros_like(x)
    with ADAPTER.installed():
        fused[1, 32](x, out)
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(out, (wide * wide + wide).astype(np.float16))


def test_numbas_simulator_is_refused(monkeypatch: pytest.MonkeyPatch):
    from numba.cuda.core import config

    monkeypatch.setattr(config, "ENABLE_CUDASIM", 1)
    with pytest.raises(KernelError, match="NUMBA_ENABLE_CUDASIM is set"), ADAPTER.installed():
        pass


def test_what_goes_wrong_is_one_line():
    @cuda.jit
    def beyond(x):
        x[cuda.grid(1) + 10_000_000] = 1

    with ADAPTER.installed():
        free, _ = cuda.current_context().get_memory_info()
        with pytest.raises(RecordingError, match="beyond"):
            beyond[1, 32](np.zeros(3))
        gc.collect()
        assert cuda.current_context().get_memory_info()[0] == free
        table = cuda.to_device(np.ones(3))

        @cuda.jit
        def of_global(x):
            x[0] = table[0]

        with pytest.raises(KernelError, match="global variable"):
            of_global[1, 1](np.zeros(3))
        with pytest.raises(KernelError, match="must be 1 to 1024"):
            double[1, 2048](np.zeros(3), np.zeros(3))
