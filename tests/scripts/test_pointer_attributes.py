"""What the driver that numba-cuda calls says of a pointer."""

from types import SimpleNamespace

import pytest

from simtmm.errors import KernelError
from simtmm.scripts.device_blocks import DeviceBlocks
from simtmm.scripts.numba_cuda.driver import EmulatedDriver


def test_a_pointers_type_and_address_are_told_and_nothing_else():
    driver = EmulatedDriver(SimpleNamespace(CUcontext=int), DeviceBlocks())
    assert [driver.cuPointerGetAttribute(attribute, 0x700) for attribute in (2, 3)] == [2, 0x700]
    with pytest.raises(KernelError, match="attribute 1: known are 2 "):
        driver.cuPointerGetAttribute(1, 0x700)
