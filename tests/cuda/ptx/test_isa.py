"""The table of instructions: each that is run has a row, each row is of one, and cases are of the forms it lists."""

import re
from dataclasses import replace

import pytest

from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.execution.instructions import HANDLERS
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.forms import complaint, holds, takes
from simtmm.cuda.ptx.isa import FORMS
from simtmm.cuda.ptx.syntax import Address, Immediate, Instruction, Register, Sink
from simtmm.cuda.sass import families
from simtmm.cuda.sass.forms import COUNTS
from tests.cuda.cases import every_case
from tests.cuda.compilers.conftest import needs
from tests.cuda.ptx.mutants import LAX, differences

ENDS_A_BLOCK = {"bra", "brx", "call", "ret", "exit", "trap"}  # which control flow translates, and no handler


def test_each_instruction_that_is_run_has_a_row_and_each_row_is_of_one():
    assert set(FORMS) == set(HANDLERS) | ENDS_A_BLOCK


def test_each_instruction_of_the_machine_that_is_lifted_has_its_number_of_operands():
    assert set(COUNTS) == set(families.HANDLERS)


def test_each_case_is_of_a_form_that_its_row_lists():
    functions = [parse_module(case.text).functions["k"] for case in every_case().values()]
    found = [
        (item.text, complaint(item, function.registers))
        for function in functions
        for item in function.body or ()
        if isinstance(item, Instruction) and item.opcode
    ]
    assert len(found) > 10_000
    assert [each for each in found if each[1]] == []


@pytest.mark.parametrize("opcode", [opcode for opcode, forms in FORMS.items() if "*" not in forms])
def test_more_operands_than_any_form_has_are_not_taken(opcode):
    instruction = Instruction(opcode, (), (), None, 1, None, opcode)
    assert complaint(replace(instruction, operands=(Immediate(1),) * 7), {}) is not None


def test_operands_are_looked_at_by_the_form_that_the_modifiers_name():
    one, two, three = (Immediate(1),), (Immediate(1),) * 2, (Immediate(1),) * 3
    red = Instruction("red", ("shared", "add", "u32"), (), None, 1, None, "red")
    assert [takes(replace(red, operands=each)) for each in (one, two, three)] == [False] * 3
    ours = Instruction("atom", ("shared", "arrive", "b64"), (Sink(), Address(Register("a"))), None, 1, None, "atom")
    assert takes(ours)
    assert complaint(ours, {"a": "b64"}) == "does not accept .arrive"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mov.s32.s16 %r1, %h1", "has no form with .s32.s16"),
        ("mul.rn.b64 %d2, %d1, %d1", "does not accept .b64"),
        ("mul.s32 %r1, %r2, %r3", "has no form with .s32"),
        ("add %r1, %r2, %r3", "needs modifiers that say what it does, such as a type"),
        ("add.u32 %h1, %r1, %r2", "needs a register of .u32, but %h1 is of .b16"),
        ("add.f32 %r1, %s1, %r2", "needs a register of .f32, but %s1 is of .s32"),
        ("add.f32 %r1, %r1, 1", "does not accept a whole number with type .f32"),
        ("add.s32 %r1, %r1, 0f3F800000", "does not accept a floating-point number with type .s32"),
        ("add.f16 %h1, %h1, 0f3F800000", "does not accept a number with type .f16"),
        ("and.b32 %r1, %r1, 0d3FF0000000000000", "does not accept a floating-point number with type .b32"),
        ("mul.wide.u32 %r1, %r2, %r3", "needs a register of .u64, but %r1 is of .b32"),
        ("shl.b64 %d1, %d1, %d2", "needs a register of .u32, but %d2 is of .b64"),
        ("setp.lt.u32 %r1, %r2, %r3", "needs a register of .pred, but %r1 is of .b32"),
        ("setp.lo.s32 %p1, %r2, %r3", "has no form with .lo.s32"),
        ("cvt.f32.u32 %r1, %r2", "has no form with .f32.u32"),
        ("cvt.sat.u32.u16 %r1, %h2", "has no form with .sat.u32.u16"),
        ("cvt.u32.u64 %r1, %r2", "needs a register of .u64, but %r2 is of .b32"),
        ("ld.global.u32 %h1, [%d1]", "needs a register of .u32, but %h1 is of .b16"),
        ("ld.global.f32 %s1, [%d1]", "needs a register of .f32, but %s1 is of .s32"),
        ("ld.global.v2.u32 {%r1, %d1}, [%d1]", "needs registers of one width"),
        ("ld.global.v4.u32 {%r1, %r2}, [%d1]", "needs 4 registers, but has 2"),
        ("ld.global.u32 {%r1, %r2}, [%d1]", "needs 1 register, but has 2"),
        ("st.const.u32 [%d1], %r1", "does not accept .const"),
        ("ld.global.u32 %r1, [%p1]", "needs an address in an integer register, but %p1 is of .pred"),
        ("red.acquire.global.or.b32 [%d1], %r1", "does not accept .acquire"),
        ("mov.b64 {%r1, %r2, %r3}, %d1", "does not accept 3 registers with type .b64"),
        ("selp.b32 %r1, %r2, %r3, %r4", "needs a register of .pred, but %r4 is of .b32"),
        ("vote.sync.any.pred %p1, %r1, -1", "needs a register of .pred, but %r1 is of .b32"),
        ("@%r1 mov.u32 %r1, 0", "needs a guard of .pred, but %r1 is of .b32"),
        ("@!%d1 ret", "needs a guard of .pred, but %d1 is of .b64"),
        ("vadd.s32.s32.s32 %h1, %r1, %r2", "needs a register of .u32, but %h1 is of .b16"),
        ("vmad.s32.s32.s32 %r1, %d1, %r2, %r3", "needs a register of .u32, but %d1 is of .b64"),
        ("vshl.clamp.s32.s32.s32 %r1, %r2, %r3", "has no form with .clamp.s32.s32.s32"),
        ("fence.proxy.unknown", "does not accept .unknown"),
        ("fence.sc", "has no form with .sc"),
        ("fence.proxy.async.acquire.gpu", "has no form with .proxy.async.acquire.gpu"),
        ("fence.proxy.tensormap::generic.acquire.gpu", "has operands that it does not take"),
        ("membar.proxy.async", "does not accept .async"),
    ],
)
def test_types_that_do_not_go_together_are_refused_in_words(text, why):
    assert complaint(*_alone(text)) == why


