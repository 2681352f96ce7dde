"""RawKernel: launches in place, and arguments that a kernel does not take."""

import contextlib
import signal
import threading
import time

import numpy as np
import pytest

import simtmm
from simtmm.errors import CompilerError, KernelError, RecordingError
from simtmm.recorder.direct.current import properties
from tests.cuda.compilers.conftest import needs_nvcc, needs_nvrtc, needs_ptxas
from tests.recorder.direct.kernels import BEYOND, REVERSED, SAXPY, SCALE, saxpy_arrays

pytestmark = needs_nvrtc


@pytest.fixture(scope="module")
def saxpy():
    return simtmm.RawKernel(SAXPY, "saxpy")


def test_a_launch_changes_arrays_in_place(saxpy):
    x, y = saxpy_arrays()
    want = np.float32(2) * x + y
    assert saxpy((4,), (256,), (len(x), np.float32(2), x, y)) is None
    np.testing.assert_allclose(y, want, rtol=1e-6)  # a fused multiplication and addition rounds once


def test_sizes_may_be_numbers_or_of_any_dimension(saxpy):
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    saxpy(1, 32, (64, 1, x, y))
    saxpy((2, 1, 1), [32], (64, 1, x, y))
    assert y.tolist() == [2] * 32 + [1] * 32


def test_numbers_of_python_become_what_the_parameter_says(saxpy):
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    saxpy((1,), (4,), (4.0, 3, x, y))
    saxpy((1,), (4,), (True, np.array(0.5, np.float32), x, y))
    assert y.tolist() == [3.5, 3, 3, 3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((4, 1, np.ones(4), np.ones(4, "f4")), "kernel saxpy: x = an array of float64: the kernel takes const float*"),
        ((4, 1, np.array(["a"] * 4), np.ones(4, "f4")), "x = an array of <U1: the kernel takes const float*"),
        ((4, 1, np.ones(4, "M8[s]"), np.ones(4, "f4")), r"an array of datetime64\[s\]: the kernel takes const float*"),
        ((4, 1, np.ones(4, "c16"), np.ones(4, "f4")), "x = an array of complex128: the kernel takes const float*"),
        ((4, np.float64(1), np.ones(4, "f4"), np.ones(4, "f4")), r"a = np.float64\(1.0\) .*: the kernel takes float"),
        ((4, 1, np.ones(4, "f4")), "3 arguments: must be 4 "),
        ((4, 1, 5, np.ones(4, "f4")), r"x = 5: must be an array \(const float\*\)"),
        ((4.5, 1, None, None), "n = 4.5: must be int"),
        ((1 << 40, 1, None, None), "n = 1099511627776: must be from -2147483648 to 2147483647"),
        ((np.ones(4, "f4"), 1, None, None), "n = an array: must be a number"),
        ((4, "1", None, None), "a = '1': must be a number"),
        ((4, None, None, None), "a = None: must be a number"),
        ((4, 1, np.ones(4, ">f4"), None), "x = an array of >f4: must have the byte order of this computer"),
        ((4, 1, np.array([None]), None), "x = an array of object: must have numbers"),
    ],
)
def test_an_argument_of_another_kind_is_named(saxpy, arguments, said):
    with pytest.raises(KernelError, match=said):
        saxpy((1,), (4,), arguments)


@pytest.mark.parametrize(
    ("grid", "block", "arguments", "more", "said"),
    [
        ((1, 1, 1, 1), (1,), (), {}, r"grid = \(1, 1, 1, 1\): must be one to three sizes"),
        ((1,), (1.5,), (), {}, r"block = 1.5: must be whole numbers"),
        ((0,), (1,), (0, 0, None, None), {}, "grid.x = 0: must be 1 to"),
        ((1,), (2048,), (0, 0, None, None), {}, "block.x = 2048: must be 1 to 1024"),
        ((1,), (1,), np.ones(4), {}, "args = .*: must be a tuple"),
        ((1,), (1,), (), {"shared_mem": 49153}, "shared_mem = 49153: must be at most 49152"),
    ],
)
def test_a_shape_that_can_not_be_is_refused(saxpy, grid, block, arguments, more, said):
    with pytest.raises(KernelError, match=said):
        saxpy(grid, block, arguments, **more)


def test_read_only_arrays_are_for_pointers_to_const(saxpy):
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    x.flags.writeable = False
    saxpy((1,), (4,), (4, 1, x, y))
    assert y.tolist() == [1] * 4
    with pytest.raises(KernelError, match=r"y = an array of float32 that is read-only: the kernel takes float\*"):
        saxpy((1,), (4,), (4, 1, y, x))


def test_a_null_pointer_may_be_given_and_not_be_read(saxpy):
    y = np.zeros(4, np.float32)
    saxpy((1,), (4,), (0, 1, None, y))
    with pytest.raises(RecordingError, match=r"saxpy.cu:4: .*reads 4 bytes at the null pointer"):
        saxpy((1,), (4,), (4, 1, None, y))


