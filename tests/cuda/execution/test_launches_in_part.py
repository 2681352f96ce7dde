"""What a launch leaves to those that run it: what it touched; a log that ends before it; turns of blocks that wait."""

import numpy as np
import pytest

from simtmm.cuda.compilers import module_of_ptx
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.launches.launch import aligned
from simtmm.cuda.execution.launches.logs import LOG_BYTES
from simtmm.cuda.execution.launches.run import Log
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.recorder.compiled.run import LaunchRuns
from tests.cuda.execution.both import both

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {\n"
NUMBER = """  .reg .b64 %p, %q, %at;
  .reg .b32 %i, %n, %v;
  .reg .pred %c;
  ld.param.u64 %p, [p];
  ld.param.u64 %q, [q];
  mov.u32 %i, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %v, %tid.x;
  mad.lo.s32 %i, %i, %n, %v;
  mul.wide.u32 %at, %i, 4;
"""
COPY = f"""{HEAD}{NUMBER}
  add.s64 %p, %p, %at;
  add.s64 %q, %q, %at;
  ld.global.u32 %v, [%p];
  st.global.u32 [%q], %v;
  ret;
}}
"""
MEET = f"""{HEAD}{NUMBER}
  atom.global.add.u32 %v, [%q], 1;
  mov.u32 %n, %nctaid.x;
again:
  ld.volatile.global.u32 %v, [%q];
  setp.lt.u32 %c, %v, %n;
  @%c bra again;
  add.s64 %p, %p, %at;
  st.global.u32 [%p], %v;
  ret;
}}
"""
ABSENT = f"""{HEAD}{NUMBER}
  add.s64 %p, %p, %at;
  add.s64 %q, %q, %at;
  ld.global.u32 %v, [%p];
  setp.ge.u32 %c, %i, 20;
  @%c bra behind;
  shfl.sync.down.b32 %v, %v, 8, 31, 0xfffff;
behind:
  st.global.u32 [%q], %v;
  ret;
}}
"""


def placed(*arrays):
    device = Device()
    addresses = [device.memory.place("a", array) for array in arrays]
    return device, addresses, b"".join(each.to_bytes(8, "little") for each in addresses[:2])


def function_of(ptx):
    return KernelFunction(LinkedModule([module_of_ptx(ptx)]), "k")


def test_a_device_tells_what_a_launch_accessed_and_what_it_wrote():
    device, (p, q, _), parameters = placed(*(np.arange(64, dtype=np.uint32) for _ in range(3)))
    device.launch(function_of(COPY), DeviceLaunch((2, 1, 1), (32, 1, 1), parameters))
    assert {address: device.touched[address] for address in device.touched if address in (p, q)} == {p: False, q: True}
    assert len(device.touched) <= 3  # and the parameters


@pytest.mark.parametrize("blocks", [20_000])
def test_blocks_behind_the_end_of_a_log_run_without_events(blocks):
    """Those before it are the first ones, and all of them."""
    source = np.arange(32 * blocks, dtype=np.uint32)
    target = np.zeros_like(source)
    device, _, parameters = placed(source, target)
    runs, log, recorded, told = LaunchRuns(device, 1 << 40, machine_code=False), Log(), [], []
    launch = DeviceLaunch((blocks, 1, 1), (32, 1, 1), parameters)
    for batch in runs.run(function_of(COPY), launch, 0, log, told.append):
        recorded += batch.block.tolist()
        log.is_over = True
    assert recorded == list(range(len(recorded)))
    assert 0 < len(recorded) < blocks
    assert told[-1] == blocks
    assert told == sorted(told)
    np.testing.assert_array_equal(target, source)


def test_hundreds_of_blocks_that_wait_for_all_look_a_few_times_each():
    """Not once for each block that begins: that would fill memory with what they see."""
    blocks = 600
    seen, count = np.zeros(blocks, np.uint32), np.zeros(1, np.uint32)
    device, _, parameters = placed(seen, count)
    launch = DeviceLaunch((blocks, 1, 1), (1, 1, 1), parameters)
    logged = sum(len(piece) for piece, _ in device.run(function_of(MEET), launch))
    assert (seen == blocks).all()
    assert logged < blocks * 400_000


def test_a_lane_gets_0_from_an_absent_one():
    source, target = np.arange(100, 132, dtype=np.uint32), np.zeros(32, np.uint32)
    (_, (executed, interpreted)) = both(ABSENT, 1, 32, source, target)
    expected = [108 + lane if lane < 12 else 0 if lane < 20 else 100 + lane for lane in range(32)]
    assert executed.tolist() == interpreted.tolist() == expected


def test_a_launch_logs_where_an_earlier_one_did(monkeypatch):
    """Room for a log is memory that the system has to clear."""
    made = []
    monkeypatch.setattr("simtmm.cuda.execution.launches.logs._spare", [])
    monkeypatch.setattr("simtmm.cuda.execution.launches.logs.aligned", lambda size: made.append(size) or aligned(size))
    device, _, parameters = placed(np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32))
    function, launch = function_of(COPY), DeviceLaunch((2, 1, 1), (32, 1, 1), parameters)
    first, *later = (b"".join(piece.tobytes() for piece, _ in device.run(function, launch)) for _ in range(3))
    assert made == [LOG_BYTES]
    assert first
    assert later == [first, first]