@pytest.mark.parametrize(
    "text",
    [
        "ld.global.u16 %r1, [%d1]",  # registers of loads, stores and conversions may be wider
        "cvt.u64.u8 %d1, %r1",
        "st.global.u8 [%d1], %d2",
        "add.f32.rn %r1, %r2, %r3",  # the type need not be last
        "add.f32 %r1, %r2, 1.5",
        "mov.b64 %d1, {%r1, %r2}",
        "mov.u32 %r1, %tid.x",
        "@!%p1 mov.u32 %r1, 0",
        "vshr.wrap.s32.s32.u32 %r1, %r2.b0, %r3",
        "fence.gpu",
        "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
        "bar.cta.sync 0",
        "bar.cta.red.and.pred %p1, 1, %p2",
        "setp.ltu.and.f32 %p1|%p2, %r1, %r2, !%p3",
        "ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {%r1, %r2, %r3, %r4}, [%d1], %d2",
        "atom.acq_rel.gpu.global.cas.b32 %r1, [%d1], %r2, %r3",
        "cp.async.ca.shared.global.L2::128B [%r1], [%d1], 16, %p1",
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r3}, {%r1, %r2}",
    ],
)
def test_what_is_of_a_form_has_no_complaint(text):
    assert complaint(*_alone(text)) is None


def _alone(text):
    """An instruction, and the types of the registers that it may name."""
    kinds = {"r": "b32", "s": "s32", "d": "b64", "h": "b16", "p": "pred"}
    registers = "".join(f".reg .{kind} %{letter}<5>;\n" for letter, kind in kinds.items())
    head = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
    function = parse_module(f"{head}{registers}{text};\nret;\n}}\n").functions["k"]
    return function.body[0], function.registers


def test_which_registers_hold_which_types():
    names = ("b16", "b32", "b64", "u16", "u32", "u64", "s32", "s64", "f16", "f32", "f64", "pred")
    found = {
        kind: [name for name in names if holds(name, kind)] for kind in ("b32", "u32", "f32", "f16", "bf16", "pred")
    }
    assert found == {
        "b32": ["b32", "u32", "s32", "f32"], "u32": ["b32", "u32", "s32"], "f32": ["b32", "f32"],
        "f16": ["b16", "f16"], "bf16": ["b16"], "pred": ["pred"],
    }  # fmt: skip
    wide = {kind: [name for name in names if holds(name, kind, wide=True)] for kind in ("u16", "s64", "f32", "b16")}
    assert wide == {
        "u16": ["b16", "b32", "b64", "u16", "u32", "u64", "s32", "s64"], "s64": ["b64", "u64", "s64"],
        "f32": ["b32", "b64", "f32"],
        "b16": ["b16", "b32", "b64", "u16", "u32", "u64", "s32", "s64", "f16", "f32", "f64"],
    }  # fmt: skip
    two = ("f16x2", "b32", "s32", "f32")  # a register of two halves is one of 32 bits
    assert [kind for kind in two if holds("f16x2", kind)] == ["f16x2", "b32", "s32", "f32"]
    assert [name for name in two if holds(name, "f16x2")] == ["f16x2", "b32"]


# Modifiers may stand in any order here; ptxas has this one in front of the others alone.
OUT_OF_ORDER = re.compile(r"bar\..*\.cta\b")


@needs(lambda: find_tool("ptxas"))
def test_what_ptxas_refuses_for_modifiers_types_and_operands_is_refused():
    found, counts = differences(count=2000, seed=1)
    assert counts["refused by ptxas, refused here"] > 1500
    assert counts["taken by ptxas, taken here"] > 100
    assert [each for each in found if each.ptxas and not OUT_OF_ORDER.match(each.text)] == []
    unexpected = [each for each in found if each.table and not any(re.search(lax, each.text) for lax in LAX)]
    assert unexpected == []
