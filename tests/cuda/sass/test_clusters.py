"""Blocks of clusters as machine code: what ptxas makes of the tests of PTX, lifted back."""

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
from simtmm.errors import RecordingError
from tests.cuda.compilers.conftest import needs
from tests.cuda.execution import test_clusters as of_ptx
from tests.cuda.execution.kernels import kernel

needs_tools = needs(lambda: find_tool("ptxas"), lambda: find_tool("nvdisasm"))
pytestmark = needs_tools

EXPLICIT = "{.reg .pred %is; mov.pred %is, %is_explicit_cluster; selp.u32 %y, 1, 0, %is;}"


def run_as_machine_code(text, arrays, grid, cluster, threads=32):
    """In the place of of_ptx.run: the kernel assembled for sm_90a, and lifted back."""
    text = re.sub(r"\.target \S+", ".target sm_90a", text)
    text = text.replace("mov.u32 %y, %is_explicit_cluster;", EXPLICIT)  # of type pred to ptxas
    function = MachineFunction(KernelFunction(LinkedModule([module_of_ptx(text, "clusters", 90)]), "k"))
    device = Device()
    addresses = [device.memory.place(f"a{at}", array) for at, array in enumerate(arrays)]
    parameters = struct.pack(f"<{len(addresses)}Q", *addresses)
    device.launch(function.quick, DeviceLaunch(grid, (threads, 1, 1), parameters, cluster=cluster))
    return function


@pytest.fixture(autouse=True)
def lifted(monkeypatch):
    """Have the tests of PTX run machine code."""
    monkeypatch.setattr(of_ptx, "run", run_as_machine_code)


@pytest.mark.parametrize("cluster", [(2, 3, 1), (1, 1, 1), None])
def test_a_block_knows_where_in_its_cluster_it_is(cluster):
    of_ptx.test_a_block_knows_where_in_its_cluster_it_is(cluster)


@pytest.mark.parametrize("generic", [False, True])
def test_a_block_reads_and_writes_the_memory_of_another(generic):
    of_ptx.test_a_block_reads_and_writes_the_memory_of_another(generic)


TOLD = of_ptx.test_a_block_waits_for_what_another_one_does.pytestmark[0].args[1]


@pytest.mark.parametrize("tells", TOLD)
def test_a_block_waits_for_what_another_one_does(tells):
    of_ptx.test_a_block_waits_for_what_another_one_does(tells)


@pytest.mark.parametrize(
    "test",
    [
        of_ptx.test_atomics_of_a_cluster_meet_in_one_memory,
        of_ptx.test_a_block_copies_bytes_to_another,
        of_ptx.test_a_copy_may_go_to_several_blocks_at_once,
        of_ptx.test_who_has_left_is_not_waited_for,
    ],
)
def test_what_holds_of_ptx_holds_of_machine_code(test):
    test()


def test_the_memory_of_a_block_that_is_not_there_is_out_of_bounds():
    body = """mov.u32 %x, tile; mapa.shared::cluster.u32 %there, %x, 2; ld.shared::cluster.u32 %z, [%there];
    st.global.u32 [%p0], %z;"""
    with pytest.raises(RecordingError, match="out of bounds"):
        run_as_machine_code(kernel(body, 1, of_ptx.REGISTERS), [np.zeros(1, "u4")], (2, 1, 1), (2, 1, 1))
