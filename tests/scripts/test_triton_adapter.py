"""What Triton is told of a device that is not there, and that everything is put back."""

import ctypes
import gc
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import simtmm
from simtmm.errors import KernelError, RecordingError
from simtmm.scripts import notes
from simtmm.scripts.triton import ADAPTER

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
pytestmark = pytest.mark.filterwarnings("ignore")


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)


def state() -> list[object]:
    """All that an adapter changes."""
    from triton import knobs
    from triton.compiler import compiler
    from triton.runtime import autotuner, jit

    return [
        triton.runtime.driver._active, triton.runtime.driver._default, vars(jit.JITFunction)["run"],
        vars(compiler.CompiledKernel)["_init_handles"], vars(autotuner.Autotuner)["run"],
        vars(autotuner.Autotuner)["do_bench"], triton.testing.do_bench, triton.compile, compiler.compile,
        triton.reinterpret, jit.reinterpret, knobs.cache.dir,
    ]  # fmt: skip


def test_everything_is_put_back_after_an_exception_too():
    before = state()

    def fail() -> None:
        assert all(now is not then for now, then in zip(state(), before, strict=True))
        with ADAPTER.installed():
            pass
        assert triton.runtime.driver.active.get_current_target().arch
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), ADAPTER.installed():
        fail()
    assert state() == before


def test_a_recording_is_enough_and_each_architecture_has_its_kernels():
    x = np.arange(100, dtype=np.float32)
    for architecture in (80, 90):
        out = np.zeros_like(x)
        with simtmm.recording(architecture=architecture) as recording:
            double[(1,)](x, out, 100, BLOCK=128)
        np.testing.assert_array_equal(out, 2 * x)
        assert recording.trace.info.architecture.startswith(f"sm_{architecture}")


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=1),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 512}, num_warps=1),
    ],
    key=["n"],
    restore_value=["x_ptr"],
    reset_to_zero=["count_ptr"],
)
@triton.jit
def raise_all(x_ptr, count_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)
    tl.atomic_add(count_ptr, 1)


def blocks(meta: dict[str, int]) -> tuple[int]:
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def test_autotune_simulates_each_configuration_and_takes_the_fastest(capfd: pytest.CaptureFixture[str]):
    x, count = np.zeros(8192, np.float32), np.zeros(1, np.int32)
    with simtmm.recording(machine="h100-sxm") as recording:
        raise_all[blocks](x, count, 8192)
        raise_all[blocks](x, count, 8192)
    assert (x == 2).all()
    best = raise_all.best_config.kwargs["BLOCK"]
    assert [each.grid[0] for each in recording.trace.info.launches] == [8192 // best] * 2
    table = capfd.readouterr().err.splitlines()
    begin = next(number for number, line in enumerate(table) if "autotune of raise_all: 3 configurations" in line)
    rows = table[begin + 1 : begin + 4]
    times = [float(row.split()[0]) for row in rows]
    assert times == sorted(times)
    assert times[0] < times[-1]
    assert f"BLOCK: {best}," in rows[0]
    assert raise_all.cache == {}


@triton.autotune(configs=[triton.Config({}, num_ctas=32), triton.Config({}, num_ctas=1)], key=["n"])
@triton.jit
def triple(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 3, mask=offsets < n)


def test_a_configuration_that_does_not_run_here_is_left_out_and_that_is_reported():
    notes.taken()
    x = np.ones(100, np.float32)
    with simtmm.recording(machine="h100-sxm") as recording:
        triple[(1,)](x, 100, BLOCK=128)
    assert triple.best_config.num_ctas == 1
    assert (x == 9).all()  # as on a GPU: nothing was said to be restored
    assert recording.launches == 1
    reported = notes.taken()[1]
    assert len(reported) == 1
    assert "autotune leaves out a configuration" in reported[0]
    assert "clusters of (32, 1, 1) blocks: must be 1 to 16" in reported[0]


def test_tritons_interpreter_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(KernelError, match="TRITON_INTERPRET is set"), ADAPTER.installed():
        pass


def test_without_a_machine_the_first_configuration_is_taken_and_that_is_reported():
    notes.taken()
    x, count = np.zeros(300, np.float32), np.zeros(1, np.int32)
    with simtmm.recording(architecture=80) as recording:
        raise_all[blocks](x, count, 300)
    assert (x == 1).all()
    assert count[0] == 5
    assert recording.trace.info.launches[0].grid == (5, 1, 1)
    assert any("raise_all is not tuned, because there is no machine" in each for each in notes.taken()[1])


def test_do_bench_tells_simulated_times():
    x, out = np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32)

    def launch() -> None:
        double[(4,)](x, out, 4096, BLOCK=1024)

    with simtmm.recording(machine="h100-sxm"):
        one = triton.testing.do_bench(launch)
        assert triton.testing.do_bench(launch, quantiles=[0.5, 0.2, 0.8]) == [one] * 3
        assert 0 < one < 1
        assert np.isnan(triton.testing.do_bench(lambda: None))
    with pytest.raises(RecordingError, match="needs a machine"), simtmm.recording(architecture=80):
        triton.testing.do_bench(launch)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    place = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c_ptr + place, tl.dot(tl.load(a_ptr + place), tl.load(b_ptr + place)))


