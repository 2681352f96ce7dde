"""Products of four warps and copies of boxes as machine code: what ptxas makes of them, against NumPy."""

import re
import struct

import numpy as np
import pytest

from simtmm.cuda.compilers import module_of_ptx
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import MachineFunction
from tests.cuda.compilers.conftest import needs
from tests.cuda.execution import test_sparse, test_wgmma

needs_tools = needs(lambda: find_tool("ptxas"), lambda: find_tool("nvdisasm"))


def run_as_machine_code(text, entry, arrays, threads=32):
    """In the place of tests.cuda.execution.kernels.run: the kernel assembled for sm_90a, and lifted back."""
    text = re.sub(r"\.target \S+", ".target sm_90a", text)
    function = MachineFunction(KernelFunction(LinkedModule([module_of_ptx(text, "group", 90)]), entry))
    device = Device()
    addresses = [device.memory.place(f"a{at}", array) for at, array in enumerate(arrays)]
    arguments = struct.pack(f"<{len(addresses)}Q", *addresses)
    device.launch(function.quick, DeviceLaunch((1, 1, 1), (threads, 1, 1), arguments))
    return function


@pytest.fixture
def lifted(monkeypatch):
    """Have the tests of PTX run machine code."""
    for module in (test_wgmma, test_sparse):
        monkeypatch.setattr(module, "run", run_as_machine_code)


@needs_tools
@pytest.mark.parametrize(
    ("kinds", "layouts", "columns", "signs"),
    [
        (("f32", "f16", "f16"), (128, 128), 64, (1, 1)),
        (("f16", "f16", "f16"), (128, "turned 128"), 64, (1, 1)),
        (("f32", "bf16", "bf16"), ("registers", "turned 64"), 16, (-1, 1)),
        (("f32", "f16", "f16"), ("turned 128", 32), 24, (-1, -1)),
        (("f32", "tf32", "tf32"), (0, 64), 8, (1, -1)),
        (("f16", "e4m3", "e5m2"), (64, 128), 32, (1, 1)),
        (("f32", "e5m2", "e5m2"), ("registers", 128), 8, (1, 1)),
        (("s32", "s8", "u8"), (128, 128), 32, (1, 1)),
        (("s32", "b1", "b1"), (128, 128), 8, (1, 1)),
    ],
)
def test_a_product_of_four_warps_as_machine_code(lifted, kinds, layouts, columns, signs):
    a, b, c = test_wgmma.drawn(kinds[1], 3, columns, kinds[2])
    for adds in (True, False):
        found, expected = test_wgmma.multiplied(kinds, a, b, c, layouts, adds, signs)
        assert np.array_equal(found, expected), adds


@needs_tools
@pytest.mark.parametrize(
    ("kinds", "columns", "layouts", "selector"),
    [
        (("f32", "f16", "f16"), 64, (128, 128), 1),
        (("f32", "bf16", "bf16"), 16, ("registers", "turned 128"), 0),
        (("f32", "tf32", "tf32"), 8, (64, 128), 1),
        (("f32", "e4m3", "e5m2"), 16, (0, 128), 0),
        (("s32", "s8", "u8"), 48, ("registers", 64), 0),
    ],
)
def test_a_sparse_product_of_four_warps_as_machine_code(lifted, kinds, columns, layouts, selector):
    found, expected = test_sparse.by_group(kinds, columns, layouts, selector)
    assert np.array_equal(found, expected)
