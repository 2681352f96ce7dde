"""What the emulated driver of CUDA tells Numba of a device, where no package of Numba's is needed for it."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.errors import KernelError
from simtmm.recorder.direct import current
from simtmm.scripts.device_blocks import DeviceBlocks
from simtmm.scripts.numba_cuda.driver import EmulatedDriver
from simtmm.scripts.numba_cuda.launches import _most_threads


def blocks_that_fit(threads, registers, own, dynamic):
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int), DeviceBlocks())
    kernel = SimpleNamespace(attributes=SimpleNamespace(num_regs=registers, shared_size_bytes=own))
    return driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, threads, dynamic)


@pytest.mark.parametrize("name", ["a40", "t4", "gtx480", "h100-pcie"])
@pytest.mark.parametrize(
    ("threads", "registers", "own", "dynamic"),
    [(256, 41, 0, 0), (48, 120, 100, 0), (256, 24, 1024, 11265), (32, 0, 0, 0)],
)
def test_as_many_blocks_fit_as_the_machine_of_the_recording_holds(name, threads, registers, own, dynamic, monkeypatch):
    machine = load_machine(name)
    monkeypatch.setattr(current, "machine", lambda: machine)
    assert blocks_that_fit(threads, registers, own, dynamic) == machine.active_blocks(threads, registers, own + dynamic)


@pytest.mark.parametrize(
    ("threads", "registers", "own", "dynamic", "blocks"),
    [
        (256, 32, 0, 0, 8),  # 2048 threads
        (256, 41, 0, 0, 5),  # 1536 registers a warp, 12288 a block
        (128, 24, 1, 0, 16),  # 1152 bytes a block
        (128, 24, 0, 32768, 6),  # 33792 of 233472
    ],
)
def test_without_a_machine_it_is_a_gpu_of_today(threads, registers, own, dynamic, blocks):
    assert blocks_that_fit(threads, registers, own, dynamic) == blocks


@pytest.mark.parametrize(
    ("registers", "bound", "most"),
    [(0, None, 1024), (64, None, 1024), (65, None, 896), (73, None, 800), (255, None, 256), (65, 100, 100)],
)
def test_a_block_has_as_many_whole_warps_as_the_registers_hold(registers, bound, most):
    """As simtmm.RawKernel says it, for which more are tried."""
    assert _most_threads(registers, bound) == most


def driver_with(*sizes):
    """A driver, and the addresses of pieces of memory of these sizes."""
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int, CUdeviceptr=int), DeviceBlocks())
    return driver, [driver.cuMemAlloc(size) for size in sizes]


@pytest.mark.parametrize("wait", ["", "Async"])
@pytest.mark.parametrize(
    ("to", "source", "size", "told"),
    [
        (0, 1, 65, "a copy on the device: 65 bytes .* the array has 64 bytes"),  # the first is the shorter
        (1, 0, 65, "a copy: 65 bytes .* the array has 64 bytes"),
        (0, 1, 128, "a copy on the device"),
    ],
)
def test_a_copy_on_the_device_stays_within_what_it_reads_and_what_it_writes(to, source, size, told, wait):
    driver, pieces = driver_with(64, 128)
    more = (0,) if wait else ()
    copy = getattr(driver, f"cuMemcpyDtoD{wait}")
    copy(pieces[to], pieces[source], 64, *more)
    with pytest.raises(KernelError, match=told):
        copy(pieces[to], pieces[source], size, *more)
    with pytest.raises(KernelError, match="no array of the device is there"):
        copy(8, pieces[source], 4, *more)
    with pytest.raises(KernelError, match="no array of the device is there"):
        copy(pieces[to], 8, 4, *more)


@pytest.mark.parametrize("wait", ["", "Async"])
def test_a_copy_between_host_and_device_stays_within_the_device_s_array(wait):
    driver, (there,) = driver_with(64)
    host, more = np.arange(16, dtype=np.int64), (0,) if wait else ()
    into, out_of = getattr(driver, f"cuMemcpyHtoD{wait}"), getattr(driver, f"cuMemcpyDtoH{wait}")
    into(there, host.ctypes.data, 64, *more)
    host[:] = 0
    out_of(host.ctypes.data, there + 32, 32, *more)
    assert host[:5].tolist() == [4, 5, 6, 7, 0]
    for call in (
        lambda: into(there, host.ctypes.data, 65, *more),
        lambda: out_of(host.ctypes.data, there + 32, 33, *more),
    ):
        with pytest.raises(KernelError, match="the array has 64 bytes"):
            call()


@pytest.mark.parametrize("wait", ["", "Async"])
def test_memory_is_set_within_one_array(wait):
    driver, (there,) = driver_with(64)
    more = (0,) if wait else ()
    getattr(driver, f"cuMemsetD8{wait}")(there + 60, 0x1FF, 4, *more)
    assert bytes(driver.blocks.find(there).memory) == bytes(60) + b"\xff" * 4
    with pytest.raises(KernelError, match="memset: 5 bytes"):
        getattr(driver, f"cuMemsetD8{wait}")(there + 60, 0, 5, *more)
