"""Steps: where a trace waits for values, works and accesses memory, each a whole list."""

import pytest

from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.control_flow import control_flow
from simtmm.cuda.ptx.steps import steps

TEXT = """\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %p, %q;
  .reg .b32 %x, %y, %z;
  .reg .pred %c;
BODY
  ret;
}
"""


def stepped(*lines):
    """Each recorded step of a kernel as what it waits for, the work before its access, the access, what that brings."""
    function = parse_module(TEXT.replace("BODY", "\n".join(f"  {line}" for line in lines))).functions["k"]
    return [
        (step.needs, sum(step.work.values()), step.kind, step.gives)
        for block in steps(control_flow(function))
        for step in block
        if step.is_recorded
    ]


LOAD = ((), 0, "async", ("%x",))
RET = ((), 1, "work", ())


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["add.u32 %y, %x, 1;"], [LOAD, (("%x",), 2, "work", ())]),  # read: it waits, and ret is work
        (["mov.u32 %x, 7;"], [LOAD, (("%x",), 2, "work", ())]),  # written over: likewise
        (["mov.u32 %y, 7;"], [LOAD, ((), 2, "work", ())]),
        (["ld.global.u32 %x, [%p+4];"], [LOAD, (("%x",), 0, "async", ("%x",)), RET]),  # loaded over
        (["ld.global.u32 %y, [%p+4];"], [LOAD, ((), 0, "async", ("%y",)), RET]),  # both under way
        (
            ["ld.global.u32 %y, [%p+4];", "add.u32 %z, %x, %y;"],
            [LOAD, ((), 0, "async", ("%y",)), (("%x", "%y"), 2, "work", ())],
        ),
        (  # waited for once
            ["add.u32 %y, %x, 1;", "add.u32 %z, %x, 1;"],
            [LOAD, (("%x",), 3, "work", ())],
        ),
        (["st.global.u32 [%p], %x;"], [LOAD, (("%x",), 0, "store", ()), RET]),
        (["bar.sync 0;"], [LOAD, ((), 0, "barrier", ()), RET]),
    ],
)
def test_a_step_waits_where_what_a_load_brings_is_first_read_or_written_over(lines, expected):
    assert stepped("ld.global.u32 %x, [%p];", *lines) == expected
