"""Names in PTX are those of their block in braces, as inline assembly relies on: labels too."""

import numpy as np

from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.syntax import Label
from tests.cuda.execution.both import both
from tests.cuda.execution.kernels import run

# Assembly that is inlined twice has its labels twice; the lists of targets of brx likewise.
TWICE = """\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b64 %p;
  .reg .b32 %r<3>;
  ld.param.u64 %p, [out];
  mov.u32 %r0, 0;
  mov.u32 %r1, %tid.x;
  {
    .reg .pred P;
    setp.ge.u32 P, %r1, 5;
    @P bra SKIP;
    add.u32 %r0, %r0, 1;
  SKIP:
  }
  {
    .reg .pred P;
    setp.ge.u32 P, %r1, 9;
    @P bra SKIP;
    add.u32 %r0, %r0, 10;
  SKIP:
  }
  and.b32 %r2, %r1, 1;
  {
    ts: .branchtargets EVEN, ODD;
    brx.idx %r2, ts;
  ODD:
    add.u32 %r0, %r0, 100;
  EVEN:
  }
  {
    ts: .branchtargets EVEN, ODD;
    brx.idx %r2, ts;
  EVEN:
    add.u32 %r0, %r0, 1000;
  ODD:
  }
  mad.wide.u32 %p, %r1, 4, %p;
  st.global.u32 [%p], %r0;
  ret;
}
"""


def test_a_jump_goes_to_the_label_of_its_own_braces():
    ((executed, interpreted),) = both(TWICE, 1, 40, np.zeros(40, np.uint32))
    expected = [(t < 5) + 10 * (t < 9) + 100 * (t % 2) + 1000 * (t % 2 == 0) for t in range(40)]
    assert executed.tolist() == interpreted.tolist() == expected


def test_labels_have_names_of_their_own_in_a_function():
    labels = [item.name for item in parse_module(TWICE).functions["k"].body if isinstance(item, Label)]
    assert len(labels) == 6
    assert len(set(labels)) == 6


# LLVM holds addresses of parameters in 32 bits, as Triton's kernels with tensor maps do.
SHORT = """\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .align 16 .b8 spare[16], .param .u64 out)
{
  .reg .b64 %p<4>;
  .reg .b32 %r<3>;
  mov.b32 %r0, out;
  cvt.u64.u32 %p0, %r0;
  cvta.param.u64 %p1, %p0;
  ld.u64 %p2, [%p1];
  ld.param.u64 %p3, [%p0];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %p2, %r1, 4, %p2;
  st.global.u32 [%p2], %r1;
  mad.wide.u32 %p3, %r1, 4, %p3;
  st.global.u32 [%p3+128], %r1;
  ret;
}
"""


def test_the_address_of_a_parameter_may_be_held_in_32_bits():
    found = np.zeros(64, np.uint32)
    run(SHORT, "k", [np.zeros(2, np.uint64).view("V16")[0], found])
    assert found.tolist() == 2 * list(range(32))
