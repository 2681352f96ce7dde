"""What the emulated driver of CUDA tells Numba of a device, where no package of Numba's is needed for it."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.device.host import IN, OUT
from simtmm.errors import KernelError
from simtmm.recorder.direct import current
from simtmm.recorder.direct.calls import ALLOCATE, ALLOCATE_PINNED, ALLOCATIONS, FREE, FREE_PINNED
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


def copied(name, to, source, size):
    """What the driver's function copies into the first of these, each an array's bytes or a piece of the device."""
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int, CUdeviceptr=int), DeviceBlocks())
    pieces = {"device": driver.cuMemAlloc(64), "other": driver.cuMemAlloc(64)}
    host = np.arange(256, dtype=np.uint8)
    driver.cuMemcpyHtoD(pieces["other"], host.ctypes.data + 100, 64)
    places = {**pieces, "host": host.ctypes.data}
    (into, at), (out_of, begin) = to, source
    given = (places[into] + at, places[out_of] + begin, size)
    if name.endswith("Async"):
        getattr(driver, name)(*given, 0)
    else:
        getattr(driver, name)(*given)
    found = np.zeros(64, np.uint8)
    driver.cuMemcpyDtoH(found.ctypes.data, places["device"], 64)
    return (host if into == "host" else found)[at : at + size].tolist()


COPIES = [("cuMemcpyHtoD", "device", "host"), ("cuMemcpyDtoH", "host", "other"), ("cuMemcpyDtoD", "device", "other")]


@pytest.mark.parametrize("late", ["", "Async"])
@pytest.mark.parametrize(("name", "to", "source"), COPIES)
def test_a_copy_brings_just_the_bytes_that_it_names(name, to, source, late):
    first = 100 if source == "other" else 0
    assert copied(name + late, (to, 8), (source, 16), 48) == list(range(first + 16, first + 64))
    assert copied(name + late, (to, 0), (source, 0), 64) == list(range(first, first + 64))


@pytest.mark.parametrize("late", ["", "Async"])
@pytest.mark.parametrize(
    ("name", "to", "source", "end"),
    [(*each, end) for each in COPIES for end in (0, 1) if each[1 + end] != "host"],
)
def test_a_copy_beyond_either_array_of_the_device_is_refused(name, to, source, late, end):
    """One byte too far at this end alone."""
    ends = [(to, 0), (source, 0)]
    ends[end] = (ends[end][0], 1)
    with pytest.raises(KernelError, match=r"numba: a copy.*: 64 bytes at 0x[0-9a-f]+: the array has 64 bytes"):
        copied(name + late, *ends, 64)


@pytest.mark.parametrize("late", ["", "Async"])
@pytest.mark.parametrize(("name", "direction"), [("cuMemcpyHtoD", IN), ("cuMemcpyDtoH", OUT), ("cuMemcpyDtoD", None)])
def test_the_clock_is_told_of_each_copy_once_which_way_and_how_much(name, direction, late, monkeypatch):
    told = []
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int, CUdeviceptr=int), DeviceBlocks())
    first, second, host = driver.cuMemAlloc(64), driver.cuMemAlloc(64), np.zeros(64, np.uint8).ctypes.data
    monkeypatch.setattr(current, "copied", lambda direction, size, **ends: told.append((direction, size, ends)))
    ends = {IN: (first, host), OUT: (host, first), None: (first, second)}[direction]
    getattr(driver, name + late)(*ends, 48, *([0] if late else []))
    ((*copy, where),) = told
    assert copy == [direction, 48]
    assert where == ({} if direction is None else {"is_pinned": False, "host": host, "device": first})


@pytest.mark.parametrize(("name", "direction"), [("cuMemcpyHtoD", IN), ("cuMemcpyDtoH", OUT)])
def test_a_copy_from_or_to_memory_that_the_driver_has_locked_is_one_of_pinned_memory(name, direction, monkeypatch):
    told = []
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int, CUdeviceptr=int), DeviceBlocks())
    first, host = driver.cuMemAlloc(64), driver.cuMemHostAlloc(64, 0)
    monkeypatch.setattr(current, "copied", lambda direction, size, **ends: told.append(ends["is_pinned"]))
    getattr(driver, name)(*((first, host) if direction == IN else (host, first)), 64)
    assert told == [True]


def test_the_clock_is_told_of_memory_that_is_allocated_and_freed(monkeypatch):
    told = []
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int, CUdeviceptr=int), DeviceBlocks())
    monkeypatch.setattr(current, "allocated", lambda what, size: told.append((ALLOCATIONS[what], size)))
    driver.cuMemFree(driver.cuMemAlloc(64))
    driver.cuMemFreeHost(driver.cuMemHostAlloc(32, 0))
    assert told == [(ALLOCATE, 64), (FREE, 0), (ALLOCATE_PINNED, 32), (FREE_PINNED, 0)]


def test_memory_is_set_within_an_array_and_no_further():
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int, CUdeviceptr=int), DeviceBlocks())
    at, found = driver.cuMemAlloc(16), np.zeros(16, np.uint8)
    driver.cuMemsetD8(at + 4, 0x107, 12)
    driver.cuMemcpyDtoH(found.ctypes.data, at, 16)
    assert found.tolist() == [0] * 4 + [7] * 12
    with pytest.raises(KernelError, match="numba: memset: 13 bytes"):
        driver.cuMemsetD8(at + 4, 1, 13)
