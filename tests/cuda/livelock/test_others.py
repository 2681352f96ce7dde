"""What the host, another stream, or a block that has not started may write is waited for, up to the limit."""

import struct

import numpy as np
import pytest

from simtmm.cuda import device as devices
from simtmm.cuda.compilers import compile_source
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.livelock import others, watch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.errors import LivelockError, NoProgressError

SOURCE = """
extern "C" __global__ void waits(volatile int *a) { while (a[2] == 0) ; }
extern "C" __global__ void waits_in_shared(volatile int *a)
{
    __shared__ volatile int flag;
    flag = 0;
    __syncthreads();
    while (flag == 0) ;
}
extern "C" __global__ void waits_for_the_last(volatile int *a)
{
    if (blockIdx.x == gridDim.x - 1) a[0] = 1;
    while (a[0] == 0) ;
}
extern "C" __global__ void waits_plainly(int *a)
{
    while (a[2] == 0) __syncthreads();
}
"""


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.0)
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "0.5")


def launch(name, blocks=1, memory=lambda memory, array: memory.place("a", array), concurrent=False, cluster=None):
    device = Device()
    function = KernelFunction(LinkedModule([compile_source(SOURCE, name="waits.cu", architecture=90)]), name).quick
    device.symbols(function.linked)
    base = memory(device.memory, np.zeros(16, np.int32))
    shape, given = ((blocks, 1, 1), (32, 1, 1)), struct.pack("<Q", base)
    device.launch(function, DeviceLaunch(*shape, given, concurrent=concurrent, cluster=cluster), seconds=60)


def test_nobody_else_may_write_the_arrays_of_a_launch():
    with pytest.raises(LivelockError, match="index 2 of a"):
        launch("waits")


def test_memory_that_the_host_may_write_is_waited_for():
    kept = []

    def mapped(memory, array):
        kept.append(array)
        others.host_may_write(array.ctypes.data + 8, 4)
        return memory.place("a", array)

    try:
        with pytest.raises(NoProgressError, match=r"for 0\.5 s, no block ended and no store changed memory"):
            launch("waits", memory=mapped)
    finally:
        others.host_lets_go(kept[0].ctypes.data + 8)


def test_what_another_stream_may_write_is_waited_for():
    with pytest.raises(NoProgressError):
        launch("waits", concurrent=True)


def test_once_there_is_another_stream_global_memory_is_waited_for():
    class Stream:
        pass

    stream = Stream()
    others.has_stream(stream)
    with pytest.raises(NoProgressError):
        launch("waits")
    del stream
    with pytest.raises(LivelockError):
        launch("waits")


def test_shared_memory_is_written_by_no_other():
    with pytest.raises(LivelockError, match="byte 0 of flag"):
        launch("waits_in_shared", concurrent=True)


@pytest.mark.parametrize("cluster", [None, (1, 1, 1), (2, 1, 1)])
def test_blocks_that_have_not_begun_are_told(monkeypatch, cluster):
    monkeypatch.setattr(devices, "RESIDENT", 4)
    with pytest.raises(
        LivelockError, match="none of the 4 blocks that have started can continue, and 2 have not started: at most"
    ):
        launch("waits_for_the_last", blocks=6, cluster=cluster)
    launch("waits_for_the_last", blocks=4, cluster=cluster)


def test_a_block_that_waits_by_plain_loads_is_not_accused_while_others_may_write():
    with pytest.raises(NoProgressError):
        launch("waits_plainly", blocks=2)
    with pytest.raises(LivelockError):
        launch("waits_plainly", blocks=1)
