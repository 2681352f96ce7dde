"""Arrays as memory of a device: views, owners, and arrays that are gone."""

import gc
import mmap
import weakref

import numpy as np
import pytest

import simtmm
from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.host_memory import HostMemory
from simtmm.errors import KernelError, RecordingError
from simtmm.recorder.direct import current
from tests.cuda.compilers.conftest import needs_nvrtc
from tests.recorder.direct.kernels import BEYOND, SAXPY, VARIABLES


@pytest.fixture
def host():
    return HostMemory(DeviceMemory(), numbered=True)


def names(host):
    return [allocation.name for allocation in host._memory.allocations]


def test_views_lie_within_what_they_are_views_of(host):
    owner = np.zeros((10, 10), np.int32)
    base = host.address(owner, "a", "")
    assert host.address(owner[3:], "b", "") == base + 120
    assert host.address(owner[:, 4:], "b", "") == base + 16
    assert host.address(owner[::-1], "b", "") == base + 360
    assert host.address(owner.T, "b", "") == base
    strided = np.lib.stride_tricks.as_strided(owner[1:], (4, 4), (4, 4))
    assert host.address(strided, "b", "") == base + 40
    assert names(host) == ["a"]


def test_a_view_seen_first_places_the_whole_owner(host):
    owner = np.zeros(100, np.int32)
    view = host.address(owner[50:], "x", "")
    assert host.address(owner, "y", "") == view - 200
    (allocation,) = host._memory.allocations
    assert (allocation.name, allocation.bytes, allocation.array.shape) == ("x", 400, (100,))


def test_arrays_on_one_buffer_share_its_memory(host):
    buffer = bytearray(64)
    one, two = np.frombuffer(buffer, np.int32), np.frombuffer(buffer, np.float32, offset=32)
    assert host.address(two, "two", "") == host.address(one, "one", "") + 32
    mapped = mmap.mmap(-1, 4096)
    first = host.address(np.frombuffer(mapped, np.uint8, 100, 1000), "m", "")
    assert host.address(np.frombuffer(mapped, np.uint8, 100, 2000), "m", "") == first + 1000
    assert names(host) == ["two", "m"]


def test_memory_that_two_arrays_share_in_part_is_refused(host):
    owner = np.zeros(100, np.uint8)

    class Window:
        """What says where its memory is, and nothing of whose it is."""

        def __init__(self, start, size):
            self.__array_interface__ = {
                "data": (owner.ctypes.data + start, False), "shape": (size,), "typestr": "|u1", "version": 3,
            }  # fmt: skip

    inside, across = np.asarray(Window(0, 50)), np.asarray(Window(25, 50))
    host.address(inside, "x", "")
    with pytest.raises(KernelError, match="k: y = an array whose memory overlaps that of x"):
        host.address(across, "y", "k: y")


def test_an_array_that_is_gone_is_taken_out_and_its_address_not_given_again(host):
    first = np.zeros(1000)
    host.address(first, "x", "")
    base = host._memory.allocations[0].base
    del first
    host.hold()
    assert names(host) == []
    again = np.zeros(1000)
    assert host.address(again, "x", "") > base
    assert names(host) == ["x_2"]


def test_empty_arrays_have_addresses_of_their_own(host):
    given = np.zeros(0), np.zeros(0), np.zeros(4)
    assert len({host.address(each, "x", "") for each in given}) == 3


@needs_nvrtc
def test_arrays_are_freed_when_they_are_dropped():
    kernel = simtmm.RawKernel(SAXPY, "saxpy")
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    gone = weakref.ref(y)
    kernel((1,), (32,), (32, 1, x, y))
    del y
    assert gone() is None
    with simtmm.recording() as recording:
        y = np.zeros(100, np.float32)
        kernel((1,), (32,), (32, 1, x, y))
        gone = weakref.ref(y)
        del y
        assert gone() is None
        y = np.zeros(100, np.float32)
        kernel((1,), (32,), (32, 1, x, y))
    assert y[:33].tolist() == [1] * 32 + [0]
    assert [array.name for array in recording.trace.info.arrays] == ["x", "y", "y_2"]


@needs_nvrtc
def test_modules_are_freed_when_they_are_dropped():
    module = simtmm.RawModule(VARIABLES)
    x = np.zeros(4, np.int32)
    module.get_function("add_one")((1,), (4,), (x,))
    kept = module.get_global("other").array(np.int32)
    gone = weakref.ref(module.image().linked)
    del module
    gc.collect()
    simtmm.RawKernel(SAXPY, "saxpy")((1,), (1,), (0, 0, None, None))
    gc.collect()
    assert gone() is None
    assert "other" not in [allocation.name for allocation in current._session.device.memory.allocations]
    other = simtmm.RawModule(VARIABLES).get_function("add_one")
    other((1,), (4,), (kept,))  # an array like any other
    assert kept.tolist() == [6, 7, 8, 9]


@needs_nvrtc
def test_bounds_are_those_of_the_owner():
    kernel = simtmm.RawKernel(BEYOND, "beyond")
    owner = np.zeros(16, np.int32)
    kernel((1,), (4,), (owner[4:8], 4))
    kernel((1,), (4,), (owner[4:8], -4))
    assert owner.tolist() == [1] * 4 + [0] * 4 + [1] * 4 + [0] * 4
    with pytest.raises(RecordingError, match="index 16 of x, which has 16 elements"):
        kernel((1,), (4,), (owner[4:8], 9))


@needs_nvrtc
def test_memory_that_may_not_be_written_to_is_safe():
    source = 'extern "C" __global__ void force(const int* x) { *(int*)x = 1; }'
    kernel = simtmm.RawKernel(source, "force")
    text = bytes(16)
    with pytest.raises(RecordingError, match=r"writes 4 bytes at index 0 of x, .*, which is read-only"):
        kernel((1,), (1,), (np.frombuffer(text, np.int32),))
    assert text == bytes(16)
    array = np.zeros(4, np.int32)
    array.flags.writeable = False
    with pytest.raises(RecordingError, match="read-only"):
        kernel((1,), (1,), (array,))
    array.flags.writeable = True
    kernel((1,), (1,), (array,))
    assert array.tolist() == [1, 0, 0, 0]
