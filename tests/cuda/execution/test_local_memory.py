"""What a launch has of local memory: its kernel's variables, or the stack that the machine's code takes for them."""

import pytest

from simtmm.cuda.execution.launches.launch import LOCAL_STACK, local_bytes_of
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module

KERNEL = """\
.version 8.7
.target sm_90
.address_size 64
.func look() { ret; }
.visible .entry k()
{
  .local .align 4 .b8 own[40];
  BODY
  ret;
}
"""


@pytest.mark.parametrize(
    ("body", "stack", "expected"),
    [("", 0, 48), ("", 136, 144), ("", 160, 160), ("call look;", 0, 48 + LOCAL_STACK),
     ("call look;", 136, 144 + LOCAL_STACK)],
)  # fmt: skip
def test_it_ends_at_a_multiple_of_16_as_the_stack_of_machine_code_does(body, stack, expected):
    """The machine's frames lie at the end of its stack: of 136 bytes up to byte 144."""
    assert local_bytes_of(Program(parse_module(KERNEL.replace("BODY", body)), "k"), stack) == expected