def test_structures_are_given_by_value():
    source = """
    struct Box { short low; double size; int count[2]; };
    extern "C" __global__ void unpack(Box box, float2 z, double* out) {
        out[0] = box.low; out[1] = box.size; out[2] = box.count[1]; out[3] = z.y;
    }"""
    kernel = simtmm.RawKernel(source, "unpack")
    dtype = np.dtype([("low", "i2"), ("size", "f8"), ("count", "i4", 2)], align=True)
    box = np.array((-3, 0.25, (7, 9)), dtype)
    out = np.zeros(4)
    for given in (box, box[()], box.tobytes()):
        out[:] = 0
        kernel((1,), (1,), (given, 1 + 5j, out))
        assert out.tolist() == [-3, 0.25, 9, 5]
    for wrong, message in (
        ((box.tobytes()[:-1], 0j), "box: 23 bytes: must be 24"),
        ((box, 2.0), r"z = 2.0: must be 8 bytes \(float2\)"),
        ((box, np.complex128(1)), r"z = np.complex128.*: the kernel takes float2"),
        ((None, 0j), r"box = 0: must be 24 bytes \(Box\)"),
    ):
        with pytest.raises(KernelError, match=message):
            kernel((1,), (1,), (*wrong, out))


def test_numbers_of_16_bits_are_given_by_value():
    source = """
    #include <cuda_fp16.h>
    extern "C" __global__ void widen(__half h, short s, bool b, float* out) {
        out[0] = __half2float(h); out[1] = s; out[2] = b;
    }"""
    out = np.zeros(3, np.float32)
    kernel = simtmm.RawKernel(source, "widen")
    for given in ((1.5, -2, True), (np.float16(1.5), np.int16(-2), np.bool_(True))):
        out[:] = 0
        kernel((1,), (1,), (*given, out))
        assert out.tolist() == [1.5, -2, 1]


def test_a_template_is_named_by_an_expression():
    kernel = simtmm.RawKernel(SCALE, "scale<double, 3>")
    x = np.arange(5.0)
    kernel((1,), (8,), (x, 5))
    assert x.tolist() == [0, 3, 6, 9, 12]
    with pytest.raises(KernelError, match=r"x = an array of float32: the kernel takes double\*"):
        kernel((1,), (8,), (x.astype(np.float32), 5))


def test_dynamic_shared_memory():
    kernel = simtmm.RawKernel(REVERSED, "reversed")
    x = np.arange(64, dtype=np.int32)
    kernel((1,), (64,), (x,), shared_mem=256)
    assert x.tolist() == list(range(63, -1, -1))
    with pytest.raises(RecordingError, match=r"byte 252 of shared memory, which has 252 bytes: out of bounds"):
        kernel((1,), (64,), (x,), shared_mem=252)


def test_more_shared_memory_than_usual_must_be_requested():
    kernel = simtmm.RawKernel(REVERSED, "reversed")
    x = np.arange(4, dtype=np.int32)
    with pytest.raises(KernelError, match="shared_mem = 65536: must be at most 49152"):
        kernel((1,), (4,), (x,), shared_mem=65536)
    kernel.max_dynamic_shared_size_bytes = 65536
    kernel((1,), (4,), (x,), shared_mem=65536)
    assert x.tolist() == [3, 2, 1, 0]
    assert kernel.attributes["max_dynamic_shared_size_bytes"] == 65536
    with pytest.raises(KernelError, match="max_dynamic_shared_size_bytes = 300000: must be at most 232448"):
        kernel.max_dynamic_shared_size_bytes = 300000


@needs_ptxas
def test_attributes_are_those_of_the_assembler():
    source = """
    __constant__ int table[6];
    extern "C" __global__ void __launch_bounds__(128) look(int* x) {
        __shared__ int tile[32];
        tile[threadIdx.x] = table[threadIdx.x % 6];
        __syncthreads();
        x[threadIdx.x] = tile[31 - threadIdx.x];
    }"""
    kernel = simtmm.RawKernel(source, "look", ("-arch=sm_80",))
    reported = kernel.attributes
    assert (reported["const_size_bytes"], reported["shared_size_bytes"], reported["local_size_bytes"]) == (24, 128, 0)
    assert (reported["max_threads_per_block"], reported["ptx_version"], reported["binary_version"]) == (128, 80, 80)
    assert 4 <= reported["num_regs"] == kernel.num_regs <= 32
    assert reported["max_dynamic_shared_size_bytes"] == 48 * 1024 - 128


@pytest.mark.parametrize(
    ("registers", "threads"),
    # Four files of 16,384 registers, of one of which a warp takes a multiple of 256
    [(0, 1024), (32, 1024), (64, 1024), (65, 896), (72, 896), (73, 768), (80, 768), (128, 512), (129, 384), (255, 256)],
)
def test_threads_of_a_block_are_whole_warps_whose_registers_come_in_units(registers, threads, monkeypatch):
    kernel = simtmm.RawKernel(SAXPY, "saxpy")
    monkeypatch.setattr(type(kernel), "num_regs", registers)
    assert kernel.max_threads_per_block == threads
    assert properties().most_threads(registers, None) == threads  # which Numba's kernels are held to
    assert properties().most_threads(registers, 100) == min(100, threads)


