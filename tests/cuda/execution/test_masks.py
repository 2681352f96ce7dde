"""Lanes hear of those that wait with the same mask, and not of those that are at the instruction in another round."""

import numpy as np

from tests.cuda.execution.both import both

# Lanes below 16 go round the inner loop with their own mask. It has a fence, so that after a while the others go first,
# which come to its vote in their next round.
TEXT = """\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %lane, %m, %count, %round, %sum, %heard;
  .reg .b64 %p;
  .reg .pred %q, %low, %said;
  mov.u32 %lane, %laneid;
  setp.lt.u32 %low, %lane, 16;
  mov.u32 %round, 2;
  mov.u32 %sum, 0;
OUTER:
  mov.u32 %m, 0xffffffff;
  mul.lo.u32 %count, %round, 20;
  selp.u32 %count, %count, 0, %low;
INNER:
  mul.lo.u32 %heard, %round, 4;
  setp.lt.u32 %said, %lane, %heard;
  vote.sync.ballot.b32 %heard, %said, %m;
  mad.lo.u32 %sum, %sum, 31, %heard;
  setp.ne.u32 %q, %count, 0;
  vote.sync.ballot.b32 %m, %q, %m;
  @!%q bra OUT;
  membar.cta;
  sub.u32 %count, %count, 1;
  bra INNER;
OUT:
  sub.u32 %round, %round, 1;
  setp.ne.u32 %q, %round, 0;
  @%q bra OUTER;
  ld.param.u64 %p, [out];
  mad.wide.u32 %p, %lane, 4, %p;
  st.global.u32 [%p], %sum;
  ret;
}
"""


def test_lanes_with_other_masks_at_the_same_vote_are_others():
    ((executed, interpreted),) = both(TEXT, 1, 32, np.zeros(32, np.uint32))
    total = {"low": 0, "high": 0}
    for heard, times in ((0xFF, 41), (0xF, 21)):  # rounds; the lanes above hear of the first vote of each
        total["high"] = total["high"] * 31 + heard
        for _ in range(times):
            total["low"] = total["low"] * 31 + heard
    expected = [total["low" if lane < 16 else "high"] & 0xFFFFFFFF for lane in range(32)]
    assert executed.tolist() == interpreted.tolist() == expected
