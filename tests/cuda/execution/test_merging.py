"""Lanes that call a function one after another, behind a lock, hear of each other in it."""

import numpy as np
import pytest

from simtmm.errors import RecordingError
from tests.cuda.execution.both import both, execute

# `outer` calls `inner`, in which the lanes of the mask vote; both keep numbers and conditions of each lane meanwhile.
TEXT = """\
.version 8.7
.target sm_90
.address_size 64
.func (.param .b32 fr) inner(.param .b32 ga)
{
  .reg .b32 %r<4>;
  .reg .pred %q<3>;
  LOCAL
  ld.param.b32 %r0, [ga];
  and.b32 %r1, %r0, 1;
  setp.ne.u32 %q0, %r1, 0;
  setp.lt.u32 %q1, %r0, 7;
  vote.sync.ballot.b32 %r2, %q0, 0xffffffff;
  @%q1 add.u32 %r2, %r2, %r0;
  st.param.b32 [fr], %r2;
  ret;
}
.func (.param .b32 fr) outer(.param .b32 ga)
{
  .reg .b32 %r<4>;
  .reg .pred %q;
  ld.param.b32 %r0, [ga];
  setp.gt.u32 %q, %r0, 20;
  mul.lo.u32 %r1, %r0, 1000;
  {
    .param .b32 pa;
    .param .b32 pr;
    st.param.b32 [pa], %r0;
    call (pr), inner, (pa);
    ld.param.b32 %r2, [pr];
  }
  add.u32 %r2, %r2, %r1;
  @%q not.b32 %r2, %r2;
  st.param.b32 [fr], %r2;
  ret;
}
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %p;
  .reg .pred %q;
  .shared .align 4 .b32 lock;
  mov.u32 %r0, %tid.x;
AGAIN:
  atom.shared.cas.b32 %r1, [lock], 0, 1;
  setp.ne.u32 %q, %r1, 0;
  @%q bra AGAIN;
  st.volatile.shared.u32 [lock], 0;
  {
    .param .b32 pa;
    .param .b32 pr;
    st.param.b32 [pa], %r0;
    call (pr), outer, (pa);
    ld.param.b32 %r2, [pr];
  }
  ld.param.u64 %p, [out];
  mad.wide.u32 %p, %r0, 4, %p;
  st.global.u32 [%p], %r2;
  ret;
}
"""


def test_lanes_that_came_apart_vote_together():
    ((executed, interpreted),) = both(TEXT.replace("LOCAL", ""), 1, 32, np.zeros(32, np.uint32))
    plain = [0xAAAAAAAA + (lane if lane < 7 else 0) + 1000 * lane for lane in range(32)]
    expected = [(~each if lane > 20 else each) & 0xFFFFFFFF for lane, each in enumerate(plain)]
    assert executed.tolist() == interpreted.tolist() == expected


def test_lanes_with_local_variables_are_told_to_wait_for_each_other():
    with pytest.raises(RecordingError, match=r"deadlock in block \(0, 0, 0\).*vote\.sync\.ballot"):
        execute(TEXT.replace("LOCAL", ".local .align 4 .b8 held[16];"), 1, 32, [np.zeros(32, np.uint32)])
