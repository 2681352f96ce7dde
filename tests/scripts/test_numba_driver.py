"""What the emulated driver of CUDA tells Numba of a device, where no package of Numba's is needed for it."""

from types import SimpleNamespace

import pytest

from simtmm import load_machine
from simtmm.recorder.direct import current
from simtmm.scripts.device_blocks import DeviceBlocks
from simtmm.scripts.numba_cuda.driver import EmulatedDriver


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
