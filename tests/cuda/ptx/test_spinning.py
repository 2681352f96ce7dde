"""Where turns may end besides: between what a loop that waits writes for others, and nowhere else."""

import pytest

from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.flow.basic_blocks import control_flow
from simtmm.cuda.ptx.flow.spinning import turn_ends
from simtmm.cuda.ptx.flow.steps import steps

HEAD = """\
.version 8.7
.target sm_90
.address_size 64
.visible .func take(.reg .b64 %p) { .reg .b32 %r; atom.global.add.u32 %r, [%p], 1; ret; }
.visible .entry k(.param .u64 p)
{
  .reg .b64 %p;
  .reg .b32 %a, %b, %n;
  .reg .pred %q;
  ld.param.u64 %p, [p];
  mov.u32 %n, 0;
again:
  BODY
  @%q bra again;
  ret;
}
"""
TRIES = "setp.ge.u32 %q, %a, 1;"
COUNTS = "add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 100;"


def function(body):
    return parse_module(HEAD.replace("BODY", body)).functions["k"]


def ends(body):
    whole = function(body)
    found = turn_ends(whole, control_flow(whole))
    return [each.text.split(" ")[0] for each in whole.body if id(each) in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"red.global.add.u32 [%p], -1; atom.global.add.u32 %a, [%p], 1; {TRIES}", ["red", "atom"]),
        (f"st.volatile.global.u32 [%p], 0; atom.global.exch.b32 %a, [%p+4], 1; {TRIES}", ["st", "atom"]),
        (f"st.volatile.global.u32 [%p], 0; st.volatile.global.u32 [%p], 1; ld.volatile.global.u32 %a, [%p+4]; {TRIES}",
         ["st", "st"]),
        (f"atom.shared.add.u32 %b, [8], -1; atom.shared.add.u32 %a, [8], 1; {TRIES}", ["atom", "atom"]),
        (f"red.global.add.u32 [%p], -1; call take, (%p); {TRIES}", ["red"]),
        (f"atom.global.cas.b32 %a, [%p], 0, 1; {TRIES}", []),  # takes, or leaves all as it is
        (f"st.global.u32 [%p+4], 0; atom.global.exch.b32 %a, [%p], 1; {TRIES}", []),  # a store that nobody waits for
        (f"red.global.add.u32 [%p], 1; red.global.add.u32 [%p+4], 1; {COUNTS}", []),  # it only counts,
        (f"red.global.add.u32 [%p], 1; red.global.add.u32 [%p+4], 1; ld.global.u32 %a, [%p+8]; {TRIES}", []),
    ],
)  # fmt: skip
def test_turns_may_end_between_what_a_loop_that_waits_writes(body, expected):
    assert [each.split(".")[0] for each in ends(body)] == expected


def test_of_a_function_that_is_called_behind_all_that_it_writes_for_others():
    module = parse_module(HEAD.replace("BODY", TRIES))
    take = module.functions["take"]
    assert len(turn_ends(take, control_flow(take))) == 1


def test_what_is_recorded_is_the_same():
    """Steps, in their order, though blocks end where they did not."""
    whole = function(f"red.global.add.u32 [%p], -1; add.u32 %b, %b, 3; atom.global.add.u32 %a, [%p], 1; {TRIES}")
    flow = control_flow(whole)
    apart = control_flow(whole, turn_ends(whole, flow))
    assert len(apart.blocks) == len(flow.blocks) + 2
    assert len(apart.turn_ends) == 2
    assert [step for block in steps(apart) for step in block] == [step for block in steps(flow) for step in block]