def test_a_fault_names_line_thread_and_array():
    x = np.zeros(8, np.int32)
    with pytest.raises(
        RecordingError, match=r"thread \(4, 0, 0\): writes 4 bytes at index 8 of x, which has 8 elements"
    ):
        simtmm.RawKernel(BEYOND, "beyond")((1,), (8,), (x, 4))
    assert x.tolist() == [0] * 8 or x.tolist() == [0] * 4 + [1] * 4


def test_printf_goes_to_standard_output(capsys):
    source = r"""extern "C" __global__ void tell(int n) { if (threadIdx.x == 1) printf("n = %d\n", n); }"""
    simtmm.RawKernel(source, "tell")((1,), (2,), (41,))
    assert capsys.readouterr().out == "n = 41\n"


@needs_nvcc
def test_nvcc_finds_headers_of_the_host_and_errors_name_the_kernel():
    source = """
    #include <stdint.h>
    extern "C" __global__ void most(int64_t* x) { x[0] = INT32_MAX; }
    """
    x = np.zeros(1, np.int64)
    simtmm.RawKernel(source, "most", backend="nvcc")((1,), (1,), (x,))
    assert x[0] == 2**31 - 1
    with pytest.raises(CompilerError, match=r"^most.cu:3: "):
        simtmm.RawKernel(source.replace("x[0]", "z[0]"), "most", backend="nvcc").compile()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"options": "-DN=4"}, "options = '-DN=4': must be several words"),
        ({"options": ("--fuse",)}, "option '--fuse': not supported"),
        ({"backend": "hip"}, "backend = 'hip': must be one of nvrtc, nvcc"),
        ({"jitify": True}, "jitify = True: not supported"),
        ({"code": b"x"}, "code = b'x': must be a text"),
        ({"name": ""}, "name = '': must be a kernel's name"),
    ],
)
def test_an_option_that_is_not_taken_is_named(more, said):
    with pytest.raises(KernelError, match=said):
        simtmm.RawKernel(**{"code": SAXPY, "name": "saxpy", **more})


def test_an_unknown_kernel_is_reported_with_those_that_are_near():
    with pytest.raises(KernelError, match="kernel 'saxpi': unknown; did you mean 'saxpy'"):
        simtmm.RawKernel(SAXPY, "saxpi").compile()


def test_threads_may_launch_side_by_side(saxpy):
    ys = [np.zeros(256, np.float32) for _ in range(4)]
    x = np.ones(256, np.float32)

    def work(y):
        for _ in range(20):
            saxpy((1,), (256,), (256, 1, x, y))

    threads = [threading.Thread(target=work, args=(y,)) for y in ys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [set(y.tolist()) for y in ys] == [{20.0}] * 4


def test_a_launch_that_is_interrupted_leaves_the_process_usable(saxpy, monkeypatch):
    source = r"""extern "C" __global__ void tell() { printf("."); }"""

    class Interrupting:
        def write(self, text):
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", Interrupting())
        with pytest.raises(KeyboardInterrupt):
            simtmm.RawKernel(source, "tell")((1,), (1,), ())
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    saxpy((1,), (4,), (4, 1, x, y))
    assert y.tolist() == [1] * 4


@pytest.mark.parametrize("is_recorded", [False, True])
def test_an_endless_launch_is_interrupted_by_a_signal(saxpy, is_recorded):
    source = """extern "C" __global__ void wait(volatile int* flag) { flag[0] = 1; while (flag[1] == 0) {} }"""
    kernel, flag = simtmm.RawKernel(source, "wait"), np.zeros(2, np.int32)

    def interrupt():
        while flag[0] == 0:
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt), simtmm.recording() if is_recorded else contextlib.nullcontext():
        kernel((1,), (1,), (flag,))
    thread.join()
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    saxpy((1,), (4,), (4, 1, x, y))
    # One that is recorded was compared with its machine code when it was interrupted, and arrays are as they were then.
    assert (y.tolist(), flag.tolist()) == ([1] * 4, [0 if is_recorded else 1, 0])


def test_numbers_of_128_bits_divide_as_they_do_by_hand():
    source = """typedef unsigned long long word; extern "C" __global__ void f(const word* a, word* low, word* high) {
      int i = threadIdx.x; unsigned __int128 u = ((unsigned __int128)a[i] << 64) | 5;
      low[i] = u % 1000000007u; high[i] = (u / (((unsigned __int128)3 << 64) + a[i])); }"""
    numbers = [1, 2, 31, 2**63, 2**64 - 1, 10**18 + 9]
    a, low, high = np.array(numbers, np.uint64), np.zeros(6, np.uint64), np.zeros(6, np.uint64)
    kernel = simtmm.RawKernel(source, "f", options=("--device-int128",))
    with simtmm.recording("h100-sxm") as recording:
        kernel((1,), (6,), (a, low, high))
    assert recording.trace.info.schedules[0].instructions == "machine code"  # which gives the same
    assert low.tolist() == [((each << 64) | 5) % 1000000007 for each in numbers]
    assert high.tolist() == [((each << 64) | 5) // ((3 << 64) + each) for each in numbers]