def test_a_product_for_hopper_is_by_wgmma():
    notes.taken()
    a, b = np.random.default_rng(0).random((2, 64, 64)).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    with simtmm.recording(architecture=90) as recording:
        product[(1,)](a, b, c, N=64)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3)
    assert recording.trace.info.architecture.startswith("sm_90")
    assert notes.taken()[1] == []
    assert any(site.kind == "product" for site in recording.trace.info.sites)


def test_a_product_for_blackwell_is_compiled_for_sm_80_and_that_is_reported():
    notes.taken()
    a, b = np.random.default_rng(0).random((2, 128, 128)).astype(np.float16)
    c = np.zeros((128, 128), np.float32)
    with simtmm.recording(architecture=100) as recording:
        product[(1,)](a, b, c, N=128)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3)
    assert recording.trace.info.architecture == "sm_80"
    assert notes.taken()[1] == [
        "triton: kernel product is compiled for sm_80: for sm_100 it has tcgen05, which is not supported"
    ]


@triton.jit
def product_by_descriptors(a_ptr, b_ptr, c_ptr, M, N, K, B: tl.constexpr):
    row, column = tl.program_id(0) * B, tl.program_id(1) * B
    a = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[B, B])
    b = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[N, 1], block_shape=[B, B])
    c = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[B, B])
    total = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total)


def test_descriptors_made_in_a_kernel_become_tensor_maps():
    """Also where a box reaches beyond the matrix: zeros are read there, and nothing is written."""
    m, n, k, side = 96, 128, 160, 64
    random = np.random.default_rng(1)
    a, b = random.random((m, k)).astype(np.float16), random.random((k, n)).astype(np.float16)
    c = np.full((m + 32, n), -1, np.float32)
    triton.set_allocator(lambda size, alignment, stream: np.zeros(size, np.int8))
    with simtmm.recording(architecture=90) as recording:
        product_by_descriptors[(2, 2)](a, b, c, m, n, k, B=side)
    np.testing.assert_allclose(c[:m], a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3)
    assert (c[m:] == -1).all()
    assert recording.trace.info.architecture.startswith("sm_90")
    assert any(site.kind == "copy" for site in recording.trace.info.sites)


@triton.jit
def product_by_given_descriptors(a, b, c, K, B: tl.constexpr, SPECIALIZED: tl.constexpr):
    row, column = tl.program_id(0) * B, tl.program_id(1) * B
    total = tl.zeros((B, B), tl.float32)
    for k in tl.range(0, K, B, warp_specialize=SPECIALIZED, num_stages=3):
        total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
    c.store([row, column], total.to(tl.float16))


@pytest.mark.parametrize("specialized", [False, True])
@pytest.mark.parametrize("architecture", [80, 90])
def test_descriptors_made_on_the_host_are_tensor_maps_or_taken_apart(architecture: int, specialized: bool):
    from triton.tools.tensor_descriptor import TensorDescriptor

    m, n, k, side = 96, 128, 160, 64
    random = np.random.default_rng(2)
    a, b = random.random((m, k)).astype(np.float16), random.random((n, k)).astype(np.float16)
    c = np.full((m + 32, n), -1, np.float16)
    with simtmm.recording(architecture=architecture) as recording:
        of_c = TensorDescriptor(c, [m, n], [n, 1], [side, side])
        given = [TensorDescriptor.from_tensor(each, [side, side]) for each in (a, b)]
        product_by_given_descriptors[(2, 2)](*given, of_c, k, B=side, SPECIALIZED=specialized)
    np.testing.assert_allclose(c[:m], a.astype(np.float32) @ b.astype(np.float32).T, rtol=1e-3)
    assert (c[m:] == -1).all()
    assert any(site.kind == "copy" for site in recording.trace.info.sites) == (architecture == 90)
    assert {"a", "b", "c"} <= {array.name for array in recording.trace.info.arrays}


def test_a_cluster_shares_a_product():
    a, b = np.random.default_rng(3).random((2, 128, 128)).astype(np.float16)
    c = np.zeros((128, 128), np.float32)
    with simtmm.recording(architecture=90) as recording:
        product[(1,)](a, b, c, N=128, num_ctas=2)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3)
    assert [launch.grid for launch in recording.trace.info.launches] == [(2, 1, 1)]


