"""Some blocks of a launch run alone; long programs are compiled quickly."""

import numpy as np
import pytest

from simtmm.cuda.compilers import module_of_ptx
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.translation import machine_code
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.errors import KernelError

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
NUMBER = """  .reg .b64 %p, %at;
  .reg .b32 %block, %width, %row;
  ld.param.u64 %p, [p];
  mov.u32 %block, %ctaid.x;
  mov.u32 %width, %nctaid.x;
  mov.u32 %row, %ctaid.y;
  mad.lo.s32 %block, %row, %width, %block;
  mul.wide.u32 %at, %block, 4;
  add.s64 %p, %p, %at;
  add.u32 %block, %block, 100;
"""
STORE = f"{HEAD}{NUMBER}  st.global.u32 [%p], %block;\n  ret;\n}}\n"
WAIT = f"""{HEAD}{NUMBER}  .reg .pred %again;
LOOP:
  ld.volatile.global.u32 %row, [%p];
  setp.eq.u32 %again, %row, 0;
  @%again bra LOOP;
  ret;
}}
"""


def launched(ptx, chosen, grid=(4, 3, 1)):
    device, array = Device(), np.zeros(12, np.uint32)
    address = device.memory.place("a", array)
    function = KernelFunction(LinkedModule([module_of_ptx(ptx)]), "k")
    device.launch(function, DeviceLaunch(grid, (1, 1, 1), address.to_bytes(8, "little"), where="k", chosen=chosen))
    return array.tolist()


def test_chosen_blocks_run_and_no_others_and_know_their_places():
    expected = [0] * 12
    for number in (1, 6, 11):
        expected[number] = 100 + number
    assert launched(STORE, (1, 6, 11)) == expected
    assert launched(STORE, ()) == [100 + number for number in range(12)]


@pytest.mark.parametrize("chosen", [(12,), (-1,), (3, 3), (4, 2)])
def test_blocks_that_are_not_there_or_not_in_order_are_refused(chosen):
    with pytest.raises(KernelError, match=r"^k: blocks .* must be ascending numbers below 12$"):
        launched(STORE, chosen)


def test_blocks_that_may_wait_for_others_are_not_run_alone():
    with pytest.raises(
        KernelError, match=r"^k: threads may wait for other blocks, so a part of the blocks can't be run alone$"
    ):
        launched(WAIT, (0,))


def test_code_that_is_compiled_quickly_does_the_same(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path))  # so that it is compiled at all
    monkeypatch.setattr(machine_code, "LONG", 0)
    assert launched(STORE, ()) == [100 + number for number in range(12)]
