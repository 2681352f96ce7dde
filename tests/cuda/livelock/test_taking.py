"""Threads that take and give back until they have got something end, though each may hold what keeps others out."""

import struct
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simtmm.cuda.compilers import compile_files
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import machine_function
from tests.cuda.compilers.conftest import needs_nvrtc
from tests.cuda.livelock.phases import PATIENCE, looked_at_each_turn

pytestmark = needs_nvrtc
KERNELS = ("semaphore", "called", "flags", "warps")


@cache
def linked():
    return LinkedModule(compile_files(Path(__file__).with_name("taking.cu"), architecture=90))


def entered(function, blocks, threads, most, trips):
    """How many have got what they wanted, and what lies in the word that tells how many have it now."""
    device, words = Device(), np.zeros(2 + blocks, np.int32)
    device.symbols(function.linked)
    parameters = struct.pack("<Qii", device.memory.place("words", words), most, trips)
    for _ in device.run(function, DeviceLaunch((blocks, 1, 1), (threads, 1, 1), parameters), seconds=PATIENCE):
        pass
    return [int(words[1]), int(words[0])]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("trips", [20, 200_000])  # within a turn, and over several
def test_all_get_in(name, most, trips):
    blocks, threads = (1, 256) if name == "warps" else (8, 1)
    with looked_at_each_turn():
        assert entered(KernelFunction(linked(), name).quick, blocks, threads, most, trips) == [8, 0]


@pytest.mark.parametrize("name", KERNELS)
def test_as_machine_code_too(name):
    function, why = machine_function(KernelFunction(linked(), name))
    assert function is not None, why
    assert len(function.program.turn_ends) >= 2  # between taking and giving back, and behind both
    blocks, threads = (1, 256) if name == "warps" else (8, 1)
    with looked_at_each_turn():
        assert entered(function.quick, blocks, threads, 1, 200_000) == [8, 0]
