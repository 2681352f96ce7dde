"""Steps of PTX: where a load's value is waited for, whoever comes first to need its register."""

import pytest

from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.flow.basic_blocks import control_flow
from simtmm.cuda.ptx.flow.steps import COPIES, steps

HEAD = """\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %p;
  .reg .b32 %a, %b, %c, %d;
  .reg .pred %q;
  ld.param.u64 %p, [p];
"""


def needed(*lines):
    """The registers that each step waits for, as far as it waits for any, in the order of the blocks."""
    module = parse_module(HEAD + "\n".join(lines) + "\n  ret;\n}\n")
    blocks = steps(control_flow(module.functions["k"]))
    return [step.needs for block in blocks for step in block if step.needs]


LOAD = "ld.global.u32 %a, [%p];"


@pytest.mark.parametrize(
    "next_use",
    [
        "add.u32 %b, %a, 1;",  # read
        "st.global.u32 [%p], %a;",
        "mov.u32 %a, 7;",  # written
        "ld.global.u32 %a, [%p+4];",  # loaded over: the second might arrive before the first
        "ld.shared.u32 %a, [4];",
        "atom.global.add.u32 %a, [%p], 1;",
        "ld.global.v2.u32 {%b, %a}, [%p+8];",
        "add.u32 %a, %a, 1;",
        "setp.eq.u32 %q, %a, 0;",
    ],
)
def test_whatever_reads_writes_or_loads_over_a_register_waits_for_the_load_to_it(next_use):
    assert needed(LOAD, next_use) == [("%a",)]


def test_what_touches_other_registers_waits_for_nothing():
    assert needed(LOAD, "mov.u32 %b, 1;", "ld.global.u32 %c, [%p+4];", "st.global.u32 [%p], %b;") == []


def test_a_register_that_was_written_over_is_waited_for_once():
    assert needed(LOAD, "mov.u32 %a, 7;", "add.u32 %b, %a, 1;") == [("%a",)]
    assert needed(LOAD, "ld.global.u32 %a, [%p+4];", "add.u32 %b, %a, 1;") == [("%a",), ("%a",)]


def test_what_reads_several_registers_waits_for_all_in_flight_each_once():
    lines = [LOAD, "ld.global.u32 %b, [%p+4];", "ld.global.u32 %c, [%p+8];", "mad.lo.u32 %c, %a, %b, %a;"]
    assert needed(*lines) == [("%a", "%b", "%c")]


def test_a_load_in_flight_is_waited_for_in_the_blocks_that_follow_on_any_way():
    lines = [
        "setp.eq.u32 %q, %d, 0;", LOAD, "@%q bra other;", "mov.u32 %a, 1;", "bra end;", "other:", "add.u32 %b, %a, 1;",
        "end:", "add.u32 %c, %a, 1;",
    ]  # fmt: skip
    assert needed(*lines) == [("%a",), ("%a",)]  # behind both of which nothing is in flight


def test_a_load_that_goes_round_a_loop_is_waited_for_where_it_is_loaded_over():
    assert needed("again:", LOAD, "setp.eq.u32 %q, %d, 0;", "@%q bra again;") == [("%a",)]


def test_a_wait_for_copies_leaves_as_many_groups_under_way_as_it_says():
    copy = "cp.async.ca.shared.global [%a], [%p], 4;\n  cp.async.commit_group;"
    lines = [
        copy, copy, "cp.async.wait_group 1;", "ld.shared.u32 %b, [%a];", "cp.async.wait_group 0;", "add.u32 %c, %b, 1;",
        "cp.async.wait_all;",
    ]  # fmt: skip
    module = parse_module(HEAD + "\n".join(lines) + "\n  ret;\n}\n")
    found = [step for block in steps(control_flow(module.functions["k"])) for step in block]
    assert [step.in_flight for step in found if step.in_flight is not None] == [1]  # 0 is to wait for all
    assert sum(COPIES in step.needs for step in found) == 1
    assert sum(step.commits for step in found) == 2
    none = parse_module(HEAD + "cp.async.wait_group 1;\n  ret;\n}\n")  # nothing is under way
    assert [step.in_flight for block in steps(control_flow(none.functions["k"])) for step in block] == [None]
