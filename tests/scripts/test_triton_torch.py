"""PyTorch's tensors as arguments of Triton kernels: `cuda` is the CPU for the time of a recording."""

import gc

import numpy as np
import pytest

import simtmm
from simtmm.errors import RecordingError
from simtmm.scripts import notes

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def added(x, y):
    out = torch.empty_like(x)
    add[lambda meta: (triton.cdiv(out.numel(), meta["BLOCK"]),)](x, y, out, out.numel(), BLOCK=256)
    return out


def test_tensors_on_cuda_are_recorded_and_say_where_they_are():
    with simtmm.recording(machine="h100-sxm") as recording:
        device = triton.runtime.driver.active.get_active_torch_device()
        x, y = torch.rand(1000, device=device), torch.rand(1000, device="cuda")
        out = added(x, y)
        assert x.device == y.device == out.device == torch.device("cuda", 0) == device
        assert out.is_cuda
        assert torch.cuda.is_available()
        assert torch.cuda.get_device_name() == "H100 SXM"
        assert torch.cuda.get_device_capability() == (9, 0)
        assert torch.cuda.get_device_properties(0).multi_processor_count == 132
    assert out.device.type == "cpu"
    np.testing.assert_array_equal(out.numpy(), x.numpy() + y.numpy())
    assert [(each.name, each.dtype, each.shape) for each in recording.trace.info.arrays] == [
        (name, "<f4", (1000,)) for name in ("x_ptr", "y_ptr", "out_ptr")
    ]


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "int64", "float64"])
def test_types_and_views(kind: str):
    with simtmm.recording(architecture=80):
        whole = torch.arange(100, device="cuda").to(getattr(torch, kind))
        out = added(whole[10:74], whole[36:])
        assert torch.equal(out, whole[10:74] + whole[36:])


def test_a_move_is_a_copy():
    x = torch.zeros(32)
    with simtmm.recording(architecture=80):
        held = x.cuda()
        other, back = x.to("cuda", non_blocking=True), held.cpu()
        held += added(held + 1, held)
        same = torch.nn.Linear(3, 4).to("cuda").half()
        assert next(same.parameters()).device.type == "cuda"
    assert held.sum() == 32
    assert not x.any()
    assert not other.any()
    assert not back.any()


def test_what_ran_on_the_cpu_is_counted_and_everything_is_put_back():
    before = [torch.Generator, torch.cuda.is_available, torch.cuda.Event, torch.cuda.synchronize]
    notes.taken()
    with simtmm.recording(architecture=80):
        torch.manual_seed(1)
        x = torch.randn(64, device="cuda", generator=torch.Generator(device="cuda").manual_seed(3))
        out = added(x, torch.ones_like(x)) @ x
        torch.cuda.synchronize()
    assert dict(notes.taken()[0]) == {"torch.randn": 1, "torch.ones_like": 1, "torch.matmul": 1}
    assert before == [torch.Generator, torch.cuda.is_available, torch.cuda.Event, torch.cuda.synchronize]
    assert torch.rand(3).device.type == "cpu"
    assert np.isfinite(out.item())


def test_events_tell_simulated_times():
    x = torch.rand(4096)
    with simtmm.recording(machine="h100-sxm"):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        added(x, x)
        end.record()
        torch.cuda.synchronize()
        assert 0 < begin.elapsed_time(end) < 1
        assert triton.testing.do_bench(lambda: added(x, x)) == pytest.approx(begin.elapsed_time(end), rel=0.1)
    with simtmm.recording(architecture=80):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        added(x, x)
        end.record()
        with pytest.raises(RecordingError, match="needs a machine"):
            begin.elapsed_time(end)
    gc.collect()
