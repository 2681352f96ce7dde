"""Fences of PTX that hold their warp: those for which ptxas writes a MEMBAR of more than a block.

Each row is what ptxas 13.0 made of the instruction for sm_90a.
"""

import pytest

from simtmm.cuda.ptx.flow.basic_blocks import control_flow
from simtmm.cuda.ptx.flow.fences import fence_of
from simtmm.cuda.ptx.flow.steps import steps
from simtmm.cuda.ptx.reading.parser import parse_module

FENCES = {
    "membar.gl": "sequential", "membar.sys": "system", "membar.cta": None, "fence.sc.gpu": "sequential",
    "fence.sc.cta": None, "fence.acq_rel.gpu": "device", "fence.acq_rel.cluster": "device",
    "fence.acq_rel.sys": "system",
    "fence.acq_rel.cta": None, "fence.proxy.async": "device", "fence.proxy.async.shared::cluster": "device",
    "fence.proxy.async.shared::cta": None, "fence.proxy.async.global": None,
    "fence.mbarrier_init.release.cluster": None, "fence.proxy.alias": "system",
    "fence.proxy.tensormap::generic.release.gpu": "device",
    "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128": None,
    "st.release.gpu.global.u32 [%rd1], %r1": "device", "st.release.cta.global.u32 [%rd1], %r1": None,
    "st.release.sys.global.u32 [%rd1], %r1": "system", "st.relaxed.gpu.global.u32 [%rd1], %r1": None,
    "ld.acquire.gpu.global.u32 %r1, [%rd1]": None, "atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], %r2": "device",
    "atom.acquire.gpu.global.add.u32 %r1, [%rd1], %r2": None, "red.release.gpu.global.add.u32 [%rd1], %r2": "device",
    "atom.global.add.u32 %r1, [%rd1], %r2": None,
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]": "device",
    "mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [%r1]": None,
    "mbarrier.arrive.shared::cluster.b64 _, [%r1]": None,
}  # fmt: skip
MODULE = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k() {{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  {};
  ret;
}}
"""


@pytest.mark.parametrize(("text", "kind"), FENCES.items(), ids=FENCES)
def test_a_fence_holds_its_warp_where_the_machine_waits_at_one(text, kind):
    flow = control_flow(parse_module(MODULE.format(text)).functions["k"])
    (found,) = [each for block in flow.blocks for each in block.instructions if each.opcode == text.split(".")[0]]
    assert fence_of(found) == kind
    assert [step.fences for block in steps(flow) for step in block if step.fences] == ([{kind: 1}] if kind else [])