class Tensor:
    """What torch's tensors have that a launch asks for."""

    def __init__(self, values: list[float]) -> None:
        self.memory = (ctypes.c_float * len(values))(*values)
        self.dtype = "torch.float32"

    def data_ptr(self) -> int:
        return ctypes.addressof(self.memory)

    def numel(self) -> int:
        return len(self.memory)

    def element_size(self) -> int:
        return 4


def test_a_tensor_of_another_library_is_one_array_for_as_long_as_it_lives():
    x, out = Tensor([1, 2, 3, 4]), Tensor([0, 0, 0, 0])
    with simtmm.recording(architecture=80) as recording:
        double[(1,)](x, out, 4, BLOCK=16)
        double[(1,)](out, x, 4, BLOCK=16)
        gc.collect()
    assert list(out.memory) == [2, 4, 6, 8]
    assert list(x.memory) == [4, 8, 12, 16]
    assert [(each.name, each.dtype, each.shape) for each in recording.trace.info.arrays] == [
        ("x_ptr", "<f4", (4,)), ("out_ptr", "<f4", (4,)),
    ]  # fmt: skip


@triton.jit
def copy(x_ptr, out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)).to(tl.float32))


def test_views_and_other_types_of_the_same_memory():
    x = np.arange(32, dtype=np.float32)
    bits, out = (x.view(np.uint32) >> 16).astype(np.uint16), np.zeros(48, np.float32)
    with ADAPTER.installed():
        copy[(1,)](triton.reinterpret(bits, tl.bfloat16), out[16:], N=32)
    np.testing.assert_array_equal(out[16:], x)
    assert not out[:16].any()


def test_a_script_that_was_copied_has_its_own_lines(tmp_path: Path):
    text = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef one(x_ptr):\n    tl.store(x_ptr, 1.0)\n"
    for folder in ("first", "second"):
        path = tmp_path / folder / "ones.py"
        path.parent.mkdir()
        path.write_text(text)
        module = runpy.run_path(str(path))
        x = np.zeros(1, np.float32)
        with simtmm.recording(architecture=80) as recording:
            module["one"][(1,)](x)
        places = {(each.file, each.line, each.source) for each in recording.trace.info.sites if each.kind == "store"}
        assert places == {(str(path), 6, "tl.store(x_ptr, 1.0)")}


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def fill(out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + offsets, 1.0)
    else:
        tl.store(out_ptr + offsets, 2.0, mask=offsets < n)


def test_heuristics_and_an_empty_grid():
    even, odd = np.zeros(64, np.float32), np.zeros(70, np.float32)
    with ADAPTER.installed():
        fill[(2,)](even, 64, BLOCK=32)
        fill[(3,)](odd, 70, BLOCK=32)
        fill[(0,)](odd, 70, BLOCK=32)
    assert (even == 1).all()
    assert (odd == 2).all()


@triton.jit
def told(x_ptr):
    tl.device_print("x is", tl.load(x_ptr))


def test_what_is_printed_on_the_device(capfd: pytest.CaptureFixture[str]):
    with ADAPTER.installed():
        told[(1,)](np.array([42], np.int32), num_warps=1)
    assert "x is: 42" in capfd.readouterr().out


def test_what_is_no_memory_or_not_run_is_one_line():
    x = np.zeros(4, np.float32)
    with ADAPTER.installed():
        with pytest.raises(KernelError, match="Python objects"):
            double[(1,)](np.array([None] * 4), x, 4, BLOCK=16)
        with pytest.raises(RecordingError, match=r"out of bounds|outside|beyond|no array"):
            double[(1,)](x, x, 4000, BLOCK=256)


def test_a_kernel_may_have_as_much_shared_memory_as_the_device_and_no_more(monkeypatch: pytest.MonkeyPatch):
    from triton.runtime.errors import OutOfResources

    from simtmm.scripts.triton import adapter

    launcher = SimpleNamespace(most_shared=1000, resources=SimpleNamespace(registers=40, spills=3))
    monkeypatch.setattr(adapter, "Launcher", lambda kernel, tensors: launcher)
    init = adapter._with_launcher(SimpleNamespace())
    large = SimpleNamespace(_run=None, metadata=SimpleNamespace(shared=1001))
    with pytest.raises(OutOfResources, match=r"shared memory, Required: 1001, Hardware limit: 1000\."):
        init(large)
    assert large._run is None
    kernel = SimpleNamespace(_run=None, metadata=SimpleNamespace(shared=1000))
    init(kernel)
    assert (kernel._run, kernel.n_regs, kernel.n_spills, kernel.n_max_threads) == (launcher, 40, 3, 1024)
    monkeypatch.setattr(adapter, "Launcher", lambda kernel, tensors: pytest.fail("it has one"))
    init(kernel)
